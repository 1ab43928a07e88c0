package render

import (
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
)

// maxCharts is how deep charts may be in each other.
const maxCharts = 20

// copied returns a chart that may be changed: Helm changes charts when it works out
// which dependencies are wanted.
func copied(chart *helmchart.Chart, depth int) (*helmchart.Chart, error) {
	if depth > maxCharts {
		return nil, invalid("its sub-charts are nested too deeply")
	}
	if chart == nil || chart.Metadata == nil {
		return nil, invalid("it has no Chart.yaml")
	}
	copy := &helmchart.Chart{
		Lock: chart.Lock, Schema: chart.Schema, Files: slices.Clone(chart.Files), Raw: chart.Raw,
		Templates: slices.Clone(chart.Templates), ModTime: chart.ModTime, SchemaModTime: chart.SchemaModTime,
	}
	about := *chart.Metadata
	about.Dependencies = nil
	for _, dependency := range chart.Metadata.Dependencies {
		if dependency == nil {
			return nil, invalid("Chart.yaml has an empty entry under dependencies")
		}
		own := *dependency
		own.ImportValues = slices.Clone(dependency.ImportValues)
		about.Dependencies = append(about.Dependencies, &own)
	}
	copy.Metadata = &about
	values, err := jsonvalue.FromObject(chart.Values)
	if err != nil {
		return nil, invalid("its values.yaml cannot be read")
	}
	copy.Values, _ = values.(map[string]any)
	for _, dependency := range chart.Dependencies() {
		child, err := copied(dependency, depth+1)
		if err != nil {
			return nil, err
		}
		copy.AddDependency(child)
	}
	return copy, nil
}

// capabilitiesWith adds the kinds that a chart itself defines: they will be there when
// its objects are.
func capabilitiesWith(capabilities *common.Capabilities, chart *helmchart.Chart) *common.Capabilities {
	with := capabilities.Copy()
	with.APIVersions = slices.Clone(with.APIVersions)
	for _, crd := range chart.CRDObjects() {
		var definition struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct{ Name string }
			}
		}
		if yamltext.Unmarshal(crd.File.Data, yamltext.Lenient(), &definition) != nil {
			continue
		}
		for _, version := range definition.Spec.Versions {
			served := definition.Spec.Group + "/" + version.Name
			with.APIVersions = append(with.APIVersions, served, served+"/"+definition.Spec.Names.Kind)
		}
	}
	return with
}

// files are the files of a chart as its templates see them.
type files map[string][]byte

func filesOf(chart *helmchart.Chart) files {
	found := files{}
	for _, file := range chart.Files {
		found[file.Name] = file.Data
	}
	return found
}

// GetBytes returns the content of a file, or nothing.
func (f files) GetBytes(name string) []byte { return f[name] }

// Get returns the content of a file as text, or nothing.
func (f files) Get(name string) string { return string(f[name]) }

// Lines returns the lines of a file.
func (f files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

// Glob returns the files whose names match a pattern.
func (f files) Glob(pattern string) files {
	found, matches := files{}, matcher(pattern)
	for name, content := range f {
		if matches(name) {
			found[name] = content
		}
	}
	return found
}

// AsConfig returns the files as the data of a ConfigMap.
func (f files) AsConfig() string { return f.as(func(content []byte) any { return string(content) }) }

// AsSecrets returns the files as the data of a Secret.
func (f files) AsSecrets() string { return f.as(func(content []byte) any { return content }) }

func (f files) as(form func([]byte) any) string {
	data := make(map[string]any, len(f))
	for _, name := range slices.Sorted(maps.Keys(f)) {
		value := form(f[name])
		if raw, isRaw := value.([]byte); isRaw {
			value = encoded(raw)
		}
		data[path.Base(name)] = value
	}
	text, err := yamltext.Encode(data)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(text, "\n")
}
