package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// CRDKind is the kind of objects that define kinds.
const CRDKind = "CustomResourceDefinition"

// Entry is an object to apply, as the user wrote it.
type Entry struct {
	// Position is where in the configuration the object is.
	Position string
	Policy   deployer.ManifestPolicy
	Object   *unstructured.Unstructured
	// Extras are what happens to the object besides.
	Extras
}

// Extras are what happens to an object besides being applied.
type Extras struct {
	// AnnotateBeforeCreate are annotations for the object when it is created.
	AnnotateBeforeCreate map[string]string
	// AnnotateBeforeDelete are annotations to set before the object is deleted.
	AnnotateBeforeDelete map[string]string
	// PatchBeforeDelete is merged into the object before it is deleted.
	PatchBeforeDelete *runtime.RawExtension
	// PatchAfterDeployment is merged into the object when everything is ready.
	PatchAfterDeployment map[string]any
	// FailOnConflict leaves fields that others own to them and fails; otherwise they
	// are taken over. It is for the strategy apply.
	FailOnConflict bool
	// Recreate replaces the object if it cannot be changed.
	Recreate bool
	// Ignored are the fields that may differ.
	Ignored []Pointer
}

// Object is an object to apply, with its place on the cluster.
type Object struct {
	Entry
	Mapping *meta.RESTMapping
	// Known says that the object was recorded before, so it probably exists.
	Known bool
	// Live is the object as a list has shown it, or nil.
	Live *unstructured.Unstructured
	// Lost says that another client has deleted it while it was awaited.
	Lost bool
}

// Reference returns the name of the object as it is recorded.
func (o Object) Reference() corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: o.Object.GetAPIVersion(),
		Kind:       o.Object.GetKind(),
		Namespace:  o.Object.GetNamespace(),
		Name:       o.Object.GetName(),
	}
}

// Stage is when an object is applied.
type Stage int

// The stages: kinds before their objects, namespaces before their content.
const (
	StageDefinitions Stage = iota
	StageCluster
	StageNamespaced
)

// Stage returns when the object is applied.
func (o Object) Stage() Stage {
	switch {
	case o.Object.GetKind() == CRDKind:
		return StageDefinitions
	case o.Mapping.Scope.Name() == meta.RESTScopeNameRoot:
		return StageCluster
	}
	return StageNamespaced
}

// Expand replaces every list by its elements.
func Expand(entries []Entry) ([]Entry, error) {
	var expanded []Entry
	for _, entry := range entries {
		if !isList(entry.Object) {
			expanded = append(expanded, entry)
			continue
		}
		items, _, err := unstructured.NestedSlice(entry.Object.Object, "items")
		if err != nil {
			return nil, invalid(entry.Position+".items", "it must be a list of objects")
		}
		var elements []Entry
		for i, item := range items {
			position := fmt.Sprintf("%s.items[%d]", entry.Position, i)
			object, ok := item.(map[string]any)
			if !ok {
				return nil, invalid(position, "it must be an object")
			}
			element := entry
			element.Position, element.Object = position, &unstructured.Unstructured{Object: object}
			elements = append(elements, element)
		}
		elements, err = Expand(elements)
		if err != nil {
			return nil, err
		}
		expanded = append(expanded, elements...)
	}
	return expanded, nil
}

// isList reports whether an object stands for its elements. An object with a name
// is one of its own, whatever its fields are called.
func isList(object *unstructured.Unstructured) bool {
	_, hasItems := object.Object["items"]
	return hasItems && object.GetName() == "" && strings.HasSuffix(object.GetKind(), "List")
}

func invalid(position, message string) error {
	return job.NewError(published.InitManifestOperation, reasons.ValidateProviderConfiguration, position+": "+message, v1alpha1.ErrorConfigurationProblem)
}

// Prepare finds the place of each object on the cluster. Objects of kinds that the
// same item defines need not be known to the cluster yet.
func Prepare(ctx context.Context, on target.Cluster, entries []Entry, known Inventory) ([]Object, error) {
	defined, recorded := definitions(entries), known.positions()
	objects := make([]Object, 0, len(entries))
	for _, entry := range entries {
		if err := complete(entry); err != nil {
			return nil, err
		}
		mapping, err := findMapping(ctx, on, entry, defined)
		if err != nil {
			return nil, err
		}
		object := Object{Entry: entry, Mapping: mapping}
		if err := object.place(); err != nil {
			return nil, err
		}
		_, object.Known = recorded[KeyOf(object.Reference())]
		objects = append(objects, object)
	}
	return objects, nil
}

