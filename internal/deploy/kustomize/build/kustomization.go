package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"go.landscaper.dev/internal/base/yamltext"
)

// allowed are the fields of kustomization files that are understood.
var allowed = map[string]bool{
	"apiVersion": true, "kind": true, "metadata": true, "resources": true, "components": true, "bases": true,
	"namespace": true, "namePrefix": true, "nameSuffix": true, "labels": true, "commonLabels": true, "commonAnnotations": true,
	"patches": true, "patchesStrategicMerge": true, "patchesJson6902": true, "images": true, "imageTags": true, "replicas": true,
	"configMapGenerator": true, "secretGenerator": true, "generatorOptions": true, "sortOptions": true,
}

// refused says why other fields are not.
var refused = map[string]string{
	"generators": plugins, "transformers": plugins, "validators": plugins,
	"helmCharts": charts, "helmChartInflationGenerator": charts, "helmGlobals": charts,
	"replacements": growing, "vars": growing,
	"openapi":        "schemas would count for all items of the server",
	"crds":           "use patches, which need no schema",
	"configurations": "use patches, which name their fields themselves",
	"buildMetadata":  "the objects are marked by Landscaper",
}

const (
	plugins = "plugins are not run"
	charts  = "charts are not rendered here: use an item of type landscaper.gardener.cloud/helm"
	growing = "a few of them can make objects of any size: use patches, or values in the templates of the blueprint"
)

// called is how messages name a directory of the source.
func called(directory string) string {
	if directory == "." {
		return "the top directory"
	}
	return directory
}

// directory reads what is in a directory of the source and passes it to the library.
func (g *guard) directory(directory, field string) (*part, error) {
	fail := func(err error) (*part, error) {
		if directory == "." {
			return nil, fmt.Errorf("%s: %s: %w", field, called(directory), err)
		}
		return nil, fmt.Errorf("%s: %q: %w", field, directory, err)
	}
	info, err := g.find(directory)
	if err != nil {
		return fail(missing(directory, err))
	}
	if !info.IsDir() {
		return fail(errors.New("it is a file, not a directory"))
	}
	found, seen := g.known[directory]
	switch {
	case seen && found == nil:
		return fail(errors.New("the kustomizations include each other in a cycle"))
	case seen:
		return found, nil
	}
	g.known[directory] = nil
	found = &part{at: called(directory), id: fmt.Sprintf("k%d", len(g.known))}
	content, err := g.kustomization(directory)
	if err != nil {
		return fail(err)
	}
	if err := g.resources(found, directory, content); err != nil {
		return nil, err
	}
	if err := g.write(found.id, directory, found, content); err != nil {
		return nil, err
	}
	g.known[directory] = found
	return found, nil
}

// kustomization reads the kustomization file of a directory, or makes one.
func (g *guard) kustomization(directory string) (*types.Kustomization, error) {
	file, err := g.kustomizationIn(directory)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return g.generated(directory)
	}
	text, err := g.text(file)
	if err != nil {
		return nil, err
	}
	documents, err := g.documents(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(file), err)
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("%s must be one YAML document, not %d", path.Base(file), len(documents))
	}
	content, err := g.understood(documents[0], directory)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(file), err)
	}
	return content, nil
}

// older are fields of kustomization files that have successors.
type older struct {
	PatchesStrategicMerge []string          `json:"patchesStrategicMerge"`
	PatchesJSON6902       []types.Patch     `json:"patchesJson6902"`
	CommonLabels          map[string]string `json:"commonLabels"`
}

