package plan

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

func inlineBlueprint(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-07"))
	in, err := openAll(t, nil, inst)
	if err != nil || in.Blueprint.Info.Kind != "Blueprint" || len(in.Blueprint.Warnings) > 0 {
		t.Fatalf("the ellipsis ends the document: %+v, %v", in.Blueprint, err)
	}
	made, err := children(t, in)
	if err != nil || len(made.DeployItems)+len(made.Subinstallations) > 0 {
		t.Errorf("a blueprint with nothing in it brings up nothing: %+v, %v", made, err)
	}
	inst = documentInstallation(t, d.block(t, "installations-07", correction{
		why: "the block leaves the rest out", from: "          ...\n", to: "          deployExecutions: [{name: d, type: GoTemplate, file: /items.yaml}]\n        items.yaml: \"deployItems: [{name: x, type: t}]\"\n",
	}))
	if in, err = openAll(t, nil, inst); err != nil {
		t.Fatal(err)
	}
	if made, err = children(t, in); err != nil || len(made.DeployItems) != 1 {
		t.Errorf("files beside blueprint.yaml: %+v, %v", made, err)
	}
}

func dataImports(t *testing.T, d documents) {
	alternatives := []correction{
		{why: "the block shows alternatives under one name", from: "- name: my-import\n    secretRef: \n      name: \"\"\n      namespace: \"\"\n      key: \"\"", to: "- name: second\n    secretRef: \n      name: s\n      namespace: \"\"\n      key: k"},
		{why: "the block shows alternatives under one name", from: "- name: my-import\n    configMapRef: \n      name: \"\"\n      namespace: \"\"\n      key: \"\"", to: "- name: third\n    configMapRef: \n      name: c\n      namespace: space\n      key: k"},
	}
	const description = `
imports:
- {name: my-import, schema: {type: object}}
- {name: second, schema: {type: integer}}
- {name: third, schema: {type: array}}
`
	objects := stored{"DataObject space/data": "{a: 1}", "Secret space/s k": "5", "ConfigMap space/c k": "[x, y]"}
	for reason, reference := range map[string]string{"a reference by name": "data", "an older reference with #": "#data"} {
		inst := part(t, d.block(t, "installations-08", append(alternatives, correction{why: "references are left out", from: `dataRef: ""`, to: `dataRef: "` + reference + `"`})...))
		wantYAML(t, reason, mustPlan(t, inst, description, objects).Imports.Map(), "{my-import: {a: 1}, second: 5, third: [x, y]}")
	}
	inst := part(t, d.block(t, "installations-08", append(alternatives, correction{why: "references are left out", from: `dataRef: ""`, to: `dataRef: data`})...))
	_, err := documentPlan(t, inst, description, stored{"Secret space/s k": "5"})
	wantError(t, "everything that is missing is named at once", err,
		`spec.imports.data[0].dataRef: import my-import: there is no DataObject "data" in namespace space`,
		`spec.imports.data[2].configMapRef: import third: there is no ConfigMap "c" in namespace space`)
}

func targetImports(t *testing.T, d documents) {
	const description = `
imports: [{name: my-target, targetType: kubernetes-cluster}]
deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: x, type: t, target: {import: my-target}}]"}]
`
	for reason, reference := range map[string]string{"a reference by name": "real", "an older reference with #": "#real"} {
		inst := part(t, d.block(t, "installations-09", correction{why: "references are left out", from: `target: ""`, to: `target: "` + reference + `"`}))
		made, err := mustPlan(t, inst, description, stored{"Target space/real": ""}).Children(t.Context())
		if err != nil || made.DeployItems[0].Target.Name != "real" || made.DeployItems[0].Target.Namespace != "space" {
			t.Errorf("%s: %+v, %v", reason, made, err)
		}
	}
	inst := part(t, d.block(t, "installations-09", correction{why: "references are left out", from: `target: ""`, to: `target: real`}))
	_, err := documentPlan(t, inst, strings.Replace(description, "kubernetes-cluster", "acme.example/vm", 1), stored{"Target space/real": ""})
	wantError(t, "the types must match", err, "document.my-target: imported target type is landscaper.gardener.cloud/kubernetes-cluster but expected acme.example/vm")
}

