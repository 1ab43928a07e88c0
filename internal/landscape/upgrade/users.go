package upgrade

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
)

// Hit is an Installation that differences concern.
type Hit struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is that of its component.
	Version string `json:"version,omitempty"`
	// Severity is the worst one of its findings.
	Severity compatibility.Severity `json:"severity"`
	// Findings are the numbers of the findings in their list.
	Findings []int `json:"findings"`
	// Readers are the Installations that import what it exports, and what has changed.
	Readers []string `json:"readers,omitempty"`
}

// Used is what the Installations of a landscape refer to.
type Used struct {
	// Component is the name of the component.
	Component string
	// Blueprint is the name of the resource with the blueprint; "" is each one that a finding names.
	Blueprint string
}

// Hits returns the Installations that findings concern, of any version of the component. Findings that are only
// notes concern none.
func Hits(installations []v1alpha1.Installation, used Used, findings []compatibility.Finding) []Hit {
	var hits []Hit
	for i := range installations {
		one := &installations[i]
		if componentOf(one) != used.Component {
			continue
		}
		hit := Hit{Namespace: one.Namespace, Name: one.Name, Version: one.Spec.ComponentDescriptor.Reference.Version}
		for number, f := range findings {
			if f.Severity == compatibility.Note || !uses(one, used, f) || !concerns(one, f) {
				continue
			}
			if len(hit.Findings) == 0 {
				hit.Severity = f.Severity // the worst one is the first one
			}
			hit.Findings = append(hit.Findings, number)
			if f.Subject == compatibility.Export {
				hit.Readers = append(hit.Readers, readers(installations, one, f.Name)...)
			}
		}
		if len(hit.Findings) > 0 {
			slices.Sort(hit.Readers)
			hit.Readers = slices.Compact(hit.Readers)
			hits = append(hits, hit)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return hits
}

func componentOf(one *v1alpha1.Installation) string {
	if definition := one.Spec.ComponentDescriptor; definition != nil && definition.Reference != nil {
		return definition.Reference.ComponentName
	}
	return ""
}

// uses reports whether an Installation uses the blueprint of a finding.
func uses(one *v1alpha1.Installation, used Used, f compatibility.Finding) bool {
	if one.Spec.Blueprint.Reference == nil {
		return false
	}
	name := f.Resource
	if used.Blueprint != "" {
		name = used.Blueprint
	}
	return name == "" || one.Spec.Blueprint.Reference.ResourceName == name
}

func concerns(one *v1alpha1.Installation, f compatibility.Finding) bool {
	if slices.ContainsFunc(f.When, func(name string) bool { return !imports(one, name) }) {
		return false
	}
	given := imports
	if f.Subject == compatibility.Export {
		given = exports
	}
	switch f.Users {
	case compatibility.All:
		// An import of that name may be there already, for a mapping or by chance.
		return f.Subject != compatibility.Import || !given(one, f.Name)
	case compatibility.Giving:
		return given(one, f.Name)
	case compatibility.Leaving:
		return !given(one, f.Name)
	}
	return false
}

// imports reports whether an Installation gives an import of its blueprint.
func imports(one *v1alpha1.Installation, name string) bool {
	if _, mapped := one.Spec.ImportDataMappings[name]; mapped {
		return true
	}
	return slices.ContainsFunc(one.Spec.Imports.Data, func(i v1alpha1.DataImport) bool { return i.Name == name }) ||
		slices.ContainsFunc(one.Spec.Imports.Targets, func(i v1alpha1.TargetImport) bool { return i.Name == name })
}

// exports reports whether an Installation publishes an export of its blueprint, or uses it in a mapping.
func exports(one *v1alpha1.Installation, name string) bool {
	return len(publishedAs(one, name)) > 0 || slices.ContainsFunc(one.Spec.Exports.Targets, func(e v1alpha1.TargetExport) bool { return e.Name == name })
}

// publishedAs returns the names of the exports of an Installation that an export of its blueprint is a part of.
func publishedAs(one *v1alpha1.Installation, name string) []string {
	var names []string
	for _, export := range one.Spec.Exports.Data {
		mapping, mapped := one.Spec.ExportDataMappings[export.Name]
		if (mapped && strings.Contains(string(mapping.RawMessage), name)) || (!mapped && export.Name == name) {
			names = append(names, export.DataRef)
		}
	}
	return names
}

// readers returns the siblings that import what an export leads to.
func readers(installations []v1alpha1.Installation, of *v1alpha1.Installation, export string) []string {
	data := publishedAs(of, export)
	var targets []string
	for _, e := range of.Spec.Exports.Targets {
		if e.Name == export {
			targets = append(targets, e.Target)
		}
	}
	var names []string
	for i := range installations {
		other := &installations[i]
		if other.Namespace != of.Namespace || parent(other) != parent(of) || other.Name == of.Name {
			continue
		}
		if slices.ContainsFunc(other.Spec.Imports.Data, func(i v1alpha1.DataImport) bool { return slices.Contains(data, i.DataRef) }) ||
			slices.ContainsFunc(other.Spec.Imports.Targets, func(i v1alpha1.TargetImport) bool { return readsTarget(i, targets) }) {
			names = append(names, other.Namespace+"/"+other.Name)
		}
	}
	return names
}

func readsTarget(i v1alpha1.TargetImport, targets []string) bool {
	if slices.Contains(targets, i.Target) || slices.ContainsFunc(i.Targets, func(name string) bool { return slices.Contains(targets, name) }) {
		return true
	}
	for _, name := range i.TargetMap {
		if slices.Contains(targets, name) {
			return true
		}
	}
	return false
}

// parent is the UID of the Installation that an Installation belongs to.
func parent(one *v1alpha1.Installation) string {
	if owner := metav1.GetControllerOf(one); owner != nil && owner.Kind == "Installation" {
		return string(owner.UID)
	}
	return ""
}
