package access

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
)

// PublicKeyConfigMap is the ConfigMap of the project with the public key.
const PublicKeyConfigMap = config.SourceSecret + ".pub"

// Secrets reads and stores the credentials for the source of a shoot.
type Secrets struct {
	Seed      client.Client
	Namespace string
	// Garden is nil without access to the garden; the project is in the namespace Project.
	Garden  *Garden
	Project string
}

var _ sourcesecret.Secrets = Secrets{}

// Copied implements sourcesecret.Secrets.
func (s Secrets) Copied(ctx context.Context, name string) (*corev1.Secret, error) {
	return s.ofSeed(ctx, gardener.ReferencePrefix+name)
}

// OfSeed implements sourcesecret.Secrets.
func (s Secrets) OfSeed(ctx context.Context) (*corev1.Secret, error) {
	return s.ofSeed(ctx, sourcesecret.SeedName)
}

func (s Secrets) ofSeed(ctx context.Context, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: name}
	if err := s.Seed.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read Secret %s of the seed: %w", key, err)
	}
	return secret, nil
}

// OfProject implements sourcesecret.Secrets.
func (s Secrets) OfProject(ctx context.Context) (*corev1.Secret, error) {
	if s.Garden == nil {
		return nil, config.ErrNoGarden
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.Project, Name: config.SourceSecret}
	if err := s.Garden.Client.Get(ctx, key, secret); err != nil {
		return nil, refused(err, "read", "Secret", key)
	}
	return secret, nil
}

// Store writes a Secret to a place. If a new Secret already exists, the result is a conflict, not
// another error: the Secret of the other writer counts.
func (s Secrets) Store(ctx context.Context, place sourcesecret.Place, secret *corev1.Secret) error {
	at, verb := s.Seed, "create"
	key := client.ObjectKey{Namespace: s.Namespace, Name: sourcesecret.SeedName}
	if place == sourcesecret.Garden {
		at, key = s.Garden.Client, client.ObjectKey{Namespace: s.Project, Name: config.SourceSecret}
	}
	secret.Namespace, secret.Name = key.Namespace, key.Name
	var err error
	if secret.ResourceVersion == "" {
		err = at.Create(ctx, secret)
	} else {
		verb = "update"
		err = at.Update(ctx, secret)
	}
	if apierrors.IsAlreadyExists(err) {
		return apierrors.NewConflict(corev1.Resource("secrets"), key.Name, err)
	}
	if err != nil && place == sourcesecret.Garden {
		return refused(err, verb, "Secret", key)
	}
	if err != nil {
		return fmt.Errorf("%s Secret %s of the seed: %w", verb, key, err)
	}
	return nil
}

// Publish stores a public key in the project for its members, if the garden permits it.
//
// The key is only informative, so a garden that does not permit it is not an error.
func (s Secrets) Publish(ctx context.Context, publicKey string) error {
	if s.Garden == nil {
		return nil
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.Project, Name: PublicKeyConfigMap, Labels: map[string]string{sourcesecret.Label: sourcesecret.Manager},
	}}
	cm.Data = map[string]string{"publicKey": publicKey}
	err := s.Garden.Client.Create(ctx, cm)
	if apierrors.IsAlreadyExists(err) {
		err = s.Garden.Client.Update(ctx, cm)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return refused(err, "write", "ConfigMap", client.ObjectKeyFromObject(cm))
	}
	return nil
}
