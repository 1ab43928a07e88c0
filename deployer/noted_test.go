package deployer

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/crashnote"
)

// attempts answer each attempt with an error, or let it begin.
type attempts struct {
	err    error
	begun  []types.UID
	ending int
}

// Begin implements Attempts.
func (a *attempts) Begin(ctx context.Context, _ types.NamespacedName, uid types.UID) (with context.Context, end func(error) error, err error) {
	if a.err != nil {
		return nil, nil, a.err
	}
	a.begun = append(a.begun, uid)
	return ctx, func(err error) error {
		a.ending++
		return err
	}, nil
}

// TestNoted: work of the deployer is noted before it begins, and until it is over, whatever its result.
func TestNoted(t *testing.T) {
	for _, test := range []struct {
		reason  string
		refused error
		work    error
		phase   v1alpha1.DeployItemPhase
		ended   bool
		message string
		calls   int
	}{
		{"work that succeeds", nil, nil, v1alpha1.DeployItemPhases.Succeeded, true, "", 1},
		{"work that fails has been survived, too", nil, errors.New("it is not there"), v1alpha1.DeployItemPhases.Init, false, "it is not there", 1},
		{"work that has ended the process waits", &crashnote.Postponed{Until: time.Unix(1005, 0), Ends: 1}, nil, v1alpha1.DeployItemPhases.Init, false, "the next at 00:16:45 UTC", 0},
		{"work that has ended the process too often ends the job", &crashnote.GivenUp{Key: crashnote.Key{Kind: "DeployItem", Namespace: "ns", Name: "item"}, Until: time.Unix(1005, 0)}, nil, v1alpha1.DeployItemPhases.Failed, true, "the server ended 3 times during this attempt on DeployItem ns/item", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			calls, notes := 0, &attempts{err: test.refused}
			s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) {
				if calls++; len(notes.begun) != 1 || notes.ending != 0 {
					t.Error("it is not noted while it runs")
				}
				return Done(), test.work
			}}, newItem())
			s.reconciler.options.Attempts = notes
			s.look()
			s.expect(test.phase, test.ended, test.message)
			if calls != test.calls || notes.ending != test.calls {
				t.Errorf("%d calls, %d are over", calls, notes.ending)
			}
		})
	}
}
