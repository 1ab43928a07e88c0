package fleet

import (
	"context"
	"time"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
)

// Gates asks gates.
type Gates interface {
	// Open reports whether a gate is open for the Installations of a wave, and why it is not.
	Open(ctx context.Context, gate *fleetv1alpha1.Gate, members []*fleet.Member) fleet.Verdict
}

// gatePause is how long an answer counts: events of Installations ask no sooner again.
const gatePause = 5 * time.Second

// ask asks all gates of a wave but promotions, which the Fleet itself has.
func (a *attempt) ask(ctx context.Context, question *fleet.Question) map[string]fleet.Verdict {
	asked, now := &a.known.asked, a.r.Now()
	if asked.wave == question.Wave.Name && asked.revision == a.out.Status.Revision && now.Sub(asked.at) < gatePause {
		return asked.verdicts
	}
	verdicts := map[string]fleet.Verdict{}
	for i := range question.Wave.Gates {
		if gate := &question.Wave.Gates[i]; !gate.Promotion {
			verdicts[gate.Name] = a.r.Gates.Open(ctx, gate, question.Members)
		}
	}
	*asked = answers{wave: question.Wave.Name, revision: a.out.Status.Revision, at: now, verdicts: verdicts}
	return verdicts
}
