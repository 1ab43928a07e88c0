package doctor

import (
	"errors"
	"fmt"
	"testing"

	"go.landscaper.dev/internal/cluster/clustererror"
)

// TestUnasked: a cluster that was not asked, because no token was requested, is no problem of the
// cluster.
func TestUnasked(t *testing.T) {
	failed := clustererror.Explain(clustererror.NoToken{Cause: errors.New("not told to")}, clustererror.TalkToCluster, "https://edge.example.org")
	answers := map[string]error{"n/good": nil, "n/down": errors.New("no route"), "n/token": fmt.Errorf("look: %w", failed)}
	moved := unasked(answers)
	if len(moved) != 1 || moved["n/token"] == nil || len(answers) != 2 || answers["n/down"] == nil {
		t.Errorf("not asked: %v, answers: %v", moved, answers)
	}
}
