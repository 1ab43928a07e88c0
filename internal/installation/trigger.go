package installation

import "go.landscaper.dev/api/v1alpha1"

// forced reports whether a root asks for a job that does not wait for the running one.
func forced(inst *v1alpha1.Installation) bool {
	return isRoot(inst) && v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) == v1alpha1.ForceReconcileOperation
}

// demandNext makes the request for a job at once one for a job that follows the running
// one, which was interrupted.
func demandNext(inst *v1alpha1.Installation) {
	inst.Annotations = merged(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
}
