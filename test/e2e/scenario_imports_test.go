package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// dataObject is a value for imports.
func dataObject(space, name, value string) *v1alpha1.DataObject {
	return &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Data: v1alpha1.NewAnyJSON([]byte(value))}
}

// valueBlueprint deploys the text that it imports, and refuses one.
const valueBlueprint = `
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: value, schema: {type: string}}
importExecutions:
- name: check
  type: GoTemplate
  template: |
    bindings: {loud: {{ upper .imports.value }}}
    {{- if eq .imports.value "refused" }}
    errors: ["this value is not wanted here"]
    {{- end }}
exports: [{name: loud, type: data, schema: {type: string}}]
exportExecutions:
- {name: main, type: GoTemplate, template: "exports: {loud: {{ .imports.loud }}}"}
`

// TestScenarioImports: an import comes from one kind of object after the other; a missing or wrong
// value ends the job, and the next job succeeds when the value was corrected.
func TestScenarioImports(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createAll(t, dataObject(space, "plain", `"from-plain"`), dataObject(space, "other", `"from-other"`), dataObject(space, "number", `7`), dataObject(space, "unwanted", `"refused"`),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "vault"}, StringData: map[string]string{"text": "from-secret", "port": "8443"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "site"}, Data: map[string]string{"text": "from-config"}, BinaryData: map[string][]byte{"bytes": []byte("from-bytes")}},
	)
	wired := func(data, mapping string) v1alpha1.InstallationSpec {
		return rootOf(t, space, `
imports: {targets: [{name: cluster, target: host}], data: [`+data+`]}
importDataMappings: {`+mapping+`}
exports: {data: [{name: loud, dataRef: loud}]}
`, blueprintOf(t, valueBlueprint, note("got", onCluster, "{{ .imports.value }}")))
	}
	late := wired("{name: value, dataRef: late}", "")
	inst := waitFinished(t, create(t, installationOf(space, "imports", late)), "")
	wantFailure(t, inst, `there is no DataObject "late"`, "")
	wantNotes(t, space)
	createAll(t, dataObject(space, "late", `"in-time"`))
	inst = again(t, inst, late, v1alpha1.InstallationPhases.Succeeded)
	wantNotes(t, space, "got=in-time")

	for _, test := range []struct{ reason, data, mapping, want, says string }{
		{"a DataObject", "{name: value, dataRef: plain}", "", "from-plain", ""},
		{"a key of a Secret whose namespace is named", "{name: value, secretRef: {name: vault, namespace: NAMESPACE, key: text}}", "", "from-secret", ""},
		{"a key of a ConfigMap, which has binary data too", "{name: value, configMapRef: {name: site, namespace: NAMESPACE, key: text}}", "", "from-config", ""},
		{"a key with binary data", "{name: value, configMapRef: {name: site, key: bytes}}", "", "from-bytes", ""},
		{"a whole Secret", "{name: all, secretRef: {name: vault}}", "value: (( all.text ))", "from-secret", ""},
		{"a whole ConfigMap", "{name: all, configMapRef: {name: site}}", "value: (( all.text ))", "from-config", ""},
		{"a DataObject with another name", "{name: value, dataRef: other}", "", "from-other", ""},
		{"a DataObject by its full name", `{name: value, dataRef: "#plain"}`, "", "from-plain", ""},
		{"a mapping overrides an import", "{name: value, dataRef: other}, {name: beside, dataRef: plain}", `value: (( "not-" beside ))`, "not-from-plain", ""},
		{"the wrong type", "{name: value, dataRef: number}", "", "not-from-plain", "Expected: string"},
		{"the right type after a wrong one", "{name: value, dataRef: other}", "", "from-other", ""},
		{"a value that the blueprint refuses", "{name: value, dataRef: unwanted}", "", "from-other", "this value is not wanted here"},
		{"no import at all", "", "", "from-other", "value"},
		{"a good value after failures", "{name: value, dataRef: plain}", "", "from-plain", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			phase := v1alpha1.InstallationPhases.Succeeded
			if test.says != "" {
				phase = v1alpha1.InstallationPhases.Failed
			}
			inst = again(t, inst, wired(test.data, test.mapping), phase)
			if test.says != "" {
				wantFailure(t, inst, test.says, "refused")
			}
			// After a failure what was there before is still there.
			wantNotes(t, space, "got="+test.want)
			if got := exportedData(t, space, "loud"); got != `"`+strings.ToUpper(test.want)+`"` {
				t.Errorf("the export is %s", got)
			}
		})
	}
	t.Run("an export with another name", func(t *testing.T) {
		spec := wired("{name: value, dataRef: plain}", "")
		spec.Exports.Data[0].DataRef = "louder"
		inst = again(t, inst, spec, v1alpha1.InstallationPhases.Succeeded)
		if was, is := exportedData(t, space, "loud"), exportedData(t, space, "louder"); was != "" || is != `"FROM-PLAIN"` {
			t.Errorf("the exports are %q and %q", was, is)
		}
	})
}

