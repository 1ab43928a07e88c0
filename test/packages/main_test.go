// Package packages tries what package managers get of a release, by their own programs: dpkg, rpm,
// krew, and the language of Homebrew's formulas. What was made for arm64 runs in an emulator. Roots of
// systems are folders, in which a user namespace makes the test root.
package packages

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/test/lab"
)

var (
	made    = flag.String("made", "", "folder of a release that was made before (default: the test makes one)")
	version = flag.String("version", "v0.0.1-packaged", "its version")
)

const (
	program = "landscaper-cli"
	// emulator runs programs for arm64.
	emulator = "qemu-aarch64-static"
)

// dist is the folder with the files of the release, and bin that with the programs of make.
var dist, bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	root, err := lab.Root()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin, dist = filepath.Join(root, "bin"), *made
	if dist == "" {
		if err := publish(root); err != nil {
			fmt.Fprintln(os.Stderr, "make a release:", err)
			return 1
		}
		defer os.RemoveAll(dist) //nolint:errcheck // what is left is in the folder for what is left
	}
	return m.Run()
}

// publish makes a release of this repository for Linux.
func publish(root string) error {
	var err error
	if dist, err = os.MkdirTemp("", "packages-"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(bin, "release"), "-source", root, "-out", dist, "-version", *version,
		"-platforms", "linux/amd64,linux/arm64", "-allow-dirty")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w: make test-packages builds what this needs", err)
	}
	return nil
}

// execute runs a program, and returns what it prints.
func execute(t *testing.T, environment []string, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Env = append(os.Environ(), environment...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// asRoot runs a program as root of a user namespace.
func asRoot(t *testing.T, arguments ...string) string {
	t.Helper()
	return execute(t, nil, "unshare", append([]string{"--map-root-user"}, arguments...)...)
}

// wantVersion runs a program for an architecture, which says that it is of this release.
func wantVersion(t *testing.T, arch, path string) {
	t.Helper()
	arguments := []string{path, "--version"}
	if arch != runtime.GOARCH {
		arguments = append([]string{emulator}, arguments...)
	}
	if said := execute(t, nil, arguments[0], arguments[1:]...); !strings.HasSuffix(said, " version "+*version+"\n") {
		t.Errorf("%s says %q", path, said)
	}
}

// fileOf is the path of a file of the release for Linux.
func fileOf(of, arch, ending string) string {
	return filepath.Join(dist, of+"_"+*version+"_linux_"+arch+ending)
}

// unpack unpacks an archive into a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = writeFile(path, header.FileInfo().Mode().Perm(), reader)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(path string, mode os.FileMode, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	into, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(into, from)
	return errors.Join(err, into.Close())
}

// architectures are those of Linux that a release has programs for.
var architectures = []string{"amd64", "arm64"}

// TestArchives: each program runs on each architecture.
func TestArchives(t *testing.T) {
	for _, arch := range architectures {
		for _, name := range []string{"landscaper", program, "gardener-extension-shoot-flux"} {
			folder := t.TempDir()
			unpack(t, fileOf(name, arch, ".tar.gz"), folder)
			wantVersion(t, arch, filepath.Join(folder, name))
		}
	}
}
