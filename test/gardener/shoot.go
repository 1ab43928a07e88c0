package gardener

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/gardener/resourcemanager"
)

var extensions = schema.GroupVersion{Group: "extensions.gardener.cloud", Version: "v1alpha1"}

// genericKubeconfig is the Secret with a kubeconfig that takes its token from a file.
const genericKubeconfig = "generic-token-kubeconfig-lab"

// Shoot is a shoot of the landscape. All shoots are the same cluster, under their own
// names.
type Shoot struct {
	// Project and Name are its names in the garden, where its namespace is
	// ProjectNamespace.
	Project, Name string
	// Object is the Shoot, as gardenlet copies it to the seed with Tell.
	Object *unstructured.Unstructured

	landscape *Landscape
	manager   *resourcemanager.Manager
}

// ProjectNamespace is where the objects of its project are in the garden.
func (s *Shoot) ProjectNamespace() string { return "garden-" + s.Project }

// Namespace is its namespace on the seed.
func (s *Shoot) Namespace() string { return "shoot--" + s.Project + "--" + s.Name }

// AddShoot makes a shoot as gardenlet does before it asks extensions: its namespaces, its
// Cluster, the Secrets by which it is reached, and a resource manager.
func (l *Landscape) AddShoot(ctx context.Context, project, name string) (*Shoot, error) {
	s := &Shoot{Project: project, Name: name, landscape: l}
	s.Object = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
		"metadata": map[string]any{"namespace": s.ProjectNamespace(), "name": name, "generation": int64(1)},
		"spec": map[string]any{
			"kubernetes": map[string]any{"version": "1.36.3"}, "provider": map[string]any{"type": "lab"},
			"extensions": []any{map[string]any{"type": "shoot-flux"}},
		},
		"status": map[string]any{
			"technicalID": s.Namespace(), "clusterIdentity": s.Namespace() + "-lab-garden", "observedGeneration": int64(1),
			"lastOperation": map[string]any{"type": "Create", "state": "Processing", "progress": int64(90), "description": "", "lastUpdateTime": metav1.Now().UTC().Format(time.RFC3339)},
		},
	}}
	if err := errors.Join(ensureNamespace(ctx, l.InGarden, s.ProjectNamespace()), ensureNamespace(ctx, l.OnSeed, s.Namespace())); err != nil {
		return nil, fmt.Errorf("add shoot %s: %w", name, err)
	}
	if err := errors.Join(s.Tell(ctx), s.addAccess(ctx)); err != nil {
		return nil, fmt.Errorf("add shoot %s: %w", name, err)
	}
	return s, s.Manage(ctx)
}

// Manage starts the resource manager of the shoot.
func (s *Shoot) Manage(ctx context.Context) error {
	var err error
	// It ends with Unmanage, or with the process.
	s.manager, err = resourcemanager.Start(context.WithoutCancel(ctx), resourcemanager.Options{
		Seed: s.landscape.Seed.Kubeconfig, Shoot: s.landscape.Shoot.Kubeconfig, Namespace: s.Namespace(), Identity: "seed-lab",
	})
	return err
}

// Unmanage stops the resource manager of the shoot, as when it hibernates.
func (s *Shoot) Unmanage() error { return s.manager.Stop() }

// Tell copies the Shoot to the seed.
func (s *Shoot) Tell(ctx context.Context) error {
	cluster := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"shoot": s.Object.Object, "cloudProfile": map[string]any{}, "seed": map[string]any{}}}}
	cluster.SetGroupVersionKind(extensions.WithKind("Cluster"))
	cluster.SetName(s.Namespace())
	cluster.SetAnnotations(map[string]string{"generic-token-kubeconfig.secret.gardener.cloud/name": genericKubeconfig})
	err := s.landscape.OnSeed.Create(ctx, cluster.DeepCopy())
	if client.IgnoreAlreadyExists(err) != nil || err == nil {
		return err
	}
	present := cluster.DeepCopy()
	if err := s.landscape.OnSeed.Get(ctx, client.ObjectKeyFromObject(cluster), present); err != nil {
		return err
	}
	present.Object["spec"] = cluster.Object["spec"]
	return s.landscape.OnSeed.Update(ctx, present)
}

// addAccess makes the Secrets by which components of the seed reach the shoot.
func (s *Shoot) addAccess(ctx context.Context) error {
	files, err := readAll(s.landscape.Shoot.Kubeconfig, s.landscape.Shoot.CAFile)
	if err != nil {
		return err
	}
	generic, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "shoot",
		"contexts": []any{map[string]any{"name": "shoot", "context": map[string]any{"cluster": "shoot", "user": "shoot"}}},
		"clusters": []any{map[string]any{"name": "shoot", "cluster": map[string]any{"server": s.landscape.Shoot.Server, "certificate-authority-data": files[1]}}},
		"users":    []any{map[string]any{"name": "shoot", "user": map[string]any{"tokenFile": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token"}}},
	})
	if err != nil {
		return err
	}
	for name, kubeconfig := range map[string][]byte{"gardener": files[0], "gardener-internal": files[0], genericKubeconfig: generic} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: name}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
		if err := client.IgnoreAlreadyExists(s.landscape.OnSeed.Create(ctx, secret)); err != nil {
			return err
		}
	}
	return nil
}

