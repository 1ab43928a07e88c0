package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

func TestBlueprint(t *testing.T) {
	tests := map[string]struct {
		reason    string
		blueprint string
		want      []string
	}{
		"Complete": {
			reason: "old imports without a type and new ones are both fine",
			blueprint: `
imports:
- {name: a, schema: {type: string}}
- {name: b, targetType: kubernetes-cluster}
- {name: c, type: targetMap, targetType: kubernetes-cluster}
- {name: d, type: data, schema: {}, required: false, imports: [{name: e, schema: {}}]}
exports: [{name: a, type: target, targetType: x/y}]
deployExecutions: [{name: one, type: GoTemplate, template: ""}, {name: both, type: Spiff, file: unused, template: {}}]
subinstallations: [{file: sub.yaml}, {name: two, blueprint: {ref: "cd://resources/two"}}]`,
		},
		"ImportTypes": {
			reason:    "the type and the description of the value must fit together",
			blueprint: `imports: [{name: a, type: list, schema: {}}, {name: b, type: data}, {name: c, type: target, schema: {}, targetType: x/y}, {name: d, type: data, schema: {}, targetType: x/y}, {name: e, type: target}]`,
			want: []string{
				`imports[0].type: Unsupported value: "list": supported values: "data", "target", "targetList", "targetMap"`, "imports[1].schema: Required value",
				"imports[2].schema: Forbidden", "imports[3].targetType: Forbidden", "imports[4].targetType: Required value",
			},
		},
		"HistoricImports": {
			reason:    "old blueprints asked for component descriptors; the message says where they are now",
			blueprint: `imports: [{name: a, type: componentDescriptor}, {name: b, type: componentDescriptorList, required: false, imports: [{name: c, type: componentDescriptor}]}]`,
			want: []string{
				`imports[0].type: Unsupported value: "componentDescriptor": supported values: "data", "target", "targetList", "targetMap"; remove this import: templates get the component descriptor as cd`,
				`imports[1].type: Unsupported value: "componentDescriptorList"`,
			},
		},
		"NoTypeAtAll": {
			reason:    "without a type exactly one description tells it",
			blueprint: `imports: [{name: a}, {name: b, schema: {}, targetType: x/y}]`,
			want:      []string{"imports[0]: Required value: give exactly one of schema, targetType", "imports[1]: Forbidden: schema, targetType are given together"},
		},
		"ExportTypes": {
			reason:    "lists and maps cannot be exported, and the message says what can",
			blueprint: `exports: [{name: a, type: targetList, targetType: x/y}, {name: b, schema: {}}, {name: b, schema: {}}]`,
			want:      []string{`exports[0].type: Unsupported value: "targetList": supported values: "data", "target"`},
		},
		"Nameless": {
			reason:    "blueprints in use leave names out, and repeat them",
			blueprint: `{imports: [{name: "", schema: {}}, {name: a, schema: {}, imports: [{name: a, schema: {}}]}], exports: [{name: b, schema: {}}, {name: b, schema: {}}], deployExecutions: [{type: Spiff}, {type: GoTemplate}, {name: a, type: Spiff}, {name: a, type: Spiff}], importExecutions: [{type: Spiff}], exportExecutions: [{type: Spiff}], subinstallationExecutions: [{type: Spiff}]}`,
		},
		"Executions": {
			reason:    "import executions are checked like the others",
			blueprint: `importExecutions: [{name: "", type: Jinja, template: x}, {name: a, template: x}, {name: a, type: Spiff, file: f, template: x}]`,
			want:      []string{"importExecutions[0].type: Unsupported value", "importExecutions[1].type: Required value"},
		},
		"Subinstallations": {
			reason:    "a file or a template, and a template that is complete",
			blueprint: `subinstallations: [{}, {file: a.yaml, name: b, blueprint: {ref: "cd://resources/b"}}, {name: c}]`,
			want:      []string{"subinstallations[0]: Required value", "subinstallations[1]: Forbidden", "subinstallations[2].blueprint: Required value"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			blueprint := &v1alpha1.Blueprint{}
			if err := yaml.Unmarshal([]byte(test.blueprint), blueprint); err != nil {
				t.Fatal(err)
			}
			blueprint.SetDefaults()
			expect(t, test.reason, Blueprint(blueprint), test.want)
		})
	}
}

