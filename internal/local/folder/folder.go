package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/variable"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/local/rules"
)

// BlueprintAnnotation names a directory of the folder whose blueprint an Installation uses.
const BlueprintAnnotation = "local.landscaper.gardener.cloud/blueprint"

// Content is what is in a folder.
type Content struct {
	// Objects are those of the resource cluster, and Definitions the CustomResourceDefinitions for all
	// target clusters.
	Objects, Definitions []*unstructured.Unstructured
	// Components are the component versions of constructors; nil without one.
	Components repository.Repository
	// Rules are those of the file local.yaml.
	Rules rules.Landscape
	// Warnings say what is passed over.
	Warnings []string
}

// Options say how a folder is read.
type Options struct {
	// Rules is the path of the file with rules in the folder; local.yaml, if there is one, without it.
	Rules string
	// Variables go before those of the file.
	Variables map[string]string
}

// Read reads a folder.
func Read(directory string, options Options) (*Content, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written
	r := &reader{files: filesOf(root), content: &Content{}, rulesFile: rules.FileName}
	if err := r.readRules(options); err != nil {
		return nil, err
	}
	names, err := r.files.manifests()
	if err != nil {
		return nil, fmt.Errorf("read the folder %s: %w", directory, err)
	}
	var errs []error
	for _, name := range names {
		if name == r.rulesFile {
			continue
		}
		if err := r.readFile(name); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(r.components) > 0 {
		r.content.Components = components{r.components, names}.repository()
	}
	return r.content, nil
}

// Tree returns the files of a directory as the file system of an inline blueprint.
func Tree(directory string) (map[string]any, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written
	return (&reader{files: filesOf(root)}).tree(".")
}

type reader struct {
	files      *files
	content    *Content
	rulesFile  string
	values     map[string]string
	components []built
}

// readRules reads the file with rules, and the files that it names.
func (r *reader) readRules(options Options) error {
	if options.Rules != "" {
		r.rulesFile = path.Clean(options.Rules)
	}
	text, err := r.files.content(r.rulesFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && options.Rules == "":
		r.rulesFile = ""
	case err != nil:
		return err
	default:
		landscape, err := rules.Parse(r.rulesFile, text)
		if err != nil {
			return err
		}
		r.content.Rules = *landscape
	}
	if r.content.Rules.Namespace == "" {
		r.content.Rules.Namespace = "default"
	}
	r.values = map[string]string{}
	maps.Copy(r.values, r.content.Rules.Variables)
	maps.Copy(r.values, options.Variables)
	return r.resolve(&r.content.Rules.Behaviour, path.Dir(r.rulesFile))
}

// resolve replaces the files that rules name by what is in them.
func (r *reader) resolve(behaviour *rules.Behaviour, base string) error {
	for _, given := range behaviour.Given() {
		for _, name := range given.Files {
			objects, err := r.objectsBelow(base, name)
			if err != nil {
				return fmt.Errorf("%s: files: %w", r.rulesFile, err)
			}
			for _, object := range objects {
				given.Manifests = append(given.Manifests, object.Object)
			}
		}
		given.Files = nil
	}
	return nil
}

// objectsBelow reads the manifests of a file, or of the files of a directory.
func (r *reader) objectsBelow(base, name string) (all []*unstructured.Unstructured, err error) {
	found, err := within(base, name)
	if err != nil {
		return nil, err
	}
	names := []string{found}
	if entries, err := fs.ReadDir(r.files, found); err == nil {
		names = nil
		for _, entry := range entries {
			if isManifest(entry.Name()) && !slices.Contains(units, entry.Name()) {
				names = append(names, path.Join(found, entry.Name()))
			}
		}
	}
	for _, name := range names {
		documents, err := r.documents(name)
		if err != nil {
			return nil, err
		}
		for _, document := range documents {
			object, err := asObject(document)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if object != nil {
				all = append(all, object)
			}
		}
	}
	return all, nil
}

// documents reads a file with its variables replaced.
func (r *reader) documents(name string) ([]*yamltext.Document, error) {
	text, err := r.files.content(name)
	if err != nil {
		return nil, err // says which file
	}
	replaced, err := variable.Substitute(string(text), r.values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	documents, err := yamltext.Documents([]byte(replaced), yamltext.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return documents, nil
}

// asObject decodes a document; nil for an empty one.
func asObject(document *yamltext.Document) (*unstructured.Unstructured, error) {
	raw, err := document.JSON()
	if err != nil {
		return nil, err // says where
	}
	value, err := jsonvalue.FromJSON(raw)
	if err != nil || value == nil {
		return nil, err // says where
	}
	fields, isMap := value.(map[string]any)
	if !isMap {
		return nil, errors.New("a document is not a map")
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

// readFile reads what is in a file.
func (r *reader) readFile(name string) error {
	documents, err := r.documents(name)
	if err != nil {
		return err
	}
	for _, document := range documents {
		object, err := asObject(document)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if object == nil {
			continue
		}
		if isConstructor(object) {
			return r.readConstructor(name)
		}
		if err := r.take(name, document, object); err != nil {
			return fmt.Errorf("%s: line %d: %w", name, document.Line("kind"), err)
		}
	}
	return nil
}

// isConstructor reports whether a document is a constructor of components.
func isConstructor(object *unstructured.Unstructured) bool {
	_, list := object.Object["components"].([]any)
	_, resources := object.Object["resources"].([]any)
	return object.GetKind() == "" && (list || resources && object.Object["provider"] != nil)
}

// kinds of the resource cluster that are read besides those of Landscaper.
var taken = []string{"ConfigMap", "Secret", "Namespace", "ServiceAccount"}

// take adds an object.
func (r *reader) take(name string, document *yamltext.Document, object *unstructured.Unstructured) error {
	gvk := object.GroupVersionKind()
	switch {
	case gvk.Group == "apiextensions.k8s.io":
		r.content.Definitions = append(r.content.Definitions, object)
		return nil
	case gvk.Group == v1alpha1.GroupName:
		if err := known(document, gvk.Kind); err != nil {
			return err
		}
	case gvk.Group != "" || !slices.Contains(taken, gvk.Kind):
		if gvk.Kind != "" {
			r.content.Warnings = append(r.content.Warnings, fmt.Sprintf("%s: %s %s is not of the resource cluster, and passed over", name, gvk.Kind, object.GetName()))
		}
		return nil
	}
	if object.GetName() == "" {
		return fmt.Errorf("%s has no metadata.name", gvk.Kind)
	}
	if object.GetNamespace() == "" && gvk.Kind != "Namespace" {
		object.SetNamespace(r.content.Rules.Namespace)
	}
	if gvk.Kind == "Installation" {
		if err := r.inline(path.Dir(name), object); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.content.Objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == object.GetKind() && o.GetNamespace() == object.GetNamespace() && o.GetName() == object.GetName()
	}) {
		return fmt.Errorf("%s %s/%s is in the folder twice", gvk.Kind, object.GetNamespace(), object.GetName())
	}
	r.content.Objects = append(r.content.Objects, object)
	return nil
}

// shapes are the kinds that a folder may have, for their fields.
var shapes = map[string]any{
	"Installation": v1alpha1.Installation{}, "Context": v1alpha1.Context{}, "Target": v1alpha1.Target{}, "DataObject": v1alpha1.DataObject{},
	"ComponentVersionOverwrites": v1alpha1.ComponentVersionOverwrites{}, "TargetSync": v1alpha1.TargetSync{},
}

// known refuses fields that a kind of Landscaper does not have, which an API server would drop.
func known(document *yamltext.Document, kind string) error {
	shape, exists := shapes[kind]
	if !exists {
		return fmt.Errorf("a folder cannot have objects of kind %s: it may have %s", kind, strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
	}
	if unknown := document.Unknown(reflect.TypeOf(shape)); unknown != nil {
		return fmt.Errorf("%s: line %d: there is no field %q%s", kind, unknown.Line, unknown.Name, suggest.DidYouMean(unknown.Name, unknown.Known))
	}
	return nil
}

// inline puts the blueprint of a directory into an Installation.
func (r *reader) inline(base string, object *unstructured.Unstructured) error {
	annotations := object.GetAnnotations()
	name := annotations[BlueprintAnnotation]
	if name == "" {
		return nil
	}
	directory, err := within(base, name)
	if err != nil {
		return err
	}
	tree, err := r.tree(directory)
	if err != nil {
		return fmt.Errorf("blueprint %s: %w", name, err)
	}
	delete(annotations, BlueprintAnnotation)
	object.SetAnnotations(annotations)
	return unstructured.SetNestedMap(object.Object, map[string]any{"filesystem": tree}, "spec", "blueprint", "inline")
}

// tree returns the files of a directory as an inline blueprint has them.
func (r *reader) tree(directory string) (map[string]any, error) {
	entries, err := fs.ReadDir(r.files, directory)
	if err != nil {
		return nil, err // says which
	}
	tree := map[string]any{}
	for _, entry := range entries {
		name := path.Join(directory, entry.Name())
		info, err := fs.Stat(r.files, name)
		if err != nil {
			return nil, err // says which
		}
		if strings.HasSuffix(strings.TrimSuffix(entry.Name(), path.Ext(entry.Name())), "_test") || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if info.IsDir() {
			if tree[entry.Name()], err = r.tree(name); err != nil {
				return nil, err
			}
			continue
		}
		text, err := r.files.content(name)
		if err != nil {
			return nil, err // says which
		}
		tree[entry.Name()] = string(text)
	}
	return tree, nil
}

func (r *reader) readConstructor(name string) error {
	text, err := r.files.content(name)
	if err != nil {
		return err
	}
	replaced, err := variable.Substitute(string(text), r.values)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	constructor, err := publish.Parse([]byte(replaced))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range constructor.Components {
		made, err := r.build(path.Dir(name), &constructor.Components[i])
		if err != nil {
			return fmt.Errorf("%s: component %s: %w", name, constructor.Components[i].Name, err)
		}
		r.components = append(r.components, made)
	}
	return nil
}

// encode is for values that were decoded.
func encode(value any) json.RawMessage {
	raw, _ := json.Marshal(value)
	return raw
}
