package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// testCase is one case of the corpus.
type testCase struct {
	Name          string            `yaml:"name"`
	Tier          int               `yaml:"tier"`
	Feature       string            `yaml:"feature"`
	Template      string            `yaml:"template"`
	Stubs         []string          `yaml:"stubs"`
	Enable        []string          `yaml:"enable"`
	Bindings      *string           `yaml:"bindings"`
	State         *string           `yaml:"state"`
	Files         map[string]string `yaml:"files"`
	Env           map[string]string `yaml:"env"`
	Access        string            `yaml:"access"`
	Where         string            `yaml:"where"`
	Expected      yaml.Node         `yaml:"expected"`
	ExpectedDocs  yaml.Node         `yaml:"expected_docs"`
	ExpectedState yaml.Node         `yaml:"expected_state"`
	Error         *expectedError    `yaml:"error"`
	MessagePaths  []string          `yaml:"message_paths"`
	Timeout       float64           `yaml:"timeout_s"`
}

type expectedError struct {
	Nodes []errorNode `yaml:"nodes"`
}

type errorNode struct {
	Path  string `yaml:"path"`
	Class string `yaml:"class"`
}

// caseFile is the content of one file of the corpus.
type caseFile struct {
	Cases          []testCase `yaml:"cases"`
	DeviationCases []testCase `yaml:"deviation_cases"`
}

// load reads all case files of a folder.
func load(folder string) ([]testCase, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".yaml") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the corpus: %w", err)
	}
	sort.Strings(files)
	var cases []testCase
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the corpus: %w", err)
		}
		var f caseFile
		if err := yaml.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		cases = append(cases, f.Cases...)
		cases = append(cases, f.DeviationCases...)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no cases found in %s", folder)
	}
	return cases, nil
}

// access is the access level that the case runs with.
func (c *testCase) access() string {
	switch {
	case c.Access != "":
		return c.Access
	case c.Where == "blueprint":
		return "files"
	}
	return "none"
}

// prepare writes the files of the case and returns the arguments of the merge
// command.
func (c *testCase) prepare(dir string) ([]string, error) {
	files := map[string]string{"template.yaml": c.Template}
	args := []string{"spiff", "merge", "--access", c.access()}
	if len(c.Enable) > 0 {
		args = append(args, "--features", strings.Join(c.Enable, ","))
	}
	if c.Bindings != nil {
		files["bindings.yaml"] = *c.Bindings
		args = append(args, "--bindings", "bindings.yaml")
	}
	if c.State != nil {
		files["state.yaml"] = *c.State
	}
	if c.State != nil || c.ExpectedState.Kind != 0 {
		args = append(args, "--state", "state.yaml")
	}
	for name, content := range c.Files {
		files[name] = content
	}
	args = append(args, "template.yaml")
	for i, stub := range c.Stubs {
		name := fmt.Sprintf("stub%d.yaml", i+1)
		files[name] = stub
		args = append(args, name)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	return args, nil
}
