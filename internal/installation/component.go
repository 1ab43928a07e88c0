package installation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/job/published"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/sources"
)

// prerequisites are what an Installation is made from.
type prerequisites struct {
	// component and session are nil without a component.
	component *plan.Component
	session   *component.Session
	blueprint *blueprint.Blueprint
}

// close gives up what reading the component holds.
func (p *prerequisites) close() {
	if p.session != nil {
		_ = p.session.Close()
	}
}

// prerequisites finds the component version and the blueprint of an Installation.
func (r *Reconciler) prerequisites(ctx context.Context, s *snapshot) (*prerequisites, error) {
	if err := r.mayGoUnverified(s.Inst); err != nil {
		return nil, r.unprepared(s.Inst, err, "ExtractVerifyInfo", "spec.verification")
	}
	p := &prerequisites{}
	if s.Inst.Spec.ComponentDescriptor.IsEmpty() {
		// What the Context refers to is for components alone.
		dropCondition(&s.Inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
	} else if err := r.open(ctx, s, p); err != nil {
		p.close()
		return nil, err
	}
	var err error
	if p.blueprint, err = r.blueprint(ctx, s.Inst, p.component); err != nil {
		p.close()
		return nil, err
	}
	s.subject.Warn(blueprintWarnings, p.blueprint.Warnings)
	return p, nil
}

// open finds the component version.
func (r *Reconciler) open(ctx context.Context, s *snapshot, p *prerequisites) error {
	from, err := r.Sources.Read(ctx, s.Inputs.Landscape)
	if err != nil {
		return r.unprepared(s.Inst, err, "SetupRegistries", "")
	}
	s.subject.Warn(contextWarnings, from.Warnings)
	p.session = component.NewSession(r.Components, from.Options)
	p.component, err = r.component(ctx, s.Inst, p.session, from)
	return err
}

// VerificationPolicy says when signatures are checked.
type VerificationPolicy string

// The policies, as the configuration spells them.
const (
	VerifyIfAsked VerificationPolicy = "DoNotEnforce"
	VerifyAlways  VerificationPolicy = "Enforce"
	VerifyNever   VerificationPolicy = "Disabled"
)

// Known reports whether there is such a policy.
func (p VerificationPolicy) Known() bool {
	return p == VerifyIfAsked || p == VerifyAlways || p == VerifyNever
}

// component finds the component version of an Installation, and checks its
// signature where that is asked for.
func (r *Reconciler) component(ctx context.Context, inst *v1alpha1.Installation, session *component.Session, from *sources.Sources) (*plan.Component, error) {
	r.reportOverwrite(inst, from)
	found, err := plan.OpenComponent(ctx, session, inst.Spec.ComponentDescriptor)
	if err != nil {
		return nil, r.unprepared(inst, err, "GetComponentVersion", "spec.componentDescriptor")
	}
	if inst.Spec.Verification == nil || r.Verification == VerifyNever {
		return found, nil
	}
	name := inst.Spec.Verification.SignatureName
	if name == "" {
		return nil, r.unprepared(inst, errors.New("signatureName must be set"), "ExtractVerifyInfo", "spec.verification")
	}
	trust, err := from.Trust(ctx, name)
	if err != nil {
		return nil, r.unprepared(inst, err, "ExtractVerifyInfo", "spec.verification")
	}
	if err := session.Verify(ctx, found.Version, name, trust); err != nil {
		return nil, r.unprepared(inst, err, "VerifySignature", "spec.verification")
	}
	return found, nil
}

// mayGoUnverified refuses what nobody has signed, where that is enforced.
func (r *Reconciler) mayGoUnverified(inst *v1alpha1.Installation) error {
	switch {
	case r.Verification != VerifyAlways:
		return nil
	case inst.Spec.Verification == nil || inst.Spec.Verification.SignatureName == "":
		return errors.New("this Landscaper only accepts signed components: set spec.verification.signatureName")
	case inst.Spec.ComponentDescriptor.IsEmpty():
		return errors.New("this Landscaper only accepts signed components: set spec.componentDescriptor")
	}
	return nil
}

// blueprint loads the blueprint, which is in the Installation or a resource of the
// component version.
func (r *Reconciler) blueprint(ctx context.Context, inst *v1alpha1.Installation, from *plan.Component) (*blueprint.Blueprint, error) {
	loaded, err := plan.OpenBlueprint(ctx, r.Blueprints, from, &inst.Spec.Blueprint)
	if err != nil {
		return nil, r.unprepared(inst, err, "ResolveBlueprint", "spec.blueprint")
	}
	return loaded, nil
}

// unprepared explains an error before anything was rendered.
func (r *Reconciler) unprepared(inst *v1alpha1.Installation, err error, reason, field string) error {
	return r.final(inst, job.Wrap(err, published.InitPrerequisites, reason, field))
}

// final says what follows from an error while the children are worked out. What is
// wrong stays wrong; but the API server, or a registry that does not answer, may
// answer soon.
func (r *Reconciler) final(inst *v1alpha1.Installation, err *job.Error) error {
	var unread *sources.ReadError
	if errors.As(err, &unread) {
		return err
	}
	if !component.IsTemporary(err) {
		return job.Terminally(err)
	}
	if r.outages.lasts(inst.UID, r.Now()) < patience {
		return err
	}
	given := *err
	given.Message = strings.TrimSuffix(fmt.Sprintf("given up after %s: %s", patience, err.Message), ": ")
	return job.Terminally(&given)
}

// reportOverwrite tells in a condition whether the reference was overwritten.
func (r *Reconciler) reportOverwrite(inst *v1alpha1.Installation, from *sources.Sources) {
	definition := inst.Spec.ComponentDescriptor
	if !from.Overwritten || definition.Reference == nil || definition.Inline != nil {
		dropCondition(&inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
		return
	}
	condition := v1alpha1.Condition{
		Type: v1alpha1.ComponentReferenceOverwriteCondition, Status: v1alpha1.ConditionFalse,
		Reason: "No overwrite defined", Message: "component reference has not been overwritten",
	}
	before := component.Reference{Context: component.Context(definition.Reference.RepositoryContext), Name: definition.Reference.ComponentName, Version: definition.Reference.Version}
	if before.Context.IsZero() {
		before.Context = from.Options.Default
	}
	if after, overwritten := component.Apply(from.Options.Overwrites, before); overwritten {
		condition.Status, condition.Reason = v1alpha1.ConditionTrue, "FoundOverwrite"
		condition.Message = component.Diff(before, after)
	}
	job.SetCondition(&inst.Status.Conditions, condition, metav1.NewTime(r.Now()))
}
