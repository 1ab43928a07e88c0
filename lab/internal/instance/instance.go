// Package instance knows where a lab keeps its files and whether it is alive.
package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"syscall"
)

// Instance is a named lab below a directory that labs share.
type Instance struct {
	Root string
	Name string
}

// Config is what a lab was asked to be.
type Config struct {
	Name     string   `json:"name"`
	Clusters []string `json:"clusters"`
	// Flux and Kwok name the clusters that get them.
	Flux []string `json:"flux,omitempty"`
	Kwok []string `json:"kwok,omitempty"`
	// Issuer names the cluster whose ServiceAccounts the others trust.
	Issuer       string `json:"issuer,omitempty"`
	Registry     bool   `json:"registry,omitempty"`
	RegistryAuth bool   `json:"registryAuth,omitempty"`
	RegistryTLS  bool   `json:"registryTLS,omitempty"`
	Git          bool   `json:"git,omitempty"`
	GitAuth      bool   `json:"gitAuth,omitempty"`
	KwokNodes    int    `json:"kwokNodes,omitempty"`
	Profiling    bool   `json:"profiling,omitempty"`
	Lean         bool   `json:"lean,omitempty"`
	// Kubernetes is the version that the API servers behave like; their own one if it is empty.
	Kubernetes    string `json:"kubernetes,omitempty"`
	Sources       string `json:"sources"`
	ToolDirectory string `json:"toolDirectory"`
}

// Contact is how commands reach a lab's supervisor.
type Contact struct {
	PID   int    `json:"pid"`
	URL   string `json:"url"`
	Token string `json:"token"`
	// CA is the authority of the supervisor's certificate.
	CA string `json:"ca"`
}

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// CheckName says whether a name can name a lab or a cluster.
func CheckName(kind, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%s name %q: use 1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends", kind, name)
	}
	return nil
}

// Directory holds all files of the lab.
func (i Instance) Directory() string { return filepath.Join(i.Root, i.Name) }

// Path is a path inside the lab's directory.
func (i Instance) Path(elements ...string) string {
	return filepath.Join(append([]string{i.Directory()}, elements...)...)
}

// Log is the log file of a component.
func (i Instance) Log(component string) string {
	return i.Path("logs", filepath.FromSlash(component)+".log")
}

func (i Instance) lockFile() string { return filepath.Join(i.Root, "."+i.Name+".lock") }

// ErrAlive is returned by Lock when the lab has a supervisor.
var ErrAlive = errors.New("the lab is up")

// Lock takes the lab's lock. The process that holds the returned file open (also one that inherited
// it) is the lab's supervisor; the kernel releases the lock when that process ends, so the lock
// shows whether a supervisor runs without trusting process ids.
func (i Instance) Lock() (*os.File, error) {
	if err := os.MkdirAll(i.Root, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of labs: %w", err)
	}
	for {
		file, err := os.OpenFile(i.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the lock of lab %s: %w", i.Name, err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, ErrAlive
			}
			return nil, fmt.Errorf("lock lab %s: %w", i.Name, err)
		}
		if sameFile(file, i.lockFile()) {
			return file, nil
		}
		_ = file.Close() // removed by a lab that ended between open and lock
	}
}

func sameFile(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	present, err := os.Stat(path)
	return err == nil && os.SameFile(held, present)
}

// Clear deletes the files that an earlier lab of the name left; the caller holds
// the lock.
func (i Instance) Clear() error {
	if err := os.RemoveAll(i.Directory()); err != nil {
		return fmt.Errorf("remove the files of lab %s: %w", i.Name, err)
	}
	return nil
}

// Remove deletes everything of the lab; the caller holds the lock.
func (i Instance) Remove() error {
	if err := i.Clear(); err != nil {
		return err
	}
	if err := os.Remove(i.lockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the lock of lab %s: %w", i.Name, err)
	}
	return nil
}

// Create makes the lab's directory, which must not exist, and stores its config.
func (i Instance) Create(config Config) error {
	if err := os.Mkdir(i.Directory(), 0o700); err != nil {
		return fmt.Errorf("make the directory of lab %s: %w", i.Name, err)
	}
	if err := os.Mkdir(i.Path("logs"), 0o700); err != nil {
		return fmt.Errorf("make the directory of logs: %w", err)
	}
	return i.write("config.json", config)
}

// Config reads back what Create stored.
func (i Instance) Config() (Config, error) {
	var config Config
	err := i.read("config.json", &config)
	return config, err
}

// SetContact stores how to reach the supervisor.
func (i Instance) SetContact(contact Contact) error { return i.write("contact.json", contact) }

// Contact says how to reach the supervisor.
func (i Instance) Contact() (Contact, error) {
	var contact Contact
	err := i.read("contact.json", &contact)
	return contact, err
}

func (i Instance) write(file string, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s of lab %s: %w", file, i.Name, err)
	}
	partial := i.Path("." + file)
	if err := os.WriteFile(partial, data, 0o600); err != nil {
		return fmt.Errorf("store %s of lab %s: %w", file, i.Name, err)
	}
	if err := os.Rename(partial, i.Path(file)); err != nil {
		return fmt.Errorf("store %s of lab %s: %w", file, i.Name, err)
	}
	return nil
}

func (i Instance) read(file string, into any) error {
	data, err := os.ReadFile(i.Path(file))
	if err != nil {
		return fmt.Errorf("read %s of lab %s: %w", file, i.Name, err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("decode %s of lab %s: %w", file, i.Name, err)
	}
	return nil
}

// List returns the labs below root, dead or alive, by name.
func List(root string) ([]Instance, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "config.json"))
	if err != nil {
		return nil, fmt.Errorf("list the labs in %s: %w", root, err)
	}
	sort.Strings(files)
	var all []Instance
	for _, file := range files {
		all = append(all, Instance{Root: root, Name: filepath.Base(filepath.Dir(file))})
	}
	return all, nil
}
