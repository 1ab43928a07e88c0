package compatibility

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// declaration is an import with what it depends on.
type declaration struct {
	*v1alpha1.ImportDefinition
	// conditions are the optional imports that must be given so that this one exists.
	conditions []string
}

func (d declaration) required() bool { return d.Required == nil || *d.Required }

// present reports whether the import always has a value.
func (d declaration) present() bool {
	return d.required() || d.Type == v1alpha1.ImportTypeData && len(d.Default.Value.RawMessage) > 0
}

// declarations returns all imports by name, the conditional ones included.
func declarations(list v1alpha1.ImportDefinitionList) map[string]declaration {
	all := map[string]declaration{}
	collect(list, nil, all)
	return all
}

func collect(list v1alpha1.ImportDefinitionList, conditions []string, all map[string]declaration) {
	for i := range list {
		d := declaration{&list[i], conditions}
		all[d.Name] = d
		within := conditions
		if !d.present() {
			within = append(slices.Clip(conditions), d.Name)
		}
		collect(d.ConditionalImports, within, all)
	}
}

func (c *comparison) imports() error {
	older, newer := declarations(c.older.Info.Imports), declarations(c.newer.Info.Imports)
	for _, name := range slices.Sorted(maps.Keys(older)) {
		was := older[name]
		is, exists := newer[name]
		if !exists {
			c.add(Finding{Severity: Breaking, Subject: Import, Name: name, Users: Giving, Message: "it does not exist any more: what is given for it has no effect"})
			continue
		}
		if err := c.changedImport(was, is); err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		if _, existed := older[name]; !existed {
			c.newImport(newer[name], older)
		}
	}
	return nil
}

// newImport judges an import that did not exist. What depends on a new import concerns no user yet.
func (c *comparison) newImport(is declaration, older map[string]declaration) {
	f := Finding{Severity: Breaking, Subject: Import, Name: is.Name, Users: All, When: is.conditions, Message: "it is new and required" + where(is.conditions)}
	unused := slices.ContainsFunc(is.conditions, func(condition string) bool {
		_, existed := older[condition]
		return !existed
	})
	switch {
	case !is.required():
		f.Severity, f.Users, f.Message = Note, None, "it is new and optional"
	case unused:
		f.Severity, f.Users, f.Message = Note, None, "it is new, and required only with other new imports"
	}
	c.add(f)
}

func where(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " where " + strings.Join(conditions, " and ") + " is given"
}

func (c *comparison) changedImport(was, is declaration) error {
	f := Finding{Severity: Breaking, Subject: Import, Name: is.Name, Users: Giving}
	if was.Type != is.Type {
		f.Message = fmt.Sprintf("its type was %s, and is %s", was.Type, is.Type)
		c.add(f)
		return nil
	}
	if was.TargetType != is.TargetType {
		f.Message = fmt.Sprintf("its target type was %s, and is %s", was.TargetType, is.TargetType)
		c.add(f)
	}
	c.required(was, is)
	if !covers(was.conditions, is.conditions) {
		c.add(Finding{Severity: Warning, Subject: Import, Name: is.Name, Users: Giving, Message: "it exists only" + where(is.conditions) + ": elsewhere, what is given for it has no effect"})
	}
	if was.Type != v1alpha1.ImportTypeData {
		return nil
	}
	c.defaults(was, is)
	return c.importSchema(was, is)
}

// covers reports whether all of some names are among others.
func covers(all, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(all, name) })
}

// required judges whether users must give an import that they need not have given: it was optional, or required
// under more conditions.
func (c *comparison) required(was, is declaration) {
	if was.required() && !is.required() {
		c.add(Finding{Severity: Note, Subject: Import, Name: is.Name, Users: None, Message: "it is not required any more"})
	}
	if !is.required() || (was.required() && covers(is.conditions, was.conditions)) {
		return
	}
	c.add(Finding{Severity: Breaking, Subject: Import, Name: is.Name, Users: Leaving, When: is.conditions, Message: "it is required now" + where(is.conditions)})
}

// defaults compares what an import is without a value.
func (c *comparison) defaults(was, is declaration) {
	if was.required() || is.required() {
		return
	}
	before, now := was.Default.Value.RawMessage, is.Default.Value.RawMessage
	if equalJSON(before, now) {
		return
	}
	f := Finding{Severity: Warning, Subject: Import, Name: is.Name, Users: Leaving, Message: fmt.Sprintf("its default was %s, and is %s", shownJSON(before), shownJSON(now))}
	switch {
	case len(before) == 0:
		f.Message = "it has a default now: " + shownJSON(now)
	case len(now) == 0:
		f.Message = "it has no default any more, which was " + shownJSON(before)
	}
	c.add(f)
}

func equalJSON(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	first, errA := jsonvalue.FromJSON(a)
	second, errB := jsonvalue.FromJSON(b)
	return errA == nil && errB == nil && reflect.DeepEqual(first, second)
}

// shownJSON is a value in a message.
func shownJSON(raw []byte) string {
	const most = 60
	text := string(bytes.TrimSpace(raw))
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
