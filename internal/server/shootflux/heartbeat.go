package shootflux

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// heartbeatLease is the Lease by which gardenlet sees that an extension is alive.
	heartbeatLease = "gardener-extension-heartbeat"
	extensionName  = "shoot-flux"
)

// heartbeat renews a Lease.
type heartbeat struct {
	client    client.Client
	namespace string
	interval  time.Duration
	log       logr.Logger
}

// Start implements manager.Runnable.
func (h *heartbeat) Start(ctx context.Context) error {
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			h.log.Error(err, "the heartbeat was not renewed")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (h *heartbeat) beat(ctx context.Context) error {
	holder, seconds, now := extensionName, int32(h.interval/time.Second), metav1.NewMicroTime(time.Now()) //nolint:gosec // an interval is shorter than 68 years
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: heartbeatLease}}
	err := h.client.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &holder, &seconds, &now
	if missing {
		return h.client.Create(ctx, lease)
	}
	return h.client.Update(ctx, lease)
}
