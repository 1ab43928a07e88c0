package targetsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

// rotated returns when the token in the Secret was last renewed. The time in the Secret was written
// together with the token; the status may lack it.
func (r *run) rotated(found *corev1.Secret) time.Time {
	rotated := syncplan.TimeIn(found.Annotations, v1alpha1.TokenRotatedAnnotation)
	if stored := r.sync.Status.LastTokenRotationTime; stored != nil && stored.After(rotated) {
		return stored.Time
	}
	return rotated
}

// rotate renews the token of the source if that is due. A failure leaves everything as
// it is: the present token is used on.
func (r *run) rotate(ctx context.Context, o *outcome) {
	o.rotated = r.access.rotated
	if !rotates(r.sync) {
		return
	}
	account, token, err := login.TokenUser(r.access.kubeconfig)
	if err != nil {
		o.rotationErr = fmt.Errorf("authInfos in kubeconfig invalid for sync object: %w", err)
		return
	}
	asked, now, at := wantsRotation(r.sync), r.Now(), syncplan.RotationAt(r.access.rotated, token)
	if now.Before(at) && (!asked || r.memory.renewed) {
		// An earlier run may have served a request without reporting it.
		o.wake, o.rotatedNow = at, asked
		return
	}
	if o.rotationErr = r.renewToken(ctx, account); o.rotationErr != nil {
		return
	}
	r.memory.renewed = asked
	o.rotated, o.rotatedNow, o.wrote = r.access.rotated, true, true
	// A token that has expired already waits for the next run.
	if _, token, err = login.TokenUser(r.access.kubeconfig); err == nil {
		if at = syncplan.RotationAt(r.access.rotated, token); at.After(now) {
			o.wake = at
		}
	}
}

// renewToken asks for a new token, tries it, and puts it into the Secret with the time, in one
// write. Before the write nothing has changed; after it, nothing is left to do.
func (r *run) renewToken(ctx context.Context, account string) error {
	namespace := r.sync.Spec.SourceNamespace
	token, _, err := r.source.ServiceAccountToken(ctx, namespace, account, syncplan.TokenLifetime)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return fmt.Errorf("request a token of ServiceAccount %s/%s of the source: %w; the name under users in the kubeconfig must be that of its ServiceAccount, which must be allowed to create tokens for itself (serviceaccounts/token)", namespace, account, err)
	}
	if err != nil {
		return fmt.Errorf("request a token of ServiceAccount %s/%s of the source: %w", namespace, account, err)
	}
	renewed, err := login.WithToken(r.access.kubeconfig, token)
	if err != nil {
		return err
	}
	source, err := r.Pool.ConnectKubeconfig(renewed)
	if err != nil {
		return fmt.Errorf("the kubeconfig with the new token cannot be used: %w", err)
	}
	if err := source.Accepts(ctx, namespace, account); err != nil {
		return fmt.Errorf("the source does not accept the new token, so the present one stays: %w", err)
	}
	now := r.Now()
	wanted := r.access.secret.DeepCopy()
	wanted.Data[syncplan.AccessKey(r.sync)] = renewed
	syncplan.Note(wanted, map[string]string{v1alpha1.TokenRotatedAnnotation: now.UTC().Format(time.RFC3339)})
	if err := r.Client.Update(ctx, wanted); err != nil {
		return fmt.Errorf("store the new token in Secret %s/%s: %w", wanted.Namespace, wanted.Name, refusal(err))
	}
	r.source = source
	r.keep(access{version: wanted.ResourceVersion, kubeconfig: renewed, rotated: now, secret: wanted})
	return nil
}

// errNoRest says why a run that did not finish is repeated.
var errNoRest = errors.New("the run did not come to its end, and is repeated")
