package render

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// forbidden are functions of sprig that reach the environment or the network of
// the process.
var forbidden = []string{"env", "expandenv", "getHostByName"}

// functions returns what a template can call.
func (r *renderer) functions(depth int) template.FuncMap {
	functions := sprig.TxtFuncMap()
	for _, name := range forbidden {
		delete(functions, name)
	}
	functions["include"] = func(path string, dot any) (string, error) {
		content, err := r.readFile(path)
		if err != nil {
			return "", fmt.Errorf("unable to read include file %q: %w", path, err)
		}
		text, err := r.render(path, string(content), dot, depth+1)
		return string(text), err
	}
	functions["tpl"] = func(text string, dot any) (string, error) {
		rendered, err := r.render("tpl", text, dot, depth+1)
		return string(rendered), err
	}
	functions["readFile"] = r.readFile
	functions["readDir"] = func(path string) ([]fs.FileInfo, error) { return readDir(r.files, path) }
	functions["toYaml"] = toYAML
	functions["fromYaml"] = fromYAML
	functions["required"] = required
	return functions
}

// File is the content of a file. It prints as text and is still a list of bytes
// for functions that expect one.
type File []byte

// String returns the content as text.
func (f File) String() string { return string(f) }

func (r *renderer) readFile(path string) (File, error) {
	if r.files == nil {
		return nil, errors.New("the blueprint has no files")
	}
	return fs.ReadFile(r.files, clean(path))
}

func readDir(files fs.FS, path string) ([]fs.FileInfo, error) {
	if files == nil {
		return nil, errors.New("the blueprint has no files")
	}
	entries, err := fs.ReadDir(files, clean(path))
	if err != nil {
		return nil, err
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// clean accepts paths from the root of the blueprint and with a leading dot.
func clean(path string) string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "./"), "/")
	if path == "" {
		return "."
	}
	return path
}

func toYAML(value any) (string, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

func fromYAML(text string) (any, error) {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return nil, errors.New("the text is not YAML")
	}
	return value, nil
}

func required(message string, value any) (any, error) {
	if text, isText := value.(string); value == nil || (isText && text == "") {
		return nil, errors.New(message)
	}
	return value, nil
}