func TestInstallationTemplates(t *testing.T) {
	const reference = `blueprint: {ref: "cd://resources/x"}`
	tests := map[string]struct {
		reason    string
		imports   string
		templates string
		want      []string
	}{
		"DataFlow": {
			reason:  "imports come from the parent, from siblings, from list elements and by real name",
			imports: `[{name: size, schema: {}}, {name: cluster, targetType: k}, {name: list, type: targetList, targetType: k}, {name: map, type: targetMap, targetType: k}, {name: opt, schema: {}, required: false, imports: [{name: cond, schema: {}}]}]`,
			templates: `
- {name: a, ` + reference + `, imports: {data: [{name: x, dataRef: size}, {name: w, dataRef: "#global"}, {name: v, dataRef: cond}], targets: [{name: z, target: cluster}, {name: q, target: "#edge"}]}, exports: {data: [{name: o, dataRef: out}], targets: [{name: t, target: made}]}}
- {name: b, ` + reference + `, imports: {data: [{name: x, dataRef: out}], targets: [{name: l, targetListRef: list}, {name: m, targetMapRef: map}, {name: e, target: "list[0]"}, {name: f, targetMap: {k: made}}, {name: g, targets: ["map[blue]", cluster]}]}}`,
		},
		"Names": {
			reason:    "names become a part of object names",
			templates: `[{name: "", ` + reference + `}, {name: Big, ` + reference + `}, {name: a2345678901234567890123456789012345678901234567890123, ` + reference + `}, {name: twice, ` + reference + `}, {name: twice, ` + reference + `}]`,
			want:      []string{"[0].name: Required value", "[1].name: Invalid value", "[2].name: Too long", "subinstallations[4].name: Duplicate value"},
		},
		"OwnFields": {
			reason:    "a subinstallation gets data through its parent",
			templates: `[{name: a, blueprint: {ref: x, filesystem: {}}, imports: {data: [{name: x, secretRef: {name: s}}, {name: z, configMapRef: {name: s}, dataRef: "#q"}]}}]`,
			want:      []string{"[0].imports.data[0].dataRef: Required value", "[0].imports.data[0].secretRef: Forbidden", "[0].imports.data[1].configMapRef: Forbidden"},
		},
		"DoubleExports": {
			reason:    "two writers of one value",
			imports:   `[{name: size, schema: {}}]`,
			templates: `[{name: a, ` + reference + `, exports: {data: [{name: x, dataRef: out}]}}, {name: b, ` + reference + `, exports: {data: [{name: x, dataRef: out}, {name: z, dataRef: size}]}}]`,
			want:      []string{"subinstallations[1].exports.data[1].dataRef: Forbidden: size is already an import", "subinstallations[1].exports.data[0].dataRef: Forbidden: out is already exported by subinstallation a"},
		},
		"Unsatisfied": {
			reason:    "the value has no source, or not in the expected form",
			imports:   `[{name: list, type: targetList, targetType: k}]`,
			templates: `[{name: a, ` + reference + `, imports: {data: [{name: x, dataRef: ghost}], targets: [{name: q, target: list}, {name: r, targetMapRef: list}, {name: s, target: "ghost[0]"}]}}]`,
			want:      []string{`imports.data[0].dataRef: Not found: "ghost"`, `imports.targets[0].target: Not found: "list"`, `imports.targets[1].targetMapRef: Not found: "list"`, `imports.targets[2].target: Not found: "ghost[0]"`},
		},
		"Cycle": {
			reason:    "each waits for the other",
			templates: `[{name: a, ` + reference + `, imports: {data: [{name: x, dataRef: fromb}]}, exports: {data: [{name: x, dataRef: froma}]}}, {name: b, ` + reference + `, imports: {data: [{name: x, dataRef: froma}]}, exports: {data: [{name: x, dataRef: fromb}]}}]`,
			want:      []string{`"a -> b -> a": the subinstallations wait for each other in a cycle: a imports fromb of b, b imports froma of a`},
		},
		"OwnExport": {
			reason:    "an own export exists from before, or is missing when the job runs: the template is valid",
			templates: `[{name: a, ` + reference + `, imports: {data: [{name: x, dataRef: own}]}, exports: {data: [{name: x, dataRef: own}]}}]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			blueprint := &v1alpha1.Blueprint{}
			if err := yaml.Unmarshal([]byte(`imports: `+test.imports), blueprint); err != nil {
				t.Fatal(err)
			}
			blueprint.SetDefaults()
			var templates []*v1alpha1.InstallationTemplate
			if err := yaml.Unmarshal([]byte(test.templates), &templates); err != nil {
				t.Fatal(err)
			}
			var errs field.ErrorList
			for i, template := range templates {
				errs = append(errs, InstallationTemplate(template, field.NewPath("subinstallations").Index(i))...)
			}
			errs = append(errs, InstallationTemplates(templates, blueprint.Imports)...)
			errs = append(errs, InstallationOrder(templates)...)
			expect(t, test.reason, errs, test.want)
		})
	}
}

// expect compares errors with parts of their texts.
func expect(t *testing.T, reason string, got field.ErrorList, want []string) {
	t.Helper()
	for i, err := range got {
		if i >= len(want) || !strings.Contains(err.Error(), want[i]) {
			t.Errorf("%s: unexpected error %d: %v", reason, i, err)
		}
	}
	for _, missing := range want[min(len(got), len(want)):] {
		t.Errorf("%s: no error with %q", reason, missing)
	}
}

// TestBlueprintAdvice: what is accepted with advice.
func TestBlueprintAdvice(t *testing.T) {
	for _, test := range []struct {
		reason, blueprint string
		want              []string
	}{
		{"nothing to say, also about executions without a name", `{imports: [{name: a, schema: {}, required: false, imports: [{name: b, schema: {}}]}], deployExecutions: [{type: Spiff}, {type: Spiff}]}`, nil},
		{"names", `{imports: [{name: ""}, {name: a, required: false, imports: [{name: a}]}], exports: [{name: b}, {name: b}], deployExecutions: [{name: x}, {name: x}]}`, []string{
			"imports[0].name: Required value", "imports[1].imports[0].name: Duplicate value", "exports[1].name: Duplicate value", "deployExecutions[1].name: Duplicate value",
		}},
		{"a condition that is always true", `imports: [{name: a, imports: [{name: b}]}]`, []string{"imports[0].imports: Forbidden: these imports have no condition"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			blueprint := &v1alpha1.Blueprint{}
			if err := yaml.Unmarshal([]byte(test.blueprint), blueprint); err != nil {
				t.Fatal(err)
			}
			advice := BlueprintAdvice(blueprint)
			if len(advice) != len(test.want) {
				t.Fatalf("got %q", advice)
			}
			for i, want := range test.want {
				if !strings.Contains(advice[i].Error(), want) {
					t.Errorf("got %q, want %q", advice[i], want)
				}
			}
		})
	}
}
