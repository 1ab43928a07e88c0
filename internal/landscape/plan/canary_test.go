package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoValueInMessages puts an imported value, as it is and changed, into every field
// that rules are about, and looks for it in what is said. A template may take anything
// from a Secret.
func TestNoValueInMessages(t *testing.T) {
	items := map[string]string{
		"name":                   `{name: "VALUE Ä", type: t}`,
		"names twice":            `{name: a, type: t}, {name: VALUE, type: t}, {name: VALUE, type: t}`,
		"type":                   `{name: a, type: [VALUE]}`,
		"label":                  `{name: a, type: t, labels: {a: [VALUE]}}`,
		"key of a label":         `{name: a, type: t, labels: {VALUE: 1}}`,
		"timeout":                `{name: a, type: t, timeout: VALUE}`,
		"target import":          `{name: a, type: t, target: {import: VALUE}}`,
		"key of a target import": `{name: a, type: t, target: {import: map, key: VALUE}}`,
		"list of targets":        `{name: a, type: t, target: {import: VALUE, index: 1}}`,
		"index":                  `{name: a, type: t, target: {import: list, index: VALUE}}`,
		"predecessor":            `{name: a, type: t, dependsOn: [VALUE]}`,
		"cycle":                  `{name: VALUE, type: t, dependsOn: [b]}, {name: b, type: t, dependsOn: [VALUE]}`,
		"onDelete":               `{name: a, type: t, onDelete: VALUE}`,
		"unknown field":          `{name: a, type: t, config: {}, VALUE: 1}`,
		"item":                   `VALUE`,
	}
	subs := map[string]string{
		"name":                `{name: "VALUE Ä", blueprint: {ref: a}}`,
		"names twice":         `{name: VALUE, blueprint: {ref: a}}, {name: VALUE, blueprint: {ref: a}}`,
		"kind":                `{kind: VALUE, name: a}`,
		"apiVersion":          `{apiVersion: VALUE, name: a}`,
		"data that is absent": `{name: a, blueprint: {ref: a}, imports: {data: [{name: b, dataRef: VALUE}]}}`,
		"target":              `{name: a, blueprint: {ref: a}, imports: {targets: [{name: b, target: VALUE}]}}`,
		"targets":             `{name: a, blueprint: {ref: a}, imports: {targets: [{name: b, targetMap: {VALUE: VALUE}}]}}`,
		"imports twice":       `{name: a, blueprint: {ref: a}, imports: {data: [{name: VALUE, dataRef: size}, {name: VALUE, dataRef: size}]}}`,
		"export":              `{name: VALUE, blueprint: {ref: a}, exports: {data: [{name: VALUE, dataRef: size}]}}`,
		"exports twice":       `{name: VALUE, blueprint: {ref: a}, exports: {data: [{name: a, dataRef: VALUE}, {name: b, dataRef: VALUE}]}}`,
		"cycle":               `{name: VALUE, blueprint: {ref: a}, imports: {data: [{name: a, dataRef: VALUE}]}, exports: {data: [{name: a, dataRef: VALUE}]}}`,
		"blueprint":           `{name: a, blueprint: {ref: VALUE}}`,
	}
	run := func(kind, field, list, what string) {
		for how, expression := range map[string]string{"as it is": ".imports.password", "changed": "trunc 9 .imports.password | upper"} {
			t.Run(fmt.Sprintf("%s %s %s", what, field, how), func(t *testing.T) {
				template := strings.ReplaceAll(list, "VALUE", "{{ "+expression+" }}")
				description := imports + kind + ":\n- {name: a, type: GoTemplate, template: '" + what + ": [" + template + "]'}\n"
				in := input(t, description)
				p, err := New(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Children(t.Context())
				said := strings.Join(p.Warnings, "\n")
				if err != nil {
					said += err.Error()
				}
				if said == "" {
					t.Fatal("nothing is said; the test shows nothing")
				}
				if lower := strings.ToLower(said); strings.Contains(lower, "hunter2") {
					t.Errorf("the value is shown:\n%s", said)
				}
			})
		}
	}
	for field, list := range items {
		run("deployExecutions", field, list, "deployItems")
	}
	for field, list := range subs {
		run("subinstallationExecutions", field, list, "subinstallations")
	}
}
