package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// whole is a file that says that its directory replaces the whole package, and not only
// files of the same name.
const whole = "WHOLE"

// replace writes copies of modules, with the tool's files in the place of some, into a
// directory, and returns the flag that makes the compiler use them. The compiler replaces no
// file of the module cache. With -trimpath, it takes a copy for the module itself, so that
// packages that have not changed are compiled once.
func (w Workshop) replace(ctx context.Context, tool Tool, into string) (flag string, err error) {
	own := filepath.Join(w.Sources, tool.Module)
	mod, err := os.ReadFile(filepath.Join(own, "go.mod"))
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(own, "go.sum"))
	if err != nil {
		return "", err
	}
	for _, replaced := range tool.replacements() {
		ours, place := filepath.Join(own, replaced.directory), filepath.Join(into, replaced.module)
		if !exists(place) {
			// Our directory is all of a module if it has the module's file.
			if !exists(filepath.Join(ours, "go.mod")) {
				if err := w.copyModule(ctx, tool, replaced.module, place); err != nil {
					return "", err
				}
			}
			mod = replaceIn(mod, replaced.module, place)
		}
		if err := overlay(place, ours); err != nil {
			return "", fmt.Errorf("replace files of module %s: %w", replaced.module, err)
		}
	}
	if err := os.WriteFile(filepath.Join(into, "go.mod"), mod, 0o600); err != nil {
		return "", err
	}
	return "-modfile=" + filepath.Join(into, "go.mod"), os.WriteFile(filepath.Join(into, "go.sum"), sum, 0o600)
}

// replaceIn makes a module file find a module in a directory.
func replaceIn(mod []byte, module, directory string) []byte {
	var lines []string
	for line := range strings.Lines(string(mod)) {
		if !strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "replace "), module+" =>") {
			lines = append(lines, line)
		}
	}
	return fmt.Appendf(nil, "%s\nreplace %s => %q\n", strings.Join(lines, ""), module, directory)
}

// copyModule copies a module, after a download if need be.
func (w Workshop) copyModule(ctx context.Context, tool Tool, module, into string) error {
	output, err := w.run(ctx, tool, "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var found struct{ Dir string }
	if err := json.Unmarshal([]byte(output), &found); err != nil {
		return fmt.Errorf("read where module %s is: %w", module, err)
	}
	if err := overlay(into, found.Dir); err != nil {
		return fmt.Errorf("copy module %s: %w", module, err)
	}
	return nil
}

// overlay copies the files of a directory over those of another one, without tests.
func overlay(into, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		place := filepath.Join(into, relative)
		switch {
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir():
			return makeDirectory(place, exists(filepath.Join(path, whole)))
		case strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(place, content, 0o644)
	})
}

// makeDirectory makes a directory, and deletes the Go files that it has if they are unwanted.
func makeDirectory(path string, unwanted bool) error {
	if !unwanted {
		return os.MkdirAll(path, 0o755)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return os.MkdirAll(path, 0o755)
}