// documentedMappings are the mappings of the documentation of Installations.
const documentedMappings = `
imports: {data: [{name: aws-provider-type, dataRef: aws}, {name: gcp-provider-type, dataRef: gcp}]}
importDataMappings:
  identifier: my-controller
  providers:
  - (( aws-provider-type.type ))
  - (( gcp-provider-type ))
  aws-credentials:
    accessKeyID: (( aws-provider-type.creds.accessKeyID ))
    accessKeySecret: (( aws-provider-type.creds.accessKeySec ))
exports: {data: [{name: identifier, dataRef: identifier}, {name: creds, dataRef: creds}]}
exportDataMappings:
  identifier: (( identifier ))
  creds:
  - type: aws
    creds: (( aws-credentials ))
  - type: gcp
    creds: (( gcp-credentials ))
`

const documentedBlueprint = `
imports:
- {name: providers, schema: {type: array, items: {type: string}}}
- {name: identifier, schema: {type: string}}
- {name: aws-credentials, schema: {type: object, properties: {accessKeyID: {type: string}, accessKeySecret: {type: string}}}}
exports:
- {name: identifier, schema: {type: string}}
- {name: aws-credentials, schema: {type: object, properties: {accessKeyID: {type: string}, accessKeySecret: {type: string}}}}
- {name: gcp-credentials, schema: {type: object, properties: {serviceaccount.yaml: {type: string}}}}
exportExecutions:
- name: main
  type: GoTemplate
  template: |
    exports:
      identifier: '{{ .imports.identifier }} for {{ join "," .imports.providers }}'
      aws-credentials: {{ index .imports "aws-credentials" | toJson }}
      gcp-credentials: {serviceaccount.yaml: "x: y"}
`

// TestScenarioDocumentedMappings: the mappings of the documentation, all in one.
func TestScenarioDocumentedMappings(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createAll(t, dataObject(space, "aws", `{"type":"aws","creds":{"accessKeyID":"adfa","accessKeySec":"1234"}}`), dataObject(space, "gcp", `"gcp"`))
	waitSucceeded(t, create(t, installationOf(space, "mapped", rootOf(t, space, documentedMappings, blueprintOf(t, documentedBlueprint, "")))))
	if got := exportedData(t, space, "identifier"); got != `"my-controller for aws,gcp"` {
		t.Errorf("identifier is %s", got)
	}
	var creds []struct {
		Type  string
		Creds map[string]string
	}
	decode(t, exportedData(t, space, "creds"), &creds)
	if len(creds) != 2 || creds[0].Type != "aws" || creds[0].Creds["accessKeyID"] != "adfa" || creds[0].Creds["accessKeySecret"] != "1234" ||
		creds[1].Type != "gcp" || creds[1].Creds["serviceaccount.yaml"] != "x: y" {
		t.Errorf("creds are %+v", creds)
	}
}

