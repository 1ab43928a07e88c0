package plan

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// Names of the bindings of templates.
const (
	bindImports       = "imports"
	bindDescriptor    = "cd"
	bindComponents    = "components"
	bindBlueprint     = "blueprint"
	bindBlueprintDef  = "blueprintDef"
	bindDescriptorDef = "componentDescriptorDef"
	bindValues        = "values"
	bindDeployItems   = "deployitems"
	bindDataObjects   = "dataobjects"
	bindTargets       = "targets"
)

// bind collects what all templates see.
func (p *Plan) bind(ctx context.Context) error {
	definition, err := jsonvalue.FromObject(p.in.Installation.Spec.Blueprint)
	if err != nil {
		return fmt.Errorf("spec.blueprint: %w", err)
	}
	own, err := p.component.Descriptor()
	if err != nil {
		return fmt.Errorf("component descriptor for templates: %w", err)
	}
	p.bindings = map[string]any{
		bindImports: p.Imports.Map(), bindDescriptor: own, bindComponents: nil, bindBlueprint: definition, bindBlueprintDef: definition,
	}
	if p.mentioned[bindComponents] {
		if p.bindings[bindComponents], err = p.component.Components(ctx); err != nil {
			return fmt.Errorf("components for templates: %w", err)
		}
	}
	return p.bindDescriptorDef(p.in.Component.effective())
}

// bindDescriptorDef binds spec.componentDescriptor; its reference may be replaced
// by the one that is in effect.
func (p *Plan) bindDescriptorDef(reference *v1alpha1.ComponentDescriptorReference) error {
	written := p.in.Installation.Spec.ComponentDescriptor
	if written == nil {
		return nil
	}
	definition := written.DeepCopy()
	if reference != nil {
		definition.Reference = reference
	}
	value, err := jsonvalue.FromObject(definition)
	if err != nil {
		return fmt.Errorf("spec.componentDescriptor: %w", err)
	}
	p.bindings[bindDescriptorDef] = value
	return nil
}

func (c *Component) effective() *v1alpha1.ComponentDescriptorReference {
	if c == nil {
		return nil
	}
	return c.Reference
}

// mentioned returns which words occur in the files of a blueprint. Loading all component versions
// of a closure takes time and can fail, and reading states takes requests; few templates use them.
//
// The search is for words and does not parse: a word too many only costs what would have been
// saved. A template that composes such a name finds nothing under it.
func mentioned(files fs.FS, words ...string) map[string]bool {
	found := make(map[string]bool, len(words))
	_ = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // what cannot be read cannot be rendered either
		}
		content, err := fs.ReadFile(files, path)
		for _, word := range words {
			if err == nil && bytes.Contains(content, []byte(word)) {
				found[word] = true
			}
		}
		if len(found) == len(words) {
			return fs.SkipAll
		}
		return nil
	})
	return found
}
