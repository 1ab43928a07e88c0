package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/bill"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
	"go.landscaper.dev/tools/release/provenance"
	"go.landscaper.dev/tools/release/sign"
)

// release is a release that is being made.
type release struct {
	folder, out, version, registry, home, downloads, builder string
	platforms                                                []program.Platform
	push, plainHTTP, dirty                                   bool

	commit string
	at     time.Time
	key    *sign.Key

	// modules are what is in the programs, and notices the texts that go with them.
	modules []bill.Module
	notices []pack.File
	// texts are the completions and man pages of the command line.
	texts []pack.File
	// programs are what was built.
	programs map[string]map[program.Platform][]byte
	// files are what was written, by name, and artifacts what belongs into the registry.
	files     map[string][]byte
	artifacts []*artifact.Artifact
	// writing is held while a file is added.
	writing sync.Mutex
}

// versions are those that a release may have: charts and packages want semantic versions.
var versions = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`)

// prepare looks at what is released.
func (r *release) prepare(ctx context.Context, key string) error {
	if !versions.MatchString(r.version) {
		return fmt.Errorf("the version %q is not like v0.1.0: give one with VERSION=v0.1.0", r.version)
	}
	if r.downloads == "" {
		r.downloads = r.home + "/releases/download/" + r.version
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" && !r.dirty {
		return fmt.Errorf("there are changes that are not committed: commit them, so that others can repeat the release:\n%s", changed)
	}
	if changed == "" {
		// What has changes is no commit.
		if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
			return err
		}
	}
	if r.at, err = r.moment(ctx); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	text, err := os.ReadFile(key)
	if err != nil {
		return fmt.Errorf("the key for signatures: %w", err)
	}
	r.key, err = sign.ParseKey(text, []byte(os.Getenv("COSIGN_PASSWORD")))
	return err
}

// moment is the time that all files bear: that of the commit, or what the variable says that other
// tools know, too.
func (r *release) moment(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%q: it is not a number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r *release) git(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = r.folder
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(output)), nil
}

// steps are what a release is made of, in this order.
func (r *release) steps() []step {
	return []step{
		{"licences", r.licences}, {"programs", r.build}, {"archives, packages, images", r.packed},
		{"manifests", r.manifests}, {"component", r.component}, {"bills of material", r.materials}, {"provenance and signatures", r.signatures}, {"publication", r.publish},
	}
}

type step struct {
	name string
	do   func(context.Context) error
}

// make makes the release.
func (r *release) make(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err // names the folder
	}
	r.files = map[string][]byte{}
	fmt.Printf("Release %s of %s\n", r.version, cmp.Or(r.commit, "a folder with changes that are not committed"))
	for _, step := range r.steps() {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("  %-26s %6.1f s\n", step.name, time.Since(began).Seconds())
	}
	fmt.Printf("%d files are in %s\n", len(r.files), r.out)
	return nil
}

// packed compresses the programs for all who take them, at the same time: most of the time of a
// release is compression.
func (r *release) packed(ctx context.Context) error {
	var err error
	if r.texts, err = r.documents(ctx); err != nil {
		return err // says what it did
	}
	parts := []func(context.Context) error{r.archives, r.packages, r.images}
	errs := make([]error, len(parts))
	var wait sync.WaitGroup
	for i, part := range parts {
		wait.Go(func() { errs[i] = part(ctx) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// write adds a file to the release.
func (r *release) write(name string, content []byte) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.files[name] = content
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // a release is for everybody
}

// licences checks licences, and writes the notice.
func (r *release) licences(ctx context.Context) error {
	var err error
	if r.modules, err = bill.Collect(ctx, r.folder, r.platforms); err != nil {
		return err
	}
	if err := errors.Join(bill.Check(r.modules)...); err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(r.folder, "LICENSE"))
	if err != nil {
		return err // names the file
	}
	r.notices = []pack.File{{Name: "LICENSE", Data: own}, {Name: "NOTICE", Data: bill.Notice(r.modules)}}
	return r.write("NOTICE", r.notices[1].Data)
}

// on returns the platforms of a program that are built.
func (r *release) on(p program.Program) []program.Platform {
	var found []program.Platform
	for _, platform := range r.platforms {
		if slices.Contains(p.Platforms, platform) {
			found = append(found, platform)
		}
	}
	return found
}

// build compiles all programs.
func (r *release) build(ctx context.Context) error {
	source := program.Source{Folder: r.folder, Version: r.version, Commit: r.commit, Registry: r.registry}
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err // names the folder
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	r.programs = map[string]map[program.Platform][]byte{}
	for _, platform := range r.platforms {
		own := filepath.Join(folder, platform.OS, platform.Arch)
		if err := source.Build(ctx, platform, own, platform.Programs()...); err != nil {
			return err // names the platform
		}
		for _, p := range platform.Programs() {
			content, err := os.ReadFile(filepath.Join(own, p.File(platform)))
			if err != nil {
				return err // names the file
			}
			if r.programs[p.Name] == nil {
				r.programs[p.Name] = map[program.Platform][]byte{}
			}
			r.programs[p.Name][platform] = content
		}
	}
	return nil
}

// materials writes the bill of material of each program.
func (r *release) materials(context.Context) error {
	for _, p := range program.All() {
		for _, platform := range r.on(p) {
			text, err := r.material(p, platform)
			if err != nil {
				return err // names the program
			}
			if err := r.write(r.fileName(p, platform)+".cdx.json", text); err != nil {
				return err // names the file
			}
		}
	}
	return nil
}

func (r *release) material(p program.Program, on program.Platform) ([]byte, error) {
	return bill.Material(p.Name, r.version, p.Summary, r.programs[p.Name][on], r.modules, r.at)
}

// signatures writes the sums of all files, how they were made, and signatures of both.
func (r *release) signatures(ctx context.Context) error {
	if err := r.write("checksums.txt", r.sums()); err != nil {
		return err // names the file
	}
	subjects := []provenance.Subject{}
	for name, content := range r.files {
		subjects = append(subjects, provenance.OfFile(name, content))
	}
	for _, artifact := range r.artifacts {
		subjects = append(subjects, provenance.OfArtifact(artifact))
	}
	statement, err := r.provenance().Statement(subjects...)
	if err != nil {
		return err // says what it did
	}
	if r.key == nil {
		return r.write("provenance.json", statement)
	}
	public, err := r.key.Public()
	if err != nil {
		return err // says what it did
	}
	signature, err := r.key.Signature(r.files["checksums.txt"])
	if err != nil {
		return err // says what it did
	}
	envelope, err := r.key.Envelope(ctx, statement)
	if err != nil {
		return err // says what it did
	}
	return errors.Join(r.write("cosign.pub", public), r.write("checksums.txt.sig", signature), r.write("provenance.intoto.jsonl", envelope), r.attach(ctx))
}

func (r *release) provenance() provenance.Build {
	platforms := make([]string, len(r.platforms))
	for i, platform := range r.platforms {
		platforms[i] = platform.String()
	}
	return provenance.Build{
		Source: r.home, Commit: r.commit, Version: r.version, Registry: r.registry, Platforms: platforms, Go: runtime.Version(), Builder: r.builder,
	}
}

// sums are the sums of all files, as sha256sum writes and checks them.
func (r *release) sums() []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(r.files[name]), name)
	}
	return out.Bytes()
}

// summary lists what was counted, the most frequent first.
func summary(counted map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counted), func(a, b string) int {
		if counted[a] != counted[b] {
			return counted[b] - counted[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counted[name])
	}
	return strings.Join(names, ", ")
}
