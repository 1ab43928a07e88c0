package preview

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
)

// opener finds what the Installations of a tree consist of. All have the Context of
// their root.
type opener struct {
	reader  client.Reader
	from    *repocontext.Sources
	session *component.Session
	named   bool
	// verification says when signatures are checked.
	verification resolve.VerificationPolicy
}

func (p *Previewer) opener(ctx context.Context, root *v1alpha1.Installation) (*opener, error) {
	o := &opener{reader: p.Reader, named: p.NamedTargets, verification: p.Verification}
	if root.Spec.ComponentDescriptor.IsEmpty() {
		return o, nil
	}
	landscape := &v1alpha1.Context{}
	name := cmp.Or(root.Spec.Context, v1alpha1.DefaultContextName)
	if err := p.Reader.Get(ctx, client.ObjectKey{Namespace: root.Namespace, Name: name}, landscape); err != nil {
		return nil, fmt.Errorf("read Context %s: %w", name, err)
	}
	from, err := p.Sources.Read(ctx, landscape)
	if err != nil {
		return nil, err // names the Context
	}
	o.from, o.session = from, component.NewSession(p.Components, from.Options)
	return o, nil
}

func (o *opener) close() {
	if o.session != nil {
		_ = o.session.Close()
	}
}

// open returns what an Installation consists of, without its imports.
func (o *opener) open(ctx context.Context, inst *v1alpha1.Installation) (plan.Input, error) {
	in := plan.Input{
		Installation: inst, States: states{o.reader, inst},
		// Functions that reach clusters would make tokens, and end with an error here.
		Functions: clusterfunc.Functions(clusterfunc.Options{}), NamedTargets: o.named,
	}
	err := o.verification.Check(inst)
	if err != nil {
		return in, fmt.Errorf("a job would fail: %w", err)
	}
	if !inst.Spec.ComponentDescriptor.IsEmpty() && o.session != nil {
		if in.Component, err = plan.OpenComponent(ctx, o.session, inst.Spec.ComponentDescriptor); err != nil {
			return in, fmt.Errorf("find the component: %w", err)
		}
		if err := o.verify(ctx, inst, in.Component); err != nil {
			return in, err
		}
	}
	if in.Blueprint, err = plan.OpenBlueprint(ctx, nil, in.Component, &inst.Spec.Blueprint); err != nil {
		return in, fmt.Errorf("find the blueprint: %w", err)
	}
	return in, nil
}

// verify checks a signature where the Installation asks for it.
//
// As in a job, nothing is rendered of what is not verified: a preview that shows it would
// speak for it.
func (o *opener) verify(ctx context.Context, inst *v1alpha1.Installation, found *plan.Component) error {
	if inst.Spec.Verification == nil || inst.Spec.Verification.SignatureName == "" || o.verification == resolve.VerifyNever {
		return nil
	}
	trust, err := o.from.Trust(ctx, inst.Spec.Verification.SignatureName)
	if err != nil {
		return fmt.Errorf("find the key of the signature: %w", err)
	}
	if err := o.session.Verify(ctx, found.Version, inst.Spec.Verification.SignatureName, trust); err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	return nil
}
