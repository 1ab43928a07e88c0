package remote

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
)

// Operations of the process.
const (
	makeOperation    = "plan"
	exportsOperation = "exports"
)

// object is an object of the API as JSON.
type object []byte

func encodeObject(value any) (object, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return raw, nil
}

func (o object) decode(into any) error {
	if len(o) == 0 {
		return nil
	}
	if err := json.Unmarshal(o, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

// encodeObjects encodes a list; its elements may be objects of any type.
func encodeObjects[T any](values []T) ([]object, error) {
	raw := make([]object, len(values))
	for i := range values {
		var err error
		if raw[i], err = encodeObject(values[i]); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func decodeObjects[T any](raw []object) ([]*T, error) {
	var values []*T
	for _, one := range raw {
		value := new(T)
		if err := one.decode(value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// makeRequest asks for what a job begins with.
type makeRequest struct {
	Installation object
	Blueprint    memfs.Parts
	Warnings     []string
	Component    *componentRequest
	Imports      imports
	Functions    []string
	States       bool
	Tree         plan.Usage
	NamedTargets bool
	Want         plan.Want
	// Covered asks for what is executed of the templates.
	Covered bool
}

// exportsRequest asks for what a job ends with.
type exportsRequest struct {
	Installation object
	Content      []byte
	Functions    []string
	States       bool
	NamedTargets bool
	// Shown asks for the values.
	Shown bool
	// Covered asks for what is executed of the templates.
	Covered bool
}

// results are what the children of an Installation have brought about.
type results struct {
	DeployItems, DataObjects, Targets, Replaced map[string]any
	Scope                                       []object
}

func encodeResults(given plan.Results) (results, error) {
	scope, err := encodeObjects(given.Scope)
	return results{given.DeployItems, given.DataObjects, given.Targets, given.Replaced, scope}, err
}

func (r results) decode() (plan.Results, error) {
	scope, err := decodeObjects[v1alpha1.Target](r.Scope)
	return plan.Results{DeployItems: r.DeployItems, DataObjects: r.DataObjects, Targets: r.Targets, Replaced: r.Replaced, Scope: scope}, err
}

// componentRequest is the component version of an Installation.
type componentRequest struct {
	Version   version
	Context   descriptor.Typed
	Reference object
}

// version is a component version, which the server knows by a number.
type version struct {
	Number     int
	Descriptor *descriptor.Descriptor
	Context    descriptor.Typed
	Warnings   []string
}

// imports are what an Installation imports.
type imports struct {
	Data        map[string]dataImport
	Targets     map[string]object
	TargetLists map[string][]object
	TargetMaps  map[string]map[string]object
}

type dataImport struct {
	Value []byte
	Salt  string
}

func encodeImports(given dataflow.Imports) (imports, error) {
	all := imports{Data: map[string]dataImport{}, Targets: map[string]object{}, TargetLists: map[string][]object{}, TargetMaps: map[string]map[string]object{}}
	for name, data := range given.Data {
		all.Data[name] = dataImport{data.Value.RawMessage, data.Salt}
	}
	var err error
	if all.Targets, err = encodeMap(given.Targets); err != nil {
		return all, err
	}
	for name, list := range given.TargetLists {
		if all.TargetLists[name], err = encodeObjects(list); err != nil {
			return all, err
		}
	}
	for name, targets := range given.TargetMaps {
		if all.TargetMaps[name], err = encodeMap(targets); err != nil {
			return all, err
		}
	}
	return all, nil
}

func encodeMap(targets map[string]*v1alpha1.Target) (map[string]object, error) {
	all := make(map[string]object, len(targets))
	for key, target := range targets {
		var err error
		if all[key], err = encodeObject(target); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func decodeMap(raw map[string]object) (map[string]*v1alpha1.Target, error) {
	targets := make(map[string]*v1alpha1.Target, len(raw))
	for key, one := range raw {
		targets[key] = &v1alpha1.Target{}
		if err := one.decode(targets[key]); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

func (i imports) decode() (dataflow.Imports, error) {
	all := dataflow.Imports{Data: map[string]dataflow.DataImport{}, TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{}}
	for name, data := range i.Data {
		all.Data[name] = dataflow.DataImport{Value: v1alpha1.AnyJSON{RawMessage: data.Value}, Salt: data.Salt}
	}
	var err error
	if all.Targets, err = decodeMap(i.Targets); err != nil {
		return all, err
	}
	for name, list := range i.TargetLists {
		if all.TargetLists[name], err = decodeObjects[v1alpha1.Target](list); err != nil {
			return all, err
		}
	}
	for name, targets := range i.TargetMaps {
		if all.TargetMaps[name], err = decodeMap(targets); err != nil {
			return all, err
		}
	}
	return all, nil
}

// published are objects that an Installation publishes.
type published struct{ DataObjects, Targets, Secrets []object }

func encodePublished(given dataflow.Exports) (p published, err error) {
	if p.DataObjects, err = encodeObjects(given.DataObjects); err != nil {
		return p, err
	}
	if p.Targets, err = encodeObjects(given.Targets); err != nil {
		return p, err
	}
	p.Secrets, err = encodeObjects(given.Secrets)
	return p, err
}

func (p published) decode() (all dataflow.Exports, err error) {
	if all.DataObjects, err = decodeObjects[v1alpha1.DataObject](p.DataObjects); err != nil {
		return all, err
	}
	if all.Targets, err = decodeObjects[v1alpha1.Target](p.Targets); err != nil {
		return all, err
	}
	all.Secrets, err = decodeObjects[corev1.Secret](p.Secrets)
	return all, err
}

// children are what an Installation brings up.
type children struct {
	Subinstallations []subinstallation
	Held             string
	Items            object
	States           []plan.State
}

type subinstallation struct {
	Name         string
	Installation object
	// Template says which other one it needs, which only people are shown.
	Template object
}

func encodeChildren(given *plan.Children, shown bool) (*children, error) {
	if given == nil {
		return nil, nil
	}
	all := &children{States: given.States}
	if given.Held != nil {
		all.Held = given.Held.Error()
	}
	var err error
	if all.Items, err = encodeObject(given.DeployItems); err != nil {
		return nil, err
	}
	for _, sub := range given.Subinstallations {
		one := subinstallation{Name: sub.Name}
		if one.Installation, err = encodeObject(sub.Installation); err != nil {
			return nil, err
		}
		if shown {
			one.Template, err = encodeObject(sub.Template)
		}
		if err != nil {
			return nil, err
		}
		all.Subinstallations = append(all.Subinstallations, one)
	}
	return all, nil
}

func (c *children) decode() (*plan.Children, error) {
	if c == nil {
		return nil, nil
	}
	all := &plan.Children{States: c.States}
	if c.Held != "" {
		all.Held = errorText(c.Held)
	}
	if err := c.Items.decode(&all.DeployItems); err != nil {
		return nil, err
	}
	for _, sub := range c.Subinstallations {
		one := plan.Subinstallation{Name: sub.Name, Installation: &v1alpha1.Installation{}}
		if err := sub.Installation.decode(one.Installation); err != nil {
			return nil, err
		}
		if len(sub.Template) > 0 {
			one.Template = &v1alpha1.InstallationTemplate{}
		}
		if err := sub.Template.decode(one.Template); err != nil {
			return nil, err
		}
		all.Subinstallations = append(all.Subinstallations, one)
	}
	return all, nil
}

// exports are those of an Installation. Controllers need the objects and not the values.
type exports struct {
	Values   map[string]any
	Objects  published
	States   []plan.State
	Warnings []string
}

func encodeExports(given *plan.Exports, shown bool) (all *exports, err error) {
	if given == nil {
		return nil, nil
	}
	all = &exports{States: given.States, Warnings: given.Warnings}
	if shown {
		all.Values = given.Values
	}
	all.Objects, err = encodePublished(given.Exports)
	return all, err
}

func (e *exports) decode() (*plan.Exports, error) {
	if e == nil {
		return nil, nil
	}
	objects, err := e.Objects.decode()
	return &plan.Exports{Values: e.Values, Exports: objects, States: e.States, Warnings: e.Warnings}, err
}

// made is the answer to a makeRequest, and to an exportsRequest with its exports only.
type made struct {
	Warnings, Later []string
	Children        *children
	Copies          published
	Stored          []byte
	Exports         *exports
	// Imports and Bindings are only shown.
	Imports, Bindings map[string]any
	// Coverage is what was executed of the templates, also if there is a failure.
	Coverage []coverage.Count
	Failure  *failure
}

func encodeMade(given *plan.Made, shown bool) (m *made, err error) {
	m = &made{Warnings: given.Warnings, Later: given.Later, Stored: given.Stored, Imports: given.Imports, Bindings: given.Bindings}
	if m.Children, err = encodeChildren(given.Children, shown); err != nil {
		return m, err
	}
	if m.Copies, err = encodePublished(given.Copies); err != nil {
		return m, err
	}
	m.Exports, err = encodeExports(given.Exports, shown)
	return m, err
}

func (m *made) decode() (all *plan.Made, err error) {
	all = &plan.Made{Warnings: m.Warnings, Later: m.Later, Stored: m.Stored, Imports: m.Imports, Bindings: m.Bindings}
	if all.Children, err = m.Children.decode(); err != nil {
		return all, err
	}
	if all.Copies, err = m.Copies.decode(); err != nil {
		return all, err
	}
	all.Exports, err = m.Exports.decode()
	return all, err
}
