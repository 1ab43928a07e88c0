package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/local"
	"go.landscaper.dev/internal/local/folder"
)

// Subject is the name of the Installation of a blueprint that is tested, and of its namespace.
const Subject = "test"

// Options say how cases are run.
type Options struct {
	// Update writes snapshots instead of comparing with them.
	Update bool
	// Online lets components come from registries.
	Online bool
	// Timeout limits each case.
	Timeout time.Duration
	// Renderers carry out foreign work.
	Renderers renderers.Renderers
}

// Outcome is what has become of a case.
type Outcome struct {
	File, Case string
	Duration   time.Duration
	// Failures say what is not as expected; none for a case that has passed.
	Failures []string
}

// Run runs a case.
func Run(ctx context.Context, file *File, index int, options Options) Outcome {
	one := &file.Test.Cases[index]
	began := time.Now()
	failures, err := run(ctx, file, one, options)
	if err != nil {
		failures = append(failures, err.Error())
	}
	return Outcome{File: file.Path, Case: one.Name, Duration: time.Since(began), Failures: failures}
}

func run(ctx context.Context, file *File, one *Case, options Options) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	settings, err := file.settings(one)
	if err != nil {
		return nil, err
	}
	if err := file.record(coverage.From(ctx), one); err != nil {
		return nil, err
	}
	settings.Online, settings.Renderers, settings.Log = options.Online, options.Renderers, local.Discard()
	landscape, err := local.Start(ctx, settings)
	if err != nil {
		return nil, err
	}
	defer landscape.Close()
	late := one.Expect.await(ctx, landscape)
	if problems := landscape.Problems(); problems != nil {
		return nil, problems
	}
	if late != nil {
		what := "not all Installations have ended"
		if one.Expect.Waits != "" {
			what = fmt.Sprintf("nothing has waited with %q", one.Expect.Waits)
		}
		when := fmt.Sprintf("in %s", options.Timeout)
		if errors.Is(late, local.ErrEnded) {
			when = "until all have ended"
		}
		return []string{fmt.Sprintf("%s %s:%s", what, when, describe(landscape))}, nil
	}
	failures := one.Expect.compare(landscape)
	if one.Expect.Snapshot {
		difference, err := snapshot(file, one, landscape, options.Update)
		if err != nil {
			return failures, err
		}
		failures = append(failures, difference...)
	}
	if one.Expect.Deletion != nil {
		more, err := one.Expect.Deletion.compare(ctx, landscape)
		return append(failures, more...), err
	}
	return failures, nil
}

// await waits for the end of all Installations, or for the wait that is expected.
func (e *Expect) await(ctx context.Context, landscape *local.Landscape) error {
	if e.Waits != "" {
		return landscape.WaitFor(ctx, e.Waits)
	}
	return landscape.Wait(ctx)
}

// settings are those of the landscape of a case.
func (f *File) settings(one *Case) (local.Options, error) {
	if f.Test.Blueprint != "" {
		return f.blueprint(one)
	}
	variables := map[string]string{}
	for _, given := range []Given{f.Test.Given, one.Given} {
		for name, value := range given.Variables {
			variables[name] = value
		}
	}
	content, err := folder.Read(f.Directory, folder.Options{Variables: variables})
	if err != nil {
		return local.Options{}, err
	}
	return local.Options{
		Objects: content.Objects, Definitions: content.Definitions, Components: content.Components,
		Behaviour: one.Given.Before(f.Test.Given.Before(content.Rules.Behaviour)),
	}, nil
}

// load loads the blueprint that is tested. What is returned as well gives it up.
func (f *File) load() (*blueprint.Blueprint, func(), error) {
	root, err := os.OpenRoot(f.Directory)
	if err != nil {
		return nil, nil, fmt.Errorf("open the blueprint: %w", err)
	}
	done := func() { root.Close() } //nolint:errcheck // nothing is written
	loaded, err := blueprint.Load(root.FS())
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("blueprint %s: %w", f.Directory, err)
	}
	return loaded, done, nil
}

// blueprint makes the landscape of a blueprint: an Installation that has its files, and what it imports.
func (f *File) blueprint(one *Case) (local.Options, error) {
	loaded, done, err := f.load()
	if err != nil {
		return local.Options{}, err // names the blueprint
	}
	defer done()
	tree, err := folder.Tree(f.Directory)
	if err != nil {
		return local.Options{}, err
	}
	imports, objects, err := f.imports(loaded.Info, one)
	if err != nil {
		return local.Options{}, err
	}
	spec := map[string]any{"blueprint": map[string]any{"inline": map[string]any{"filesystem": tree}}, "imports": imports, "exports": exportsOf(loaded.Info)}
	installation := newObject("Installation", Subject)
	installation.Object["spec"] = spec
	return local.Options{Objects: append(objects, installation), Behaviour: one.Given.Before(f.Test.Given.Behaviour)}, nil
}

// values are the imports that a case gives.
func (f *File) values(one *Case) map[string]any {
	values := map[string]any{}
	for _, given := range []Given{f.Test.Given, one.Given} {
		for name, value := range given.Imports {
			values[name] = value
		}
	}
	return values
}