// Refer copies what the Shoot refers to by a name to the seed, as gardenlet does with
// each entry of spec.resources. The object is in the namespace of the project.
func (s *Shoot) Refer(ctx context.Context, name string, object client.Object) error {
	kind, labels := "Secret", object.GetLabels()
	var copied client.Object
	meta := metav1.ObjectMeta{Namespace: s.Namespace(), Name: "ref-" + object.GetName(), Labels: labels, Annotations: object.GetAnnotations()}
	switch object := object.(type) {
	case *corev1.Secret:
		copied = &corev1.Secret{ObjectMeta: meta, Type: object.Type, Data: object.Data, StringData: object.StringData}
	case *corev1.ConfigMap:
		kind, copied = "ConfigMap", &corev1.ConfigMap{ObjectMeta: meta, Data: object.Data}
	default:
		return fmt.Errorf("a Shoot cannot refer to a %T", object)
	}
	resources, _, err := unstructured.NestedSlice(s.Object.Object, "spec", "resources")
	if err != nil {
		return err
	}
	resources = append(resources, map[string]any{"name": name, "resourceRef": map[string]any{"apiVersion": "v1", "kind": kind, "name": object.GetName()}})
	if err := unstructured.SetNestedSlice(s.Object.Object, resources, "spec", "resources"); err != nil {
		return err
	}
	if err := s.landscape.OnSeed.Create(ctx, copied); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	return s.Tell(ctx)
}

// Extension is the Extension of the shoot, by its name alone.
func (s *Shoot) Extension() *unstructured.Unstructured {
	extension := &unstructured.Unstructured{}
	extension.SetGroupVersionKind(extensions.WithKind("Extension"))
	extension.SetNamespace(s.Namespace())
	extension.SetName("shoot-flux")
	return extension
}

// Enable asks the extension to look after the shoot, or to do so again, perhaps with
// another configuration.
func (s *Shoot) Enable(ctx context.Context, providerConfig map[string]any) error {
	return s.ask(ctx, "reconcile", func(extension *unstructured.Unstructured) {
		spec := map[string]any{"type": "shoot-flux", "class": "shoot"}
		if providerConfig != nil {
			spec["providerConfig"] = providerConfig
		}
		extension.Object["spec"] = spec
	})
}

// Ask writes an operation, as gardenlet does at each reconciliation of a shoot.
func (s *Shoot) Ask(ctx context.Context, operation string) error {
	return s.ask(ctx, operation, func(*unstructured.Unstructured) {})
}

func (s *Shoot) ask(ctx context.Context, operation string, change func(*unstructured.Unstructured)) error {
	extension := s.Extension()
	err := s.landscape.OnSeed.Get(ctx, client.ObjectKeyFromObject(extension), extension)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	before := extension.DeepCopy()
	annotations := maps.Clone(extension.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["gardener.cloud/operation"] = operation
	annotations["gardener.cloud/timestamp"] = time.Now().UTC().Format(time.RFC3339Nano)
	extension.SetAnnotations(annotations)
	change(extension)
	if err != nil {
		return s.landscape.OnSeed.Create(ctx, extension)
	}
	return s.landscape.OnSeed.Patch(ctx, extension, client.MergeFrom(before))
}

// Disable deletes the Extension.
func (s *Shoot) Disable(ctx context.Context) error {
	return client.IgnoreNotFound(s.landscape.OnSeed.Delete(ctx, s.Extension()))
}

// Ready waits as gardenlet waits for an Extension.
func (s *Shoot) Ready(ctx context.Context) (*unstructured.Unstructured, error) {
	extension := s.Extension()
	return extension, Wait(ctx, s.landscape.OnSeed, extension, func(seen *unstructured.Unstructured) (bool, error) { return isReady(seen), nil })
}

func isReady(extension *unstructured.Unstructured) bool {
	failed, _, _ := unstructured.NestedMap(extension.Object, "status", "lastError")
	observed, _, _ := unstructured.NestedInt64(extension.Object, "status", "observedGeneration")
	state, _, _ := unstructured.NestedString(extension.Object, "status", "lastOperation", "state")
	updated, _, _ := unstructured.NestedString(extension.Object, "status", "lastOperation", "lastUpdateTime")
	if failed != nil || observed != extension.GetGeneration() || state != "Succeeded" || extension.GetAnnotations()["gardener.cloud/operation"] != "" {
		return false
	}
	asked, err := time.Parse(time.RFC3339Nano, extension.GetAnnotations()["gardener.cloud/timestamp"])
	done, failedToParse := time.Parse(time.RFC3339, updated)
	// The time of an operation has no fractions of a second.
	return err == nil && failedToParse == nil && !asked.Truncate(time.Second).After(done)
}

// Failed waits until the Extension has an error with all parts.
func (s *Shoot) Failed(ctx context.Context, parts ...string) (*unstructured.Unstructured, error) {
	extension := s.Extension()
	return extension, Wait(ctx, s.landscape.OnSeed, extension, func(seen *unstructured.Unstructured) (bool, error) {
		message, _, _ := unstructured.NestedString(seen.Object, "status", "lastError", "description")
		for _, part := range parts {
			if !strings.Contains(message, part) {
				return false, nil
			}
		}
		return message != "", nil
	})
}

// Gone waits until the Extension is deleted.
func (s *Shoot) Gone(ctx context.Context) error {
	return WaitGone(ctx, s.landscape.OnSeed, s.Extension())
}
