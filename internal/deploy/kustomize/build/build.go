// Package build makes objects of a kustomization. It is the library of kustomize with a guard in
// front: the guard reads every file itself, follows paths only inside of the source, and gives the
// library copies under names of its own. So no address, link, program or plugin that a source names
// ever reaches the library. What a build takes of the machine is bounded by the process that it
// runs in.
package build

import (
	"context"
	"errors"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
)

// turn is held by the build that runs: the library keeps schemas in variables of the
// process.
var turn = make(chan struct{}, 1)

// Build returns the objects of the kustomization that a configuration describes, in
// the order of the kustomization. Its error names a file or a field and repeats no
// value.
func Build(ctx context.Context, files *memfs.Tree, config *api.ProviderConfiguration) ([]*unstructured.Unstructured, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other kustomizations: %w", ctx.Err())
	}
	guard := &guard{ctx: ctx, files: files, to: filesys.MakeFsInMemory(), known: map[string]*part{}, placed: map[string]string{}}
	at, err := guard.overlay(config)
	if err != nil {
		return nil, err
	}
	built, err := run(guard.to, at)
	if err != nil {
		return nil, guard.explain(err)
	}
	return objects(built)
}

// run calls the library. A panic of the library is an error of the kustomization.
func run(files filesys.FileSystem, at string) (built resmap.ResMap, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = errors.New("kustomize panics at it")
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.DisabledPluginConfig()
	// The guard has checked where each file is; it puts them side by side.
	options.LoadRestrictions = types.LoadRestrictionsNone
	return krusty.MakeKustomizer(options).Run(files, at) // explained by the caller
}

func objects(built resmap.ResMap) ([]*unstructured.Unstructured, error) {
	list := make([]*unstructured.Unstructured, 0, built.Size())
	for _, resource := range built.Resources() {
		raw, err := resource.MarshalJSON()
		if err != nil {
			// The reason is dropped on purpose: it may quote a value.
			return nil, fmt.Errorf("object %s cannot be written as JSON", resource.CurId())
		}
		object := &unstructured.Unstructured{}
		// Whole numbers stay whole: the API server would refuse others in many places.
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &object.Object); err != nil {
			return nil, fmt.Errorf("object %s cannot be read again", resource.CurId())
		}
		list = append(list, object)
	}
	return list, nil
}

// overlay passes on what a configuration says on top of its source.
func (g *guard) overlay(config *api.ProviderConfiguration) (string, error) {
	base := path.Clean("./" + config.Path)
	source, err := g.directory(base, "path")
	if err != nil {
		return "", err
	}
	own := &part{at: "the configuration of the item"}
	if err := own.include(source, false); err != nil {
		return "", err
	}
	top := &types.Kustomization{
		NamePrefix: config.NamePrefix, NameSuffix: config.NameSuffix, Namespace: config.TargetNamespace, Resources: []string{source.name()},
	}
	for i, directory := range config.Components {
		found, err := g.directory(path.Join(base, directory), fmt.Sprintf("components[%d]", i))
		if err != nil {
			return "", err
		}
		if err := own.include(found, true); err != nil {
			return "", err
		}
		top.Components = append(top.Components, found.name())
	}
	if metadata := config.CommonMetadata; metadata != nil {
		top.CommonAnnotations = metadata.Annotations
		if len(metadata.Labels) > 0 {
			top.Labels = []types.Label{{Pairs: metadata.Labels}}
		}
	}
	for _, patch := range config.Patches {
		top.Patches = append(top.Patches, types.Patch{Patch: patch.Patch, Target: selector(patch.Target)})
	}
	for _, image := range config.Images {
		top.Images = append(top.Images, types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
	}
	return "/" + overlayName, g.write(overlayName, "", own, top)
}

func selector(from *api.Selector) *types.Selector {
	if from == nil {
		return nil
	}
	to := &types.Selector{LabelSelector: from.LabelSelector, AnnotationSelector: from.AnnotationSelector}
	to.Group, to.Version, to.Kind, to.Name, to.Namespace = from.Group, from.Version, from.Kind, from.Name, from.Namespace
	return to
}
