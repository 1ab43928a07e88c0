// Package blueprint loads blueprints: their files and their description.
package blueprint

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/validation"
)

// Blueprint is a loaded blueprint.
type Blueprint struct {
	// Files are the files of the blueprint.
	Files fs.FS
	// Info is its description with all defaults set.
	Info *v1alpha1.Blueprint
}

// Load reads and checks the description of a blueprint.
func Load(files fs.FS) (*Blueprint, error) {
	content, err := fs.ReadFile(files, v1alpha1.BlueprintFileName)
	if err != nil {
		return nil, fmt.Errorf("read the blueprint: %w", err)
	}
	info := &v1alpha1.Blueprint{}
	if err := yaml.Unmarshal(content, info); err != nil {
		return nil, fmt.Errorf("decode %s: %w", v1alpha1.BlueprintFileName, err)
	}
	info.SetDefaults()
	if errs := validation.Blueprint(info); len(errs) > 0 {
		return nil, fmt.Errorf("%s is not valid: %w", v1alpha1.BlueprintFileName, errs.ToAggregate())
	}
	return &Blueprint{Files: files, Info: info}, nil
}
