package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/runtime/workpool"
)

const (
	// deliveryPlans are how many plans that need an approval are worked out at the same time, one for
	// each namespace, and up to mostDeliveryPlans where more namespaces have some.
	deliveryPlans, mostDeliveryPlans = 2, 4
	// deliveryPlanLimit is how long one may take.
	deliveryPlanLimit = 10 * time.Minute
)

// Deliveries is what jobs of roots depend on besides their objects, where the feature is on.
type Deliveries struct {
	// Policies reads the DeliveryPolicies of a namespace from a cache.
	Policies func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryPolicy, error)
	// Ahead works out the plans of jobs that need an approval.
	Ahead *Ahead
}

// Ahead works out plans before their jobs begin.
type Ahead struct {
	// Plan works out what the next job of a root would change. The content is encoded.
	Plan func(ctx context.Context, root *v1alpha1.Installation) (*DeliveryPlan, error)
	// Plans and Approvals read those of a namespace from a cache. The plans have no content.
	Plans     func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryPlan, error)
	Approvals func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryApproval, error)

	outside *workpool.Pool[*workedOut]
}

// DeliveryPlan is a plan that may need an approval.
type DeliveryPlan struct {
	Spec    deliveryv1alpha1.DeliveryPlanSpec
	Content []byte
	Permits deliveryplan.Permits
}

// workedOut is a plan, what it was worked out for, and when.
type workedOut struct {
	plan  *DeliveryPlan
	basis delivery.PlanBasis
	seen  []types.UID
	at    time.Time
}

// ahead is what is remembered of the plan of the next job, or of the running one.
type ahead struct {
	mu      sync.Mutex
	planned *delivery.Planned
	permits *deliveryplan.Permits
}

func (a *ahead) get() *delivery.Planned {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.planned
}

func (a *ahead) set(planned *delivery.Planned, permits *deliveryplan.Permits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.planned, a.permits = planned, permits
}

// permitsOf returns the permits of a plan, or nil.
func (a *ahead) permitsOf(digest string) *deliveryplan.Permits {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.permits == nil || a.permits.Digest != digest {
		return nil
	}
	return a.permits
}

// drop forgets a plan whose object was deleted.
func (a *ahead) drop(digest string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.planned != nil && a.planned.Digest == digest {
		a.planned = nil
	}
}

// setUpAhead lets plans be worked out outside the workers.
func (r *Reconciler) setUpAhead(ctx context.Context, enqueue func(types.NamespacedName)) {
	if r.Ahead == nil {
		return
	}
	r.Ahead.outside = workpool.New[*workedOut](ctx, workpool.Options{
		MaxConcurrent: deliveryPlans, Most: mostDeliveryPlans, MaxPerNamespace: 1, MaxResults: mostDeliveryPlans, PreemptAfter: planPreemptAfter, Timeout: deliveryPlanLimit,
		Enqueue: enqueue,
	})
}

// observeApprovals reads what an approval depends on. Where nothing asks for one, nothing is read.
func (r *Reconciler) observeApprovals(ctx context.Context, s *snapshot) (err error) {
	asks := slices.ContainsFunc(s.Policies, func(policy *deliveryv1alpha1.DeliveryPolicy) bool { return policy.Spec.Approval != nil })
	if r.Ahead == nil || !asks && s.OwnApproval == "" {
		return nil
	}
	s.Planned = r.memory.Of(s.Inst.UID).ahead.get()
	if s.Approvals, err = r.Ahead.Approvals(ctx, s.Inst.Namespace); err != nil {
		return fmt.Errorf("read the DeliveryApprovals of namespace %s: %w", s.Inst.Namespace, err)
	}
	if s.Plans, err = r.Ahead.Plans(ctx, s.Inst.Namespace); err != nil {
		return fmt.Errorf("read the DeliveryPlans of namespace %s: %w", s.Inst.Namespace, err)
	}
	return nil
}

