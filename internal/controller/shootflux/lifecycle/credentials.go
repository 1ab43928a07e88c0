package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// credentials are those for the source of a shoot.
type credentials struct {
	secret *corev1.Secret
	place  sourcesecret.Place
	// publicKey is the public part of a generated key.
	publicKey string
	// lacks names the keys that the Secret misses for Flux.
	lacks string
}

// credentials finds the credentials, or generates a key; nil for a source without credentials.
func (r *Reconciler) credentials(ctx context.Context, now *run, c *config.Config, remembered state.State, asked string) (*credentials, error) {
	private := c.Source != nil && c.Source.Private
	r.projects.needs(now.e, private)
	if !private {
		return nil, nil
	}
	places := r.places(now)
	decision, err := sourcesecret.Decide(ctx, sourcesecret.Request{
		Source: c.Source, Resources: resources(now.shoot), Before: sourcesecret.Place(remembered.CredentialsIn), Rotate: asked == RequestRotate,
	}, places)
	if errors.Is(err, sourcesecret.ErrNoCredentials) {
		return nil, withCode(err, gardener.RetryableConfigurationProblem)
	}
	if err != nil {
		return nil, err
	}
	found := &credentials{secret: decision.Secret, place: decision.Place}
	if decision.Unrotated != "" {
		r.warn(now, reasons.SSHKeyNotRotated, decision.Unrotated)
	}
	if decision.Write {
		if err := r.makeKey(ctx, now, c, decision, places, found); err != nil {
			return nil, err
		}
	}
	if sourcesecret.Generated(found.secret) {
		found.publicKey = sshkey.PublicKey(found.secret.Data)
	}
	if found.lacks = sourcesecret.Lacks(found.secret, c.Source); found.lacks != "" {
		r.warn(now, reasons.CredentialsIncomplete, "the Secret "+found.secret.Name+": "+found.lacks)
	}
	found.secret = sourcesecret.ForShoot(found.secret, c.Source)
	return found, nil
}

// show publishes a generated key for the members of the project. Credentials of the project itself
// have no key to register.
//
// The status has the key since the first run that passed this step. The rotation must be recorded
// before: otherwise, a garden that does not answer here would get a new key at each attempt.
func (r *Reconciler) show(ctx context.Context, now *run, found *credentials) error {
	if found == nil || found.place != sourcesecret.Garden || found.publicKey == "" || found.publicKey == state.ReadStatus(now.e).PublicKey {
		return nil
	}
	return r.places(now).Publish(ctx, found.publicKey)
}

func (r *Reconciler) places(now *run) access.Secrets {
	return access.Secrets{Seed: r.Client, Namespace: now.e.Namespace, Garden: r.Systems.Garden, Project: now.shoot.Namespace}
}

// makeKey generates the Secret, and stores it where that is permitted.
//
// The key is stored before it is published, so that no lost key is registered.
func (r *Reconciler) makeKey(ctx context.Context, now *run, c *config.Config, decision *sourcesecret.Decision, places access.Secrets, found *credentials) error {
	owner := strings.TrimPrefix(now.shoot.Namespace, "garden-")
	if decision.Place == sourcesecret.Seed {
		owner = now.shoot.Name
	}
	made, err := decision.Make(ctx, c.Source, "flux-"+owner, r.Systems.Scan)
	if err != nil {
		return withCode(err, gardener.RetryableConfigurationProblem)
	}
	err = places.Store(ctx, decision.Place, made.DeepCopy())
	if apierrors.IsForbidden(err) && decision.Otherwise != "" {
		found.place = decision.Otherwise
		err = places.Store(ctx, decision.Otherwise, made.DeepCopy())
	}
	if err != nil {
		return err
	}
	found.secret = made
	if !decision.NewKey {
		return nil
	}
	r.emit(now, reasons.SSHKeyGenerated, fmt.Sprintf("register this key with the repository %s: %s; its host keys are %s",
		c.Source.URL, sshkey.PublicKey(made.Data), strings.Join(sshkey.Fingerprints(string(made.Data[sshkey.DataKnownHosts])), ", ")))
	return nil
}
