package targetsync

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// deletions records what is deleted, and on which conditions.
type deletions struct {
	client.Client
	asked map[string]client.DeleteOptions
}

// Delete implements client.Writer.
func (d *deletions) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	asked := client.DeleteOptions{}
	asked.ApplyOptions(options)
	d.asked[object.GetName()] = asked
	return nil
}

// TestRemovesWhatItHasSeen: a Target that somebody has made their own since it was read,
// by taking the label away, is not removed.
func TestRemovesWhatItHasSeen(t *testing.T) {
	sync, recorded := fleet(), &deletions{asked: map[string]client.DeleteOptions{}}
	target := aTarget(sync, aShoot(), aSecret())
	target.UID, target.ResourceVersion = "uid", "7"
	r := &run{Reconciler: &Reconciler{Client: recorded}, sync: sync, memory: &memory{}}
	if err := r.removeOne(t.Context(), world{targets: map[string]*v1alpha1.Target{"eu": target}}, "eu"); err != nil {
		t.Fatal(err)
	}
	asked := recorded.asked["eu"].Preconditions
	if asked == nil || asked.UID == nil || *asked.UID != "uid" || asked.ResourceVersion == nil || *asked.ResourceVersion != "7" {
		t.Errorf("got %+v", asked)
	}
}
