// Package tools builds the programs that a lab runs, each once, and finds them
// again.
package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"
)

// Tool is a program that is built from a module below the lab's sources.
type Tool struct {
	// Name is the program's file name.
	Name string
	// Module is the directory of the module below the lab's sources.
	Module string
	// Package is what go build is given.
	Package string
	// Links are further names of the program, for one that acts by its name.
	Links []string
	// Flags are additional linker flags.
	Flags string
	// Assets are directories of the modules that the tool comes from, copied
	// next to the program so that running it does not need the module cache.
	Assets []Asset
	// Replaced are the modules of which files are replaced. The files lie in the directory
	// _replaced of Module, below the path of the module that they belong to. They change
	// nothing but what has to be compiled.
	Replaced []string
	// Lean are the modules of which a lean build replaces files, too, with those in _lean. It
	// lacks what these files leave out, and so the modules that only it needs.
	Lean []string
	// FirstBuild is roughly how long the first build takes on two cores.
	FirstBuild string

	// isLean says that this is the lean build.
	isLean bool
}

// lean is the tool as a lean build makes it.
func (t Tool) lean() Tool {
	t.isLean = true
	return t
}

// replacements are the directories with files that replace those of other modules, below the
// directory of the tool's own one, and the modules. The later one counts.
func (t Tool) replacements() (all []replacement) {
	for _, module := range t.Replaced {
		all = append(all, replacement{filepath.Join("_replaced", module), module})
	}
	for _, module := range t.Lean {
		if t.isLean {
			all = append(all, replacement{filepath.Join("_lean", module), module})
		}
	}
	return all
}

type replacement struct{ directory, module string }

// Asset is a directory inside a module that is kept beside a tool.
type Asset struct {
	Module    string
	Directory string
	As        string
}

// The programs a lab can need.
var (
	ControlPlane = Tool{
		Name: "controlplane", Module: "controlplane", Package: ".",
		Links:    []string{"etcd", "kube-apiserver", "kube-controller-manager"},
		Flags:    versionFlags("1", "37", "2"),
		Replaced: []string{"k8s.io/kubernetes", "k8s.io/apiserver"}, FirstBuild: "7 minutes",
	}
	// Scheduler is for clusters with nodes. It is a program of its own, because no other one
	// needs its packages.
	Scheduler = Tool{
		Name: "kube-scheduler", Module: "controlplane", Package: "./scheduler",
		Flags:    versionFlags("1", "37", "2"),
		Replaced: []string{"k8s.io/kubernetes", "k8s.io/apiserver"}, FirstBuild: "1 minute",
	}
	Registry = Tool{Name: "registry", Module: "registry", Package: ".", FirstBuild: "30 seconds"}
	Kwok     = Tool{
		Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
		Assets:     []Asset{{Module: "sigs.k8s.io/kwok", Directory: "kustomize", As: "kustomize"}},
		FirstBuild: "1 minute",
	}
	SourceController = Tool{
		Name: "source-controller", Module: "flux", Package: "github.com/fluxcd/source-controller",
		Assets: []Asset{{Module: "github.com/fluxcd/source-controller", Directory: "config/crd/bases", As: "crds"}},
		Lean: []string{
			"github.com/fluxcd/source-controller", "github.com/fluxcd/pkg/auth",
			"github.com/google/go-containerregistry/pkg/authn/k8schain", "github.com/sigstore/cosign/v3",
		},
		FirstBuild: "3 minutes",
	}
	KustomizeController = Tool{
		Name: "kustomize-controller", Module: "flux", Package: "github.com/fluxcd/kustomize-controller",
		Assets:     []Asset{{Module: "github.com/fluxcd/kustomize-controller", Directory: "config/crd/bases", As: "crds"}},
		Lean:       []string{"github.com/fluxcd/kustomize-controller", "github.com/fluxcd/pkg/auth"},
		FirstBuild: "1 minute",
	}
	// HelmController installs the releases of Flux. No lab needs it: a test runs it itself.
	HelmController = Tool{
		Name: "helm-controller", Module: "flux", Package: "github.com/fluxcd/helm-controller",
		FirstBuild: "1 minute",
	}
	// Kubectl is for machines that have none. No lab needs it.
	Kubectl = Tool{Name: "kubectl", Module: "kubectl", Package: ".", Flags: versionFlags("1", "37", "2"), FirstBuild: "1 minute"}
)

// All are the programs of a lab with every option.
func All() []Tool {
	return []Tool{ControlPlane, Scheduler, Kwok, Registry, SourceController, KustomizeController}
}

// others are the programs that no lab needs.
var others = []Tool{HelmController, Kubectl}

// Named returns the programs with these names.
func Named(names []string) ([]Tool, error) {
	var named []Tool
	known := append(All(), others...)
	for _, name := range names {
		at := slices.IndexFunc(known, func(tool Tool) bool { return tool.Name == name })
		if at < 0 {
			var all []string
			for _, tool := range known {
				all = append(all, tool.Name)
			}
			return nil, fmt.Errorf("there is no program %q; there are %s", name, strings.Join(all, ", "))
		}
		named = append(named, known[at])
	}
	return named, nil
}

