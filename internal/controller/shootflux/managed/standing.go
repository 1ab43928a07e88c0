package managed

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/safetext"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// secretUnreadable is the reason of the resource manager for a missing Secret.
const secretUnreadable = "CannotReadSecret"

// Standing is the state of a ManagedResource.
type Standing struct {
	// Exists, and Going if it is being deleted.
	Exists, Going bool
	// Ours means that this extension has written it, not an earlier one.
	Ours bool
	// Frozen means that the resource manager ignores its objects.
	Frozen bool
	// Applied means that its current contents are in the shoot.
	Applied bool
	// Healthy means that its objects are healthy as well.
	Healthy bool
	// Unseen means that the resource manager has not seen the current contents yet.
	Unseen bool
	// Reason and Message say what is missing.
	Reason, Message string
	// unreadable means that a Secret is missing.
	unreadable bool
	// objects are the applied objects in the shoot.
	objects []gardener.ManagedObject
}

// Has says whether the resource manager has applied an object to the shoot.
func (s Standing) Has(object *unstructured.Unstructured) bool {
	return slices.Contains(s.objects, gardener.ManagedObject{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
	})
}

// Judge returns the state of a ManagedResource; nil is a ManagedResource that does not exist.
//
// Conditions count only for the generation that the resource manager has seen: right after
// a write they are about the contents before.
func Judge(resource *gardener.ManagedResource) Standing {
	if resource == nil {
		return Standing{Reason: string(reasons.Missing), Message: "it does not exist"}
	}
	s := Standing{
		Exists: true, Ours: resource.Labels[ManagerLabel] == Manager, Going: resource.DeletionTimestamp != nil, Frozen: frozen(resource),
		objects: resource.Status.Resources,
	}
	if s.Frozen {
		s.Applied, s.Healthy = true, true
		return s
	}
	if resource.Status.ObservedGeneration != resource.Generation {
		s.Unseen, s.Reason, s.Message = true, string(reasons.Pending), "the resource manager has not seen it yet"
		return s
	}
	applied := gardener.FindCondition(resource.Status.Conditions, gardener.ResourcesApplied)
	if s.Applied = isTrue(applied); !s.Applied {
		s.explain(applied, reasons.NotApplied, "the resource manager applies it")
		s.unreadable = applied != nil && applied.Reason == secretUnreadable
		return s
	}
	healthy := gardener.FindCondition(resource.Status.Conditions, gardener.ResourcesHealthy)
	if s.Healthy = isTrue(healthy); !s.Healthy {
		s.explain(healthy, reasons.NotHealthy, "the resource manager waits until it is healthy")
	}
	return s
}

func isTrue(condition *gardener.Condition) bool {
	return condition != nil && condition.Status == gardener.ConditionTrue
}

func (s *Standing) explain(condition *gardener.Condition, reason reasons.Reason, message string) {
	s.Reason, s.Message = string(reason), message
	if condition != nil {
		// The owner of the shoot may control this text.
		s.Reason, s.Message = safetext.Text(condition.Reason), safetext.Text(condition.Message)
	}
}

func frozen(resource *gardener.ManagedResource) bool {
	return resource.Annotations[gardener.IgnoreAnnotation] == "true" || resource.Annotations[ObjectsAnnotation] == left
}
