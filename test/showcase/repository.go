package showcase

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.landscaper.dev/test/lab"
)

// Repository is a Git repository with the examples, and a working copy of it.
type Repository struct {
	// URL is where Flux finds it.
	URL string
	// Commit and Tag are the last state that was pushed.
	Commit, Tag string

	directory string
	pushes    int
}

// NewRepository publishes the examples in an empty repository. The working copy is made
// in a directory.
func NewRepository(ctx context.Context, url, directory string) (*Repository, error) {
	root, err := lab.Root()
	if err != nil {
		return nil, err
	}
	r := &Repository{URL: url, directory: directory}
	if err := os.CopyFS(filepath.Join(directory, "examples", "kustomize"), os.DirFS(filepath.Join(root, "examples", "kustomize"))); err != nil {
		return nil, fmt.Errorf("copy the examples: %w", err)
	}
	if _, err := r.git(ctx, "init", "--quiet", "--initial-branch", "main"); err != nil {
		return nil, err
	}
	return r, r.push(ctx)
}

// Write changes a file below examples/kustomize, and pushes it as a new commit with a
// new tag.
func (r *Repository) Write(ctx context.Context, file, content string) error {
	return r.WriteAll(ctx, map[string]string{file: content}, nil)
}

// WriteAll is Write for several files, and for symbolic links with what they point to.
func (r *Repository) WriteAll(ctx context.Context, files, links map[string]string) error {
	write := func(entries map[string]string, one func(path, content string) error) error {
		for file, content := range entries {
			path := filepath.Join(r.directory, "examples", "kustomize", file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), one(path, content)); err != nil {
				return fmt.Errorf("change the repository: %w", err)
			}
		}
		return nil
	}
	err := errors.Join(
		write(files, func(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) }),
		write(links, func(path, target string) error { return os.Symlink(target, path) }))
	if err != nil {
		return err
	}
	return r.push(ctx)
}

// Read returns a file below examples/kustomize, as it was pushed.
func (r *Repository) Read(file string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.directory, "examples", "kustomize", file))
	return string(content), err
}

func (r *Repository) push(ctx context.Context) error {
	r.pushes++
	r.Tag = fmt.Sprintf("1.%d.0", r.pushes)
	for _, args := range [][]string{
		{"add", "--all"},
		{"-c", "user.name=showcase", "-c", "user.email=showcase@example.org", "commit", "--quiet", "--message", "state " + r.Tag},
		{"tag", r.Tag},
		{"push", "--quiet", r.URL, "main", r.Tag},
	} {
		if _, err := r.git(ctx, args...); err != nil {
			return err
		}
	}
	commit, err := r.git(ctx, "rev-parse", "HEAD")
	r.Commit = strings.TrimSpace(commit)
	return err
}

// git runs git without the configuration of the user.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = r.directory
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0")
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}