func importMappings(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-10", anyBlueprint,
		correction{why: "references are left out", from: "- name: imp1", to: "- {name: imp1, dataRef: imp1}"},
		correction{why: "references are left out", from: "- name: imp2", to: "- {name: imp2, dataRef: imp2}"}))
	made := mustPlan(t, inst, `
imports:
- {name: <blueprintimport1>, schema: {type: string}}
- {name: <blueprintimport2>, schema: {type: integer}}
- {name: <blueprintimport3>, schema: {type: object}}
- {name: imp2, schema: {}}
`, stored{"DataObject space/imp1": "{subkey: 7}", "DataObject space/imp2": "[1]"})
	wantYAML(t, "a fixed value, a part, and two imports in one; what is not mapped goes by its name", made.Imports.Map(), `
<blueprintimport1>: hardcoded value
<blueprintimport2>: 7
<blueprintimport3>: {a: {subkey: 7}, b: [1]}
imp2: [1]
`)
}

func importMappingExample(t *testing.T, d documents) {
	references := []correction{anyBlueprint,
		{why: "references are left out", from: "- name: aws-provider #", to: "- {name: aws-provider, dataRef: aws} #"},
		{why: "references are left out", from: "- name: gcp-provider-type #", to: "- {name: gcp-provider-type, dataRef: gcp} #"},
	}
	description := d.block(t, "installations-11")
	objects := stored{"DataObject space/aws": `{ "type": "aws", "creds": { "accessKeyID": "adfa", "accessKeySec": "hunter2" } }`, "DataObject space/gcp": `"gcp"`}
	_, err := documentPlan(t, documentInstallation(t, d.block(t, "installations-12", references...)), description, objects)
	wantError(t, "the mappings use a name that is not imported", err,
		"spec.importDataMappings: ", "unable to template import mapping template document.providers (it can use aws-provider, gcp-provider-type, imports)",
		"'aws-provider-type' not found")
	if err != nil && strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the message shows a value: %v", err)
	}
	inst := documentInstallation(t, d.block(t, "installations-12", append(references,
		correction{why: "the mappings use another name than the import has", from: "aws-provider-type.", to: "aws-provider."})...))
	wantYAML(t, "with the name of the import", mustPlan(t, inst, description, objects).Imports.Map(), `
identifier: my-controller
providers: [aws, gcp]
aws-credentials: {accessKeyID: adfa, accessKeySecret: hunter2}
`)
}

// published works out the exports of a subinstallation of "parent".
func published(t *testing.T, inst *v1alpha1.Installation, description string) (*Exports, error) {
	t.Helper()
	inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent", UID: "parent-uid"}}
	made := mustPlan(t, inst, description, nil)
	restart(t, made, Results{}, nil)
	return made.Exports(t.Context(), Results{})
}

// results corrects what the document shows as the result of an export: it is from a
// time when contexts had longer names.
func results(hash string) []correction {
	return []correction{
		{why: "a placeholder", from: "<some hash>", to: hash},
		{why: "contexts have shorter names today, and that of a subinstallation is its parent's", from: "context: Installation.<namespace>.<installation name>", to: "context: Inst.parent"},
		{why: "sources have shorter names today", from: "source: Installation.<namespace>.<installation name>", to: "source: Inst.document"},
	}
}

// wantShown compares an object with the fields that a document shows.
func wantShown(t *testing.T, object any, shown string) {
	t.Helper()
	want, err := jsonvalue.FromYAML([]byte(shown))
	if err != nil {
		t.Fatal(err)
	}
	wantParts(t, "object", object, want)
}

func dataExports(t *testing.T, d documents) {
	made, err := published(t, part(t, d.block(t, "installations-13")), `
exports: [{name: my-target, schema: {type: object}}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {my-target: {exported: data}}"}]
`)
	if err != nil || len(made.DataObjects) != 1 {
		t.Fatal(made, err)
	}
	wantShown(t, made.DataObjects[0], d.block(t, "installations-14", append(results(v1alpha1.GenerateDataObjectName("Inst.parent", "my-exported-data")),
		correction{why: "a placeholder", from: "<exported data>", to: "{exported: data}"})...))
}

