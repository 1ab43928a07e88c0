package plan

import (
	"bytes"
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/landscape/plan/parcel"
)

// Surroundings are what a reopened plan needs besides what was stored.
type Surroundings struct {
	// Open opens the component version that the job was admitted with. It is only
	// called if exports may read it.
	Open func(ctx context.Context, definition *v1alpha1.ComponentDescriptorDefinition) (*Component, error)
	// Functions reach clusters and tokens.
	Functions map[string]template.Function
	// States are what export executions stored in earlier jobs.
	States States
	// NamedTargets is that of the Input, and Shown that of Want.
	NamedTargets, Shown bool
}

// Reopened is the plan of a running job. Only exports can be worked out with it: the
// children were rendered once.
type Reopened struct{ plan *Plan }

// Reopen continues with what the job has stored. All inputs are those that the job was admitted
// with, whatever has changed since. The Installation says which job is running.
func Reopen(ctx context.Context, inst *v1alpha1.Installation, content []byte, with Surroundings) (*Reopened, error) {
	doc, bindings, err := decodeDocument(content)
	if err != nil {
		return nil, err
	}
	stored := doc.Installation
	if stored.UID != inst.UID || stored.Namespace != inst.Namespace || stored.Name != inst.Name || stored.Status.JobID != inst.Status.JobID {
		return nil, parcel.ErrOtherJob
	}
	files, err := (memfs.Parts{Files: doc.Files, Links: doc.Links}).Tree()
	if err != nil {
		return nil, fmt.Errorf("%w (its files and links do not fit together)", parcel.ErrDamaged)
	}
	p := &Plan{mentioned: doc.Mentioned, bindings: bindings, secrets: doc.Secrets, in: Input{
		Installation: stored, Blueprint: &blueprint.Blueprint{Files: files, Info: doc.Info}, Functions: with.Functions, States: with.States,
		NamedTargets: with.NamedTargets,
	}}
	if doc.Component {
		if p.in.Component, err = with.Open(ctx, stored.Spec.ComponentDescriptor); err != nil {
			return nil, fmt.Errorf("component of the stored plan: %w", err)
		}
	}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	return &Reopened{plan: p}, p.checkComponent()
}

// checkComponent refuses a component version that is not the one that the job was
// admitted with.
//
// The descriptor is compared and not the reference: a tag may have been moved, and an
// overwrite changes what a reference means without a change of the Installation.
func (p *Plan) checkComponent() error {
	if p.in.Component == nil {
		return nil
	}
	now, err := p.component.Descriptor()
	if err != nil {
		return fmt.Errorf("component descriptor for templates: %w", err)
	}
	stored, err := encodeBindings(map[string]any{bindDescriptor: p.bindings[bindDescriptor]})
	if err != nil {
		return err
	}
	if found, err := encodeBindings(map[string]any{bindDescriptor: now}); err != nil || !bytes.Equal(found, stored) {
		version := p.in.Component.Version
		return fmt.Errorf("component version %s:%s, an overwrite of it, or the Context has changed since the job began: start another job with the annotation %s: reconcile", version.Name, version.Version, v1alpha1.OperationAnnotation)
	}
	return nil
}

// Exports renders the export executions, checks what they give and maps it.
func (r *Reopened) Exports(ctx context.Context, results Results) (*Exports, error) {
	return r.plan.Exports(ctx, results)
}
