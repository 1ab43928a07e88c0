package execution

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// complete collects what the items export and ends the job.
//
// What is exported is stored before the job has succeeded: the Installation reads it as
// soon as it sees that. A crash in between collects once more, and writes nothing if it is
// the same.
//
// In a removal round nothing is exported.
func (r *Reconciler) complete(ctx context.Context, s *snapshot) error {
	if !job.IsRemoval(s.exec.Status.JobID) {
		if err := r.collectExports(ctx, s); err != nil {
			return err
		}
	}
	if s.exec.Status.DeployItemCache != nil {
		_, held := itemorder.Members(s.templates, s.items)
		s.exec.Status.DeployItemCache.OrphanedDIs = nil
		for _, orphan := range held {
			s.exec.Status.DeployItemCache.OrphanedDIs = append(s.exec.Status.DeployItemCache.OrphanedDIs, orphan.Item.Name)
		}
	}
	return r.enter(ctx, s, v1alpha1.PhaseStringSucceeded)
}

// collectOnly is a whole job in which no item is deployed.
func (r *Reconciler) collectOnly(ctx context.Context, s *snapshot) error {
	if err := r.collectExports(ctx, s); err != nil {
		return err
	}
	now := metav1.NewTime(r.Now())
	status := reporter.Execution(s.exec).Status
	status.Begin(s.exec.Generation, now)
	status.Wait(now)
	return r.enter(ctx, s, v1alpha1.PhaseStringSucceeded)
}

// collectExports collects what the items export.
func (r *Reconciler) collectExports(ctx context.Context, s *snapshot) error {
	exports := make(map[string]any, len(s.items))
	wantedItems, _ := itemorder.Members(s.templates, s.items)
	for _, m := range wantedItems {
		value, err := r.readExports(ctx, m.Item)
		if err != nil {
			return job.Wrap(err, published.HandleReconcilePhase, reasons.HandlePhaseCompleting, "collect the exports of deploy item "+m.Name)
		}
		exports[m.Name] = value
	}
	if err := r.storeExports(ctx, s.exec, exports); err != nil {
		return job.Wrap(err, published.HandleReconcilePhase, reasons.HandlePhaseCompleting, "store the exports of Execution "+s.exec.Name)
	}
	s.exec.Status.ExportReference = &v1alpha1.ObjectReference{Name: desired.ItemExportsName(s.exec), Namespace: s.exec.Namespace}
	return nil
}

// readExports reads the Secret with the exports of an item.
func (r *Reconciler) readExports(ctx context.Context, item *v1alpha1.DeployItem) (any, error) {
	if item == nil || item.Status.ExportReference == nil {
		return nil, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: item.Namespace, Name: item.Status.ExportReference.Name}
	if err := r.Reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", key.Name, err)
	}
	value, err := jsonvalue.FromYAML(secret.Data[v1alpha1.DataObjectSecretDataKey])
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %s does not hold a map: %w", v1alpha1.DataObjectSecretDataKey, key.Name, err)
	}
	fields, isMap := value.(map[string]any)
	if !isMap && value != nil {
		return nil, fmt.Errorf("key %s of Secret %s does not hold a map", v1alpha1.DataObjectSecretDataKey, key.Name)
	}
	return fields, nil
}

// storeExports writes the DataObject with the exports of all items, if it is not
// there yet with this very content.
func (r *Reconciler) storeExports(ctx context.Context, exec *v1alpha1.Execution, exports map[string]any) error {
	live := &v1alpha1.DataObject{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: exec.Namespace, Name: desired.ItemExportsName(exec)}, live)
	if apierrors.IsNotFound(err) {
		live = nil
	} else if err != nil {
		return err // the caller says what is stored
	}
	object, change, err := desired.ItemExports(exec, exports, live)
	if err != nil {
		return err // the caller says what is stored
	}
	switch change {
	case desired.Create:
		return r.Client.Create(ctx, object) // the caller says what is stored
	case desired.Update:
		return r.Client.Update(ctx, object) // the caller says what is stored
	}
	return nil
}
