package release

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestFailedRevisionOwnsNothing keeps the objects of others from a release that named
// them in a revision that failed before it came to them.
func TestFailedRevisionOwnsNothing(t *testing.T) {
	for _, before := range [][]string{nil, {"a"}} {
		cluster := fakecluster.New()
		if before != nil {
			waiting, err := reconcile(t, cluster, &testJob{}, wishFor(before...))
			must(t, waiting, err)
		}
		cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
			if request.Name == "hook-before" && request.Verb == "create" {
				return fakecluster.Fault{Before: refused("hook-before")}
			}
			return fakecluster.Fault{}
		}
		if _, err := reconcile(t, cluster, &testJob{}, wishFor("a", "b")); err == nil || !strings.Contains(err.Error(), "hook-before") {
			t.Fatalf("the hook has not failed: %v", err)
		}
		cluster.Fault = nil
		cluster.Put(Marked(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}, data: {of: others}}"), "other", "here"))
		if _, err := reconcile(t, cluster, &testJob{}, wishFor("a", "b")); err == nil || !strings.Contains(err.Error(), "ConfigMap here/b exists and does not belong to the release") {
			t.Errorf("after %v: %v", before, err)
		}
		if !owned(cluster.Find("ConfigMap", "here", "b"), "other", "here") {
			t.Errorf("after %v: the object of another release was taken", before)
		}
	}
}
