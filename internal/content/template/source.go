package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/content/template/gotemplate"
)

// source is the template of an execution and where it comes from.
type source struct {
	execution string
	// file is its path in the blueprint, if it is a file.
	file string
	text string
	// document is an inline spiff template that is not a string.
	document any
}

// name is what messages of an engine call the template.
func (s source) name() string {
	if s.file != "" {
		return s.file
	}
	return s.execution
}

func (s source) goTemplate() gotemplate.Source {
	return gotemplate.Source{Name: s.name(), Text: s.text}
}

// maxFile bounds a template that is read.
const maxFile = 4 << 20

// sourceOf finds the template of an executor. An inline template wins.
//
// A file is named by the blueprint and read from it only: its path is cleaned, and the tree
// has nothing above its root.
func sourceOf(executor *v1alpha1.TemplateExecutor, files fs.FS) (source, error) {
	s := source{execution: executor.Name}
	switch executor.Type {
	case v1alpha1.GOTemplateType, v1alpha1.SpiffTemplateType:
	default:
		return s, fmt.Errorf("%s: unknown template type %s: use GoTemplate or Spiff", s.what(), executor.Type)
	}
	found, err := s.inline(executor)
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.what(), err)
	}
	if found {
		return s, nil
	}
	if executor.File == "" {
		return s, fmt.Errorf("%s: no template found: give template or file", s.what())
	}
	s.file = gotemplate.Clean(executor.File)
	if files == nil {
		return s, fmt.Errorf("%s: the blueprint has no files", s.what())
	}
	content, err := fs.ReadFile(files, s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, fmt.Errorf("%s: read template: %w: %s", s.what(), err, absent(files, s.file))
	case err != nil:
		return s, fmt.Errorf("%s: read template: %w", s.what(), err)
	case len(content) > maxFile:
		return s, fmt.Errorf("%s: the template is longer than %d bytes", s.what(), maxFile)
	case len(content) == 0:
		return s, fmt.Errorf("%s: no template found: the file is empty", s.what())
	}
	s.text = string(content)
	return s, nil
}

// inline takes the inline template, if there is one.
func (s *source) inline(executor *v1alpha1.TemplateExecutor) (found bool, err error) {
	raw := bytes.TrimSpace(executor.Template.RawMessage)
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return false, nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s.text); err != nil {
			return false, fmt.Errorf("decode the template: %w", err)
		}
		return s.text != "", nil
	case executor.Type == v1alpha1.GOTemplateType:
		return false, errors.New("the template is not a text: a GoTemplate is written as template: | with the template below it")
	}
	s.document, err = jsonvalue.FromJSON(raw)
	return true, err
}

// absent says what to do about a file that the blueprint does not have.
func absent(files fs.FS, name string) string {
	entries, _ := fs.ReadDir(files, path.Dir(name)) // without the directory there is no proposal
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if meant := suggest.Name(path.Base(name), names); meant != "" {
		return fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), meant))
	}
	return "add it to the blueprint, or correct the name"
}
