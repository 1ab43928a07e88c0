// Package osaccess gives templates the operating system: files, commands,
// environment and network. Only trusted templates may get it.
package osaccess

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// System implements the System of the engine with the operating system. Close
// removes the temporary files that templates made.
type System struct {
	temporary string
	files     int
}

// WriteFile writes a file.
func (*System) WriteFile(path string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(path, data, perm)
}

// MakeDir makes a directory with its parents.
func (*System) MakeDir(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }

// TempFile writes a temporary file and returns its path.
func (s *System) TempFile(data []byte, perm fs.FileMode) (string, error) {
	if s.temporary == "" {
		dir, err := os.MkdirTemp("", "spiff-")
		if err != nil {
			return "", fmt.Errorf("making a temporary directory: %w", err)
		}
		s.temporary = dir
	}
	s.files++
	path := filepath.Join(s.temporary, fmt.Sprintf("file-%d", s.files))
	return path, os.WriteFile(path, data, perm)
}

// ReadFile reads a file.
func (*System) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

// ReadDir lists a directory.
func (*System) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Stat describes a file or directory.
func (*System) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Run runs a command and returns its output.
func (*System) Run(ctx context.Context, stdin []byte, command []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // a template of the user runs it; no server links this package
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(problem.String()); text != "" {
			return nil, fmt.Errorf("running %s: %w: %s", command[0], err, text)
		}
		return nil, fmt.Errorf("running %s: %w", command[0], err)
	}
	return out.Bytes(), nil
}

// Env returns an environment variable.
func (*System) Env(name string) (string, bool) { return os.LookupEnv(name) }

// maxDownload bounds the size of a fetched document.
const maxDownload = 64 << 20

// Fetch gets the content of a URL.
func (*System) Fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing was written that could get lost
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetching: server answers %s", resp.Status)
	}
	// One byte more distinguishes a document of that length from the first part of a longer one.
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDownload+1))
	if err != nil {
		return nil, fmt.Errorf("fetching: %w", err)
	}
	if len(text) > maxDownload {
		return nil, fmt.Errorf("fetching: the document is longer than %d bytes", maxDownload)
	}
	return text, nil
}

// Close removes the temporary files.
func (s *System) Close() error {
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}
