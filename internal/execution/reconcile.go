package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/seniority"
)

// Reconciler drives Executions.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Reader reads from the API server what no cache holds: export Secrets.
	Reader client.Reader
	// Order lets older jobs go first.
	Order *seniority.Order
	// Now is the clock.
	Now func() time.Time
	// PickupTimeout limits the time until a deployer takes an item up; 0 means no
	// limit.
	PickupTimeout time.Duration
	// NewJobID makes the IDs of jobs.
	NewJobID func() string

	written job.Written
	// created has the time of the creation of items that no cache has shown yet.
	created sync.Map
}

// Reconcile brings an Execution as far as it comes without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := r.observe(ctx, request)
	if errors.Is(err, errLagging) {
		return ctrl.Result{RequeueAfter: lagLimit}, nil
	}
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	for {
		next := decide(*s)
		if next == rest {
			return ctrl.Result{}, nil
		}
		log.FromContext(ctx).V(1).Info("step", "step", next, "phase", s.exec.Status.ExecutionPhase, "job", s.exec.Status.JobID)
		err := r.apply(ctx, s, next)
		if errors.Is(err, errGone) || job.IsShutdown(ctx, err) {
			return ctrl.Result{}, nil
		}
		if errors.Is(err, errWait) {
			// The only deadline: somebody has to take the items up.
			after, err := r.watchPickup(ctx, s)
			if err != nil {
				return r.report(ctx, s, next, err)
			}
			return ctrl.Result{RequeueAfter: after}, nil
		}
		if err != nil {
			return r.report(ctx, s, next, err)
		}
	}
}

var (
	// errGone says that the object has disappeared while we worked on it.
	errGone = errors.New("the object is gone")
	// errWait says that the next event continues the work. It is no error.
	errWait = errors.New("waiting for an event")
	// errLagging says that the cache does not show yet what we have created.
	errLagging = errors.New("the cache is behind")
)

// lagLimit is how long a cache may be behind before we ask the API server.
const lagLimit = time.Second

// observe reads the snapshot. It returns none if the object is gone, or if a cache
// is behind what we wrote ourselves; the newer version wakes us again.
func (r *Reconciler) observe(ctx context.Context, request ctrl.Request) (*snapshot, error) {
	exec := &v1alpha1.Execution{}
	if err := r.Client.Get(ctx, request.NamespacedName, exec); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !r.written.Fresh(exec) {
		return nil, nil
	}
	s := &snapshot{exec: exec.DeepCopy()}
	if err := r.observeParent(ctx, s); err != nil {
		return nil, err
	}
	list := &v1alpha1.DeployItemList{}
	if err := r.Client.List(ctx, list, client.InNamespace(exec.Namespace), client.MatchingFields{itemsByExecution: exec.Name}); err != nil {
		return nil, fmt.Errorf("list the DeployItems of Execution %s: %w", request, err)
	}
	for i := range list.Items {
		item := &list.Items[i]
		if !r.written.Fresh(item) {
			return nil, nil
		}
		r.created.Delete(client.ObjectKeyFromObject(item))
		if owner := metav1.GetControllerOf(item); owner == nil || owner.UID == exec.UID {
			s.items = append(s.items, item.DeepCopy())
		}
	}
	return s, r.observeMissing(ctx, s)
}

// observeMissing looks for items that we know of but that the cache does not show.
// A missing item fails a job, so the cache must not be mistaken: what we have just
// created is waited for, and about everything else the API server has the last
// word.
func (r *Reconciler) observeMissing(ctx context.Context, s *snapshot) error {
	cache := s.exec.Status.DeployItemCache
	if cache == nil || s.exec.DeletionTimestamp != nil || !job.Unfinished(s.exec.Status.JobID, s.exec.Status.JobIDFinished) {
		return nil
	}
	shown := make(map[string]bool, len(s.items))
	for _, item := range s.items {
		shown[item.Name] = true
	}
	for _, pair := range cache.ActiveDIs {
		if shown[pair.ObjectName] {
			continue
		}
		key := client.ObjectKey{Namespace: s.exec.Namespace, Name: pair.ObjectName}
		if created, ok := r.created.Load(key); ok && r.Now().Sub(created.(time.Time)) < lagLimit {
			return errLagging
		}
		r.created.Delete(key)
		item := &v1alpha1.DeployItem{}
		switch err := r.Reader.Get(ctx, key, item); {
		case err == nil:
			s.items = append(s.items, item)
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("read DeployItem %s: %w", key, err)
		}
	}
	return nil
}

func (r *Reconciler) observeParent(ctx context.Context, s *snapshot) error {
	at := slices.IndexFunc(s.exec.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Installation" && strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/")
	})
	if at < 0 {
		return nil
	}
	owner := s.exec.OwnerReferences[at]
	parent := &v1alpha1.Installation{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.exec.Namespace, Name: owner.Name}, parent)
	switch {
	case apierrors.IsNotFound(err) || (err == nil && parent.UID != owner.UID):
		s.orphaned = true
	case err != nil:
		return fmt.Errorf("read Installation %s/%s: %w", s.exec.Namespace, owner.Name, err)
	default:
		s.parent = parent
	}
	return nil
}

// apply carries a step out.
func (r *Reconciler) apply(ctx context.Context, s *snapshot, next step) error {
	switch next {
	case interrupt:
		return r.interrupt(ctx, s)
	case adopt:
		s.exec.Status.JobID = r.NewJobID()
		if s.parent != nil {
			s.exec.Status.JobID = s.parent.Status.JobID
		}
		s.exec.Status.TransitionTimes = job.Triggered(metav1.NewTime(r.Now()))
		return r.begin(ctx, s)
	case begin:
		return r.begin(ctx, s)
	case advance:
		return r.advance(ctx, s)
	case complete:
		return r.complete(ctx, s)
	case remove:
		return r.remove(ctx, s)
	case drain:
		return r.drain(ctx, s)
	}
	return fmt.Errorf("there is no way to carry out step %q", next)
}