// understood reads a kustomization if all its fields are understood.
func (g *guard) understood(raw []byte, directory string) (*types.Kustomization, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, errors.New("it must be an object")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch why := refused[field]; {
		case why != "":
			return nil, fmt.Errorf("field %s is refused: %s", field, why)
		case !allowed[field]:
			return nil, fmt.Errorf("field %.60q does not exist", field)
		}
	}
	past, today := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for field, value := range fields {
		if _, isOld := yamltext.Fields(reflect.TypeFor[older]())[field]; isOld {
			past[field] = value
			continue
		}
		today[field] = value
	}
	content, before := &types.Kustomization{}, older{}
	for _, part := range []struct {
		fields map[string]json.RawMessage
		into   any
	}{{today, content}, {past, &before}} {
		text, err := json.Marshal(part.fields)
		if err != nil {
			return nil, errors.New("it must be an object")
		}
		if err := yamltext.UnmarshalStrict(text, yamltext.DefaultLimits(), part.into); err != nil {
			return nil, err // names the field
		}
	}
	if content.Kind != "" && content.Kind != types.KustomizationKind && content.Kind != types.ComponentKind {
		return nil, fmt.Errorf("kind must be %s or %s", types.KustomizationKind, types.ComponentKind)
	}
	content.FixKustomization()
	g.renew(content, before, directory)
	return content, nil
}

// renew puts what is in older fields into those of today, in the library's order.
func (g *guard) renew(content *types.Kustomization, before older, directory string) {
	var merged []types.Patch
	for _, given := range before.PatchesStrategicMerge {
		patch := types.Patch{Patch: given}
		// It is a file if there is one, as in the library, or if it can be nothing else.
		if at, err := join(directory, given); !strings.Contains(given, "\n") {
			if err == nil {
				_, err = g.find(at)
			}
			if err == nil || !strings.Contains(given, ": ") {
				patch = types.Patch{Path: given}
			}
		}
		merged = append(merged, patch)
	}
	content.Patches = slices.Concat(merged, content.Patches, before.PatchesJSON6902)
	if len(before.CommonLabels) > 0 {
		content.Labels = append(content.Labels, types.Label{Pairs: before.CommonLabels, IncludeSelectors: true})
	}
}

// generated is the kustomization of a directory without a file for it: all manifests
// in it and below, and the kustomizations below.
func (g *guard) generated(directory string) (*types.Kustomization, error) {
	content := &types.Kustomization{}
	content.FixKustomization()
	err := fs.WalkDir(g.files, directory, func(name string, entry fs.DirEntry, err error) error {
		below, _ := strings.CutPrefix(name, strings.TrimPrefix(directory+"/", "./"))
		switch {
		case err != nil || name == directory:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir():
			file, err := g.kustomizationIn(name)
			if err != nil || file == "" {
				return err
			}
			content.Resources = append(content.Resources, below)
			return fs.SkipDir
		case isManifest(entry.Name()):
			content.Resources = append(content.Resources, below)
		}
		return nil
	})
	if err == nil && len(content.Resources) == 0 {
		err = errors.New("it has neither a kustomization file nor manifests")
	}
	return content, err
}

// resources passes on what a kustomization includes.
func (g *guard) resources(own *part, directory string, content *types.Kustomization) error {
	own.component = content.Kind == types.ComponentKind
	for i, name := range content.Resources {
		field := fmt.Sprintf("resources[%d] of %s", i, called(directory))
		replaced, err := g.resource(own, directory, name, field)
		if err != nil {
			return err
		}
		content.Resources[i] = replaced
	}
	for i, name := range content.Components {
		field := fmt.Sprintf("components[%d] of %s", i, called(directory))
		at, err := join(directory, name)
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		found, err := g.directory(at, field)
		if err != nil {
			return err
		}
		if err := own.include(found, true); err != nil {
			return err
		}
		content.Components[i] = found.name()
	}
	return nil
}

// resource passes on a file with objects, or a directory.
func (g *guard) resource(own *part, directory, name, field string) (string, error) {
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("%s: %.200q: %w", field, name, missing(name, err))
	}
	at, err := join(directory, name)
	if err != nil {
		return fail(err)
	}
	info, err := g.find(at)
	if err != nil {
		return fail(err)
	}
	if info.Mode().Type() == fs.ModeDir {
		found, err := g.directory(at, field)
		if err != nil {
			return "", err
		}
		return found.name(), own.include(found, false)
	}
	text, err := g.text(at)
	if err != nil {
		return fail(err)
	}
	documents, err := g.objectsOf(text)
	if err != nil {
		return fail(err)
	}
	placed, err := g.place(own.id, at, joined(documents))
	if err != nil {
		return fail(err)
	}
	return placed, nil
}
