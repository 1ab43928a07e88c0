package planner

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/console"
)

// refusing answers each read with an error.
func refusing(t *testing.T, err error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
	}).Build()
}

// TestOwn: what the user may not read is named, and nothing else is said of it.
func TestOwn(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	forbidden := apierrors.NewForbidden(secrets, "x", errors.New("User jane cannot get it, said the authorizer of this cluster"))
	name := client.ObjectKey{Namespace: "shop", Name: "x"}
	err := Own(refusing(t, forbidden)).Get(t.Context(), name, &corev1.Secret{})
	if err == nil || err.Error() != "you may not read Secret shop/x" || apierrors.IsForbidden(err) {
		t.Errorf("%v", err)
	}
	if err := Own(refusing(t, forbidden)).Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Namespace{}); err == nil || err.Error() != "you may not read Namespace a" {
		t.Errorf("%v", err)
	}
	missing := apierrors.NewNotFound(secrets, "x")
	if err := Own(refusing(t, missing)).Get(t.Context(), name, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	if err := Own(refusing(t, nil)).Get(t.Context(), name, &corev1.Secret{}); err != nil {
		t.Error(err)
	}
}

// TestExplained: an error of a plan has the status of an answer, which never ends the session.
func TestExplained(t *testing.T) {
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, test := range []struct {
		reason string
		ctx    context.Context
		err    error
		status int
		says   string
	}{
		{"something that the user may not read", t.Context(), &UnreadableError{Kind: "Secret", Name: client.ObjectKey{Namespace: "a", Name: "b"}}, http.StatusForbidden, "you may not read Secret a/b"},
		{"something that the user may not list", t.Context(), apierrors.NewForbidden(schema.GroupResource{Resource: "targets"}, "", errors.New("no")), http.StatusForbidden, "targets"},
		{"a token that has ended", t.Context(), apierrors.NewUnauthorized("no"), http.StatusForbidden, "no"},
		{"too long", over, errors.New("stopped"), http.StatusGatewayTimeout, "longer than 1m0s"},
		{"a job would fail", t.Context(), errors.New("no such blueprint"), http.StatusUnprocessableEntity, "no such blueprint"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var refusal *console.Refusal
			err := Explained(time.Minute)(test.ctx, test.err)
			if !errors.As(err, &refusal) || refusal.Status != test.status || !strings.Contains(refusal.Text, test.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if err := Explained(time.Minute)(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
