package dataflow

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
)

// Mention is one place of an Installation where an import names where its value is.
type Mention struct {
	// Import is the name of the import.
	Import string
	// Path is the field, from the imports on: targets[1].targets[0].
	Path string
	// Kind is that of the object: a DataObject or a Target.
	Kind Kind
	// Written is the text of the field. Name is the name in the scope: without the element of a
	// list or map, and without the mark of a real name.
	Written, Name string
	// Direct says that Name is the real name of an object, whatever the scope.
	Direct bool
	// Element is the index or the key if only one element is meant.
	Element string
	// MapKey is the key that the value has in the import, if that is a map.
	MapKey string
	// Whole is set if a list or map is passed as a whole. Such lists and maps are only among the
	// imports of the parent: no sibling exports them.
	Whole v1alpha1.ImportType
}

// Mentions returns all mentions, data first. Imports from Secrets and ConfigMaps are in no scope,
// and not among them.
func Mentions(imports *v1alpha1.InstallationImports) []Mention {
	mentions := make([]Mention, 0, len(imports.Data)+len(imports.Targets))
	for i := range imports.Data {
		if item := &imports.Data[i]; item.DataRef != "" {
			mentions = append(mentions, mention(item.Name, fmt.Sprintf("data[%d].dataRef", i), KindDataObject, item.DataRef))
		}
	}
	for i := range imports.Targets {
		mentions = append(mentions, targetMentions(&imports.Targets[i], fmt.Sprintf("targets[%d]", i))...)
	}
	return mentions
}

// mention parses a reference. It is the only place that knows how names are written.
//
// The meaning of an import is only decided here: the graph of siblings, the reading, the checks and
// the pictures must not differ about it.
func mention(name, path string, kind Kind, written string) Mention {
	m := Mention{Import: name, Path: path, Kind: kind, Written: written, Name: written}
	if m.Name, m.Direct = strings.CutPrefix(written, v1alpha1.NonContextifiedPrefix); m.Direct || kind != KindTarget {
		return m
	}
	if parts := elementReference.FindStringSubmatch(written); parts != nil {
		m.Name, m.Element = parts[1], parts[2]
	}
	return m
}

// elementReference is a reference to an element of a list or map: clusters[1] or
// clusters[blue].
var elementReference = regexp.MustCompile(`^(.+)\[(.*)\]$`)

// IsElement reports whether only one element of a list or map is meant.
func (m Mention) IsElement() bool { return !m.Direct && m.Name != m.Written }

// Object returns the name of the object that is meant in a scope. A whole list or map has no object
// of its own.
func (m Mention) Object(scope string) string {
	return v1alpha1.GenerateDataObjectName(scope, m.Written)
}

func targetMentions(item *v1alpha1.TargetImport, path string) []Mention {
	one := func(path, written string) Mention { return mention(item.Name, path, KindTarget, written) }
	switch {
	case item.Target != "":
		return []Mention{one(path+".target", item.Target)}
	case item.Targets != nil:
		list := make([]Mention, len(item.Targets))
		for i, name := range item.Targets {
			list[i] = one(fmt.Sprintf("%s.targets[%d]", path, i), name)
		}
		return list
	case item.TargetListReference != "":
		return []Mention{whole(item.Name, path+".targetListRef", item.TargetListReference, v1alpha1.ImportTypeTargetList)}
	case item.TargetMap != nil:
		list := make([]Mention, 0, len(item.TargetMap))
		for _, key := range slices.Sorted(maps.Keys(item.TargetMap)) {
			m := one(path+".targetMap["+key+"]", item.TargetMap[key])
			m.MapKey = key
			list = append(list, m)
		}
		return list
	case item.TargetMapReference != "":
		return []Mention{whole(item.Name, path+".targetMapRef", item.TargetMapReference, v1alpha1.ImportTypeTargetMap)}
	}
	return nil
}

func whole(name, path, written string, kind v1alpha1.ImportType) Mention {
	return Mention{Import: name, Path: path, Kind: KindTarget, Written: written, Name: written, Whole: kind}
}