// planAhead works out the plan of the next job and stores it. As long as that goes on the attempt ends.
// What fails is said in the condition Deferred: the last job has ended, and its outcome stays.
func (r *Reconciler) planAhead(ctx context.Context, s *snapshot) error {
	if r.Ahead == nil {
		s.Planned = &delivery.Planned{Basis: delivery.BasisOf(s.Inst), At: r.Now(), Failed: "this server works out no plans"}
		return nil
	}
	key, version := workOf(s.Inst)
	root, logger := s.Inst.DeepCopy(), log.FromContext(ctx)
	seen := delivery.Seen(s.Approvals, s.Inst)
	result, how, err := r.Ahead.outside.Fetch(key, version, func(ctx context.Context) (*workedOut, error) {
		result := &workedOut{basis: delivery.BasisOf(root), seen: seen}
		ctx, done := r.Planner.Memory.Begin(ctx, "the next job of Installation "+key.String())
		defer done()
		err := job.RecoverPanic(func() (err error) {
			result.plan, err = r.Ahead.Plan(log.IntoContext(ctx, logger), root)
			return err
		})
		result.at = r.Now()
		return result, memguard.Reason(ctx, err)
	})
	if how != workpool.Done {
		// What was preempted is begun again.
		s.ends = how == workpool.Working
		return nil
	}
	planned, permits := &delivery.Planned{Basis: delivery.BasisOf(s.Inst), At: r.Now()}, (*deliveryplan.Permits)(nil)
	if err == nil {
		spec := &result.plan.Spec
		planned.Basis, planned.Seen, planned.At, permits = result.basis, result.seen, result.at, &result.plan.Permits
		planned.Name, planned.Digest, planned.Summary = deliveryplan.NameOf(s.Inst.Name, spec.Digest), spec.Digest, spec.Summary
		err = r.storeDeliveryPlan(ctx, s, result.plan)
	}
	switch {
	case errors.Is(err, deliveryplan.ErrTooLarge):
		planned.Failed, planned.Refused = deliveryplan.ErrTooLarge.Error(), true
	case err != nil:
		log.FromContext(ctx).Info("the plan of a job cannot be worked out", "cause", err.Error())
		planned.Failed = err.Error()
	}
	s.Planned = planned
	r.memory.Of(s.Inst.UID).ahead.set(planned, permits)
	return nil
}

// storeDeliveryPlan stores a plan, unless it is stored, and deletes those that are out of date.
func (r *Reconciler) storeDeliveryPlan(ctx context.Context, s *snapshot, made *DeliveryPlan) error {
	known := s.Planned
	if known == nil || known.Failed != "" || known.Digest != made.Spec.Digest {
		for _, object := range deliveryplan.Objects(s.Inst, made.Spec, made.Content) {
			if err := r.storePart(ctx, object); err != nil {
				return fmt.Errorf("store DeliveryPlan %s/%s: %w", object.Namespace, object.Name, err)
			}
		}
	}
	return r.deleteOutdated(ctx, s, made.Spec.Digest)
}

// storePart creates an object of a plan. One that exists is that of an earlier process, or is replaced:
// the name has only a part of the digest, and another Installation may have had the name.
func (r *Reconciler) storePart(ctx context.Context, object *deliveryv1alpha1.DeliveryPlan) error {
	err := r.Client.Create(ctx, object.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err // the caller says what is stored
	}
	live := &deliveryv1alpha1.DeliveryPlan{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err // the caller says what is stored
	}
	same := live.Spec.Digest == object.Spec.Digest && live.Spec.Installation.UID == object.Spec.Installation.UID && live.Spec.Parts == object.Spec.Parts
	if same && live.DeletionTimestamp == nil {
		return nil
	}
	if err := r.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
		return err // the caller says what is stored
	}
	return r.Client.Create(ctx, object.DeepCopy()) // the caller says what is stored
}

