package lifecycle

import (
	"context"
	"fmt"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/job"
)

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	a.now.done[a.next.do] = true
	switch a.next.do {
	case fail:
		return job.Wake{}, a.next.cause
	case finish:
		return a.now.work.finish(ctx)
	}
	return a.next.wake, a.carryOut(ctx)
}

// carryOut carries out a step whose decision says what follows.
func (a *attempt) carryOut(ctx context.Context) (err error) {
	r, now := a.r, a.now
	switch a.next.do {
	case begin:
		return r.begin(ctx, now.e, now.kind)
	case adopt:
		return r.adopt(ctx, now.e)
	case await:
		if now.work != nil {
			return now.work.await(ctx, a.next.pause)
		}
		return r.report(ctx, now.e, func(status *gardener.ExtensionStatus) {
			r.processing(status, now.kind, a.next.pause.progress, a.next.pause.why)
		})
	case depart:
		return r.leave(ctx, now)
	case sweep:
		return r.sweep(ctx, now)
	case release:
		return r.release(ctx, now)
	case prepare:
		now.work, err = r.prepare(ctx, now)
		return err
	case record:
		// The attempt begins anew.
		w := now.work
		now.work, now.done = nil, map[step]bool{begin: true, record: true}
		w.progress()
		return w.record(ctx)
	}
	return a.carryOutPiece(ctx, now.work)
}

// carryOutPiece carries out a step about what a shoot gets.
func (a *attempt) carryOutPiece(ctx context.Context, w *work) error {
	switch a.next.do {
	case writeManifests:
		return w.writeManifests(ctx)
	case findData:
		return w.findData(ctx)
	case askRights:
		return w.write(ctx, withRights(w.pieces.data, w.fresh), &w.data)
	case findOwners:
		return w.findOwners(ctx)
	case askToken:
		return w.Systems.Shoots.Ask(ctx, w.e.Namespace)
	case writeData:
		return w.write(ctx, w.pieces.data, &w.data)
	case configure:
		return w.write(ctx, w.pieces.config, &w.configured)
	case look:
		return w.look(ctx)
	case remember:
		return w.report(ctx, w.e, w.remember)
	case freeze:
		w.progress()
		return w.freeze(ctx)
	}
	return a.carryOutBefore(ctx, w)
}

// carryOutBefore carries out a step that comes before all pieces.
func (a *attempt) carryOutBefore(ctx context.Context, w *work) error {
	switch a.next.do {
	case makeKey:
		return w.makeKey(ctx)
	case noteRotation:
		return w.rotated(ctx)
	case showKey:
		return w.show(ctx)
	case collect:
		return w.collect(ctx)
	}
	return fmt.Errorf("step %q is unknown", a.next.do)
}
