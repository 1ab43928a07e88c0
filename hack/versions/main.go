// Versions checks that the programs of the lab and of the project agree on the versions of
// modules. A module in two versions is compiled twice on a machine that is new, and so is
// everything above it: the first build would take twice as long.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is a program that "make demo" or a test builds.
type program struct{ name, module, pkg string }

var programs = []program{
	{"landscaper", ".", "./cmd/landscaper"},
	{"landscaper-cli", ".", "./cmd/landscaper-cli"},
	{"gardener-extension-shoot-flux", ".", "./cmd/gardener-extension-shoot-flux"},
	{"demo", ".", "./hack/demo"},
	{"lab", "lab", "./cmd/lab"},
	{"controlplane", "lab/controlplane", "."},
	{"kube-scheduler", "lab/controlplane", "./scheduler"},
	{"source-controller", "lab/flux", "github.com/fluxcd/source-controller"},
	{"kustomize-controller", "lab/flux", "github.com/fluxcd/kustomize-controller"},
	{"helm-controller", "lab/flux", "github.com/fluxcd/helm-controller"},
	{"registry", "lab/registry", "."},
	{"kwok", "lab/kwok", "sigs.k8s.io/kwok/cmd/kwok"},
	{"kubectl", "lab/kubectl", "."},
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "versions:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	all := inventory{}
	for _, p := range programs {
		packages, err := dependencies(p)
		if err != nil {
			return fmt.Errorf("list the packages of %s: %w", p.name, err)
		}
		for _, found := range packages {
			all.add(p, found)
		}
	}
	fmt.Fprintln(out, all.summary())
	if conflicts := all.conflicts(); len(conflicts) > 0 {
		return errors.New("modules in several versions: run \"go get MODULE@VERSION && go mod tidy\" where the version is older\n  " + strings.Join(conflicts, "\n  "))
	}
	return nil
}

// listed is a package as "go list" shows it.
type listed struct {
	ImportPath string
	Standard   bool
	Module     *module
}

type module struct {
	Path, Version string
	Main          bool
	Replace       *struct{ Path, Version string }
}

// source is the module and the version that a package is compiled from.
func (l listed) source() (of, version string) {
	if l.Module.Replace != nil {
		return l.Module.Path, l.Module.Replace.Version
	}
	return l.Module.Path, l.Module.Version
}

// dependencies lists the packages that a program is compiled from.
func dependencies(p program) ([]listed, error) {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Module", p.pkg)
	command.Dir = filepath.FromSlash(p.module)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(output); ; {
		var next listed
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			return packages, command.Wait()
		} else if err != nil {
			return nil, errors.Join(err, command.Wait())
		}
		packages = append(packages, next)
	}
}

// inventory is which packages are compiled in which versions: by import path and version, the
// folders of the modules that ask for it.
type inventory map[string]map[string]*use

type use struct {
	// of is the module.
	of      string
	folders []string
}

func (i inventory) add(p program, found listed) {
	if found.Standard || found.Module == nil || found.Module.Main {
		return
	}
	of, version := found.source()
	versions := i[found.ImportPath]
	if versions == nil {
		versions = map[string]*use{}
		i[found.ImportPath] = versions
	}
	known := versions[version]
	if known == nil {
		known = &use{of: of}
		versions[version] = known
	}
	if !slices.Contains(known.folders, p.module) {
		known.folders = append(known.folders, p.module)
	}
}

func (i inventory) summary() string {
	compiled := 0
	for _, versions := range i {
		compiled += len(versions)
	}
	return fmt.Sprintf("%d programs: %d packages of other modules, %d of them in a second version", len(programs), compiled, compiled-len(i))
}

// conflicts lists the modules that are compiled in several versions, one line each.
func (i inventory) conflicts() []string {
	lines := map[string]bool{}
	for _, versions := range i {
		if len(versions) < 2 {
			continue
		}
		var parts []string
		of := ""
		for version, used := range versions {
			of = used.of
			slices.Sort(used.folders)
			parts = append(parts, version+" in "+strings.Join(used.folders, ", "))
		}
		slices.Sort(parts)
		lines[of+": "+strings.Join(parts, "; ")] = true
	}
	var all []string
	for line := range lines {
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}
