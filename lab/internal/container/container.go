// Package container gives a process the files of an image instead of those of the machine. It is
// not a sandbox: see package podrunner.
package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Config says what runs, and what it sees.
type Config struct {
	// Root is the directory with the files of the image.
	Root     string
	ReadOnly bool
	Mounts   []Mount
	// UID and GID are whom the process runs as.
	UID, GID int
	// Command is the program with its arguments.
	Command []string
	Env     []string
	// Directory is where the program starts.
	Directory string
}

// Mount is a directory or a file of this machine in the container.
type Mount struct {
	From, To string
	ReadOnly bool
}

// devices are those that programs expect everywhere.
var devices = []string{"null", "zero", "random", "urandom"}

// Prepare makes the places of all mounts in the root, which cannot be written later.
func (c Config) Prepare() error {
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, directory := range []string{"proc", "dev", "etc", "tmp"} {
		if err := root.MkdirAll(directory, 0o755); err != nil {
			return err
		}
	}
	for _, mount := range c.Mounts {
		if err := root.MkdirAll(strings.Trim(filepath.Clean(mount.To), "/"), 0o755); err != nil {
			return fmt.Errorf("the place of mount %s: %w", mount.To, err)
		}
	}
	for _, device := range devices {
		if err := root.WriteFile("dev/"+device, nil, 0o600); err != nil {
			return err
		}
	}
	return root.WriteFile("etc/hosts", []byte("127.0.0.1 localhost\n"), 0o644)
}

// Run replaces this process by the one of the container. It has to be in a mount namespace of its
// own, and to have the capabilities for mounts and chroot, which the container does not keep.
func Run(c Config) error {
	// Capabilities belong to a thread, and exec takes those of the thread that calls it.
	runtime.LockOSThread()
	if err := c.mount(); err != nil {
		return err
	}
	if err := unix.Chroot(c.Root); err != nil {
		return fmt.Errorf("change the root to %s: %w", c.Root, err)
	}
	if err := unix.Chdir(c.Directory); err != nil {
		return fmt.Errorf("change to directory %s of the image: %w", c.Directory, err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid to get privileges: %w", err)
	}
	if len(c.Command) == 0 {
		return errors.New("neither the image nor the pod has a command")
	}
	program, err := c.find(c.Command[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s of the image: %w", program, unix.Exec(program, c.Command, c.Env))
}

// find looks for a program as a shell does, along the path of the container.
func (c Config) find(program string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	for _, variable := range c.Env {
		directories, is := strings.CutPrefix(variable, "PATH=")
		if !is {
			continue
		}
		for _, directory := range filepath.SplitList(directories) {
			file := filepath.Join("/", directory, program)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("the image has no program %s on its PATH", program)
}

// mount makes what the container sees. The root is made read-only last.
func (c Config) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts from the machine: %w", err)
	}
	mounts := append([]Mount{{From: c.Root, To: "/"}, {From: "/proc", To: "/proc"}}, c.Mounts...)
	for _, device := range devices {
		mounts = append(mounts, Mount{From: "/dev/" + device, To: "/dev/" + device})
	}
	for _, mount := range mounts {
		if err := mount.bind(c.Root); err != nil {
			return err
		}
	}
	if c.ReadOnly {
		return protect(c.Root)
	}
	return nil
}

func (m Mount) bind(root string) error {
	place := filepath.Join(root, m.To)
	if err := unix.Mount(m.From, place, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", m.From, m.To, err)
	}
	if m.ReadOnly {
		return protect(place)
	}
	return nil
}

// protect makes a mount read-only. What the machine has locked, such as nosuid, must be repeated.
func protect(place string) error {
	var present unix.Statfs_t
	if err := unix.Statfs(place, &present); err != nil {
		return fmt.Errorf("look at mount %s: %w", place, err)
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	for of, flag := range map[int64]uintptr{
		unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
		unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_NODIRATIME: unix.MS_NODIRATIME, unix.ST_RELATIME: unix.MS_RELATIME,
	} {
		if int64(present.Flags)&of != 0 {
			flags |= flag
		}
	}
	if err := unix.Mount("", place, "", flags, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", place, err)
	}
	return nil
}
