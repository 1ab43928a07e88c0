package gotemplate

import (
	"maps"
	"text/template"

	"go.landscaper.dev/internal/content/template/gotemplate/function"
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
		"mustToYaml": function.ToYAML, "toYamlPretty": function.ToYAML,
		"fromYaml": chartMap(function.FromYAML), "fromYamlArray": chartList(function.FromYAML),
		"fromJson": chartMap(function.FromJSON), "fromJsonArray": chartList(function.FromJSON),
		"toToml": function.ToTOML, "mustToToml": function.ToTOML, "fromToml": chartMap(function.FromTOML),
		// Nothing is looked up in DNS: neither the question of a chart nor the answer may leave the
		// machine.
		"getHostByName": func(string) string { return "" },
	}
	natives := template.FuncMap{}
	for name, f := range own {
		natives[name] = r.Native(name, f)
	}
	maps.Copy(functions, natives)
	if _, given := r.config.Functions["lookup"]; !given {
		functions["lookup"] = r.Native("lookup", func(string, string, string, string) map[string]any { return map[string]any{} })
	}
	return functions
}

// chartMap returns a function that reads a map. A text that cannot be read gives a map with an
// entry Error, as charts expect.
func chartMap(read func(string) (any, error)) func(string) map[string]any {
	return func(text string) map[string]any {
		value, err := read(text)
		content, isMap := value.(map[string]any)
		if err == nil && (isMap || value == nil) {
			if content == nil {
				content = map[string]any{}
			}
			return content
		}
		return map[string]any{"Error": "the text is not a map"}
	}
}

// chartList is chartMap for a list.
func chartList(read func(string) (any, error)) func(string) []any {
	return func(text string) []any {
		value, err := read(text)
		content, isList := value.([]any)
		if err == nil && (isList || value == nil) {
			return content
		}
		return []any{"the text is not a list"}
	}
}
