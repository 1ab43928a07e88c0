// Package program compiles the programs of a release.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Platform is an operating system and an architecture, in the words of Go.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// ParsePlatform reads OS/ARCH.
func ParsePlatform(text string) (Platform, error) {
	system, arch, ok := strings.Cut(text, "/")
	platform := Platform{system, arch}
	if !ok || !slices.Contains(everywhere, platform) {
		return Platform{}, fmt.Errorf("platform %q: use one of %v", text, everywhere)
	}
	return platform, nil
}

var (
	linux      = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}
	everywhere = append(slices.Clone(linux), []Platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}...)
)

// Platforms are those that a release has programs for.
func Platforms() []Platform { return slices.Clone(everywhere) }

// Program is a program of the project.
type Program struct {
	Name string
	// Summary is one line about the program.
	Summary string
	// Platforms are those that the program is published for.
	Platforms []Platform
}

// The programs of a release. What runs in clusters is for Linux alone.
var (
	Server      = Program{"landscaper", "The server of Landscaper: its controllers and deployers", linux}
	CommandLine = Program{"landscaper-cli", "The command line of Landscaper", everywhere}
	ShootFlux   = Program{"gardener-extension-shoot-flux", "The Gardener extension that brings Flux into shoots", linux}
)

// All are the programs of a release.
func All() []Program { return []Program{Server, CommandLine, ShootFlux} }

// File is the name of the program on a platform.
func (p Program) File(on Platform) string {
	if on.OS == "windows" {
		return p.Name + ".exe"
	}
	return p.Name
}

// versionPackage holds what the linker sets.
const versionPackage = "go.landscaper.dev/internal/base/version"

// Source is what programs are compiled from.
type Source struct {
	// Folder is that of the main module.
	Folder string
	// Version is that of the release, and Commit the commit of the folder; "" if the folder has
	// changes that are not committed.
	Version, Commit string
	// Registry is where the images of the release will be: the command line installs them.
	Registry string
}

// Programs are those that are published for the platform.
func (p Platform) Programs() []Program {
	return slices.DeleteFunc(All(), func(of Program) bool { return !slices.Contains(of.Platforms, p) })
}

// Build compiles programs for a platform into a folder, so that what they share is compiled and
// looked at once. The same commit and the same Go give the same bytes, wherever the folders are:
// no path, no time and no build ID is in the programs. The build ID is that of the linker, over
// paths; Go's own checks do not need it.
func (s Source) Build(ctx context.Context, on Platform, folder string, programs ...Program) error {
	folder, err := filepath.Abs(folder)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return fmt.Errorf("build for %s: %w", on, err)
	}
	arguments := []string{"build", "-trimpath", "-buildvcs=false",
		"-ldflags", fmt.Sprintf("-s -w -buildid= -X %[1]s.release=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.registry=%[4]s", versionPackage, s.Version, s.Commit, s.Registry),
		"-o", folder + string(filepath.Separator)}
	for _, p := range programs {
		arguments = append(arguments, "./cmd/"+p.Name)
	}
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = s.Folder
	// Flags and features of this machine must not change the bytes.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOOS="+on.OS, "GOARCH="+on.Arch)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", on, err, output)
	}
	return nil
}
