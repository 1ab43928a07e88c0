package plan

import (
	"bytes"
	"fmt"
	"io/fs"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/template/componentfunc"
)

// fileWords are in every template or schema that reads files of the blueprint: the
// functions of both engines, and the references of schemas. A word too many costs
// a few bytes, one too few a job.
var fileWords = []string{"include", "read", "blueprint://"}

// readable is what exports may read besides their bindings.
type readable struct {
	memfs.Parts
	// component means that they may read the component version.
	component bool
}

// readableByExports finds out what the export executions and the schemas of exports
// may read. It looks for words, because names can be computed: so it may be more
// than they do read, but never less.
//
// Files are all or those that are named, for the same reason: as soon as any text could
// read files, it may read each of them.
func (p *Plan) readableByExports() (readable, error) {
	r := readable{Parts: memfs.Parts{Files: map[string][]byte{}, Links: map[string]string{}}}
	info := p.in.Blueprint.Info
	var texts [][]byte
	for i := range info.ExportExecutions {
		executor := &info.ExportExecutions[i]
		texts = append(texts, executor.Template.RawMessage)
		if executor.File == "" {
			continue
		}
		name := memfs.Clean(executor.File)
		content, err := fs.ReadFile(p.in.Blueprint.Files, name)
		if err != nil {
			continue // rendering tells it, with the name of the execution
		}
		texts, r.Files[name] = append(texts, content), content
	}
	for i := range info.Exports {
		texts = append(texts, schemaText(info.Exports[i].Schema))
	}
	for _, schema := range info.LocalTypes {
		texts = append(texts, schema.RawMessage)
	}
	if contains(texts, fileWords) {
		var err error
		if r.Parts, err = memfs.PartsOf(p.in.Blueprint.Files); err != nil {
			return r, fmt.Errorf("read the files of the blueprint: %w", err)
		}
		for _, content := range r.Files {
			texts = append(texts, content)
		}
	}
	r.component = contains(texts, p.componentWords())
	return r, nil
}

func schemaText(schema *v1alpha1.JSONSchemaDefinition) []byte {
	if schema == nil {
		return nil
	}
	return schema.RawMessage
}

// componentWords are in every template or schema that reads the component version.
//
// Functions without a component need no component at the end of the job either, so that no registry
// is asked because of them.
func (p *Plan) componentWords() []string {
	words := []string{"cd://"}
	pure := componentfunc.Pure()
	for _, functions := range []map[string]componentfunc.Function{p.component.GoTemplate(), p.component.Spiff()} {
		for name := range functions {
			if _, ok := pure[name]; !ok {
				words = append(words, name)
			}
		}
	}
	return words
}

func contains(texts [][]byte, words []string) bool {
	for _, text := range texts {
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				return true
			}
		}
	}
	return false
}
