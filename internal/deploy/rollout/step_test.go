package rollout

import (
	"testing"

	"go.landscaper.dev/internal/deploy/apply"
)

func TestNext(t *testing.T) {
	pending := func(definitions, cluster, namespaced int) map[apply.Stage]int {
		return map[apply.Stage]int{apply.StageDefinitions: definitions, apply.StageCluster: cluster, apply.StageNamespaced: namespaced}
	}
	tests := []struct {
		reason string
		progress
		want step
	}{
		{"definitions come first, whatever else is to be done", progress{pending: pending(1, 2, 3)}, applyDefinitions},
		{"an object needs its kind", progress{pending: pending(0, 2, 3)}, awaitDefinitions},
		{"kinds that are served need no wait", progress{pending: pending(0, 2, 3), served: true}, applyCluster},
		{"a namespace comes before its content", progress{pending: pending(0, 1, 3), served: true}, applyCluster},
		{"the content comes after the namespace", progress{pending: pending(0, 0, 3), served: true}, applyNamespaced},
		{"orphans are removed when everything wanted is applied", progress{pending: pending(0, 0, 0), served: true}, removeOrphans},
		{"orphans are not removed before everything wanted is applied", progress{pending: pending(0, 0, 1), served: true, cleaned: true}, applyNamespaced},
		{"readiness comes last: an orphan may hold what a new object needs", progress{served: true, cleaned: true}, awaitReadiness},
		{"an item without objects has orphans, perhaps", progress{served: true}, removeOrphans},
		{"custom checks come after the default readiness check", progress{served: true, cleaned: true, ready: true, checks: 2}, awaitCustom},
		{"values are read when everything is ready", progress{served: true, cleaned: true, ready: true}, readExports},
		{"values are stored when all are there", progress{served: true, cleaned: true, ready: true, exportsRead: true}, storeExports},
		{"a patch comes last: it may stop what was needed to become ready", progress{served: true, cleaned: true, ready: true, exportsRead: true, exportsStored: true}, patchAfterwards},
		{"all is done", progress{served: true, cleaned: true, ready: true, exportsRead: true, exportsStored: true, patched: true}, finished},
		{"an object that another client deletes must not exist any more before it is created again", progress{pending: pending(0, 0, 1), ending: 1, served: true}, awaitEnd},
		{"an object that another client deletes is awaited even if other objects could be applied", progress{pending: pending(0, 1, 1), ending: 1, served: true}, awaitEnd},
		{"a roll-out does not end before objects that are being deleted", progress{ending: 1, served: true, cleaned: true, ready: true}, awaitEnd},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := next(test.progress); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestNextEnds shows that every step leads on: a roll-out that does what next says ends.
func TestNextEnds(t *testing.T) {
	p := progress{checks: 2, pending: map[apply.Stage]int{apply.StageDefinitions: 2, apply.StageCluster: 2, apply.StageNamespaced: 2}, ending: 1}
	for range 20 {
		switch s := next(p); s {
		case finished:
			return
		case awaitEnd:
			p.ending--
		case awaitDefinitions:
			p.served = true
		case removeOrphans:
			p.cleaned = true
		case awaitReadiness:
			p.ready = true
		case awaitCustom:
			p.checks--
		case readExports:
			p.exportsRead = true
		case storeExports:
			p.exportsStored = true
		case patchAfterwards:
			p.patched = true
		default:
			p.pending[stages[s]]--
		}
	}
	t.Errorf("no end: %+v", p)
}
