// Package rebuild builds a program again and restarts it when its sources change. It does not know
// what the program is.
package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Sources are what a program is built from, as far as it belongs to the main module.
type Sources struct {
	root string
	// packages are the directories with Go files.
	packages map[string]bool
	// embedded are the directories with files that go:embed names, with their extensions.
	embedded map[string]map[string]bool
}

// List asks the go command for the sources of a package. What does not compile is listed as well.
func List(ctx context.Context, root, program string) (Sources, error) {
	command := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-json=Dir,EmbedFiles,Module", program)
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return Sources{}, fmt.Errorf("list the packages of %s: %w", program, err)
	}
	return read(root, strings.NewReader(string(output)))
}

// read reads what the go command lists.
func read(root string, list io.Reader) (Sources, error) {
	s := Sources{root: root, packages: map[string]bool{}, embedded: map[string]map[string]bool{}}
	for decoder := json.NewDecoder(list); ; {
		var found struct {
			Dir        string
			EmbedFiles []string
			Module     *struct{ Main bool }
		}
		err := decoder.Decode(&found)
		switch {
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return s, fmt.Errorf("read the list of packages: %w", err)
		case found.Module == nil || !found.Module.Main || found.Dir == "":
			continue
		}
		s.packages[found.Dir] = true
		for _, file := range found.EmbedFiles {
			directory := filepath.Dir(filepath.Join(found.Dir, file))
			if s.embedded[directory] == nil {
				s.embedded[directory] = map[string]bool{}
			}
			s.embedded[directory][filepath.Ext(file)] = true
		}
	}
}

// Directories are those to watch. The one of go.mod is the first.
func (s Sources) Directories() []string {
	all := map[string]bool{}
	maps.Copy(all, s.packages)
	for directory := range s.embedded {
		all[directory] = true
	}
	delete(all, s.root)
	return append([]string{s.root}, slices.Sorted(maps.Keys(all))...)
}

// Count says whether the program is another one after a change of a file. Tests and the files that
// editors make while they save do not count. A new file beside embedded ones counts if it has the
// extension of one of them.
func (s Sources) Count(path string) bool {
	directory, name := filepath.Split(path)
	directory = filepath.Clean(directory)
	switch {
	case strings.ContainsAny(name[:1], "._#") || strings.HasSuffix(name, "~"):
		return false
	case directory == s.root && (name == "go.mod" || name == "go.sum"):
		return true
	case filepath.Ext(name) == ".go":
		return s.packages[directory] && !strings.HasSuffix(name, "_test.go")
	}
	return s.embedded[directory][filepath.Ext(name)]
}
