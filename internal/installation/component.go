package installation

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/sources"
)

// patience is how long a job goes on asking a registry that does not answer.
const patience = 5 * time.Minute

// prerequisites are what an Installation is made from.
type prerequisites struct {
	component *plan.Component
	blueprint *blueprint.Blueprint
	session   *component.Session
}

// close gives up what reading the component holds.
func (p *prerequisites) close() { _ = p.session.Close() }

// prerequisites finds the component version and the blueprint of an Installation.
func (r *Reconciler) prerequisites(ctx context.Context, inst *v1alpha1.Installation) (*prerequisites, error) {
	landscape, err := r.landscape(ctx, inst)
	if err != nil {
		return nil, err
	}
	from, err := r.Sources.Read(ctx, landscape)
	if err != nil {
		return nil, r.unprepared(inst, err, "SetupRegistries", "")
	}
	p := &prerequisites{session: component.NewSession(r.Components, from.Options)}
	if p.component, err = r.component(ctx, inst, p.session, from); err == nil {
		p.blueprint, err = r.blueprint(ctx, inst, p.component)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
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
	definition := inst.Spec.ComponentDescriptor
	if err := r.mayGoUnverified(inst); err != nil {
		return nil, r.unprepared(inst, err, "ExtractVerifyInfo", "spec.verification")
	}
	if definition == nil {
		return nil, nil
	}
	found, err := plan.OpenComponent(ctx, session, definition)
	if err != nil {
		return nil, r.unprepared(inst, err, "GetComponentVersion", "spec.componentDescriptor")
	}
	r.reportOverwrite(inst, from, found)
	if inst.Spec.Verification == nil || r.Verification == VerifyNever {
		return found, nil
	}
	trust, err := from.Trust(ctx, inst.Spec.Verification.SignatureName)
	if err != nil {
		return nil, r.unprepared(inst, err, "ExtractVerifyInfo", "spec.verification")
	}
	if err := session.Verify(ctx, found.Version, inst.Spec.Verification.SignatureName, trust); err != nil {
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
	case inst.Spec.ComponentDescriptor == nil:
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
	return r.final(inst, job.Wrap(err, "InitPrerequisites", reason, field))
}

// final says what follows from an error while the children are worked out. What is
// wrong stays wrong; but a registry that does not answer may answer soon.
func (r *Reconciler) final(inst *v1alpha1.Installation, err error) error {
	started := inst.Status.TransitionTimes
	inTime := started != nil && started.InitTime != nil && r.Now().Sub(started.InitTime.Time) < patience
	if component.IsTemporary(err) && inTime {
		return err
	}
	return job.Terminally(err)
}

// reportOverwrite tells in a condition whether the reference was overwritten.
func (r *Reconciler) reportOverwrite(inst *v1alpha1.Installation, from *sources.Sources, found *plan.Component) {
	written := inst.Spec.ComponentDescriptor.Reference
	if !from.Overwritten || written == nil || inst.Spec.ComponentDescriptor.Inline != nil {
		return
	}
	condition := v1alpha1.Condition{
		Type: v1alpha1.ComponentReferenceOverwriteCondition, Status: v1alpha1.ConditionFalse,
		Reason: "No overwrite defined", Message: "component reference has not been overwritten",
	}
	before := component.Reference{Context: component.Context(written.RepositoryContext), Name: written.ComponentName, Version: written.Version}
	if before.Context.IsZero() {
		before.Context = from.Options.Default
	}
	if after, overwritten := component.Apply(from.Options.Overwrites, before); overwritten {
		condition.Status, condition.Reason = v1alpha1.ConditionTrue, "FoundOverwrite"
		condition.Message = overwriteMessage(before, after)
	}
	job.SetCondition(&inst.Status.Conditions, condition, metav1.NewTime(r.Now()))
}

func overwriteMessage(before, after component.Reference) string {
	line := func(what, old, replaced string) string {
		if old == replaced {
			return fmt.Sprintf("%s has not been overwritten\n", what)
		}
		return fmt.Sprintf("%s: %s -> %s\n", what, old, replaced)
	}
	return "Component reference has been overwritten:\n" +
		line("repository context", contextText(before.Context), contextText(after.Context)) +
		line("component name", before.Name, after.Name) + line("version", before.Version, after.Version)
}

func contextText(context descriptor.Typed) string {
	if context.IsZero() {
		return "none"
	}
	return string(context)
}