func targetExports(t *testing.T, d documents) {
	const description = `
exports: [{name: my-target, targetType: landscaper.gardener.cloud/my-type}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {my-target: {type: landscaper.gardener.cloud/my-type, config: {exported: data}}}"}]
`
	made, err := published(t, part(t, d.block(t, "installations-15")), description)
	if err != nil || len(made.Targets) != 1 {
		t.Fatal(made, err)
	}
	wantShown(t, made.Targets[0], d.block(t, "installations-16", append(results(v1alpha1.GenerateDataObjectName("Inst.parent", "my-exported-target")),
		correction{why: "a type has a group", from: "type: my-type", to: "type: landscaper.gardener.cloud/my-type"},
		correction{why: "a placeholder", from: "<exported target data>", to: "{exported: data}"})...))
	_, err = published(t, part(t, d.block(t, "installations-15")), strings.Replace(description, "targetType: landscaper.gardener.cloud/my-type", "targetType: other-type", 1))
	wantError(t, "the types must match", err, "(inst: document).internalExports.my-target: exported target type is landscaper.gardener.cloud/my-type but expected landscaper.gardener.cloud/other-type")
}

func exportMappings(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-17", anyBlueprint,
		correction{why: "references are left out", from: "- name: imp1", to: "- {name: imp1, dataRef: first}"},
		correction{why: "references are left out", from: "- name: imp2", to: "- {name: imp2, dataRef: second}"}))
	const description = `
exports: [{name: exp1, schema: {type: object}}]
exportExecutions: [{name: e, type: Spiff, template: {exports: {exp1: {subkey: 12}}}}]
`
	made, err := published(t, inst, description)
	if err != nil || len(made.DataObjects) != 2 {
		t.Fatal(made, err)
	}
	wantYAML(t, "a fixed value", made.DataObjects[0].Data, "hardcoded value")
	wantYAML(t, "a part of an export", made.DataObjects[1].Data, "12")
	_, err = published(t, inst, strings.ReplaceAll(description, "exp1", "expl"))
	wantError(t, "an export that does not exist", err, "unable to template export mapping template", "internalExports.imp2", "'exp1' not found")
}

func exportMappingExample(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-19", anyBlueprint,
		correction{why: "references are left out", from: "- name: identifier", to: "- {name: identifier, dataRef: id}"},
		correction{why: "references are left out", from: "- name: creds", to: "- {name: creds, dataRef: creds}"}))
	made, err := published(t, inst, d.block(t, "installations-18")+`
exportExecutions:
- name: e
  type: GoTemplate
  template: |
    exports:
      identifier: one
      aws-credentials: {accessKeyID: id, accessKeySecret: secret}
      gcp-credentials: {serviceaccount.yaml: "file: content"}
`)
	if err != nil || len(made.DataObjects) != 2 {
		t.Fatal(made, err)
	}
	wantYAML(t, "an export of a child is exported by its parent", made.DataObjects[0].Data, "one")
	wantYAML(t, "two are joined", made.DataObjects[1].Data, "[{type: aws, creds: {accessKeyID: id, accessKeySecret: secret}}, {type: gcp, creds: {serviceaccount.yaml: 'file: content'}}]")
}

// secondTarget makes a blueprint of the three blocks: its imports, and the checks and
// exports of its deploy item.
func secondTarget(t *testing.T, d documents) {
	indented := func(text string) string { return "          " + strings.ReplaceAll(text, "\n", "\n          ") + "\n" }
	inst := part(t, "imports: {targets: [{name: cluster, target: first}, {name: cluster2, target: second}]}")
	made, err := mustPlan(t, inst, d.block(t, "dataflow-01")+`
deployExecutions:
- name: d
  type: GoTemplate
  template: |
    deployItems:
    - name: item
      type: landscaper.gardener.cloud/kubernetes-manifest
      target:
        import: cluster
      config:
`+indented(d.block(t, "dataflow-02"))+indented(d.block(t, "dataflow-03")), stored{"Target space/first": "", "Target space/second": ""}).Children(t.Context())
	if err != nil || made.DeployItems[0].Target.Name != "first" {
		t.Fatalf("%+v, %v", made, err)
	}
	wantYAML(t, "the names are those of the Targets, not of the imports", configs(t, made.DeployItems)["item"], `
readinessChecks:
  disableDefault: true
  custom:
  - name: TokenGenerated
    targetName: second
    resourceSelector: [{apiVersion: v1, kind: Secret, name: test-secret, namespace: cu-dataflow}]
    requirements: [{jsonPath: .data.token, operator: exists}]
exports:
  exports:
  - key: test-token
    targetName: second
    fromResource: {apiVersion: v1, kind: Secret, name: test-secret, namespace: cu-dataflow}
    jsonPath: .data.token
`)
}
