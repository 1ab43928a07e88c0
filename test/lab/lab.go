// Package lab starts real clusters, and what belongs around them, for tests. It
// runs the program bin/lab and reads its JSON; a lab lives no longer than the
// process that started it.
package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Options say what a lab consists of.
type Options struct {
	// Clusters are the names of the clusters; one called "cluster" if empty.
	Clusters []string
	// With are the options of "lab up --with": registry, registry-auth,
	// registry-tls, git, git-auth, flux=CLUSTER, kwok=CLUSTER, issuer=CLUSTER.
	With []string
	// KwokNodes is the number of nodes of each cluster with kwok; 0 is the default.
	KwokNodes int
	// Profiling lets the API servers serve profiles below /debug/pprof.
	Profiling bool
	// Progress gets what the lab's program says while it works, such as what it builds; the
	// standard error if it is not set.
	Progress io.Writer
	// Lean builds Flux without what costs most of its compilation, unless it is built already.
	// Tests do not ask for it.
	Lean bool
}

// Lab is a running lab.
type Lab struct {
	Name      string              `json:"name"`
	Directory string              `json:"directory"`
	PID       int                 `json:"pid"`
	Clusters  map[string]*Cluster `json:"clusters"`
	Registry  *Registry           `json:"registry"`
	Git       *Git                `json:"git"`
	// Components, DiskBytes and MemoryBytes are as of the last Refresh.
	Components  []Component `json:"components"`
	DiskBytes   int64       `json:"diskBytes"`
	MemoryBytes int64       `json:"memoryBytes"`

	progress io.Writer
}

