package components

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"go.landscaper.dev/internal/cli/compare"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/landscape/upgrade"
)

// latest is the value of --check-against for the newest older version.
const latest = "latest"

// checkCompatible compares what is to be published with what is there already. It is put into an archive first,
// from which it is read as others will read it.
func (f *pushFlags) checkCompatible(ctx context.Context, streams terminal.Streams, access *repositories.Access, at repositories.Location, constructor *publish.Constructor, options publish.Options) error {
	directory, err := os.MkdirTemp("", "landscaper-cli-")
	if err != nil {
		return fmt.Errorf("check the compatibility: %w", err)
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a leftover in the place for temporary files
	path := filepath.Join(directory, "archive")
	published, err := publishInto(ctx, access, path, constructor, options)
	if err != nil {
		return err // names the component version
	}
	local, err := repositories.Locate(path)
	if err != nil {
		return err
	}
	newer, err := access.Session(local)
	if err != nil {
		return err
	}
	defer newer.Close() //nolint:errcheck // nothing was written
	older, err := access.Session(at)
	if err != nil {
		return err
	}
	defer older.Close() //nolint:errcheck // nothing was written
	var errs []error
	for _, p := range published {
		errs = append(errs, f.checkOne(ctx, streams, access, at, older, newer, repositories.ComponentVersion{Name: p.Name, Version: p.Version}))
	}
	return errors.Join(errs...)
}

// publishInto makes an archive of what is to be published. Digests of what is elsewhere do not matter to it.
func publishInto(ctx context.Context, access *repositories.Access, path string, constructor *publish.Constructor, options publish.Options) ([]publish.Published, error) {
	to, err := repositories.Destination(path, true)
	if err != nil {
		return nil, err
	}
	writer, err := access.Writer(to)
	if err != nil {
		return nil, err
	}
	options.Target, options.Spec, options.Context, options.Digest, options.Progress = writer.Target, to.Spec, nil, nil, nil
	published, err := publish.Publish(ctx, constructor, options)
	if err == nil {
		err = writer.Finish()
	}
	return published, errors.Join(err, writer.Close())
}

// checkOne compares one component version with an older one, if there is one.
func (f *pushFlags) checkOne(ctx context.Context, streams terminal.Streams, access *repositories.Access, at repositories.Location, older, newer *repositories.Session, is repositories.ComponentVersion) error {
	was, err := f.olderVersion(ctx, access, at, is)
	if err != nil || was.Version == "" {
		if err == nil {
			fmt.Fprintf(streams.Err, "No version of %s to compare with in %s\n", terminal.Printable(is.Name), at.Text)
		}
		return err
	}
	before, err := openComponent(ctx, older, was)
	if err != nil {
		return access.Missing(ctx, at, was.Name, err)
	}
	after, err := openComponent(ctx, newer, is)
	if err != nil {
		return err // names the component version
	}
	findings, err := upgrade.Components(ctx, before, after)
	if err != nil {
		return fmt.Errorf("compare %s with version %s: %w", is, was.Version, err)
	}
	for _, finding := range findings {
		if finding.Severity != compatibility.Note {
			fmt.Fprintf(streams.Err, "%s\n", terminal.Printable(finding.String()))
		}
	}
	fmt.Fprintf(streams.Err, "%s, compared with %s: %s\n", terminal.Printable(is.String()), was.Version, compare.Summary(findings))
	if !compatibility.Has(findings, compatibility.Breaking) || f.allowBreaking || mayBreak(was.Version, is.Version) {
		return nil
	}
	return terminal.Exitf(terminal.ExitEndedBadly, "%s breaks users of version %s: give it a new major version, or allow this with --allow-breaking", is, was.Version)
}

// olderVersion finds the version to compare with; none without an older one.
func (f *pushFlags) olderVersion(ctx context.Context, access *repositories.Access, at repositories.Location, is repositories.ComponentVersion) (repositories.ComponentVersion, error) {
	if f.checkAgainst != latest {
		return repositories.ComponentVersion{Name: is.Name, Version: f.checkAgainst}, nil
	}
	all, err := access.Versions(ctx, at, is.Name)
	if errors.Is(err, oci.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return repositories.ComponentVersion{}, nil // it is the first one
	}
	if err != nil {
		return repositories.ComponentVersion{}, fmt.Errorf("list the versions of %s in %s: %w", is.Name, at.Text, err)
	}
	own, err := semver.NewVersion(is.Version)
	if err != nil {
		return repositories.ComponentVersion{}, fmt.Errorf("version of %s: %w", is, err)
	}
	found := repositories.ComponentVersion{}
	for _, one := range all {
		other, err := semver.NewVersion(one.Version)
		if err == nil && other.LessThan(own) && (other.Prerelease() == "" || own.Prerelease() != "") {
			found = one // the newest one is the last one
		}
	}
	return found, nil
}

// mayBreak reports whether the second version may break what the first one had.
func mayBreak(was, is string) bool {
	before, errBefore := semver.NewVersion(was)
	after, errAfter := semver.NewVersion(is)
	if errBefore != nil || errAfter != nil {
		return false
	}
	if before.Major() != after.Major() {
		return after.Major() > before.Major()
	}
	return strings.HasPrefix(strings.TrimPrefix(is, "v"), "0.") && after.Minor() > before.Minor()
}
