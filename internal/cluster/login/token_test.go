package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cluster/clustererror"
)

func TestTokens(t *testing.T) {
	now := time.Unix(1000, 0)
	requests := 0
	var refused error
	source := &tokens{
		spec: tokenSpec{Namespace: "shop", Name: "edge", Audience: []string{"a"}, Expiration: 1000},
		now:  func() time.Time { return now },
		request: func(_ context.Context, namespace, name string, request *authenticationv1.TokenRequest) error {
			requests++
			if namespace != "shop" || name != "edge" || request.Spec.Audiences[0] != "a" || *request.Spec.ExpirationSeconds != 1000 {
				t.Errorf("request for %s/%s: %+v", namespace, name, request.Spec)
			}
			request.Status.Token = fmt.Sprintf("token-%d", requests)
			request.Status.ExpirationTimestamp = metav1.NewTime(now.Add(1000 * time.Second))
			return refused
		},
	}
	status := http.StatusOK
	var seen string
	cluster := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		seen = request.Header.Get("Authorization")
		response.WriteHeader(status)
	}))
	defer cluster.Close()
	client := &http.Client{Transport: source.Wrap(cluster.Client().Transport)}
	steps := []struct {
		reason string
		before func()
		want   string
	}{
		{"the first request", func() {}, "Bearer token-1"},
		{"79 % of the lifetime", func() { now = now.Add(790 * time.Second) }, "Bearer token-1"},
		{"80 % of the lifetime", func() { now = now.Add(10 * time.Second) }, "Bearer token-2"},
		{"the cluster does not accept it", func() { status = http.StatusUnauthorized }, "Bearer token-2"},
		{"a token that was dropped is not used again", func() {}, "Bearer token-3"},
	}
	for _, step := range steps {
		step.before()
		response, err := client.Get(cluster.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if seen != step.want {
			t.Errorf("%s: %s, want %s", step.reason, seen, step.want)
		}
	}
	source.drop("token-3")
	refused = errors.New("forbidden")
	response, err := client.Get(cluster.URL)
	if err == nil {
		_ = response.Body.Close()
	}
	var token clustererror.NoToken
	if !errors.As(err, &token) {
		t.Errorf("a refused token request: %v", err)
	}
}