// Registry is how to reach the OCI registry.
type Registry struct {
	Address  string `json:"address"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Password string `json:"password"`
	CAFile   string `json:"caFile"`
}

// Git is how to reach the Git server.
type Git struct {
	HTTP           string `json:"http"`
	Username       string `json:"username"`
	Password       string `json:"password"`
	SSH            string `json:"ssh"`
	PrivateKeyFile string `json:"privateKeyFile"`
	KnownHostsFile string `json:"knownHostsFile"`
	// AuthorizedKeysFile has the public keys that may log in, one in each line.
	AuthorizedKeysFile string `json:"authorizedKeysFile"`
}

// Authorize lets the owner of a public key, as in authorized_keys, log in over SSH.
func (g *Git) Authorize(publicKey []byte) error {
	file, err := os.OpenFile(g.AuthorizedKeysFile, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("authorize a key: %w", err)
	}
	_, err = file.Write(append(bytes.TrimSpace(publicKey), '\n'))
	return errors.Join(err, file.Close())
}

// Repository is a repository on the Git server.
type Repository struct {
	Name string `json:"name"`
	HTTP string `json:"http"`
	SSH  string `json:"ssh"`
}

// Component is one process of a lab.
type Component struct {
	Name        string `json:"name"`
	State       string `json:"state"`
	PID         int    `json:"pid"`
	Exit        string `json:"exit"`
	Restarts    int    `json:"restarts"`
	Log         string `json:"log"`
	MemoryBytes int64  `json:"memoryBytes"`
}

// T is the part of testing.TB that Run needs.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Run starts a lab for a test and takes it down at the test's end.
func Run(t T, options Options) *Lab {
	t.Helper()
	l, err := Start(t.Context(), options)
	if err != nil {
		t.Fatalf("start a lab: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.Background()); err != nil {
			t.Errorf("end the lab: %v", err)
		}
	})
	return l
}

// Start starts a lab that ends with this process, if not by Down before. Labs
// that are started at the same time do not touch each other.
func Start(ctx context.Context, options Options) (*Lab, error) {
	l := &Lab{Name: fmt.Sprintf("test-%d-%s", os.Getpid(), strconv.FormatUint(uint64(rand.Uint32()), 36)), progress: options.Progress}
	if l.progress == nil {
		l.progress = os.Stderr
	}
	args := []string{"up", "--owner-pid", strconv.Itoa(os.Getpid())}
	if len(options.Clusters) > 0 {
		args = append(args, "--clusters", strings.Join(options.Clusters, ","))
	}
	if len(options.With) > 0 {
		args = append(args, "--with", strings.Join(options.With, ","))
	}
	if options.KwokNodes > 0 {
		args = append(args, "--kwok-nodes", strconv.Itoa(options.KwokNodes))
	}
	if options.Profiling {
		args = append(args, "--profiling")
	}
	if options.Lean {
		args = append(args, "--lean")
	}
	return l, l.runJSON(ctx, nil, l, args...)
}

// Down ends the lab. With $LAB_LOGS set, the components' logs are kept there, in
// a directory named after the lab.
func (l *Lab) Down(ctx context.Context) error {
	var kept error
	if keep := os.Getenv("LAB_LOGS"); keep != "" {
		kept = os.CopyFS(filepath.Join(keep, l.Name), os.DirFS(filepath.Join(l.Directory, "logs")))
	}
	_, err := l.run(ctx, nil, "down")
	return errors.Join(kept, err)
}

// Refresh reads the lab's present state: its components, memory and disk use.
func (l *Lab) Refresh(ctx context.Context) error {
	return l.runJSON(ctx, nil, l, "status", "--json")
}

// Kill ends a component, such as target/apiserver, until it is restarted.
func (l *Lab) Kill(ctx context.Context, component string) error {
	_, err := l.run(ctx, nil, "kill", component)
	return err
}

// Signal sends KILL, TERM, INT, STOP or CONT to a component.
func (l *Lab) Signal(ctx context.Context, component, signal string) error {
	_, err := l.run(ctx, nil, "kill", component, "--signal", signal)
	return err
}

// Restart kills a component if it runs, starts it again with its data and its
// ports, and returns when it is ready.
func (l *Lab) Restart(ctx context.Context, component string) error {
	_, err := l.run(ctx, nil, "restart", component)
	return err
}

// Snapshot copies what is stored in a cluster.
func (l *Lab) Snapshot(ctx context.Context, cluster, name string) error {
	_, err := l.run(ctx, nil, "snapshot", cluster, name)
	return err
}

// Restore brings a cluster back to a snapshot, with the versions of that time: its control
// plane ends and starts again. It returns when that is ready.
func (l *Lab) Restore(ctx context.Context, cluster, name string) error {
	_, err := l.run(ctx, nil, "restore", cluster, name)
	return err
}

// Logs is what a component has written.
func (l *Lab) Logs(ctx context.Context, component string) (string, error) {
	output, err := l.run(ctx, nil, "logs", component)
	return string(output), err
}

// CreateRepository makes an empty repository on the Git server.
func (l *Lab) CreateRepository(ctx context.Context, name string) (Repository, error) {
	var repository Repository
	return repository, l.runJSON(ctx, nil, &repository, "git", "create", name)
}

func (l *Lab) runJSON(ctx context.Context, input io.Reader, result any, args ...string) error {
	output, err := l.run(ctx, input, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(output, result); err != nil {
		return fmt.Errorf("decode what lab %s printed: %w", args[0], err)
	}
	for name, cluster := range l.Clusters {
		cluster.lab, cluster.Name = l, name
	}
	return nil
}

// run runs the lab's program. Its progress is written at once, so that a first build is seen.
func (l *Lab) run(ctx context.Context, input io.Reader, args ...string) ([]byte, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	var output, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append(args, "--name", l.Name)...)
	cmd.Stdin, cmd.Stdout = input, &output
	cmd.Stderr = io.MultiWriter(&said, l.progress)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("lab %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return output.Bytes(), nil
}

// Program finds the lab's program: $LAB_BIN, or bin/lab of the repository.
func Program() (string, error) {
	if program := os.Getenv("LAB_BIN"); program != "" {
		return program, nil
	}
	root, err := Root()
	if err != nil {
		return "", fmt.Errorf("find the lab's program, or set LAB_BIN: %w", err)
	}
	program := filepath.Join(root, "bin", "lab")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is missing: build it with \"make -C %s build\"", program, filepath.Join(root, "lab"))
	}
	return program, nil
}

// Root finds the repository that the working directory is in: it has the lab.
func Root() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	for ; directory != filepath.Dir(directory); directory = filepath.Dir(directory) {
		if _, err := os.Stat(filepath.Join(directory, "lab", "go.mod")); err == nil {
			return directory, nil
		}
	}
	return "", errors.New("no directory at or above the working directory has lab/go.mod: run this in the repository")
}
