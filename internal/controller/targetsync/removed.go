package targetsync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

// Shoots knows which shoots are deleted.
type Shoots struct {
	// Client reads from caches, Reader from the API server of the resource cluster.
	Client, Reader client.Reader
	// Pool has the connections to sources.
	Pool *cluster.Pool
}

// Removed reports whether a shoot is deleted, or being deleted, in the source of the only
// TargetSync of a namespace. Only the source itself can say so: a source that forbids, or does not
// answer, is an error.
func (s *Shoots) Removed(ctx context.Context, namespace, name string) (bool, error) {
	all := &v1alpha1.TargetSyncList{}
	if err := s.Client.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("list TargetSyncs: %w", err)
	}
	if len(all.Items) != 1 {
		return false, fmt.Errorf("targetsync not found or not unique: namespace %s has %d TargetSyncs, and must have the one that has made the Target; annotate with %s=true to delete without it", namespace, len(all.Items), v1alpha1.DeleteWithoutUninstallAnnotation)
	}
	sync := &all.Items[0]
	if sync.Spec.ShootNameExpression == "" {
		return false, fmt.Errorf("TargetSync %s/%s selects no shoots (spec.shootNameExpression), so that its source is not asked about one", namespace, sync.Name)
	}
	at := client.ObjectKey{Namespace: namespace, Name: sync.Spec.SecretRef.Name}
	access := &corev1.Secret{}
	if err := s.Reader.Get(ctx, at, access); err != nil {
		return false, fmt.Errorf("read Secret %s of TargetSync %s: %w", at, sync.Name, err)
	}
	kubeconfig := access.Data[syncplan.AccessKey(sync)]
	if len(kubeconfig) == 0 {
		return false, fmt.Errorf("no kubeconfig in secret: Secret %s has no key %s, or it is empty: put the kubeconfig of the source there, or name its key in spec.secretRef.key of TargetSync %s", at, syncplan.AccessKey(sync), sync.Name)
	}
	source, err := s.Pool.ConnectKubeconfig(kubeconfig)
	if err != nil {
		return false, fmt.Errorf("the kubeconfig in Secret %s cannot be used: %w", at, err)
	}
	shoot, err := source.Shoot(ctx, sync.Spec.SourceNamespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read shoot %s/%s of the source: %w", sync.Spec.SourceNamespace, name, err)
	}
	return shoot.GetDeletionTimestamp() != nil, nil
}
