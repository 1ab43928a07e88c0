package itemcontext

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// reader answers for Contexts.
type reader struct {
	client.Reader
	found map[client.ObjectKey]bool
	fails error
	asked []client.ObjectKey
}

func (r *reader) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.asked = append(r.asked, key)
	switch {
	case r.fails != nil:
		return r.fails
	case !r.found[key]:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "contexts"}, key.Name)
	}
	object.SetName(key.Name)
	object.SetNamespace(key.Namespace)
	return nil
}

// TestContext: who is missing, who is merely late, and who does not answer.
func TestContext(t *testing.T) {
	own, standard := client.ObjectKey{Namespace: "ns", Name: "own"}, client.ObjectKey{Namespace: "ns", Name: v1alpha1.DefaultContextName}
	known := func(keys ...client.ObjectKey) *reader {
		r := &reader{found: map[client.ObjectKey]bool{}}
		for _, key := range keys {
			r.found[key] = true
		}
		return r
	}
	broken := errors.New("no route to host")
	tests := []struct {
		reason, name  string
		cache, server *reader
		outcome       job.Outcome
		want          string
		// asked is how often the API server is asked.
		asked int
	}{
		{"the cache has it, and the API server is not asked", "own", known(own), known(), 0, "", 0},
		{"no Context is named", "", known(standard), known(), 0, "", 0},
		{"the cache is behind", "own", known(), known(own), 0, "", 1},
		{"the Context is in another namespace", "own", known(client.ObjectKey{Namespace: "other", Name: "own"}), known(), job.Terminal, "there is no Context ns/own: create it, or correct the name", 1},
		{"the Context does not exist", "own", known(), known(), job.Terminal, "spec.context", 1},
		{"the default Context is about to be created", "", known(), known(), job.Transient, "there is no Context ns/default yet", 1},
		{"the default Context, by its name, is about to be created", "default", known(), known(), job.Transient, "there is no Context ns/default yet", 1},
		{"the cache does not answer, which says nothing about the Context", "own", &reader{fails: broken}, known(), job.Transient, "Context ns/own", 0},
		{"the API server does not answer", "own", known(), &reader{fails: broken}, job.Transient, "Context ns/own", 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{}
			item.Namespace, item.Spec.Context = "ns", test.name
			origins := Origins{Contexts: test.cache, Sources: &repocontext.Reader{Client: test.server}}
			found, err := origins.Context(t.Context(), item, "Fetch")
			if len(test.server.asked) != test.asked {
				t.Errorf("the API server was asked for %v", test.server.asked)
			}
			if test.want == "" {
				if err != nil || found.Namespace != "ns" {
					t.Errorf("%v, %v", found, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			explained := Explain(t.Context(), err, Errand{Operation: "Fetch", Reason: "Get", Field: "spec.config.source"})
			if job.OutcomeOf(explained) != test.outcome {
				t.Errorf("outcome %v, want %v: %v", job.OutcomeOf(explained), test.outcome, explained)
			}
		})
	}
}
