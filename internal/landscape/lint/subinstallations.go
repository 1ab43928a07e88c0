package lint

import (
	"context"
	"io/fs"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component/uri"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/validation"
)

// subinstallations checks each one, and then whether they fit together.
func (r *run) subinstallations(ctx context.Context, b one) {
	templates := make([]*v1alpha1.InstallationTemplate, 0, len(b.Info.Subinstallations))
	places := make([]place, 0, len(b.Info.Subinstallations))
	for i := range b.Info.Subinstallations {
		template, at := r.template(b, i)
		if template == nil {
			continue
		}
		templates, places = append(templates, template), append(places, at)
		r.nested(ctx, b, template, at)
	}
	if len(templates) < len(b.Info.Subinstallations) || len(b.Info.SubinstallationExecutions) > 0 {
		// The imports of a subinstallation may come from one that is not known.
		return
	}
	whole := b.at.child("subinstallations")
	for _, err := range append(validation.InstallationTemplates(templates, b.Info.Imports), validation.InstallationOrder(templates)...) {
		at, rest := whole, ""
		for i := range places {
			if after, found := strings.CutPrefix(err.Field, field.NewPath("subinstallations").Index(i).String()+"."); found {
				at, rest = places[i], after
			}
		}
		r.fieldError(at.within(rest), err)
	}
}

// template returns an installation template, and where it is. It is nil if it
// cannot be used any further.
func (r *run) template(b one, i int) (*v1alpha1.InstallationTemplate, place) {
	entry, at := &b.Info.Subinstallations[i], b.at.child("subinstallations").index(i)
	if entry.File == "" {
		// Loading has checked it.
		return entry.InstallationTemplate, at
	}
	template, wrong := plan.ReadTemplate(b.Files, entry.File, field.NewPath("file"))
	if wrong != nil {
		r.fieldError(at.child("file"), wrong)
		return nil, at
	}
	if b.depth == 0 {
		at = inFile(b.Files, entry.File)
	}
	r.unknownIn(b.Files, entry.File, at)
	errs := validation.InstallationTemplate(template, nil)
	for _, err := range errs {
		r.fieldError(at.within(err.Field), err)
	}
	if len(errs) > 0 {
		return nil, at
	}
	return template, at
}

// unknownIn warns about unknown fields of a file with an installation template.
func (r *run) unknownIn(files fs.FS, name string, at place) {
	text, err := fs.ReadFile(files, strings.TrimPrefix(name, "/"))
	if err != nil {
		return
	}
	value, err := yamltext.Decode(text, yamltext.DefaultLimits())
	if fields, ok := value.(map[string]any); ok && err == nil {
		r.unknown(at, blueprint.UnknownFields(fields, reflect.TypeFor[v1alpha1.InstallationTemplate]()))
	}
}

// nested checks the blueprint of an installation template.
func (r *run) nested(ctx context.Context, b one, template *v1alpha1.InstallationTemplate, at place) {
	if template.Blueprint.Reference != "" {
		r.reference(ctx, template.Blueprint.Reference, at.child("blueprint", "ref"))
		return
	}
	if len(template.Blueprint.Filesystem.RawMessage) == 0 {
		return
	}
	if b.depth >= maxDepth {
		r.fail(at, errDepth)
		return
	}
	files, err := blueprint.Inline(template.Blueprint.Filesystem)
	if err != nil {
		r.fail(at.child("blueprint", "filesystem"), err)
		return
	}
	r.load(ctx, files, at.inlineBlueprint(), b.depth+1)
}

// reference checks that a reference to the blueprint of a component leads to one. The content of
// that blueprint belongs to its own component.
func (r *run) reference(ctx context.Context, reference string, at place) {
	parsed, err := uri.Parse(reference)
	if err != nil || r.Component == nil {
		if err == nil {
			r.notChecked(at)
		}
		r.fail(at, err)
		return
	}
	parsed.Context = r.Component.Context
	_, resource, err := parsed.Resource(ctx, r.Component.Session, r.Component.Version)
	r.fail(at, err)
	if err == nil && resource.Type != v1alpha1.BlueprintType && resource.Type != v1alpha1.BlueprintResourceType {
		r.add(Error, at, "the resource has the type "+resource.Type+": a blueprint has the type "+v1alpha1.BlueprintType)
	}
}
