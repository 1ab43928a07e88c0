// Package component makes the component version of a release: images and charts by reference, and
// a blueprint that installs Landscaper by Landscaper.
package component

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.landscaper.dev/tools/release/artifact"
)

// Name is the name of the component.
const Name = "go.landscaper.dev/landscaper"

//go:embed content/blueprint
var content embed.FS

// Resource is an artifact that the component refers to.
type Resource struct {
	Name, Type string
	Artifact   *artifact.Artifact
}

// Types of resources.
const (
	Image = "ociImage"
	Chart = "helmChart"
)

// Constructor writes the constructor file, and what belongs to it, into a folder. It is what
// "landscaper-cli components push" reads. The digests are in it, so that it needs no registry.
func Constructor(folder, version, source, commit string, at time.Time, resources ...Resource) (string, error) {
	list := []any{map[string]any{
		"name": "blueprint", "type": "landscaper.gardener.cloud/blueprint",
		"input": map[string]any{"type": "dir", "path": "blueprint", "compress": true, "mediaType": "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip"},
	}}
	for _, resource := range resources {
		digest := resource.Artifact.Root.Digest
		list = append(list, map[string]any{
			"name": resource.Name, "version": version, "type": resource.Type, "relation": "local",
			"access": map[string]any{"type": "ociArtifact", "imageReference": resource.Artifact.Reference()},
			"digest": map[string]any{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "ociArtifactDigest/v1", "value": digest.Encoded()},
		})
	}
	component := map[string]any{
		"name": Name, "version": version, "provider": map[string]any{"name": "landscaper"}, "creationTime": at.UTC().Format(time.RFC3339), "resources": list,
	}
	if commit != "" {
		component["sources"] = []any{map[string]any{"name": "source", "version": version, "type": "git", "access": map[string]any{"type": "gitHub", "repoUrl": source, "commit": commit}}}
	}
	text, err := json.MarshalIndent(map[string]any{"components": []any{component}}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the constructor file: %w", err)
	}
	files, err := fs.Sub(content, "content")
	if err != nil {
		return "", fmt.Errorf("write the blueprint: %w", err)
	}
	if err := os.CopyFS(folder, files); err != nil {
		return "", fmt.Errorf("write the blueprint: %w", err)
	}
	file := filepath.Join(folder, "constructor.yaml")
	return file, os.WriteFile(file, text, 0o600)
}
