package installation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/repeat"
	"go.landscaper.dev/internal/model/dataflow"
)

// demandNext makes the request for a job at once one for a job that follows the running
// one, which was interrupted.
func demandNext(inst *v1alpha1.Installation) {
	inst.Annotations = merged(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
}

// compare reads the present imports. Imports that cannot be read would only fail: they are read
// again when they have changed.
func (r *Reconciler) compare(ctx context.Context, s *snapshot) error {
	hash, _ := r.reader().HashOfImports(ctx, s.Inst, observe.Reading(r.Client, r.Reader, s.Inst))
	s.CurrentImports = &hash
	return nil
}

// follow starts a job with changed imports. They are noted with the write that starts it: after any
// end of it, they start no other one.
func (r *Reconciler) follow(ctx context.Context, s *snapshot) error {
	repeat.Forget(s.Inst)
	s.Inst.Status.ImportsHash = *s.CurrentImports
	s.CurrentImports = nil
	return r.start(ctx, s, v1alpha1.TriggeredByImports)
}

// watchImports enqueues roots when something that they import is changed.
func (r *Reconciler) watchImports(ctx context.Context, manager ctrl.Manager, building *builder.Builder) error {
	if err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.Installation{}, index.ByImport, index.ImportsOfRoot); err != nil {
		return fmt.Errorf("index Installations by what they import: %w", err)
	}
	building.
		Watches(&v1alpha1.DataObject{}, r.mapper().ByImport(dataflow.KindDataObject)).
		Watches(&v1alpha1.Target{}, r.mapper().ByImport(dataflow.KindTarget)).
		// The content of these is not kept.
		Watches(&corev1.Secret{}, r.mapper().ByImport(dataflow.KindSecret), builder.OnlyMetadata).
		Watches(&corev1.ConfigMap{}, r.mapper().ByImport(dataflow.KindConfigMap), builder.OnlyMetadata)
	return nil
}
