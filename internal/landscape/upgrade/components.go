// Package upgrade says what another version of a component breaks: for those that use its blueprints, and for
// which Installations of a landscape.
package upgrade

import (
	"context"
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/landscape/plan"
)

// Version returns a blueprint as it is compared. Without a component, what its schemas refer to in one cannot
// be compared.
func Version(loaded *blueprint.Blueprint, component *plan.Component) compatibility.Version {
	compiler := schema.Compiler{Local: loaded.Info.LocalTypes, Files: loaded.Files, Default: loaded.Info.JSONSchemaVersion}
	if c := component; c != nil {
		compiler.Version, compiler.Context, compiler.Finder, compiler.Reader = c.Version, c.Context, c.Session, c.Session
	}
	return compatibility.Version{Info: loaded.Info, Schemas: compiler}
}

// Components compares all blueprints of two component versions, and whether other resources and references are
// still there.
func Components(ctx context.Context, older, newer *plan.Component) ([]compatibility.Finding, error) {
	var all []compatibility.Finding
	for _, one := range resources(older) {
		counterpart := slices.IndexFunc(resources(newer), one.is)
		if counterpart < 0 {
			all = append(all, one.vanished())
			continue
		}
		other := resources(newer)[counterpart]
		if one.blueprint != other.blueprint {
			all = append(all, one.retyped(other))
			continue
		}
		if !one.blueprint {
			continue
		}
		found, err := blueprints(ctx, older, newer, one.name)
		if err != nil {
			return nil, fmt.Errorf("blueprint %s: %w", one.name, err)
		}
		all = append(all, found...)
	}
	for _, one := range resources(newer) {
		if one.blueprint && !slices.ContainsFunc(resources(older), one.is) {
			all = append(all, compatibility.Finding{Severity: compatibility.Note, Resource: one.name, Subject: compatibility.Blueprint, Name: one.name, Users: compatibility.None, Message: "it is new"})
		}
	}
	all = append(all, references(older, newer)...)
	compatibility.Sort(all)
	return all, nil
}

// resource is what others may refer to.
type resource struct {
	name, identity, kind string
	blueprint            bool
}

func resources(of *plan.Component) []resource {
	list := of.Version.Resources
	all := make([]resource, 0, len(list))
	for _, r := range list {
		identity := descriptor.Identity{"name": r.Name}
		for key, value := range r.ExtraIdentity {
			identity[key] = value
		}
		all = append(all, resource{
			name: r.Name, identity: fmt.Sprint(identity), kind: r.Type,
			blueprint: r.Type == v1alpha1.BlueprintType || r.Type == v1alpha1.BlueprintResourceType,
		})
	}
	return all
}

func (r resource) is(other resource) bool { return r.identity == other.identity }

// vanished says that a resource is not there any more. Which other components refer to it is not known.
func (r resource) vanished() compatibility.Finding {
	f := compatibility.Finding{Severity: compatibility.Unknown, Resource: r.name, Subject: compatibility.Resource, Name: r.name, Users: compatibility.None, Message: "it does not exist any more: other components may refer to it"}
	if r.blueprint {
		f.Severity, f.Subject, f.Users, f.Message = compatibility.Breaking, compatibility.Blueprint, compatibility.All, "it does not exist any more"
	}
	return f
}

func (r resource) retyped(as resource) compatibility.Finding {
	f := r.vanished()
	f.Message = fmt.Sprintf("its type was %s, and is %s", r.kind, as.kind)
	return f
}

func blueprints(ctx context.Context, older, newer *plan.Component, name string) ([]compatibility.Finding, error) {
	definition := &v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: name}}
	before, err := plan.OpenBlueprint(ctx, nil, older, definition)
	if err != nil {
		return nil, err // names the component version
	}
	after, err := plan.OpenBlueprint(ctx, nil, newer, definition)
	if err != nil {
		return nil, err // names the component version
	}
	found, err := compatibility.Compare(ctx, Version(before, older), Version(after, newer))
	for i := range found {
		found[i].Resource = name
	}
	return found, err
}

// references reports component references that are not there any more.
func references(older, newer *plan.Component) []compatibility.Finding {
	var all []compatibility.Finding
	for _, reference := range older.Version.References {
		if !slices.ContainsFunc(newer.Version.References, func(other descriptor.Reference) bool { return other.Name == reference.Name }) {
			all = append(all, compatibility.Finding{Severity: compatibility.Unknown, Subject: compatibility.Reference, Name: reference.Name, Users: compatibility.None, Message: "it does not exist any more: other components may follow it"})
		}
	}
	return all
}
