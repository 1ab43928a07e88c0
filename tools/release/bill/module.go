// Package bill says what programs are made of: modules, their licences and the texts that go with
// them, as a notice for people and as a bill of material for programs.
package bill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.landscaper.dev/tools/release/program"
)

// Module is a module of Go that is in a program, or something else that is delivered.
type Module struct {
	Path, Version string
	// Purpose says why it is delivered, if no program is linked with it.
	Purpose string
	// Content is in each program that contains it without being linked with it.
	Content []byte
	Texts   []Text
}

func (m Module) String() string { return m.Path + " " + m.Version }

// Licences returns the licences of a module.
func (m Module) Licences() []string {
	var all []string
	for _, text := range m.Texts {
		all = append(all, text.Licences...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// standard is the path under which programs name the library of Go.
const standard = "std"

// Collect returns what is in the programs of the module in a folder, on all platforms, and what is
// delivered with them. The texts are those of the module cache.
func Collect(ctx context.Context, folder string, platforms []program.Platform) ([]Module, error) {
	known, err := newClassifier()
	if err != nil {
		return nil, err // says what it did
	}
	linked := map[string]*found{}
	for _, platform := range platforms {
		if err := list(ctx, folder, platform, linked); err != nil {
			return nil, fmt.Errorf("list the modules of the programs for %s: %w", platform, err)
		}
	}
	if err := delivered(ctx, folder, linked); err != nil {
		return nil, err // says what it did
	}
	if err := pages(folder, linked); err != nil {
		return nil, err // says what it did
	}
	var modules []Module
	for path, one := range linked {
		texts, err := known.texts(one.folder, one.sorted())
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", path, one.version, err)
		}
		modules = append(modules, Module{path, one.version, one.purpose, one.content, texts})
	}
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// found is a module with the folders in which there may be licences.
type found struct {
	version, folder, purpose string
	content                  []byte
	packages                 map[string]bool
}

// add adds the folder of a package and those above it.
func (f *found) add(folder string) {
	for ; strings.HasPrefix(folder, f.folder) && !f.packages[folder]; folder = filepath.Dir(folder) {
		f.packages[folder] = true
	}
}

func (f *found) sorted() []string {
	folders := []string{}
	for folder := range f.packages {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders
}

// list adds the modules that the programs of a platform are linked with.
func list(ctx context.Context, folder string, on program.Platform, linked map[string]*found) error {
	arguments := []string{"list", "-deps", "-json=Dir,Standard,Module,Name,ImportPath"}
	for _, p := range program.All() {
		if slices.Contains(p.Platforms, on) {
			arguments = append(arguments, "./cmd/"+p.Name)
		}
	}
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Stderr = folder, os.Stderr
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+on.OS, "GOARCH="+on.Arch)
	output, err := command.Output()
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var one struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what go list says: %w", err)
		}
		if one.Standard || one.Module == nil || one.Module.Main {
			continue
		}
		if linked[one.Module.Path] == nil {
			linked[one.Module.Path] = &found{version: one.Module.Version, folder: one.Module.Dir, packages: map[string]bool{}}
		}
		linked[one.Module.Path].add(one.Dir)
	}
}

// others are modules that programs are not linked with, although parts of them are delivered: by
// the module of this repository that knows their versions, why.
var others = []struct{ module, path, purpose string }{
	{"tools/flux-manifests", "github.com/fluxcd/flux2/v2", "its manifests are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/source-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/kustomize-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/helm-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/notification-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/image-reflector-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/image-automation-controller/api", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/flux-manifests", "github.com/fluxcd/source-watcher/api/v2", "its CustomResourceDefinitions are in the program gardener-extension-shoot-flux"},
	{"tools/release", "golang.org/x/crypto/x509roots/fallback", "its certificates of authorities, which Mozilla has collected, are in the images"},
}

// delivered adds what is delivered and not linked, and the library of Go.
func delivered(ctx context.Context, folder string, linked map[string]*found) error {
	for _, other := range others {
		var module struct{ Version, Dir string }
		if err := goJSON(ctx, filepath.Join(folder, other.module), &module, "mod", "download", "-json", other.path); err != nil {
			return fmt.Errorf("find %s, as %s uses it: %w", other.path, other.module, err)
		}
		linked[other.path] = &found{version: module.Version, folder: module.Dir, purpose: other.purpose, packages: map[string]bool{module.Dir: true}}
	}
	var environment struct{ GOROOT, GOVERSION string }
	if err := goJSON(ctx, folder, &environment, "env", "-json", "GOROOT", "GOVERSION"); err != nil {
		return fmt.Errorf("find the library of Go: %w", err)
	}
	linked[standard] = &found{version: environment.GOVERSION, folder: environment.GOROOT, packages: map[string]bool{environment.GOROOT: true}}
	return nil
}

// console is the folder of the pages of the console, with what they are built from.
const console = "internal/console/web"

// npm begins the names of packages of npm.
const npm = "npm/"

// pages adds what the pages of the console contain. The texts are beside the built pages. Commits
// of before the console have none.
func pages(folder string, linked map[string]*found) error {
	text, err := os.ReadFile(filepath.Join(folder, console, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find what the console is built from: %w", err)
	}
	var described struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &described); err != nil {
		return fmt.Errorf("read what the console is built from: %w", err)
	}
	built := filepath.Join(folder, console, "dist")
	content, err := os.ReadFile(filepath.Join(built, "app.js"))
	if err != nil {
		return fmt.Errorf("read the pages of the console: %w", err)
	}
	for name, version := range described.Dependencies {
		linked[npm+name] = &found{version: version, folder: built, purpose: "it is in the pages of the console", content: content, packages: map[string]bool{built: true}}
	}
	return nil
}

func goJSON(ctx context.Context, folder string, into any, arguments ...string) error {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = folder
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("go %s: %w: %s", strings.Join(arguments, " "), err, output)
	}
	return json.Unmarshal(output, into)
}
