package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// choice is one of several fields of which exactly one must be given.
type choice struct {
	name  string
	given bool
}

func exactlyOne(path *field.Path, choices ...choice) field.ErrorList {
	var all, given []string
	for _, choice := range choices {
		all = append(all, choice.name)
		if choice.given {
			given = append(given, choice.name)
		}
	}
	switch len(given) {
	case 0:
		return field.ErrorList{field.Required(path, "give exactly one of "+strings.Join(all, ", "))}
	case 1:
		return nil
	}
	return field.ErrorList{field.Forbidden(path, strings.Join(given, ", ")+" are given together: give exactly one of "+strings.Join(all, ", "))}
}

// names collects names that must be given and unique.
type names map[string]bool

func (n names) add(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "give a name")}
	}
	if n[name] {
		return field.ErrorList{field.Duplicate(path, name)}
	}
	n[name] = true
	return nil
}
