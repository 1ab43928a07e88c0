package gotemplate

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"

	"go.landscaper.dev/internal/yamltext"
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
		"mustToYaml": r.toYAML, "toYamlPretty": r.toYAML,
		"fromYaml": r.chartMap(r.fromYAML), "fromYamlArray": r.chartList(r.fromYAML),
		"fromJson": r.chartMap(r.fromJSON), "fromJsonArray": r.chartList(r.fromJSON),
		"toToml": r.toTOML, "mustToToml": r.toTOML, "fromToml": r.chartMap(r.fromTOML),
		// Nothing is looked up in the name service: neither what a chart asks nor what it
		// learns is ours to tell.
		"getHostByName": func(string) string { return "" },
	}
	natives := template.FuncMap{}
	for name, function := range own {
		natives[name] = r.native(name, function)
	}
	maps.Copy(functions, natives)
	if _, given := r.Functions["lookup"]; !given {
		functions["lookup"] = r.native("lookup", func(string, string, string, string) map[string]any { return map[string]any{} })
	}
	return functions
}

// chartMap returns a function that reads a map. What cannot be read is a map with an
// entry Error, as charts expect it.
func (r *renderer) chartMap(read func(string) (any, error)) func(string) (map[string]any, error) {
	return func(text string) (map[string]any, error) {
		value, err := read(text)
		if refused := (*refusal)(nil); errors.As(err, &refused) {
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
		if refused := (*refusal)(nil); errors.As(err, &refused) {
			return nil, err
		}
		content, isList := value.([]any)
		if err == nil && (isList || value == nil) {
			return content, nil
		}
		return []any{"the text is not a list"}, nil
	}
}

func (r *renderer) toTOML(value any) (string, error) {
	if err := r.writable(value); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(value); err != nil {
		return "", &callError{name: "toToml", reason: "the value cannot be written as TOML"}
	}
	return out.String(), nil
}

func (r *renderer) fromTOML(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &refusal{reason: err.Error()}
	}
	return r.while(jsonSize(text)+readMap*int64(strings.Count(text, "\n")+strings.Count(text, ".")), func() (any, error) {
		var content map[string]any
		if _, err := toml.Decode(text, &content); err != nil {
			return nil, &callError{name: "fromToml", reason: "the text is not TOML"}
		}
		return made(content), nil
	})
}
