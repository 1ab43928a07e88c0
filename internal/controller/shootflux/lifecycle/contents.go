package lifecycle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/objects"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
)

// installOptions returns the options of the manifests for a configuration.
func installOptions(c *config.Config, version string) install.Options {
	o := c.Flux.Options
	return install.Options{
		Version: version, Registry: c.Flux.Registry, Namespace: c.Flux.Namespace, Components: c.Flux.Components,
		ImagePullSecret: c.Flux.ImagePullSecretName, WatchAllNamespaces: o.WatchAllNamespaces, NetworkPolicy: o.NetworkPolicy,
		ClusterDomain: o.ClusterDomain, LogLevel: o.LogLevel, TolerationKeys: o.TolerationKeys, Multitenant: o.Multitenant,
	}
}

// secretCopy is a Secret of the seed that is copied to the shoot.
type secretCopy struct {
	// object is the name in the Shoot's resources.
	object                string
	namespace, targetName string
}

// copies returns the Secrets that a configuration names, without that of the source.
func copies(c *config.Config) []secretCopy {
	var list []secretCopy
	if c.Flux.ImagePullSecretName != "" {
		list = append(list, secretCopy{c.Flux.ImagePullSecretName, c.Flux.Namespace, c.Flux.ImagePullSecretName})
	}
	for _, further := range c.AdditionalSecrets {
		list = append(list, secretCopy{further.Object, further.TargetNamespace, further.TargetName})
	}
	return list
}

// readCopy reads a resource of the Shoot.
func (r *Reconciler) readCopy(ctx context.Context, namespace, object string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: gardener.ReferencePrefix + object}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, withCode(fmt.Errorf("the Secret %s, which spec.resources of the Shoot refers to, is not on the seed: "+
			"create it in the project, or remove the reference", object), gardener.RetryableConfigurationProblem)
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s of the seed: %w", key, err)
	}
	return secret, nil
}

// pieces are the contents beside the manifests of Flux.
type pieces struct {
	// data are enforced in every mode: Secrets, the information about the shoot, the permissions of
	// the extension, and the namespaces of all these.
	data managed.Piece
	// config are source and kustomization.
	config managed.Piece
}

// fill makes the pieces. The Secret is nil for a source without credentials.
func (r *Reconciler) fill(ctx context.Context, now *run, c *config.Config, how handling, source *corev1.Secret) (pieces, error) {
	made := pieces{data: managed.Piece{Name: DataName}, config: managed.Piece{Name: ConfigName, Once: how == once}}
	for _, object := range objects.Configuration(c) {
		if object.GetKind() == "Namespace" {
			// The Secrets cannot wait for Flux: its images may need one of them.
			made.data.Objects = append(made.data.Objects, object)
			continue
		}
		made.config.Objects = append(made.config.Objects, object)
	}
	made.data.Objects = append(made.data.Objects, access.Account())
	if c.Source != nil {
		made.data.Objects = append(made.data.Objects, access.Rights()...)
	}
	for _, wanted := range copies(c) {
		secret, err := r.readCopy(ctx, now.e.Namespace, wanted.object)
		if err != nil {
			return made, err
		}
		made.data.Objects = append(made.data.Objects, objects.Secret(secret, wanted.namespace, wanted.targetName))
	}
	info := objects.Info{
		Name: now.shoot.Name, TechnicalID: now.shoot.Status.TechnicalID, GardenClusterIdentity: r.Systems.GardenIdentity,
	}
	if now.shoot.Status.ClusterIdentity != nil {
		info.ClusterIdentity = *now.shoot.Status.ClusterIdentity
	}
	if source != nil {
		info.PublicKey = sshkey.PublicKey(source.Data)
		made.data.Objects = append(made.data.Objects, objects.Secret(source, c.Source.SecretNamespace, c.Source.SecretName))
	}
	made.data.Objects = append(made.data.Objects, objects.ShootInfo(c, info))
	return made, nil
}

// flux returns the piece that installs Flux.
func (r *Reconciler) flux(ctx context.Context, c *config.Config, p plan) (managed.Piece, error) {
	list, err := r.Flux.Manifests.Manifests(ctx, installOptions(c, p.version))
	if err != nil {
		return managed.Piece{}, fmt.Errorf("make the manifests of Flux %s: %w", p.version, err)
	}
	return managed.Piece{Name: InstallName, Objects: list, Once: p.install.handle() == once}, nil
}

// readiness returns the objects whose readiness is checked.
func readiness(c *config.Config) []*unstructured.Unstructured {
	if c.Source == nil {
		return nil
	}
	return []*unstructured.Unstructured{c.Source.Object, c.Kustomization}
}
