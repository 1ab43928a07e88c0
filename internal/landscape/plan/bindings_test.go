package plan

import (
	"context"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestBindings shows what templates of each phase see.
func TestBindings(t *testing.T) {
	in := input(t, `
exports: [{name: seen, schema: {type: string}}]
importExecutions: [{name: a, type: GoTemplate, file: import.yaml}]
subinstallationExecutions: [{name: a, type: GoTemplate, file: subinstallation.yaml}]
deployExecutions: [{name: a, type: GoTemplate, file: deploy.yaml}]
exportExecutions: [{name: a, type: GoTemplate, file: export.yaml}]
`,
		"seen.tpl", `{{ keys . | sortAlpha | join " " }} {{ .componentDescriptorDef.ref.version }}`,
		"import.yaml", `bindings: {seenByImports: '{{ include "seen.tpl" . }}'}`,
		"subinstallation.yaml", `subinstallations: [{name: a, blueprint: {filesystem: {seen: '{{ include "seen.tpl" . }}'}}}]`,
		"deploy.yaml", `deployItems: [{name: a, type: t, config: {seen: '{{ include "seen.tpl" . }}', imports: '{{ .imports.seenByImports }}'}}]`,
		"export.yaml", `exports: {seen: '{{ include "seen.tpl" . }} {{ keys .values | sortAlpha | join "," }}'}`,
	)
	in.Installation.Spec.ComponentDescriptor = reference("0.5.0")
	from := session(t)
	in.Component = &Component{Session: from, Reference: reference("1.0.0").Reference}
	var err error
	if in.Component.Version, err = from.ResolveEffective(t.Context(), from.Effective(overwritten())); err != nil {
		t.Fatal(err)
	}
	made, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	children, err := made.Children(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exports, err := made.Exports(t.Context(), Results{})
	if err != nil {
		t.Fatal(err)
	}
	restart(t, made, Results{}, func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
		return in.Component, nil
	})
	const always = "blueprint blueprintDef cd componentDescriptorDef components "
	for phase, test := range map[string]struct{ got, want string }{
		"import executions: the reference in effect, no state": {string(children.DeployItems[0].Configuration.Raw), always + "imports 1.0.0"},
		"subinstallation executions":                           {string(children.Subinstallations[0].Installation.Spec.Blueprint.Inline.Filesystem.RawMessage), always + "imports state 1.0.0"},
		"deploy executions":                                    {string(children.DeployItems[0].Configuration.Raw), always + "imports state 1.0.0"},
		"export executions: the reference as it is written":    {exports.Values["seen"].(string), always + "dataobjects deployitems imports state targets values 0.5.0 dataobjects,deployitems,targets"},
	} {
		t.Run(phase, func(t *testing.T) {
			if !strings.Contains(test.got, test.want) {
				t.Errorf("%s see %s, want %s", phase, test.got, test.want)
			}
		})
	}
}
