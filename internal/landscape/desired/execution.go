package desired

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// Execution returns the Execution that an Installation wants for its deploy items.
// Live is the one that is there, or nil. Without items none is wanted, but one that
// exists is emptied, so that its items go.
func Execution(inst *v1alpha1.Installation, items v1alpha1.DeployItemTemplateList, live *v1alpha1.Execution) (*v1alpha1.Execution, Change, error) {
	if live == nil && len(items) == 0 {
		return nil, None, nil
	}
	exec := live.DeepCopy()
	if live == nil {
		exec = &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{
			Name: inst.Name, Namespace: inst.Namespace,
			// Upstream writes it on each Execution, and nothing ever removes it or acts on it: the job comes
			// from the parent.
			Annotations:     map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
			Finalizers:      []string{v1alpha1.Finalizer},
			OwnerReferences: controllerOf(inst, "Installation"),
		}}
	}
	if exec.Annotations == nil {
		exec.Annotations = map[string]string{}
	}
	mirror(exec.Annotations, inst.Annotations, v1alpha1.CacheHelmChartsAnnotation)
	inherit(exec.Annotations, inst.Annotations, v1alpha1.LeaveEarlierClusterAnnotation)
	exec.Spec.Context = inst.Spec.Context
	if err := exec.Spec.SetItems(items); err != nil {
		return nil, "", err // says what was encoded
	}
	if live == nil {
		return exec, Create, nil
	}
	change, err := compareExecutions(live, exec)
	return exec, change, err
}

// compareExecutions compares the items and not the form that they are stored in.
//
// Items are stored plain or compressed, and both say the same: see SetItems.
func compareExecutions(live, changed *v1alpha1.Execution) (Change, error) {
	first, second := meaning{Annotations: live.Annotations, Context: live.Spec.Context}, meaning{Annotations: changed.Annotations, Context: changed.Spec.Context}
	var err error
	if first.Items, err = live.Spec.Items(); err != nil {
		// A value that cannot be read is replaced.
		return Update, nil //nolint:nilerr // see above
	}
	if second.Items, err = changed.Spec.Items(); err != nil {
		return "", err // names the field
	}
	return compared(first, second)
}

// meaning is what an Installation says about its Execution.
type meaning struct {
	Annotations map[string]string               `json:"annotations,omitempty"`
	Context     string                          `json:"context,omitempty"`
	Items       v1alpha1.DeployItemTemplateList `json:"items,omitempty"`
}
