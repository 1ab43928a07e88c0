package installation

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/controller/installation/treesize"
	"go.landscaper.dev/internal/landscape/plan"
)

// TestTreeTooLarge: a tree beyond a limit ends the job with a clear error.
func TestTreeTooLarge(t *testing.T) {
	b := newBench(t, nested(t)...)
	root := &b.memory.Of("uid-2").tree
	root.Plant(map[*treesize.Member]plan.Usage{root: {}, &b.memory.Of("uid-other").tree: {Installations: plan.MaxTree}})
	b.reconcile(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" || !strings.Contains(s.LastError.Message, "there are more than 5000 subinstallations") {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}
