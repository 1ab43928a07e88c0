package plan

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// givenSecrets are the Secrets that the Installation gives to its blueprint as values. What a data
// mapping of a user makes of a Secret is less than the Secret.
func (p *Plan) givenSecrets() []v1alpha1.LocalSecretReference {
	var secrets []v1alpha1.LocalSecretReference
	inst := p.in.Installation
	for _, reference := range dataflow.References(inst) {
		_, mapped := inst.Spec.ImportDataMappings[reference.Import]
		if reference.Type != v1alpha1.ImportTypeData || mapped || !p.Imports.Satisfied(reference.Import) {
			continue
		}
		if object := reference.Objects[0]; object.Kind == dataflow.KindSecret && object.Namespace == inst.Namespace {
			secrets = append(secrets, v1alpha1.LocalSecretReference{Name: object.Name, Key: object.Key})
		}
	}
	return secrets
}

// errNotGiven refuses an access that a blueprint has made up of what is in the namespace.
var errNotGiven = errors.New("the Target refers to a Secret or ServiceAccount that the Installation was not given: import a Target that refers to it, or the Secret (an administrator can allow any with blueprints.namedTargets)")

// checkReplaced refuses Targets that an import execution has put in the place of imports, if they
// refer to what the Installation was not given. Subinstallations get a copy of them.
func (p *Plan) checkReplaced() error {
	if p.in.NamedTargets {
		return nil
	}
	given := p.in.Imports.AllTargets()
	for _, target := range p.Imports.Targets() {
		if !slices.Contains(given, target) && login.Refers(&target.Spec) && !p.isGiven(&target.Spec, given) {
			return errNotGiven
		}
	}
	return nil
}

// checkReferences refuses exported Targets that refer to what the Installation was not given. The
// scope has its Targets, and those that its subinstallations export.
func (p *Plan) checkReferences(values map[string]any, scope []*v1alpha1.Target) error {
	if p.in.NamedTargets {
		return nil
	}
	given := append(p.in.Imports.AllTargets(), scope...)
	var errs []error
	for _, export := range p.in.Installation.Spec.Exports.Targets {
		template, err := valueobject.DecodeTargetTemplate(values[export.Name])
		if err != nil || !login.Refers(&template.TargetSpec) || p.isGiven(&template.TargetSpec, given) {
			continue // what cannot be decoded was refused
		}
		errs = append(errs, fmt.Errorf("(inst: %s).exports.targets.%s: %w", p.in.Installation.Name, export.Name, errNotGiven))
	}
	return errors.Join(errs...)
}

// isGiven reports whether an access is that of a given Target, or in a given Secret.
func (p *Plan) isGiven(spec *v1alpha1.TargetSpec, targets []*v1alpha1.Target) bool {
	within := func(secret *v1alpha1.LocalSecretReference) bool {
		return secret != nil && spec.SecretRef != nil && secret.Name == spec.SecretRef.Name && (secret.Key == "" || secret.Key == spec.SecretRef.Key)
	}
	if spec.SecretRef != nil {
		return slices.ContainsFunc(targets, func(target *v1alpha1.Target) bool { return within(target.Spec.SecretRef) }) ||
			slices.ContainsFunc(p.secrets, func(secret v1alpha1.LocalSecretReference) bool { return within(&secret) })
	}
	return slices.ContainsFunc(targets, func(target *v1alpha1.Target) bool {
		return target.Spec.SecretRef == nil && sameJSON(target.Spec.Configuration, spec.Configuration)
	})
}

func sameJSON(a, b *v1alpha1.AnyJSON) bool {
	if a == nil || b == nil {
		return a == b
	}
	first, err := jsonvalue.FromJSON(a.RawMessage)
	if err != nil {
		return false
	}
	second, err := jsonvalue.FromJSON(b.RawMessage)
	return err == nil && reflect.DeepEqual(first, second)
}
