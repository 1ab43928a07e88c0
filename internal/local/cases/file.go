// Package cases runs tests of blueprints and landscapes that are written in YAML: each case brings up a
// landscape in memory, and compares what it has come to with what is expected.
package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/local/rules"
)

// Kind is the kind of a file with tests.
const Kind = "LandscapeTest"

// suffix is how the names of files with tests end.
const suffix = "_test.yaml"

// Test is the content of a file.
type Test struct {
	metav1.TypeMeta `json:",inline"`
	// Blueprint is the directory of the blueprint that is tested, beside the file; Landscape is that of a
	// landscape.
	Blueprint string `json:"blueprint,omitempty"`
	Landscape string `json:"landscape,omitempty"`
	// Given is what all cases have.
	Given Given `json:"given,omitempty"`
	// Cases are the cases.
	Cases []Case `json:"cases"`
}

// Given is what a case begins with.
type Given struct {
	// Imports are the values of imports of a blueprint.
	Imports map[string]any `json:"imports,omitempty"`
	// Variables are the values of ${NAME} in a landscape.
	Variables map[string]string `json:"variables,omitempty"`
	// What clusters have and do. It goes before the rules of the landscape.
	rules.Behaviour `json:",inline"`
}

// Case is one case, or a table of cases that have something in common.
type Case struct {
	Name   string `json:"name"`
	Given  Given  `json:"given,omitempty"`
	Expect Expect `json:"expect,omitempty"`
	// Table has a row for each case: its fields are merged into those of this one.
	Table []Case `json:"table,omitempty"`
}

// Expect is what a case is to come to.
type Expect struct {
	// Phase is that of all root Installations; Succeeded without it and without Phases.
	Phase string `json:"phase,omitempty"`
	// Phases are those of Installations by name; parts of a tree have the name of their template.
	Phases map[string]string `json:"phases,omitempty"`
	// Error is a part of the error of an Installation.
	Error string `json:"error,omitempty"`
	// Waits is a part of what an Installation, or a part of it, says while it waits: the case ends there.
	Waits string `json:"waits,omitempty"`
	// Exports are values of exports, by name.
	Exports map[string]any `json:"exports,omitempty"`
	// Objects are what is, or is not, on target clusters.
	Objects []Object `json:"objects,omitempty"`
	// Order are objects as "Kind name" in the order in which they are created.
	Order []string `json:"order,omitempty"`
	// Snapshot compares everything with what it was when the snapshot was taken.
	Snapshot bool `json:"snapshot,omitempty"`
	// Deletion deletes the Installations, and looks at what remains.
	Deletion *Deletion `json:"deletion,omitempty"`
}

// Object is what is expected of an object.
type Object struct {
	// Cluster is the name of a Target; any cluster without it.
	Cluster string `json:"cluster,omitempty"`
	// Object names the object, and has the fields that it must have.
	Object map[string]any `json:"object"`
	// Whole says that it has no further fields, except those of an API server.
	Whole bool `json:"whole,omitempty"`
	// Absent says that it does not exist.
	Absent bool `json:"absent,omitempty"`
	// Conditions are expressions in CEL on its fields.
	Conditions []string `json:"conditions,omitempty"`
}

// Deletion is what is expected after the deletion.
type Deletion struct {
	// Remain are the objects that are left on target clusters, as "Kind name".
	Remain []string `json:"remain"`
}

// File is a file with tests.
type File struct {
	// Path is where it is, and Directory the folder that everything is read from.
	Path, Directory string
	Test            Test
}

// Find returns the names of the files with tests below a directory, or the file that is named.
func Find(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err // says which
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var found []string
	err = filepath.WalkDir(name, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), suffix):
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

// maxText is how long a file with tests may be.
const maxText = 4 << 20

// Read reads a file with tests, of which what is tested is within a directory. A file that is of another
// kind has none.
func Read(name, within string) (*File, error) {
	opened, err := os.OpenInRoot(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = opened.Close() }()
	text, err := io.ReadAll(io.LimitReader(opened, maxText+1))
	if err != nil {
		return nil, err // says which
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("%s is longer than %d MiB", name, maxText>>20)
	}
	file := &File{Path: name}
	if err := rules.Decode(name, text, rules.APIVersion, Kind, &file.Test); err != nil {
		return nil, err
	}
	if err := file.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// Who runs tests that others have written names what these may read.
	relative, err := filepath.Rel(within, file.Directory)
	if err != nil || !filepath.IsLocal(relative) {
		return nil, fmt.Errorf("%s: %s is outside of %s: run the tests of a directory that has both", name, file.Directory, within)
	}
	return file, nil
}

// complete checks the file, and puts the rows of tables in the place of the tables.
func (f *File) complete() error {
	test := &f.Test
	if (test.Blueprint == "") == (test.Landscape == "") {
		return errors.New("write either blueprint or landscape: the directory of what is tested")
	}
	directory := test.Blueprint + test.Landscape
	if path.IsAbs(filepath.ToSlash(directory)) {
		return fmt.Errorf("%s: write a path beside the file", directory)
	}
	f.Directory = filepath.Join(filepath.Dir(f.Path), directory)
	if err := test.Given.check(); err != nil {
		return fmt.Errorf("given: %w", err)
	}
	var all []Case
	for i, one := range test.Cases {
		rows, err := one.rows()
		if err != nil {
			return fmt.Errorf("cases[%d]: %w", i, err)
		}
		all = append(all, rows...)
	}
	var names []string
	for _, one := range all {
		if one.Name == "" {
			return errors.New("each case needs a name")
		}
		if slices.Contains(names, one.Name) {
			return fmt.Errorf("two cases have the name %q", one.Name)
		}
		names = append(names, one.Name)
		if err := one.Given.check(); err != nil {
			return fmt.Errorf("case %q: given: %w", one.Name, err)
		}
		if one.Given.Imports != nil && test.Blueprint == "" {
			return fmt.Errorf("case %q: given.imports are for blueprints: a landscape has DataObjects", one.Name)
		}
	}
	if len(all) == 0 {
		return errors.New("there are no cases")
	}
	test.Cases = all
	return nil
}

// check returns what is wrong with the rules of a test. The files that they may name are read for a folder
// only.
func (g *Given) check() error {
	if named := g.Files(); len(named) > 0 {
		return fmt.Errorf("files are for %s: write %s under manifests", rules.FileName, strings.Join(named, ", "))
	}
	return g.Check()
}

// rows returns the cases of a table, or the case itself.
func (c *Case) rows() ([]Case, error) {
	if len(c.Table) == 0 {
		return []Case{*c}, nil
	}
	common := *c
	common.Table = nil
	var rows []Case
	for i, row := range c.Table {
		if len(row.Table) > 0 {
			return nil, fmt.Errorf("table[%d]: a row has no table", i)
		}
		base, err := fields(common)
		if err != nil {
			return nil, err
		}
		own, err := fields(row)
		if err != nil {
			return nil, err
		}
		name := row.Name
		if name == "" {
			name = fmt.Sprint(i + 1)
		}
		whole, _ := rules.Merge(base, own).(map[string]any)
		whole["name"] = c.Name + "/" + name
		raw, err := json.Marshal(whole)
		if err != nil {
			return nil, err
		}
		var made Case
		if err := json.Unmarshal(raw, &made); err != nil {
			return nil, err
		}
		rows = append(rows, made)
	}
	return rows, nil
}

// fields returns the fields of a case that are set.
func fields(c Case) (map[string]any, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, json.Unmarshal(raw, &all)
}
