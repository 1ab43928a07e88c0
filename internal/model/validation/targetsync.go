package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/pattern"
)

// TargetSync checks a TargetSync.
func TargetSync(sync *v1alpha1.TargetSync) field.ErrorList {
	path, spec := field.NewPath("spec"), &sync.Spec
	var errs field.ErrorList
	if spec.SecretNameExpression != "" && spec.ShootNameExpression != "" {
		errs = append(errs, field.Forbidden(path, "secretNameExpression and shootNameExpression are given together: give one of them"))
	}
	errs = append(errs, nameExpression(spec.SecretNameExpression, path.Child("secretNameExpression"))...)
	return append(errs, nameExpression(spec.ShootNameExpression, path.Child("shootNameExpression"))...)
}

func nameExpression(expression string, path *field.Path) field.ErrorList {
	if expression == "*" {
		return nil
	}
	if _, err := pattern.Compile(expression); err != nil {
		return field.ErrorList{field.Invalid(path, expression, `use a regular expression (RE2), or "*" for all names: `+err.Error())}
	}
	return nil
}
