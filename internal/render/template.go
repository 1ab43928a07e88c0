package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/template"
	"time"
)

// Limits of one template. They are generous for real blueprints.
const (
	maxOutput   = 32 << 20
	maxDuration = 30 * time.Second
	maxNesting  = 100
)

// Source is a template and where it comes from.
type Source struct {
	// Execution is the name of the execution that the template belongs to.
	Execution string
	// File is the path of the template in the blueprint, if it is a file.
	File string
	// Text is the template itself.
	Text string
	// Files are the files of the blueprint.
	Files fs.FS
}

// name is what error messages call the template.
func (s Source) name() string {
	if s.File != "" {
		return s.File
	}
	return s.Execution
}

// GoTemplate renders a Go template with bindings. An error names the template and
// the line and shows the lines around it, but no value of a binding.
func GoTemplate(ctx context.Context, source Source, bindings map[string]any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	r := &renderer{ctx: ctx, files: source.Files, written: maxOutput}
	text, err := r.render(source.name(), source.Text, bindings, 0)
	if err != nil {
		return nil, describe(err, source, bindings)
	}
	if lines := noValueLines(text); len(lines) > 0 {
		return nil, noValueError(source, text, lines, bindings)
	}
	return text, nil
}

// renderer holds what the templates of one rendering share.
type renderer struct {
	ctx     context.Context
	files   fs.FS
	written int
}

// templateError is an error in a template, which may be an included file.
type templateError struct {
	name, text string
	err        error
}

func (e *templateError) Error() string { return e.err.Error() }

func (e *templateError) Unwrap() error { return e.err }

func (r *renderer) render(name, text string, dot any, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("%s: templates include each other more than %d levels deep", name, maxNesting)
	}
	fail := func(err error) error {
		var inner *templateError
		if errors.As(err, &inner) {
			return inner
		}
		return &templateError{name: name, text: text, err: err}
	}
	parsed, err := template.New(name).Option("missingkey=zero").Funcs(r.functions(depth)).Parse(text)
	if err != nil {
		return nil, fail(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&limitedWriter{out: &out, renderer: r}, dot); err != nil {
		return nil, fail(err)
	}
	return out.Bytes(), nil
}

// limitedWriter ends a template that prints without end or for too long.
type limitedWriter struct {
	out      io.Writer
	renderer *renderer
}

// Write implements io.Writer.
func (w *limitedWriter) Write(p []byte) (int, error) {
	if err := w.renderer.ctx.Err(); err != nil {
		return 0, fmt.Errorf("the template takes longer than %s: %w", maxDuration, err)
	}
	w.renderer.written -= len(p)
	if w.renderer.written < 0 {
		return 0, fmt.Errorf("the template prints more than %d bytes", maxOutput)
	}
	return w.out.Write(p)
}