// versionFlags make the Kubernetes programs report the version they are.
func versionFlags(major, minor, patch string) string {
	const variable = " -X k8s.io/component-base/version."
	return variable + "gitMajor=" + major + variable + "gitMinor=" + minor +
		variable + "gitVersion=v" + major + "." + minor + "." + patch +
		variable + "gitTreeState=clean"
}

// Workshop builds tools from sources into a directory.
type Workshop struct {
	// Sources is the directory of the lab's sources.
	Sources string
	// Directory receives the tools, a sub-directory for each version of each.
	Directory string
	// Report gets what is built, how far it is, and how long it took.
	Report func(message string)
	// Lean makes lean builds of those tools that have them, unless there is a full one.
	Lean bool
	// AtOnce is how many modules are built at the same time; by the number of cores if 0.
	AtOnce int
}

// Built is where a built tool lies.
type Built string

// Program is the path of the tool's program or of one of its links.
func (b Built) Program(name string) string { return filepath.Join(string(b), name) }

// Asset is the path of a directory of assets.
func (b Built) Asset(name string) string { return filepath.Join(string(b), name) }

// Ensure returns the tool, after building it if this version never was. Two
// processes that need the same tool build it once.
func (w Workshop) Ensure(ctx context.Context, tool Tool) (Built, error) {
	key, err := w.key(tool)
	if err != nil {
		return "", fmt.Errorf("identify the version of %s: %w", tool.Name, err)
	}
	place := filepath.Join(w.Directory, tool.Name+"-"+key)
	if exists(place) {
		return Built(place), nil
	}
	if w.Lean && len(tool.Lean) > 0 && !tool.isLean {
		return w.Ensure(ctx, tool.lean())
	}
	unlock, err := w.lock(tool)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(place) { // another process built it while we waited
		return Built(place), nil
	}
	if err := w.build(ctx, tool, place); err != nil {
		return "", fmt.Errorf("build %s: %w", tool.Name, err)
	}
	return Built(place), nil
}

func (w Workshop) copyAsset(ctx context.Context, tool Tool, asset Asset, into string) error {
	output, err := w.run(ctx, tool, "list", "-m", "-f", "{{.Dir}}", asset.Module)
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(output), asset.Directory)
	if err := os.CopyFS(filepath.Join(into, asset.As), os.DirFS(source)); err != nil {
		return fmt.Errorf("copy %s of %s: %w", asset.Directory, asset.Module, err)
	}
	return nil
}

// key is a hash of everything that decides what the built tool is.
func (w Workshop) key(tool Tool) (string, error) {
	files, err := filepath.Glob(filepath.Join(w.Sources, tool.Module, "*"))
	if err != nil {
		return "", err
	}
	if tool.Package != "." && strings.HasPrefix(tool.Package, ".") {
		inPackage, err := filepath.Glob(filepath.Join(w.Sources, tool.Module, tool.Package, "*"))
		if err != nil {
			return "", err
		}
		files = append(files, inPackage...)
	}
	sort.Strings(files)
	for _, replaced := range tool.replacements() {
		err := filepath.WalkDir(filepath.Join(w.Sources, tool.Module, replaced.directory), func(path string, _ fs.DirEntry, err error) error {
			files = append(files, path)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, tool)
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".go", ".mod", ".sum":
			if err := add(sum, file); err != nil {
				return "", err
			}
		}
	}
	if len(files) == 0 {
		return "", fmt.Errorf("no sources in %s; set LAB_SOURCES to the lab's source directory", filepath.Join(w.Sources, tool.Module))
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

func add(sum io.Writer, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Fprintln(sum, filepath.Base(file), len(content))
	_, err = sum.Write(content)
	return err
}

// lock holds a tool's lock file until unlock or the end of the process.
func (w Workshop) lock(tool Tool) (unlock func(), err error) {
	if err := os.MkdirAll(w.Directory, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory for tools: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(w.Directory, ".lock-"+tool.Name), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock for building %s: %w", tool.Name, err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		w.Report("waiting for another process that is building " + tool.Name)
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock the building of %s: %w", tool.Name, err)
		}
	}
	return func() { _ = file.Close() }, nil
}

// Prune removes the versions of tools that the present sources do not ask for.
func (w Workshop) Prune() error {
	wanted := map[string]bool{}
	for _, tool := range append(All(), others...) {
		for _, tool := range []Tool{tool, tool.lean()} {
			key, err := w.key(tool)
			if err != nil {
				return err
			}
			wanted[tool.Name+"-"+key] = true
		}
	}
	entries, err := os.ReadDir(w.Directory)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() && !wanted[entry.Name()] && !strings.HasPrefix(entry.Name(), ".") {
			if err := os.RemoveAll(filepath.Join(w.Directory, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
