package server

import (
	"context"
	"fmt"
	"math"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/preview"
)

// maxFollows bounds the roots that a stored plan names: the plan itself has all.
const maxFollows = 1000

// ahead works out the plans that need an approval, with the rights and the connections of the server: its
// jobs have the same.
type ahead struct {
	config   Config
	cached   client.Client
	clusters *cluster.Pool
	library  *library
	key      []byte
}

// ahead returns what works plans out before their jobs; nil where no policies count.
func (d *delivery) ahead(manager ctrl.Manager, config Config, clusters *cluster.Pool, library *library, key []byte) *installation.Ahead {
	if !d.counts() {
		return nil
	}
	a := &ahead{config: config, cached: manager.GetClient(), clusters: clusters, library: library, key: key}
	return &installation.Ahead{Plan: a.plan, Plans: a.plans, Approvals: a.approvals}
}

func (a *ahead) plans(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryPlan, error) {
	list := &deliveryv1alpha1.DeliveryPlanList{}
	if err := a.cached.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err // the caller says what was read
	}
	found := make([]*deliveryv1alpha1.DeliveryPlan, len(list.Items))
	for i := range list.Items {
		found[i] = &list.Items[i]
	}
	return found, nil
}

func (a *ahead) approvals(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryApproval, error) {
	list := &deliveryv1alpha1.DeliveryApprovalList{}
	if err := a.cached.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err // the caller says what was read
	}
	found := make([]*deliveryv1alpha1.DeliveryApproval, len(list.Items))
	for i := range list.Items {
		found[i] = &list.Items[i]
	}
	return found, nil
}

// plan works out what the next job of a root would change.
func (a *ahead) plan(ctx context.Context, root *v1alpha1.Installation) (*installation.DeliveryPlan, error) {
	snapshot, err := reading.Collect(ctx, whole{a.cached}, root.Namespace)
	if err != nil {
		return nil, err // names what could not be read
	}
	tree := inspect.Tree(snapshot, root.Namespace, root.Name)
	if tree == nil || tree.Installation == nil || tree.Installation.UID != root.UID {
		return nil, fmt.Errorf("Installation %s/%s does not exist any more", root.Namespace, root.Name) //nolint:staticcheck // the name of a kind
	}
	previewer := newPreviewer(a.config, a.library, preview.Remember(a.cached), a.clusters)
	previewer.TooLarge = deliveryplan.ErrTooLarge
	work := previewer.Of
	if predicates.BeingDeleted(root) {
		work = previewer.OfDeletion
	}
	result, err := work(ctx, tree, inspect.Forest(snapshot))
	if err != nil {
		return nil, err // says what a job would say
	}
	permits, err := result.Permits(tree.Installation, a.key)
	if err != nil {
		return nil, err // names the child
	}
	content, err := deliveryplan.Encode(result, permits)
	if err != nil {
		return nil, err // says what is too large
	}
	return &installation.DeliveryPlan{Permits: permits, Content: content, Spec: deliveryv1alpha1.DeliveryPlanSpec{
		Installation: deliveryv1alpha1.PlannedInstallation{Name: root.Name, UID: root.UID, Generation: tree.Installation.Generation, Deleted: predicates.BeingDeleted(root)},
		Digest:       result.Digest, Summary: summaryOf(result.Summary), Follows: result.Follows[:min(len(result.Follows), maxFollows)],
	}}, nil
}

func summaryOf(s diff.Summary) deliveryv1alpha1.PlanSummary {
	count := func(n int) int32 { return int32(min(n, math.MaxInt32)) } //nolint:gosec // it is bounded
	return deliveryv1alpha1.PlanSummary{
		Create: count(s.Create), Change: count(s.Update), Delete: count(s.Delete), Replace: count(s.Replace),
		Move: count(s.Move), Keep: count(s.Keep), Unknown: count(s.Unknown),
	}
}

// whole reads lists from a cache without pages. A cache returns a token for the next page whether there is
// one or not, and the same list again.
type whole struct{ client.Reader }

// List implements client.Reader.
func (w whole) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := &client.ListOptions{}
	asked.ApplyOptions(options)
	asked.Limit, asked.Continue = 0, ""
	err := w.Reader.List(ctx, list, asked)
	list.SetContinue("")
	return err // the caller says what was read
}
