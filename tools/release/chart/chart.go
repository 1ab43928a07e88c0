// Package chart packs the charts of this repository for a release: with its version, and pinned to
// its images by their digests.
package chart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/pack"
)

// Media types of charts in registries, as Helm has them.
const (
	configType  = "application/vnd.cncf.helm.config.v1+json"
	contentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Chart is a chart of a release.
type Chart struct {
	// Folder has its files.
	Folder string
	// Version is that of the release.
	Version string
	// Image is where the image of the release is, and Digest which one it is.
	Image, Digest string
	At            time.Time
}

// Name is the name of the chart.
func (c Chart) Name() string { return filepath.Base(c.Folder) }

// Bare is the version as charts have it.
func (c Chart) Bare() string { return strings.TrimPrefix(c.Version, "v") }

// change replaces one line of a file of the chart.
type change struct{ file, line, replacement string }

// changes are what a release changes in a chart.
func (c Chart) changes() []change {
	return []change{
		{"Chart.yaml", `version: .*`, "version: " + c.Bare()},
		{"Chart.yaml", `appVersion: .*`, "appVersion: " + c.Version},
		{"values.yaml", `  repository: .*`, "  repository: " + c.Image},
		{"values.yaml", `  digest: .*`, "  digest: " + c.Digest},
	}
}

// Files returns the files of the chart.
func (c Chart) Files() ([]pack.File, error) {
	var files []pack.File
	err := fs.WalkDir(os.DirFS(c.Folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(c.Folder, path))
		files = append(files, pack.File{Name: c.Name() + "/" + path, Data: content})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the chart %s: %w", c.Name(), err)
	}
	var missing []error
	for _, change := range c.changes() {
		missing = append(missing, change.apply(c.Name(), files))
	}
	return files, errors.Join(missing...)
}

func (c change) apply(chart string, files []pack.File) error {
	line := regexp.MustCompile(`(?m)^` + c.line + `$`)
	for i := range files {
		if files[i].Name != chart+"/"+c.file {
			continue
		}
		if found := line.FindAllIndex(files[i].Data, -1); len(found) != 1 {
			return fmt.Errorf("chart %s: %s has %d lines like %q, and a release changes one", chart, c.file, len(found), c.line)
		}
		files[i].Data = line.ReplaceAllLiteral(files[i].Data, []byte(c.replacement))
		return nil
	}
	return fmt.Errorf("chart %s: there is no %s", chart, c.file)
}

// Pack packs the chart as Helm does.
func (c Chart) Pack() ([]byte, error) {
	files, err := c.Files()
	if err != nil {
		return nil, err // says what it did
	}
	return pack.TarGz(c.At, files...)
}

// Artifact is the packed chart as Helm keeps it in registries: its metadata and its archive.
func (c Chart) Artifact(ctx context.Context, repository string) (*artifact.Artifact, error) {
	files, err := c.Files()
	if err != nil {
		return nil, err // says what it did
	}
	packed, err := pack.TarGz(c.At, files...)
	if err != nil {
		return nil, err // says what it did
	}
	metadata, text, err := c.metadata(files)
	if err != nil {
		return nil, err // says what it did
	}
	made := artifact.New(repository, c.Bare())
	manifest := ocispec.Manifest{Annotations: map[string]string{
		ocispec.AnnotationTitle: c.Name(), ocispec.AnnotationDescription: metadata.Description,
		ocispec.AnnotationVersion: c.Bare(), ocispec.AnnotationCreated: c.At.UTC().Format(time.RFC3339),
	}}
	if manifest.Config, err = made.Add(ctx, configType, text); err != nil {
		return nil, err // says what it did
	}
	content, err := made.Add(ctx, contentType, packed)
	if err != nil {
		return nil, err // says what it did
	}
	manifest.Layers = []ocispec.Descriptor{content}
	made.Root, err = made.AddManifest(ctx, manifest)
	return made, err
}

type metadata struct{ Description string }

// metadata returns Chart.yaml in JSON.
func (c Chart) metadata(files []pack.File) (metadata, []byte, error) {
	var read metadata
	for _, file := range files {
		if file.Name != c.Name()+"/Chart.yaml" {
			continue
		}
		text, err := yaml.YAMLToJSON(file.Data)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			return read, nil, fmt.Errorf("chart %s: read Chart.yaml: %w", c.Name(), err)
		}
		return read, text, nil
	}
	return read, nil, fmt.Errorf("chart %s: there is no Chart.yaml", c.Name())
}
