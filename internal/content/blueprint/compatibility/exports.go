package compatibility

import (
	"fmt"
	"maps"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

func exportsByName(list v1alpha1.ExportDefinitionList) map[string]*v1alpha1.ExportDefinition {
	all := map[string]*v1alpha1.ExportDefinition{}
	for i := range list {
		all[list[i].Name] = &list[i]
	}
	return all
}

func (c *comparison) exports() error {
	older, newer := exportsByName(c.older.Info.Exports), exportsByName(c.newer.Info.Exports)
	for _, name := range slices.Sorted(maps.Keys(older)) {
		is, exists := newer[name]
		if !exists {
			c.add(Finding{Severity: Breaking, Subject: Export, Name: name, Users: Giving, Message: "it does not exist any more"})
			continue
		}
		if err := c.changedExport(older[name], is); err != nil {
			return fmt.Errorf("export %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		if older[name] == nil {
			c.add(Finding{Severity: Note, Subject: Export, Name: name, Users: None, Message: "it is new"})
		}
	}
	return nil
}

func (c *comparison) changedExport(was, is *v1alpha1.ExportDefinition) error {
	f := Finding{Severity: Breaking, Subject: Export, Name: is.Name, Users: Giving}
	switch {
	case was.Type != is.Type:
		f.Message = fmt.Sprintf("its type was %s, and is %s", was.Type, is.Type)
		c.add(f)
	case was.TargetType != is.TargetType:
		f.Message = fmt.Sprintf("its target type was %s, and is %s", was.TargetType, is.TargetType)
		c.add(f)
	case was.Type == v1alpha1.ExportTypeData:
		return c.exportSchema(was, is)
	}
	return nil
}
