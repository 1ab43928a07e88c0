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
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"
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
	// FirstBuild is roughly how long the first build takes on two cores.
	FirstBuild string
}

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
		Links: []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"},
		Flags: versionFlags("1", "36", "3"), FirstBuild: "5 minutes",
	}
	Registry = Tool{
		Name: "registry", Module: "registry",
		Package: "github.com/distribution/distribution/v3/cmd/registry", FirstBuild: "1 minute",
	}
	Kwok = Tool{
		Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
		Assets:     []Asset{{Module: "sigs.k8s.io/kwok", Directory: "kustomize", As: "kustomize"}},
		FirstBuild: "1 minute",
	}
	SourceController = Tool{
		Name: "source-controller", Module: "flux", Package: "github.com/fluxcd/source-controller",
		Assets:     []Asset{{Module: "github.com/fluxcd/source-controller", Directory: "config/crd/bases", As: "crds"}},
		FirstBuild: "5 minutes",
	}
	KustomizeController = Tool{
		Name: "kustomize-controller", Module: "flux", Package: "github.com/fluxcd/kustomize-controller",
		Assets:     []Asset{{Module: "github.com/fluxcd/kustomize-controller", Directory: "config/crd/bases", As: "crds"}},
		FirstBuild: "1 minute",
	}
)

// All are the programs of a lab with every option.
func All() []Tool {
	return []Tool{ControlPlane, Kwok, Registry, SourceController, KustomizeController}
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
	// Report is told what is built and how long it took.
	Report func(message string)
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
	unlock, err := w.lock(tool)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(place) { // somebody else built it while we waited
		return Built(place), nil
	}
	if err := w.build(ctx, tool, place); err != nil {
		return "", fmt.Errorf("build %s: %w", tool.Name, err)
	}
	return Built(place), nil
}

func (w Workshop) build(ctx context.Context, tool Tool, place string) error {
	w.Report(fmt.Sprintf("building %s (about %s the first time, seconds when Go's build cache has its packages)", tool.Name, tool.FirstBuild))
	started := time.Now()
	partial, err := os.MkdirTemp(w.Directory, ".building-"+tool.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	if _, err := w.run(ctx, tool, "go", "build", "-trimpath", "-ldflags", "-s -w"+tool.Flags,
		"-o", filepath.Join(partial, tool.Name), tool.Package); err != nil {
		return err
	}
	for _, link := range tool.Links {
		if err := os.Symlink(tool.Name, filepath.Join(partial, link)); err != nil {
			return err
		}
	}
	for _, asset := range tool.Assets {
		if err := w.copyAsset(ctx, tool, asset, partial); err != nil {
			return err
		}
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return err
	}
	if err := os.Rename(partial, place); err != nil {
		return err
	}
	w.Report(fmt.Sprintf("built %s in %s", tool.Name, time.Since(started).Round(time.Second)))
	return nil
}

func (w Workshop) copyAsset(ctx context.Context, tool Tool, asset Asset, into string) error {
	output, err := w.run(ctx, tool, "go", "list", "-m", "-f", "{{.Dir}}", asset.Module)
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(output), asset.Directory)
	if err := os.CopyFS(filepath.Join(into, asset.As), os.DirFS(source)); err != nil {
		return fmt.Errorf("copy %s of %s: %w", asset.Directory, asset.Module, err)
	}
	return nil
}

// run runs a go command in the tool's module and returns what it prints.
func (w Workshop) run(ctx context.Context, tool Tool, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(w.Sources, tool.Module)
	// The modules are complete in themselves, whatever surrounds them.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	output, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return string(output), nil
}

// key is a hash of everything that decides what the built tool is.
func (w Workshop) key(tool Tool) (string, error) {
	files, err := filepath.Glob(filepath.Join(w.Sources, tool.Module, "*"))
	if err != nil {
		return "", err
	}
	sort.Strings(files)
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
	for _, tool := range All() {
		key, err := w.key(tool)
		if err != nil {
			return err
		}
		wanted[tool.Name+"-"+key] = true
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
