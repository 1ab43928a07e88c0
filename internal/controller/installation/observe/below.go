package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// mostStuck is how many blocked subinstallations are read: a job that continues reads again with
// each change.
const mostStuck = 20

// Below reads what is below the children of an Installation, from the caches: only where these have
// failed, or are blocked by it.
func (r Reader) Below(ctx context.Context, f siblings.Family) (siblings.Tree, error) {
	return r.below(ctx, f, job.Round(f.Inst), plan.MaxDepth)
}

func (r Reader) below(ctx context.Context, f siblings.Family, jobID string, depth int) (siblings.Tree, error) {
	tree, stuck := siblings.Shallow(f), 0
	for i := range tree.Subs {
		sub := tree.Subs[i].Inst
		if !siblings.HidesCause(sub, jobID) || depth == 0 {
			continue
		}
		if stuck++; stuck > mostStuck && !siblings.HasFailed(sub, jobID) {
			continue
		}
		below := siblings.Family{Inst: sub}
		var err error
		if below.Exec, err = r.execution(ctx, sub); err != nil {
			return tree, err
		}
		if below.Subs, err = r.ownSubs(ctx, sub); err != nil {
			return tree, err
		}
		if tree.Subs[i], err = r.below(ctx, below, jobID, depth-1); err != nil {
			return tree, err
		}
	}
	return tree, nil
}

// execution reads the Execution of an Installation; nil if it does not exist. It must not be
// changed.
func (r Reader) execution(ctx context.Context, inst *v1alpha1.Installation) (*v1alpha1.Execution, error) {
	exec := &v1alpha1.Execution{}
	err := r.Cached.Get(ctx, client.ObjectKeyFromObject(inst), exec, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err), err == nil && !predicates.AsOwner(inst).Owns(exec):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Execution %s/%s: %w", inst.Namespace, inst.Name, err)
	}
	return exec, nil
}
