package installation

import (
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/parcel"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/memguard"
)

// VerificationPolicy says when signatures are checked.
type VerificationPolicy = resolve.VerificationPolicy

// The policies.
const (
	VerifyIfAsked = resolve.VerifyIfAsked
	VerifyAlways  = resolve.VerifyAlways
	VerifyNever   = resolve.VerifyNever
)

// Planner makes the plans of jobs.
type Planner struct {
	// Sources reads where component versions come from.
	Sources *repocontext.Reader
	// Components is what all readers of component versions have in common.
	Components *component.Shared
	// Blueprints keeps blueprints that were read.
	Blueprints *blueprint.Cache
	// Verification says when signatures are checked.
	Verification VerificationPolicy
	// NamedTargets lets blueprints use any Target and Secret of the namespace by its name.
	NamedTargets bool
	// Functions returns those functions of templates that reach clusters, for an
	// Installation of a namespace with the Targets that it imports.
	Functions func(namespace string, imported []*v1alpha1.Target) map[string]template.Function
	// Maker makes plans; nil makes them in this process.
	Maker plan.Maker
	// Key authenticates stored plans.
	Key parcel.Key
	// Attempts notes plans before they are made; nil notes none.
	Attempts *crashnote.Notes
	// Memory ends the largest work when the memory of the process is almost used up; nil ends none.
	Memory *memguard.Guard

	// outside makes plans outside the workers; nil means that the workers make them.
	outside *plans
}

// resolver returns what finds the component version and the blueprint of an Installation.
func (p *Planner) resolver(outage *resolve.Outage, now func() time.Time) resolve.Resolver {
	return resolve.Resolver{
		Sources: p.Sources, Components: p.Components, Blueprints: p.Blueprints,
		Verification: p.Verification, Outage: outage, Now: now,
	}
}

// maker makes the plans.
func (p *Planner) maker() plan.Maker {
	if p.Maker == nil {
		return plan.Here{}
	}
	return p.Maker
}
