package gotemplate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// include renders a file of the blueprint with a dot of its own.
func (r *renderer) include(name string, dot any) (string, error) {
	p, known := r.files[Clean(name)]
	if !known {
		content, err := r.read(name)
		if err != nil {
			return "", &failure.CallError{Name: "include", Reason: fmt.Sprintf("unable to read include file %s: %s", r.quoted(name), fileProblem(err))}
		}
		if p, err = r.parse(Source{Name: Clean(name), Text: content}, false); err != nil {
			return "", err
		}
		r.files[Clean(name)] = p
	}
	return r.nestedText(p, dot)
}

// tpl renders a text as a template.
func (r *renderer) tpl(text string, dot any) (string, error) {
	programs, prints := len(r.programs), len(r.prints)
	p, err := r.parse(Source{Name: "tpl", Text: text}, true)
	if err != nil {
		return "", err
	}
	out, err := r.nestedText(p, dot)
	if err != nil {
		return "", err
	}
	r.forget(p, programs, prints)
	return out, nil
}

// forget gives a program back that was executed for the only time, with all that was
// computed after it. It is known that way round: what calls "tpl" is not finished.
func (r *renderer) forget(p *program, programs, prints int) {
	if len(r.programs) != programs+1 {
		return // It included a file, which stays.
	}
	r.programs, r.prints = r.programs[:programs], r.prints[:prints]
	for _, at := range p.literals {
		delete(r.literals, at)
	}
}

func (r *renderer) nestedText(p *program, dot any) (string, error) {
	out, err := r.execute(p, dot)
	if err != nil {
		return "", err
	}
	return out.text.String(), nil
}

// quoted is a path in a message, if it is not computed.
func (r *renderer) quoted(name string) string {
	if r.known(name) {
		return fmt.Sprintf("%q", name)
	}
	return `"` + r.masks().Show(name, r.pieces()) + `"`
}

func (r *renderer) readFile(name string) (operand.File, error) {
	content, err := r.read(name)
	if err != nil {
		return nil, &failure.CallError{Name: "readFile", Reason: fmt.Sprintf("open %s: %s", r.quoted(name), fileProblem(err))}
	}
	return operand.File(content), nil
}

func (r *renderer) read(name string) (string, error) {
	if r.config.Files == nil {
		return "", errNoFiles
	}
	if !fs.ValidPath(Clean(name)) {
		return "", fs.ErrInvalid
	}
	content, err := fs.ReadFile(r.config.Files, Clean(name))
	return string(content), err
}

var errNoFiles = errors.New("the blueprint has no files")

// fileProblem says what is wrong with a file without its name.
func fileProblem(err error) string {
	switch {
	case errors.Is(err, errNoFiles):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "file does not exist"
	case errors.Is(err, fs.ErrInvalid):
		return "the path leads out of the blueprint"
	}
	return "it cannot be read"
}

// entry is an entry of a directory: what a template may know of it. It has no methods: a template
// reads its fields in the same way.
type entry struct {
	// Name is the name in the directory, Size the length in bytes.
	Name  string
	IsDir bool
	Size  int64
	// Mode are the type and the permissions, such as -rw-r--r--.
	Mode    string
	ModTime time.Time
}

func (r *renderer) readDir(name string) ([]entry, error) {
	fail := func(err error) ([]entry, error) {
		return nil, &failure.CallError{Name: "readDir", Reason: fmt.Sprintf("open %s: %s", r.quoted(name), fileProblem(err))}
	}
	if r.config.Files == nil {
		return fail(errNoFiles)
	}
	found, err := fs.ReadDir(r.config.Files, Clean(name))
	if err != nil {
		return fail(err)
	}
	entries := make([]entry, 0, len(found))
	for _, f := range found {
		info, err := f.Info()
		if err != nil {
			return fail(err)
		}
		entries = append(entries, entry{Name: info.Name(), IsDir: info.IsDir(), Size: info.Size(), Mode: info.Mode().String(), ModTime: info.ModTime()})
	}
	return entries, nil
}

// Clean returns a path of a blueprint as io/fs wants it. A path may begin with /
// or ./, which both mean the root of the blueprint.
func Clean(name string) string {
	cleaned := strings.TrimLeft(name, "/")
	if cleaned = path.Clean(cleaned); strings.HasPrefix(cleaned, "../") {
		return name // io/fs refuses it
	}
	return cleaned
}
