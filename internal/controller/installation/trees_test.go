package installation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/landscape/plan"
)

// TestTreeTooLarge: a tree beyond a limit ends the job with a clear error.
func TestTreeTooLarge(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.memory.trees.Initialize("uid-2", map[types.UID]plan.Usage{"uid-2": {}, "uid-other": {Installations: plan.MaxTree}})
	b.reconcile(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" || !strings.Contains(s.LastError.Message, "there are more than 5000 subinstallations") {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}