// deleteOutdated deletes the plans of a root but the present one and the one before, with which people
// compare it.
func (r *Reconciler) deleteOutdated(ctx context.Context, s *snapshot, digest string) error {
	own := slices.DeleteFunc(slices.Clone(s.Plans), func(plan *deliveryv1alpha1.DeliveryPlan) bool {
		return plan.Spec.Installation.UID != s.Inst.UID || plan.Spec.Digest == digest
	})
	slices.SortFunc(own, deliveryplan.Newer)
	present := slices.IndexFunc(s.Plans, func(plan *deliveryv1alpha1.DeliveryPlan) bool {
		return plan.Spec.Installation.UID == s.Inst.UID && plan.Spec.Digest == digest
	})
	before := ""
	for _, plan := range own {
		// What happens now may be what would have happened before: then later plans are out of date.
		later := present >= 0 && deliveryplan.Newer(plan, s.Plans[present]) < 0
		if before == "" && !later {
			before = plan.Spec.Digest
		}
		if !later && plan.Spec.Digest == before {
			continue
		}
		if err := r.Client.Delete(ctx, plan.DeepCopy(), client.Preconditions{UID: &plan.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete DeliveryPlan %s/%s, which is out of date: %w", plan.Namespace, plan.Name, err)
		}
	}
	return nil
}

// forgetAhead cancels the work for a plan of a job that nothing asks for any more.
func (r *Reconciler) forgetAhead(key types.NamespacedName) {
	if r.Ahead != nil {
		r.Ahead.outside.Forget(key)
	}
}

// notePlan notes in the status, with the ID of the job, what the job may carry out.
func (r *Reconciler) notePlan(ctx context.Context, s *snapshot) {
	status := &s.Inst.Status
	status.ApprovedPlan = nil
	if s.approved == nil {
		return
	}
	status.ApprovedPlan = s.approved.DeepCopy()
	status.ApprovedPlan.JobID = status.JobID
	message := "job " + status.JobID + " begins with plan " + s.approved.Digest
	switch by := s.approved.ApprovedBy; {
	case len(by) == 0:
		message += ", which needs no approval"
	default:
		message += ", approved by " + strings.Join(by, " and ")
	}
	log.FromContext(ctx).Info("a job begins with a plan", "job", status.JobID, "plan", s.approved.Name, "digest", s.approved.Digest, "approvedBy", s.approved.ApprovedBy)
	r.reporter().Emit(s.subject, corev1.EventTypeNormal, reasons.Approved, message)
}

// checkPermits ends a job that would write what its approved plan does not have, before anything is
// written.
func (r *Reconciler) checkPermits(ctx context.Context, s *snapshot, made *renderedJob) error {
	if r.Ahead == nil {
		return nil
	}
	lineage, err := ancestor.Lineage(ctx, r.Client, s.Inst, plan.MaxDepth)
	if err != nil {
		return err // names the object
	}
	root, err := r.governing(ctx, s.Inst, lineage[0])
	if root == nil || err != nil {
		return err
	}
	approved := root.Status.ApprovedPlan
	if lineage[0].UID != root.UID {
		return notApproved(approved, "Installation "+s.Inst.Name+" is not below Installation "+root.Name+" any more")
	}
	permits, err := r.permits(ctx, root, approved)
	if err != nil {
		return err
	}
	written, err := deliveryplan.Sealer{Key: r.Planner.Key, Root: root.UID, Digest: approved.Digest}.Children(deliveryplan.Rendered{
		Lineage: lineage, Children: made.children, Targets: s.Inputs.Imports.AllTargets(),
	})
	if err != nil {
		return job.AsTerminal(fmt.Errorf("compare with the approved plan: %w", err))
	}
	path, trouble := deliveryplan.PathOf(lineage)
	if trouble == "" {
		trouble = permits.Check(path, written)
	}
	if trouble != "" {
		return notApproved(approved, trouble)
	}
	s.governed = true
	return nil
}

// governing returns the root whose approved plan the job of an Installation may carry out; nil if no plan
// was asked for. It is the top of the lineage, or the one that began the job: users may change owner
// references, and only the server the IDs of jobs. The watch of Installations shows the job of a root
// before those of its children.
func (r *Reconciler) governing(ctx context.Context, inst, top *v1alpha1.Installation) (*v1alpha1.Installation, error) {
	if approved := top.Status.ApprovedPlan; approved != nil && approved.JobID == top.Status.JobID {
		return top, nil
	}
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.ByApproval: inst.Status.JobID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Installations with an approved plan for job %s: %w", inst.Status.JobID, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

func notApproved(approved *v1alpha1.ApprovedPlan, trouble string) error {
	return job.AsTerminal(job.NewError(published.HandlePhaseInit, reasons.NotApproved, "the job would not do what plan "+approved.Digest+" says: "+trouble))
}

// permits reads what a job may write: once in a process, for all of a tree.
func (r *Reconciler) permits(ctx context.Context, root *v1alpha1.Installation, approved *v1alpha1.ApprovedPlan) (*deliveryplan.Permits, error) {
	known := &r.memory.Of(root.UID).ahead
	if permits := known.permitsOf(approved.Digest); permits != nil {
		return permits, nil
	}
	get := func(name string) (*deliveryv1alpha1.DeliveryPlan, error) {
		found := &deliveryv1alpha1.DeliveryPlan{}
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: root.Namespace, Name: name}, found)
		switch {
		case apierrors.IsNotFound(err):
			return nil, notApproved(approved, "DeliveryPlan "+name+" was deleted")
		case err != nil:
			return nil, fmt.Errorf("read DeliveryPlan %s/%s: %w", root.Namespace, name, err)
		}
		return found, nil
	}
	first, err := get(approved.Name)
	if err != nil {
		return nil, err
	}
	content, err := deliveryplan.Join(first, get)
	var permits deliveryplan.Permits
	if err == nil {
		permits, err = deliveryplan.Decode(content, nil)
	}
	switch {
	case errors.Is(err, deliveryplan.ErrDamaged), err == nil && permits.Digest != approved.Digest:
		return nil, notApproved(approved, "DeliveryPlan "+approved.Name+" is not that plan any more")
	case err != nil:
		return nil, err
	}
	known.set(known.get(), &permits)
	return &permits, nil
}
