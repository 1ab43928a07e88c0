package console

import (
	"cmp"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/dataflow"
)

// Value is an import or export: where it comes from, and which value it has, but not the value.
type Value struct {
	// Name is the name in the blueprint; Type is data, target, targetList or targetMap.
	Name string `json:"name"`
	Type string `json:"type"`
	// Objects are the objects that it is read from or written to.
	Objects []Origin `json:"objects"`
}

// Origin is an object of a value.
type Origin struct {
	Kind dataflow.Kind `json:"kind"`
	Name string        `json:"name"`
	// Fingerprint tells values apart: the beginning of the digest that the controller publishes. What
	// users write themselves has one when it was imported.
	Fingerprint string `json:"fingerprint,omitempty"`
	// By are the siblings that export an import, or import an export; From is the parent, if an
	// import is one of its imports.
	By   []Object `json:"by,omitempty"`
	From *Object  `json:"from,omitempty"`
}

// fingerprint is how many characters of a digest are shown.
const fingerprint = 12

// values returns the imports and exports of an Installation.
func (s *state) values(node *inspect.Node) (imports, exports []Value) {
	installation := node.Installation
	siblings := s.siblings(node)
	flow := flowview.Of(siblings)
	for _, reference := range dataflow.References(installation) {
		value := Value{Name: reference.Import, Type: string(reference.Type), Objects: []Origin{}}
		for _, object := range reference.Objects {
			origin := Origin{Kind: object.Kind, Name: cmp.Or(object.Written, object.Name)}
			origin.Fingerprint = cmp.Or(
				s.fingerprint(object.Kind, node.Namespace, v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope(node.Name), reference.Import)),
				s.fingerprint(object.Kind, node.Namespace, object.Name))
			s.connect(&origin, node, siblings, exportersOf(flow, installation, reference.Import))
			value.Objects = append(value.Objects, origin)
		}
		imports = append(imports, value)
	}
	add := func(kind dataflow.Kind, typ v1alpha1.ImportType, name, written string) {
		origin := Origin{Kind: kind, Name: written, Fingerprint: s.fingerprint(kind, node.Namespace, v1alpha1.GenerateDataObjectName(dataflow.Scope(installation), written))}
		for _, value := range flow.Values {
			if value.Kind == kind && value.Name == written {
				origin.By = s.among(siblings, value.Importers)
			}
		}
		exports = append(exports, Value{Name: name, Type: string(typ), Objects: []Origin{origin}})
	}
	for _, export := range installation.Spec.Exports.Data {
		add(dataflow.KindDataObject, v1alpha1.ImportTypeData, export.Name, export.DataRef)
	}
	for _, export := range installation.Spec.Exports.Targets {
		add(dataflow.KindTarget, v1alpha1.ImportTypeTarget, export.Name, export.Target)
	}
	return imports, exports
}

// exportersOf returns the siblings that export what an import mentions.
func exportersOf(flow *flowview.Scope, installation *v1alpha1.Installation, name string) []string {
	var exporters []string
	for _, mention := range dataflow.Mentions(&installation.Spec.Imports) {
		for _, value := range flow.Values {
			if mention.Import == name && !mention.Direct && value.Kind == mention.Kind && value.Name == mention.Name {
				exporters = append(exporters, value.Exporters...)
			}
		}
	}
	return exporters
}

// connect says where an import comes from: from siblings, or from the imports of the parent.
func (s *state) connect(origin *Origin, node *inspect.Node, siblings []*inspect.Node, exporters []string) {
	origin.By = s.among(siblings, exporters)
	inScope := origin.Kind == dataflow.KindDataObject || origin.Kind == dataflow.KindTarget
	if parent := s.above[node]; parent != nil && len(origin.By) == 0 && inScope {
		from := s.object(parent)
		origin.From = &from
	}
}

func (s *state) among(nodes []*inspect.Node, names []string) []Object {
	var objects []Object
	for _, node := range nodes {
		if slices.Contains(names, node.Name) {
			objects = append(objects, s.object(node))
		}
	}
	return objects
}

// fingerprint returns the digest that the controller has published with a value; empty
// without one.
func (s *state) fingerprint(kind dataflow.Kind, namespace, name string) string {
	digest := s.digests[valueKey{string(kind), namespace, name}]
	return digest[:min(len(digest), fingerprint)]
}
