package gotemplate

import (
	"errors"
	"maps"
	"text/template"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// chartFunctions are the functions that templates of Helm charts can call: those of
// all templates, the ones that Helm adds, and those that behave differently there.
func (r *renderer) chartFunctions() template.FuncMap {
	functions := r.allFunctions()
	for _, name := range []string{"readFile", "readDir"} {
		delete(functions, name)
	}
	own := map[string]any{
		"include": r.includeNamed, "tpl": r.tplNamed,
		"mustToYaml": r.ToYAML, "toYamlPretty": r.ToYAML,
		"fromYaml": r.chartMap(r.FromYAML), "fromYamlArray": r.chartList(r.FromYAML),
		"fromJson": r.chartMap(r.FromJSON), "fromJsonArray": r.chartList(r.FromJSON),
		"toToml": r.ToTOML, "mustToToml": r.ToTOML, "fromToml": r.chartMap(r.FromTOML),
		// Nothing is looked up in DNS: neither the question of a chart nor the answer may leave the
		// machine.
		"getHostByName": func(string) string { return "" },
	}
	natives := template.FuncMap{}
	for name, function := range own {
		natives[name] = r.Native(name, function)
	}
	maps.Copy(functions, natives)
	if _, given := r.config.Functions["lookup"]; !given {
		functions["lookup"] = r.Native("lookup", func(string, string, string, string) map[string]any { return map[string]any{} })
	}
	return functions
}

// chartMap returns a function that reads a map. A text that cannot be read gives a map with an
// entry Error, as charts expect.
func (r *renderer) chartMap(read func(string) (any, error)) func(string) (map[string]any, error) {
	return func(text string) (map[string]any, error) {
		value, err := read(text)
		if refused := (*failure.Refusal)(nil); errors.As(err, &refused) {
			return nil, err
		}
		content, isMap := value.(map[string]any)
		if err == nil && (isMap || value == nil) {
			if content == nil {
				content = map[string]any{}
			}
			return content, nil
		}
		return map[string]any{"Error": "the text is not a map"}, nil
	}
}

// chartList is chartMap for a list.
func (r *renderer) chartList(read func(string) (any, error)) func(string) ([]any, error) {
	return func(text string) ([]any, error) {
		value, err := read(text)
		if refused := (*failure.Refusal)(nil); errors.As(err, &refused) {
			return nil, err
		}
		content, isList := value.([]any)
		if err == nil && (isList || value == nil) {
			return content, nil
		}
		return []any{"the text is not a list"}, nil
	}
}
