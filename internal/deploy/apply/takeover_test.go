package apply

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/deploy/ownership"
	"go.landscaper.dev/internal/deploy/target/memory"
)

// strangers are neighbors of whom none has an object.
type strangers struct{}

func (strangers) Yields(context.Context, string, corev1.ObjectReference) (bool, error) {
	return false, nil
}

func (strangers) IsNeighbor(context.Context, string) (bool, error) { return false, nil }

// TestFallbackAndReleases: policy fallback leaves an object to a release of Helm until that has
// released it, and remembers it: the release may leave the object to the item later.
func TestFallbackAndReleases(t *testing.T) {
	const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}`
	for _, test := range []struct {
		reason, annotations string
		foreign             bool
	}{
		{"the release has it", `"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"ns"`, true},
		{"the release has released it", `"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"ns","landscaper.gardener.cloud/released-by":"two"`, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := memory.New()
			live := cluster.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{`+test.annotations+`}}}`))
			a := applier(cluster, "update")
			a.Neighbors = strangers{}
			outcome, err := a.Apply(t.Context(), prepared(t, cluster, "fallback", nil, manifest))
			if err != nil || outcome.Foreign != test.foreign || outcome.Shared != test.foreign {
				t.Errorf("%+v, %v", outcome, err)
			}
			stored := cluster.Find("ConfigMap", "ns", "a")
			if of := ownership.ReleaseOf(stored); (of != ownership.HelmRelease{}) != test.foreign || ownership.IsReleased(stored) || stored.GetUID() != live.GetUID() {
				t.Errorf("stored is %v", stored)
			}
		})
	}
}