// declaration is an import of a blueprint; a conditional one exists only if another one is given.
type declaration struct {
	v1alpha1.ImportDefinition
	conditional bool
}

// declared are all imports, the conditional ones included.
func declared(list v1alpha1.ImportDefinitionList, conditional bool) (all []declaration) {
	for _, definition := range list {
		all = append(all, declaration{definition, conditional})
		all = append(all, declared(definition.ConditionalImports, true)...)
	}
	return all
}

// imports are those of the Installation, and the objects with their values.
func (f *File) imports(info *v1alpha1.Blueprint, one *Case) (map[string]any, []*unstructured.Unstructured, error) {
	values := f.values(one)
	var objects []*unstructured.Unstructured
	data, targets := []any{}, []any{}
	var known []string
	for _, wanted := range declared(info.Imports, false) {
		known = append(known, wanted.Name)
		value, given := values[wanted.Name]
		if wanted.conditional && !given {
			continue
		}
		switch wanted.Type {
		case v1alpha1.ImportTypeTarget:
			name := wanted.Name
			if text, isText := value.(string); isText {
				name = text
			}
			targets = append(targets, map[string]any{"name": wanted.Name, "target": name})
		case v1alpha1.ImportTypeTargetList:
			list, isList := value.([]any)
			if given && !isList {
				return nil, nil, fmt.Errorf("case %q: import %s: write a list of names of Targets", one.Name, wanted.Name)
			}
			targets = append(targets, map[string]any{"name": wanted.Name, "targets": list})
		case v1alpha1.ImportTypeData:
			if !given {
				continue
			}
			object := newObject("DataObject", wanted.Name)
			object.Object["data"] = value
			object.SetName(objectName(wanted.Name))
			objects = append(objects, object)
			data = append(data, map[string]any{"name": wanted.Name, "dataRef": objectName(wanted.Name)})
		default:
			return nil, nil, fmt.Errorf("import %s of type %s cannot be given in a test: write a landscape", wanted.Name, wanted.Type)
		}
	}
	for name := range values {
		if !slices.Contains(known, name) {
			return nil, nil, fmt.Errorf("case %q: the blueprint has no import %q", one.Name, name)
		}
	}
	return map[string]any{"data": data, "targets": targets}, objects, nil
}

// objectName is the name of an object for an import or export, whose names may have capital letters.
func objectName(name string) string {
	lower := []rune{}
	for _, char := range name {
		switch {
		case char >= 'A' && char <= 'Z':
			lower = append(lower, '-', char+'a'-'A')
		case char == '_':
			lower = append(lower, '-')
		default:
			lower = append(lower, char)
		}
	}
	if len(lower) > 0 && lower[0] == '-' {
		lower = lower[1:]
	}
	return string(lower)
}

func exportsOf(info *v1alpha1.Blueprint) map[string]any {
	data, targets := []any{}, []any{}
	for _, export := range info.Exports {
		if export.Type == v1alpha1.ExportTypeTarget {
			targets = append(targets, map[string]any{"name": export.Name, "target": objectName(export.Name)})
			continue
		}
		data = append(data, map[string]any{"name": export.Name, "dataRef": objectName(export.Name)})
	}
	return map[string]any{"data": data, "targets": targets}
}

func newObject(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": map[string]any{"namespace": Subject, "name": name},
	}}
}

// describe says how Installations stand, and what is waited for.
func describe(landscape *local.Landscape) string {
	text := ""
	for _, inst := range landscape.Result().Installations {
		text += strings.TrimRight(fmt.Sprintf("\n  %s: %s %s", inst.Name, inst.Phase, inst.Message), " ")
	}
	for _, wait := range landscape.Waits() {
		text += "\n  waiting: " + wait
	}
	return text
}

// snapshotsDirectory is where snapshots are, beside the file with the tests. It is looked into for nothing
// else.
const snapshotsDirectory = ".snapshots"

// snapshot compares what a case has come to with its snapshot, or takes it.
func snapshot(file *File, one *Case, landscape *local.Landscape, update bool) ([]string, error) {
	snapshots.Lock()
	defer snapshots.Unlock()
	// A link of a foreign project must not lead to a file elsewhere, which an update would overwrite.
	root, err := os.OpenRoot(filepath.Dir(file.Path))
	if err != nil {
		return nil, err // says which directory
	}
	defer func() { _ = root.Close() }()
	name := filepath.Join(snapshotsDirectory, filepath.Base(file.Path)+".json")
	stored := map[string]any{}
	text, err := root.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err // says which file
	default:
		if err := json.Unmarshal(text, &stored); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	now := plain(normalised(landscape.Result()))
	before, exists := stored[one.Name]
	if exists && !update {
		var failures []string
		for _, difference := range whole("snapshot", before, now) {
			failures = append(failures, difference+" (accept it with --update)")
		}
		return failures, nil
	}
	if !update {
		return []string{"there is no snapshot: take one with --update"}, nil
	}
	stored[one.Name] = now
	raw, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(snapshotsDirectory, 0o755); err != nil {
		return nil, err // says which directory
	}
	return nil, root.WriteFile(name, append(raw, '\n'), 0o644)
}
