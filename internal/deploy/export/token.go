package export

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/loss"
	"go.landscaper.dev/internal/deploy/target"
)

// worthless says why a value does not count although it is there; nothing if it does.
//
// A Secret that is created while kube-controller-manager still knows a ServiceAccount that was
// deleted gets a token of that one. No API server accepts it, and the Secret is deleted a moment
// later. The ServiceAccount says which it is; without the right to read it, the Secret is believed.
func worthless(ctx context.Context, cluster target.Cluster, object *unstructured.Unstructured) (why string, err error) {
	account, uid := loss.TokenAccount(object), object.GetAnnotations()[corev1.ServiceAccountUIDKey]
	if account == "" || uid == "" {
		return "", nil
	}
	mapping, err := cluster.Mapping(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"})
	if err != nil {
		return "", fmt.Errorf("find kind ServiceAccount: %w", err)
	}
	live, err := cluster.Get(ctx, mapping, object.GetNamespace(), account)
	switch {
	case apierrors.IsForbidden(err):
		return "", nil
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("its token is of ServiceAccount %s, which does not exist", account), nil
	case err != nil:
		return "", err
	case string(live.GetUID()) != uid:
		return fmt.Sprintf("its token is of an earlier ServiceAccount %s, which was deleted", account), nil
	}
	return "", nil
}