// TestScenarioNames: names with a number sign reach through all levels, and keep those
// that use them in order; what users write on subinstallations stays.
func TestScenarioNames(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createAll(t, dataObject(space, "plain", `"from-plain"`))
	leaves := []leaf{flow("take", `"#shared"`, ""), flow("near", `"#plain"`, ""), flow("give", "", `"#shared"`), flow("moved", "greeting", "")}
	root := waitSucceeded(t, createTree(t, space, "root", "", leaves...))
	wantNotes(t, space, "note-give=from-give", "note-take=of-give", "note-near=from-plain", "note-moved=hello")
	if got := exportedData(t, space, "shared"); got != `"of-give"` {
		t.Errorf("shared is %s", got)
	}
	subs := subsOf(t, root)
	mark := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"team":"blue"},"annotations":{"note":"mine"}}}`))
	if err := env.Admin.Patch(t.Context(), subs["moved"].DeepCopy(), mark); err != nil {
		t.Fatal(err)
	}
	leaves[3] = flow("moved", `"#plain"`, "")
	again(t, root, treeSpecOf(t, space, "", leaves...), v1alpha1.InstallationPhases.Succeeded)
	wantNotes(t, space, "note-give=from-give", "note-take=of-give", "note-near=from-plain", "note-moved=from-plain")
	if moved := subsOf(t, root)["moved"]; moved.UID != subs["moved"].UID || moved.Labels["team"] != "blue" || moved.Annotations["note"] != "mine" {
		t.Errorf("the subinstallation is %+v", moved.ObjectMeta)
	}
	leaves[0], leaves[2] = flow("take", `"#plain"`, ""), flow("give", "", "")
	again(t, root, treeSpecOf(t, space, "", leaves...), v1alpha1.InstallationPhases.Succeeded)
	if got := exportedData(t, space, "shared"); got != "" {
		t.Errorf("the value without an exporter is still %s", got)
	}
}

// TestScenarioHints: the hints of an Installation about its siblings are trusted.
func TestScenarioHints(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	setValue(t, space, "value", "v1")
	taker := create(t, passingOn(t, space, "taker", "out-of-giver", nil))
	giver := passingOn(t, space, "giver", "value", asked)
	giver.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	giver = waitDone(t, create(t, giver), "")
	passed(t, space, "later")
	if id := getInstallation(t, taker).Status.JobID; id != "" || len(giver.Status.DependentsToTrigger) > 0 {
		t.Errorf("job %s was asked for although there is no importer: %+v", id, giver.Status.DependentsToTrigger)
	}
	request(t, taker, v1alpha1.ReconcileOperation)
	taker = waitDone(t, taker, "")
	t.Run("a deletion does not wait for importers that the hint denies", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), giver); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, giver.DeepCopy(), &v1alpha1.InstallationList{})
		if now := getInstallation(t, taker); now.DeletionTimestamp != nil || now.Status.JobID != taker.Status.JobID {
			t.Errorf("the importer has changed: %+v", now.Status)
		}
	})
	t.Run("a subinstallation without imports from siblings waits for none", func(t *testing.T) {
		slow, eager, patient := flow("slow", "", "x"), flow("eager", "x", ""), flow("patient", "x", "")
		root := waitSucceeded(t, createTree(t, space, "root", "", slow, eager, patient))
		eager.wiring = strings.TrimSuffix(eager.wiring, "}") + ", optimization: {hasNoSiblingImports: true}}"
		slow.ready = "{custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: note-slow, namespace: " + space + "}], requirements: [{jsonPath: .data.open, operator: exists}]}]}"
		current := getInstallation(t, root)
		current.Spec, current.Annotations = treeSpecOf(t, space, "", slow, eager, patient), asked
		if err := env.Admin.Update(t.Context(), current); err != nil {
			t.Fatal(err)
		}
		subs := subsOf(t, root)
		done := waitDone(t, subs["eager"], root.Status.JobID)
		if now := getInstallation(t, subs["patient"]); now.Status.JobIDFinished == done.Status.JobID {
			t.Errorf("the sibling without the hint did not wait either: %+v", now.Status)
		}
		open := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"open":"yes"}}`))
		if err := env.Workload.Patch(t.Context(), configMap(space, "note-slow"), open); err != nil {
			t.Fatal(err)
		}
		waitDone(t, root, root.Status.JobID)
	})
}
