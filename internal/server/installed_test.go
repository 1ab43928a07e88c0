package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// mapper answers with errors first.
type mapper struct {
	meta.RESTMapper

	errs  []error
	asked int
}

func (m *mapper) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	m.asked++
	if m.asked > len(m.errs) {
		return &meta.RESTMapping{}, nil
	}
	return nil, m.errs[m.asked-1]
}

func TestAwaitInstalled(t *testing.T) {
	busy, resource := apierrors.NewInternalError(errors.New("busy")), schema.GroupResource{Resource: "apis"}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		reason string
		ctx    context.Context
		errs   []error
		asked  int
		want   string
	}{
		{"all kinds are served", t.Context(), nil, 7, ""},
		{"an API server that fails is asked again", t.Context(), []error{busy, errors.New("connection refused"), busy}, 10, ""},
		{"one that goes on failing ends the start", t.Context(), []error{busy, busy, busy, busy}, 4, "look for kind Installation: Internal error occurred: busy"},
		{"credentials do not become right", t.Context(), []error{apierrors.NewUnauthorized("who is it")}, 1, "who is it"},
		{"nor do rights", t.Context(), []error{apierrors.NewForbidden(resource, "", errors.New("not for you"))}, 1, "not for you"},
		{"a kind that is not served is named", t.Context(), []error{busy, &meta.NoKindMatchError{}}, 2, `the cluster does not serve kind Installation: run "landscaper install"`},
		{"a process that ends does not ask again", ended, []error{busy, busy}, 1, "context canceled; last: Internal error"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			asks := &mapper{errs: test.errs}
			pause := time.Millisecond
			if test.ctx.Err() != nil {
				pause = time.Hour
			}
			err := awaitInstalled(test.ctx, asks, wait.Backoff{Duration: pause, Steps: 3}, logr.Discard())
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if asks.asked != test.asked {
				t.Errorf("asked %d times, want %d", asks.asked, test.asked)
			}
		})
	}
}
