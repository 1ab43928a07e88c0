package componentfunc

import (
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/component/descriptor"
)

var errUndetermined = errors.New("unable to determine component descriptor schema version: expected a component descriptor with either meta.schemaVersion or apiVersion, such as the binding cd")

// view reads a descriptor in the form in which templates have it. Nothing is
// converted, so that looking something up is cheap and loses nothing.
type view struct {
	object map[string]any
	// at says where the parts are in this schema.
	at *paths
}

// paths are the places of the parts of a descriptor.
type paths struct{ name, version, contexts, resources, references string }

var (
	pathsV2 = &paths{"component.name", "component.version", "component.repositoryContexts", "component.resources", "component.componentReferences"}
	pathsV3 = &paths{"metadata.name", "metadata.version", "repositoryContexts", "spec.resources", "spec.references"}
)

func newView(object map[string]any) (*view, error) {
	meta, _ := object["meta"].(map[string]any)
	schema, _ := meta["schemaVersion"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	switch {
	case (schema == "") == (apiVersion == ""):
		return nil, errUndetermined
	case schema == descriptor.SchemaV2:
		return &view{object, pathsV2}, nil
	case apiVersion == descriptor.SchemaV3Alpha1, apiVersion == "ocm.gardener.cloud/v3alpha1":
		return &view{object, pathsV3}, nil
	}
	return nil, fmt.Errorf("%w of a component descriptor", errUnknownSchema)
}

// field follows a path of maps; nil if it ends early.
func (v *view) field(path string) any {
	var value any = v.object
	for step := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	return value
}

func (v *view) text(path string) string {
	text, _ := v.field(path).(string)
	return text
}

// title names the component version in messages.
func (v *view) title() string { return v.text(v.at.name) + ":" + v.text(v.at.version) }

func (v *view) objects(path string) ([]map[string]any, error) {
	value := v.field(path)
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("invalid component descriptor: %s is %s, expected a list", path, kind(value))
	}
	objects := make([]map[string]any, len(list))
	for i, element := range list {
		if objects[i], ok = element.(map[string]any); !ok {
			return nil, fmt.Errorf("invalid component descriptor: %s[%d] is %s, expected a map", path, i, kind(element))
		}
	}
	return objects, nil
}

// matching returns the elements of a list whose identity has all the given
// attributes; at least one.
func (v *view) matching(path string, identity descriptor.Identity) ([]map[string]any, error) {
	elements, err := v.objects(path)
	if err != nil {
		return nil, err
	}
	var found []map[string]any
	for _, element := range elements {
		if matches(element, identity) {
			found = append(found, element)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("NotFound: component descriptor of %s has nothing with the identity %s under %s", v.title(), identity, path)
	}
	return found, nil
}

// matches compares attributes with the name and the extra identity of an element.
// Its version and type are not part of the identity.
func matches(element map[string]any, identity descriptor.Identity) bool {
	extra, _ := element["extraIdentity"].(map[string]any)
	for key, want := range identity {
		value := extra[key]
		if key == "name" {
			value = element["name"]
		}
		if value != want {
			return false
		}
	}
	return true
}

// lastContext returns the repository context that counts; nil without one.
func (v *view) lastContext() (map[string]any, error) {
	contexts, err := v.objects(v.at.contexts)
	if err != nil || len(contexts) == 0 {
		return nil, err
	}
	return contexts[len(contexts)-1], nil
}
