package resourcemanager

import (
	"context"
	"fmt"
	"slices"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checked are the kinds whose health is looked into; others only have to exist.
var checked = []string{"CustomResourceDefinition", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "ReplicationController", "Service", "StatefulSet"}

// rolled are the kinds whose roll-out is waited for.
var rolled = []string{"Deployment", "StatefulSet", "DaemonSet"}

// judge sets the conditions about health.
func (m *Manager) judge(ctx context.Context, next *standing) error {
	unhealthy, progressing := "", ""
	for _, made := range next.Resources {
		if made.Annotations[annotationSkipHealthCheck] == "true" {
			continue
		}
		object := made.object()
		err := m.shoot.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			unhealthy = fmt.Sprintf("Required %s is missing", made)
			break
		}
		if err != nil {
			return err
		}
		if !slices.Contains(checked, made.Kind) {
			continue
		}
		result, err := status.Compute(object)
		if err != nil {
			return err
		}
		if result.Status != status.CurrentStatus {
			if slices.Contains(rolled, made.Kind) {
				progressing = fmt.Sprintf("%s is progressing: %s", made, result.Message)
			}
			unhealthy = fmt.Sprintf("%s is unhealthy: %s", made, result.Message)
			break
		}
	}
	if unhealthy == "" {
		next.set(conditionHealthy, "True", "ResourcesHealthy", "All resources are healthy.")
	} else {
		next.set(conditionHealthy, "False", "ResourcesUnhealthy", unhealthy)
	}
	if progressing == "" {
		next.set(conditionProgressing, "False", "ResourcesRolledOut", "All resources have been fully rolled out.")
	} else {
		next.set(conditionProgressing, "True", "ResourcesProgressing", progressing)
	}
	return nil
}
