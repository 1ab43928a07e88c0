package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHealthObject looks every ten seconds, finds something or not, and writes what
// follows.
func TestHealthObject(t *testing.T) {
	tests := []struct {
		reason string
		// looks are what the looks find: "+" is that all is well, "-" is a problem; "!"
		// is a write that fails.
		looks string
		want  string
	}{
		{"all is well at once", "+", "Ok at 0: ok"},
		{"a single problem at the start is not reported yet", "-", ""},
		{"two problems in a row", "--", "Failed at 10: not ready: no watch"},
		{"caches that fill in the beginning", "-+", "Ok at 10: ok"},
		{"at most one write a minute", "++++++", "Ok at 0: ok"},
		{"the time is renewed", "+++++++", "Ok at 0: ok, Ok at 60: ok"},
		{"a single problem is not reported", "++++++-", "Ok at 0: ok, Ok at 60: ok"},
		{"a problem that lasts is told with the next write", "+-----------", "Ok at 0: ok, Failed at 60: not ready: no watch"},
		{"a problem that is over", "--+++++++", "Failed at 10: not ready: no watch, Ok at 70: ok"},
		{"a write that fails is tried again", "!+", "Ok at 10: ok"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var written []string
			start := time.Unix(1_000_000, 0)
			now, failing := start, false
			note := func(object client.Object, write func() error) error {
				if failing {
					return errors.New("not now")
				}
				check, ok := object.(*v1alpha1.LsHealthCheck)
				if !ok {
					return fmt.Errorf("wrote a %T", object)
				}
				written = append(written, fmt.Sprintf("%s at %d: %s", check.Status, int(check.LastUpdateTime.Sub(start).Seconds()), check.Description))
				return write()
			}
			api := fake.NewClientBuilder().WithScheme(Scheme()).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
					return note(object, func() error { return to.Create(ctx, object, options...) })
				},
				Update: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.UpdateOption) error {
					return note(object, func() error { return to.Update(ctx, object, options...) })
				},
			}).Build()
			h := &healthObject{client: api, reader: api, key: client.ObjectKey{Namespace: "ns", Name: "health"}, now: func() time.Time { return now }}
			for _, look := range test.looks {
				h.check = func(context.Context) error {
					if look == '-' {
						return errors.New("not ready:\nno watch")
					}
					return nil
				}
				failing = look == '!'
				if err := h.look(t.Context()); (err != nil) != failing {
					t.Error(err)
				}
				now = now.Add(healthPause)
			}
			if got := strings.Join(written, ", "); got != test.want {
				t.Errorf("wrote %q, want %q", got, test.want)
			}
		})
	}
}

// TestHealthObjectOfOthers: an existing object is taken over, even if another client writes it in
// between.
func TestHealthObjectOfOthers(t *testing.T) {
	key := client.ObjectKey{Namespace: "ns", Name: "health"}
	there := &v1alpha1.LsHealthCheck{Status: v1alpha1.LsHealthCheckStatusInit}
	there.Namespace, there.Name = key.Namespace, key.Name
	api := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(there).Build()
	now := time.Unix(1_000_000, 0)
	h := &healthObject{client: api, reader: api, key: key, now: func() time.Time { return now }, check: func(context.Context) error { return nil }}
	for range 2 {
		if err := h.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		read := &v1alpha1.LsHealthCheck{}
		if err := api.Get(t.Context(), key, read); err != nil || read.Status != v1alpha1.LsHealthCheckStatusOk {
			t.Fatalf("%+v (%v)", read, err)
		}
		read.Description = "of another client"
		if err := api.Update(t.Context(), read); err != nil {
			t.Fatal(err)
		}
		now = now.Add(healthLife)
		if err := h.look(t.Context()); err == nil {
			t.Error("an older version has replaced a newer one")
		}
	}
}
