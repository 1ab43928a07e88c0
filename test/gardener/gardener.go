// Package gardener is test equipment: garden, seed and shoot of a Gardener as three real
// clusters of a lab. Its kinds are CustomResourceDefinitions, gardenlet is what the
// functions of this package do, and a resource manager for each shoot is in
// [resourcemanager].
package gardener

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

//go:embed crds
var kinds embed.FS

// Landscape is garden, seed and a shoot.
type Landscape struct {
	Lab                 *lab.Lab
	Garden, Seed, Shoot *lab.Cluster
	// InGarden, OnSeed and InShoot are administrators' clients.
	InGarden, OnSeed, InShoot client.WithWatch
}

// Start starts a landscape with a Git server, and a registry that wants credentials. Pods
// of the shoot become ready, and those of Flux that reconcile sources and kustomizations
// are real. It ends with Stop, or with the process.
func Start(ctx context.Context) (*Landscape, error) {
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"garden", "seed", "shoot"}, With: []string{"git", "kwok=shoot", "registry-auth"}, KwokNodes: 1})
	if err != nil {
		return nil, err
	}
	l, err := New(ctx, started, "garden", "seed", "shoot")
	if err != nil {
		return nil, errors.Join(err, started.Down(context.WithoutCancel(ctx)))
	}
	return l, nil
}

// New makes clusters of a lab a landscape.
func New(ctx context.Context, l *lab.Lab, garden, seed, shoot string) (*Landscape, error) {
	made := &Landscape{Lab: l, Garden: l.Clusters[garden], Seed: l.Clusters[seed], Shoot: l.Clusters[shoot]}
	// One cluster may be several of them.
	for to, cluster := range map[*client.WithWatch]*lab.Cluster{&made.InGarden: made.Garden, &made.OnSeed: made.Seed, &made.InShoot: made.Shoot} {
		connected, err := landscape.Connect(cluster.Kubeconfig)
		if err != nil {
			return nil, err
		}
		*to = connected
	}
	return made, InstallKinds(ctx, made.OnSeed, SeedKinds)
}

// Stop ends the lab.
func (l *Landscape) Stop(ctx context.Context) error { return l.Lab.Down(ctx) }

// The kinds of seeds, and those by which a garden gets to know extensions.
const (
	SeedKinds   = "seed"
	GardenKinds = "garden"
)

// InstallKinds installs some kinds, and returns when they are served.
func InstallKinds(ctx context.Context, cluster client.WithWatch, of string) error {
	files, err := fs.Glob(kinds, "crds/"+of+"/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range files {
		file, err := kinds.Open(name)
		if err != nil {
			return err
		}
		if err := installAll(ctx, cluster, file); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}

func installAll(ctx context.Context, cluster client.WithWatch, content io.Reader) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(content))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kind := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, kind); err != nil {
			return err
		}
		if err := client.IgnoreAlreadyExists(cluster.Create(ctx, kind)); err != nil {
			return err
		}
		served := func(object *unstructured.Unstructured) (bool, error) {
			conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions") // none at first
			for _, entry := range conditions {
				if condition, ok := entry.(map[string]any); ok && condition["type"] == "Established" && condition["status"] == "True" {
					return true, nil
				}
			}
			return false, nil
		}
		definition := &unstructured.Unstructured{}
		definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		definition.SetName(kind.Name)
		if err := Wait(ctx, cluster, definition, served); err != nil {
			return err
		}
		if err := awaitKind(ctx, cluster, kind); err != nil {
			return err
		}
	}
}

// awaitKind returns when a client finds a kind. An API server reports a kind as served before it
// lists it, and nothing shows when it does.
func awaitKind(ctx context.Context, cluster client.Client, kind *apiextensionsv1.CustomResourceDefinition) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := cluster.RESTMapper().RESTMapping(schema.GroupKind{Group: kind.Spec.Group, Kind: kind.Spec.Names.Kind}, kind.Spec.Versions[0].Name)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not listed: %w", kind.Name, err)
		}
	}
}

// Wait waits for an object, of which kind and name are given, until it is as wanted. The
// object is then as it was seen.
//
// It begins with a list: a watch without a version may begin with what was there some time
// ago, before the caller asked for what it waits for.
func Wait(ctx context.Context, cluster client.WithWatch, object *unstructured.Unstructured, wanted func(*unstructured.Unstructured) (bool, error)) error {
	last := object
	looks := func(seen *unstructured.Unstructured) (bool, error) {
		last = seen
		done, err := wanted(seen)
		if err != nil || done {
			seen.DeepCopyInto(object)
		}
		return done || err != nil, err
	}
	listed := &unstructured.UnstructuredList{}
	listed.SetGroupVersionKind(object.GroupVersionKind())
	named := &client.ListOptions{Namespace: object.GetNamespace()}
	client.MatchingFields{"metadata.name": object.GetName()}.ApplyToList(named)
	if err := cluster.List(ctx, listed, named); err != nil {
		return fmt.Errorf("list %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	for i := range listed.Items {
		if done, err := looks(&listed.Items[i]); done {
			return err
		}
	}
	named.Raw = &metav1.ListOptions{ResourceVersion: listed.GetResourceVersion()}
	watches, err := cluster.Watch(ctx, listed, named)
	if err != nil {
		return fmt.Errorf("watch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	defer watches.Stop()
	for {
		select {
		case <-ctx.Done():
			text, _ := yaml.Marshal(last.Object) // it was decoded from JSON
			return fmt.Errorf("wait for %s %s: %w; it was last:\n%s", object.GetKind(), object.GetName(), context.Cause(ctx), text)
		case change, open := <-watches.ResultChan():
			if !open {
				return Wait(ctx, cluster, object, wanted)
			}
			seen, ok := change.Object.(*unstructured.Unstructured)
			if !ok || change.Type == watch.Deleted {
				continue
			}
			if done, err := looks(seen); done {
				return err
			}
		}
	}
}

// WaitGone waits until an object is deleted.
func WaitGone(ctx context.Context, cluster client.WithWatch, object *unstructured.Unstructured) error {
	listed := &unstructured.UnstructuredList{}
	listed.SetGroupVersionKind(object.GroupVersionKind())
	named := &client.ListOptions{Namespace: object.GetNamespace()}
	client.MatchingFields{"metadata.name": object.GetName()}.ApplyToList(named)
	if err := cluster.List(ctx, listed, named); err != nil || len(listed.Items) == 0 {
		return err
	}
	named.Raw = &metav1.ListOptions{ResourceVersion: listed.GetResourceVersion()}
	watches, err := cluster.Watch(ctx, listed, named)
	if err != nil {
		return fmt.Errorf("watch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	defer watches.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of %s %s: %w", object.GetKind(), object.GetName(), context.Cause(ctx))
		case change, open := <-watches.ResultChan():
			if !open {
				return WaitGone(ctx, cluster, object)
			}
			if change.Type == watch.Deleted {
				return nil
			}
		}
	}
}

// ensureNamespace makes a namespace unless it is there.
func ensureNamespace(ctx context.Context, cluster client.Client, name string) error {
	return client.IgnoreAlreadyExists(cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

func readAll(files ...string) ([][]byte, error) {
	contents := make([][]byte, len(files))
	for i, file := range files {
		var err error
		if contents[i], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return contents, nil
}
