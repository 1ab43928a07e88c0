package deployer_test

import (
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// awaitTarget returns when the deployer has seen that the Target "cluster" of a namespace has
// changed, as shown by an item that uses it: Targets and items come by two watches, of which either
// may be faster.
func awaitTarget(t *testing.T, namespace, message string) {
	t.Helper()
	for late := time.Now().Add(waitLimit); time.Now().Before(late); {
		probe := newItem(t, namespace, "", strings.ReplaceAll(oneConfigMap, "smallest", "probe"))
		probe.GenerateName = "probe-"
		create(t, probe)
		seen := awaitItem(t, probe, "its end, or an error", func(item *v1alpha1.DeployItem) bool {
			return item.Status.JobIDFinished != "" || item.Status.LastError != nil
		})
		if seen.Status.LastError == nil {
			continue
		}
		if !strings.Contains(seen.Status.LastError.Message, message) {
			t.Fatalf("last error %+v", seen.Status.LastError)
		}
		// Nothing of it is to come between what the test looks at.
		if _, err := interrupt(t.Context(), seen, v1alpha1.DeployItemPhases.Failed); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("items still use the earlier Target, want %q", message)
}
