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
	// due is what has to be generated and stored; nil if the Secret is as it should be.
	due *sourcesecret.Decision
	// unrotated is why a key is not rotated as requested, or "".
	unrotated string
}

// credentials finds the credentials, or what has to be generated; nil for a source without credentials.
func (r *Reconciler) credentials(ctx context.Context, now *run, c *config.Config, remembered state.State, asked string) (*credentials, error) {
	private := c.Source != nil && c.Source.Private
	r.projects.needs(now.e, private)
	if !private {
		return nil, nil
	}
	decision, err := sourcesecret.Decide(ctx, sourcesecret.Request{
		Source: c.Source, Resources: resources(now.shoot), Before: sourcesecret.Place(remembered.CredentialsIn), Rotate: asked == RequestRotate,
	}, r.places(now))
	if errors.Is(err, sourcesecret.ErrNoCredentials) {
		return nil, withCode(err, gardener.RetryableConfigurationProblem)
	}
	if err != nil {
		return nil, err
	}
	found := &credentials{secret: decision.Secret, place: decision.Place, unrotated: decision.Unrotated}
	if found.identify(); decision.Write {
		found.due = decision
	}
	return found, nil
}

// identify notes the public part of a generated key.
func (c *credentials) identify() {
	if sourcesecret.Generated(c.secret) {
		c.publicKey = sshkey.PublicKey(c.secret.Data)
	}
}

// hidden reports whether members of the project have not been shown a generated key. Credentials of the
// project itself have no key to register.
//
// The status has the key since the first run that passed this step.
func (w *work) hidden() bool {
	found := w.credentials
	return found != nil && found.place == sourcesecret.Garden && found.publicKey != "" && found.publicKey != state.ReadStatus(w.e).PublicKey
}

// show publishes a generated key for the members of the project.
func (w *work) show(ctx context.Context) error {
	return w.places(w.run).Publish(ctx, w.credentials.publicKey)
}

// forShoot returns the Secret of the source as the shoot gets it; nil for a source without credentials.
func (w *work) forShoot() *corev1.Secret {
	found := w.credentials
	if found == nil {
		return nil
	}
	if lacks := sourcesecret.Lacks(found.secret, w.config.Source); lacks != "" {
		w.warn(w.run, reasons.CredentialsIncomplete, "the Secret "+found.secret.Name+": "+lacks)
	}
	return sourcesecret.ForShoot(found.secret, w.config.Source)
}

func (r *Reconciler) places(now *run) access.Secrets {
	return access.Secrets{Seed: r.Client, Namespace: now.e.Namespace, Garden: r.Systems.Garden, Project: now.shoot.Namespace}
}

// makeKey generates the Secret, and stores it where that is permitted.
//
// The key is stored before it is published, so that no lost key is registered.
func (w *work) makeKey(ctx context.Context) error {
	found, due, places := w.credentials, w.credentials.due, w.places(w.run)
	owner := strings.TrimPrefix(w.shoot.Namespace, "garden-")
	if due.Place == sourcesecret.Seed {
		owner = w.shoot.Name
	}
	made, err := due.Make(ctx, w.config.Source, "flux-"+owner, w.Systems.Scan)
	if err != nil {
		return withCode(err, gardener.RetryableConfigurationProblem)
	}
	err = places.Store(ctx, due.Place, made.DeepCopy())
	if apierrors.IsForbidden(err) && due.Otherwise != "" {
		found.place = due.Otherwise
		err = places.Store(ctx, due.Otherwise, made.DeepCopy())
	}
	if err != nil {
		return err
	}
	found.secret = made
	if found.identify(); due.NewKey {
		w.emit(w.run, reasons.SSHKeyGenerated, fmt.Sprintf("register this key with the repository %s: %s; its host keys are %s",
			w.config.Source.URL, sshkey.PublicKey(made.Data), strings.Join(sshkey.Fingerprints(string(made.Data[sshkey.DataKnownHosts])), ", ")))
	}
	return nil
}
