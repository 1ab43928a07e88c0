package targetsync_test

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestExamples: the TargetSyncs in examples/targetsync make the Targets that they speak
// of. Only names that belong to the test are replaced.
func TestExamples(t *testing.T) {
	example := func(s *space, file string) {
		t.Helper()
		content, err := os.ReadFile("../../../examples/targetsync/" + file)
		if err != nil {
			t.Fatal(err)
		}
		sync := &v1alpha1.TargetSync{}
		if err := yaml.UnmarshalStrict(content, sync); err != nil {
			t.Fatal(err)
		}
		s.sync(sync.Spec)
		s.awaitReady("Synchronized")
	}
	t.Run("shoots", func(t *testing.T) {
		s := newSpace(t, mayUseShoots...)
		s.shoot("prod-eu")
		s.shoot("dev")
		example(s, "shoots.yaml")
		if s.target("prod-eu") == nil || s.target("garden") == nil || s.target("dev") != nil {
			t.Error("other Targets than it says")
		}
	})
	t.Run("Secrets", func(t *testing.T) {
		s := newSpace(t, mayReadSecrets("list"))
		s.put("north.kubeconfig", kubeconfig(t, source, "north", "word"))
		s.put("north", kubeconfig(t, source, "north", "word"))
		example(s, "secrets.yaml")
		if s.target("north.kubeconfig") == nil || s.target("north") != nil {
			t.Error("other Targets than it says")
		}
	})
}
