package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// coresForOne is how many cores one build keeps busy: the compiler works on several
// packages at once, and the linker hardly on more.
const coresForOne = 2

// EnsureAll returns when all tools are there. Tools of one module share most of their
// packages, so that they are built one after the other; modules at the same time, as far
// as there are cores.
func (w Workshop) EnsureAll(ctx context.Context, tools []Tool) error {
	var modules []string
	ofModule := map[string][]Tool{}
	for _, tool := range tools {
		if ofModule[tool.Module] == nil {
			modules = append(modules, tool.Module)
		}
		ofModule[tool.Module] = append(ofModule[tool.Module], tool)
	}
	atOnce := w.AtOnce
	if atOnce == 0 {
		atOnce = max(1, runtime.NumCPU()/coresForOne)
	}
	slots := make(chan struct{}, atOnce)
	failures := make([]error, len(modules))
	var group sync.WaitGroup
	for i, module := range modules {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			for _, tool := range ofModule[module] {
				if _, err := w.Ensure(ctx, tool); err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// build builds a tool at a place. What an interrupted build has compiled is in the compiler's
// cache, so that the next one continues there.
func (w Workshop) build(ctx context.Context, tool Tool, place string) error {
	started := time.Now()
	if err := w.clear(tool); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(w.Directory, ".building-"+tool.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	if err := w.compile(ctx, tool, filepath.Join(partial, tool.Name)); err != nil {
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

// clear removes what builds of a tool have left that were killed. The caller has the
// tool's lock.
func (w Workshop) clear(tool Tool) error {
	left, err := filepath.Glob(filepath.Join(w.Directory, ".building-"+tool.Name+"-*"))
	if err != nil {
		return err
	}
	for _, directory := range left {
		if err := os.RemoveAll(directory); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles a tool, and reports how far it is.
func (w Workshop) compile(ctx context.Context, tool Tool, into string) error {
	w.Report(fmt.Sprintf("building %s (about %s the first time, seconds when Go's build cache has its packages)", tool.Name, tool.FirstBuild))
	flags := []string{"-trimpath", "-ldflags", "-s -w" + tool.Flags}
	if len(tool.replacements()) > 0 {
		copies, err := os.MkdirTemp(w.Directory, ".building-"+tool.Name+"-copies-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(copies)
		replaced, err := w.replace(ctx, tool, copies)
		if err != nil {
			return err
		}
		flags = append(flags, replaced)
	}
	stale, err := w.run(ctx, tool, append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, append(flags, tool.Package)...)...)
	if err != nil {
		return err
	}
	progress := &progress{tool: tool.Name, total: len(strings.Fields(stale)), report: w.Report, began: time.Now()}
	command := w.command(ctx, tool, append([]string{"build", "-v", "-o", into}, append(flags, tool.Package)...)...)
	command.Stderr = progress
	if err := command.Run(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, progress.said.String())
	}
	return nil
}

// run runs a go command in the tool's module and returns what it prints.
func (w Workshop) run(ctx context.Context, tool Tool, args ...string) (string, error) {
	output, err := w.command(ctx, tool, args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return "", fmt.Errorf("go %s: %w\n%s", args[0], err, exit.Stderr)
		}
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(output), nil
}

// command is a go command in the tool's module.
func (w Workshop) command(ctx context.Context, tool Tool, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(w.Sources, tool.Module)
	// The modules are complete in themselves, whatever surrounds them.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	return cmd
}

// progress reads what "go build -v" says: a line for each package that is compiled, and
// complaints.
type progress struct {
	tool   string
	total  int
	report func(string)
	began  time.Time

	line  strings.Builder
	done  int
	tenth int
	said  strings.Builder
}

// Write implements io.Writer.
func (p *progress) Write(output []byte) (int, error) {
	for _, char := range output {
		if char != '\n' {
			p.line.WriteByte(char)
			continue
		}
		p.take(p.line.String())
		p.line.Reset()
	}
	return len(output), nil
}

func (p *progress) take(line string) {
	if strings.ContainsAny(line, " :#") {
		fmt.Fprintln(&p.said, line)
		return
	}
	p.done++
	if p.total == 0 || p.done*10/p.total <= p.tenth {
		return
	}
	p.tenth = p.done * 10 / p.total
	p.report(fmt.Sprintf("building %s: %d of %d packages after %s", p.tool, p.done, p.total, time.Since(p.began).Round(time.Second)))
}
