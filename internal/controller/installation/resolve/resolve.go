// Package resolve finds the component version and the blueprint of an Installation, and checks the
// signature where that is requested. A registry that does not answer is asked again for a while.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Resolved is the component version and the blueprint of an Installation.
type Resolved struct {
	// Component is nil without a component.
	Component *plan.Component
	Blueprint *blueprint.Blueprint

	session *component.Session
}

// Resolver finds what an Installation is made from.
type Resolver struct {
	// Sources reads where component versions come from.
	Sources *repocontext.Reader
	// Components is what all readers of component versions have in common.
	Components *component.Shared
	// Blueprints keeps blueprints that were read.
	Blueprints *blueprint.Cache
	// Verification says when signatures are checked.
	Verification VerificationPolicy
	// Outage is since when the Installation gets no answer.
	Outage *Outage
	// Now is the clock.
	Now func() time.Time
}

// Close gives up what reading the component holds.
func (f *Resolved) Close() {
	if f.session != nil {
		_ = f.session.Close()
	}
}

// Resolve finds the component version and the blueprint of an Installation, whose Context
// is the landscape.
func (r Resolver) Resolve(ctx context.Context, s *reporter.Subject, inst *v1alpha1.Installation, landscape *v1alpha1.Context) (*Resolved, error) {
	if err := r.Verification.Check(inst); err != nil {
		return nil, r.unprepared(err, reasons.ExtractVerifyInfo, "spec.verification")
	}
	found := &Resolved{}
	if inst.Spec.ComponentDescriptor.IsEmpty() {
		// References of the Context are for components alone.
		job.DropCondition(&inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
	} else if err := r.open(ctx, s, inst, landscape, found); err != nil {
		found.Close()
		return nil, err
	}
	var err error
	if found.Blueprint, err = r.blueprint(ctx, inst, found.Component); err != nil {
		found.Close()
		return nil, err
	}
	s.Warn(reasons.BlueprintWarnings, found.Blueprint.Warnings)
	return found, nil
}

// open finds the component version.
func (r Resolver) open(ctx context.Context, s *reporter.Subject, inst *v1alpha1.Installation, landscape *v1alpha1.Context, found *Resolved) error {
	from, err := r.Sources.Read(ctx, landscape)
	if err != nil {
		return r.unprepared(err, reasons.SetupRegistries, "")
	}
	s.Warn(reasons.ContextWarnings, from.Warnings)
	from.Options.Job = inst.Status.JobID
	found.session = component.NewSession(r.Components, from.Options)
	found.Component, err = r.component(ctx, inst, found.session, from)
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

// Check refuses unsigned components, where signatures are enforced.
func (p VerificationPolicy) Check(inst *v1alpha1.Installation) error {
	switch {
	case p != VerifyAlways:
		return nil
	case inst.Spec.Verification == nil || inst.Spec.Verification.SignatureName == "":
		return errors.New("this Landscaper only accepts signed components: set spec.verification.signatureName")
	case inst.Spec.ComponentDescriptor.IsEmpty():
		return errors.New("this Landscaper only accepts signed components: set spec.componentDescriptor")
	}
	return nil
}

// component finds the component version of an Installation, and checks its signature where that is
// requested.
func (r Resolver) component(ctx context.Context, inst *v1alpha1.Installation, session *component.Session, from *repocontext.Sources) (*plan.Component, error) {
	r.reportOverwrite(inst, from)
	found, err := plan.OpenComponent(ctx, session, inst.Spec.ComponentDescriptor)
	if err != nil {
		return nil, r.unprepared(err, reasons.GetComponentVersion, "spec.componentDescriptor")
	}
	if inst.Spec.Verification == nil || r.Verification == VerifyNever {
		return found, nil
	}
	name := inst.Spec.Verification.SignatureName
	if name == "" {
		return nil, r.unprepared(errors.New("signatureName must be set"), reasons.ExtractVerifyInfo, "spec.verification")
	}
	trust, err := from.Trust(ctx, name)
	if err != nil {
		return nil, r.unprepared(err, reasons.ExtractVerifyInfo, "spec.verification")
	}
	if err := session.Verify(ctx, found.Version, name, trust); err != nil {
		return nil, r.unprepared(fmt.Errorf("%w (trusted is %s)", err, from.TrustedBy(name)), reasons.VerifySignature, "spec.verification")
	}
	return found, nil
}

// blueprint loads the blueprint, which is in the Installation or a resource of the
// component version.
func (r Resolver) blueprint(ctx context.Context, inst *v1alpha1.Installation, from *plan.Component) (*blueprint.Blueprint, error) {
	loaded, err := plan.OpenBlueprint(ctx, r.Blueprints, from, &inst.Spec.Blueprint)
	if err != nil {
		return nil, r.unprepared(err, reasons.ResolveBlueprint, "spec.blueprint")
	}
	return loaded, nil
}

// unprepared explains an error before anything was rendered.
func (r Resolver) unprepared(err error, reason reasons.Reason, field string) error {
	return r.Outage.Classify(r.Now(), job.Wrap(component.Advise(err), published.InitPrerequisites, reason, field))
}

// reportOverwrite reports in a condition whether the reference was overwritten.
func (r Resolver) reportOverwrite(inst *v1alpha1.Installation, from *repocontext.Sources) {
	definition := inst.Spec.ComponentDescriptor
	if !from.Overwritten || definition.Reference == nil || definition.Inline != nil {
		job.DropCondition(&inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
		return
	}
	condition := v1alpha1.Condition{
		Type: v1alpha1.ComponentReferenceOverwriteCondition, Status: v1alpha1.ConditionFalse,
		Reason: string(reasons.NoOverwriteDefined), Message: "component reference has not been overwritten",
	}
	before := component.Reference{Context: component.Context(definition.Reference.RepositoryContext), Name: definition.Reference.ComponentName, Version: definition.Reference.Version}
	if before.Context.IsZero() {
		before.Context = from.Options.Default
	}
	if after, overwritten := component.Apply(from.Options.Overwrites, before); overwritten {
		condition.Status, condition.Reason = v1alpha1.ConditionTrue, string(reasons.FoundOverwrite)
		condition.Message = component.Diff(before, after)
	}
	job.SetCondition(&inst.Status.Conditions, condition, metav1.NewTime(r.Now()))
}

// Reopen finds the component version of a job again. The caller closes the session.
func (r Resolver) Reopen(ctx context.Context, inst *v1alpha1.Installation, landscape *v1alpha1.Context, definition *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, *component.Session, error) {
	from, err := r.Sources.Read(ctx, landscape)
	if err != nil {
		return nil, nil, err // names the object
	}
	from.Options.Job = inst.Status.JobID
	session := component.NewSession(r.Components, from.Options)
	opened, err := plan.OpenComponent(ctx, session, definition)
	return opened, session, err // names the component version
}