func complete(entry Entry) error {
	switch {
	case entry.Object.GetAPIVersion() == "":
		return invalid(entry.Position, "the object has no apiVersion")
	case entry.Object.GetKind() == "":
		return invalid(entry.Position, "the object has no kind")
	case entry.Object.GetName() == "":
		return invalid(entry.Position, "the "+entry.Object.GetKind()+" has no metadata.name (generateName cannot be used here)")
	}
	if _, err := schema.ParseGroupVersion(entry.Object.GetAPIVersion()); err != nil {
		return invalid(entry.Position+".apiVersion", "it must be VERSION or GROUP/VERSION")
	}
	return nil
}

// place makes the namespace of the object fit its kind.
func (o Object) place() error {
	if o.Mapping.Scope.Name() == meta.RESTScopeNameRoot {
		o.Object.SetNamespace("")
		return nil
	}
	if o.Object.GetNamespace() == "" {
		return invalid(o.Position, fmt.Sprintf("%s %s has no metadata.namespace, but objects of this kind live in a namespace", o.Object.GetKind(), o.Object.GetName()))
	}
	return nil
}

func findMapping(ctx context.Context, on target.Cluster, entry Entry, defined map[schema.GroupVersionKind]*meta.RESTMapping) (*meta.RESTMapping, error) {
	kind := entry.Object.GroupVersionKind()
	if mapping, ok := defined[kind]; ok {
		return mapping, nil
	}
	mapping, err := on.Mapping(ctx, kind)
	if meta.IsNoMatchError(err) {
		return nil, job.Wrap(unknownKind{}, published.GetAPIResource, reasons.GetAPIResource,
			fmt.Sprintf("%s (%s %s): the cluster at %s does not know kind %s in %s", entry.Position,
				kind.Kind, strings.TrimPrefix(entry.Object.GetNamespace()+"/"+entry.Object.GetName(), "/"), on.Server(), kind.Kind, kind.GroupVersion()))
	}
	if err != nil {
		return nil, job.Wrap(err, published.GetAPIResource, reasons.GetAPIResourceList, "find kind "+kind.Kind)
	}
	return mapping, nil
}

// unknownKind marks the error about a kind that the cluster does not know.
type unknownKind struct{}

// Error implements error.
func (unknownKind) Error() string {
	return "install its CustomResourceDefinition, or correct apiVersion and kind"
}

// IsUnknownKind reports whether an error is about a kind that the cluster does not
// know.
func IsUnknownKind(err error) bool { return errors.As(err, &unknownKind{}) }

// definitions returns the kinds that the objects themselves define.
//
// The mapping is what the cluster will say once the definition is established; the stages ensure
// that it is not used before.
func definitions(entries []Entry) map[schema.GroupVersionKind]*meta.RESTMapping {
	defined := map[schema.GroupVersionKind]*meta.RESTMapping{}
	for _, entry := range entries {
		if entry.Object.GetKind() != CRDKind {
			continue
		}
		content := entry.Object.Object
		group, _, _ := unstructured.NestedString(content, "spec", "group")
		kind, _, _ := unstructured.NestedString(content, "spec", "names", "kind")
		plural, _, _ := unstructured.NestedString(content, "spec", "names", "plural")
		var scope meta.RESTScope = meta.RESTScopeNamespace
		if text, _, _ := unstructured.NestedString(content, "spec", "scope"); text == "Cluster" {
			scope = meta.RESTScopeRoot
		}
		versions, _, _ := unstructured.NestedSlice(content, "spec", "versions")
		for _, version := range versions {
			version, _ := version.(map[string]any)
			name, _ := version["name"].(string)
			gvk := schema.GroupVersionKind{Group: group, Version: name, Kind: kind}
			defined[gvk] = &meta.RESTMapping{GroupVersionKind: gvk, Resource: gvk.GroupVersion().WithResource(plural), Scope: scope}
		}
	}
	return defined
}
