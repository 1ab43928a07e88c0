package desired

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Subinstallation returns the subinstallation that an Installation wants for one that
// was planned. Live is the one that is there, or nil. The name of a new one follows
// from the parent and the template; with a salt it is another one, for the case that
// something else has taken the first.
func Subinstallation(parent, planned, live *v1alpha1.Installation, salt int) (*v1alpha1.Installation, Change, error) {
	name := planned.Annotations[v1alpha1.SubinstallationNameAnnotation]
	if live == nil {
		sub := planned.DeepCopy()
		sub.Name, sub.GenerateName = job.ChildName(parent.UID, name, salt), name+"-"
		sub.Finalizers = []string{v1alpha1.Finalizer}
		sub.OwnerReferences = controllerOf(parent, "Installation")
		return sub, Create, nil
	}
	sub := live.DeepCopy()
	// Additions of users stay.
	sub.Labels, sub.Annotations = merged(live.Labels, planned.Labels), merged(live.Annotations, planned.Annotations)
	mirror(sub.Annotations, planned.Annotations, v1alpha1.CacheHelmChartsAnnotation)
	wired := planned.Spec.DeepCopy()
	// Templates say nothing about these.
	wired.AutomaticReconcile, wired.RegistryPullSecrets = sub.Spec.AutomaticReconcile, sub.Spec.RegistryPullSecrets
	if wired.ComponentDescriptor.IsEmpty() && sub.Spec.ComponentDescriptor.IsEmpty() {
		// Upstream stores an empty definition for a blueprint without a component.
		wired.ComponentDescriptor = sub.Spec.ComponentDescriptor
	}
	sub.Spec = *wired
	change, err := compared(live, sub)
	return sub, change, err
}
