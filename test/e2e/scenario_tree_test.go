package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// giving is a blueprint that deploys a note with a text, and exports it.
func giving(t *testing.T, name, text, imports string) map[string]any {
	t.Helper()
	return blueprintOf(t, singleImport[:len(singleImport)-1]+imports+`]
exports: [{name: out, type: data, schema: {type: string}}]
exportExecutions: [{name: main, type: GoTemplate, template: 'exports: {out: "`+text+`"}'}]
`, note(name, onCluster, `"`+text+`"`))
}

// TestScenarioJoin: three independent subinstallations are deployed before the one that imports
// from all of them; an update makes two of them a chain.
func TestScenarioJoin(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	const own = `targets: [{name: cluster, target: cluster}]`
	join := subOf(t, "join", `imports: {`+own+`, data: [{name: a, dataRef: of-a}, {name: b, dataRef: of-b}, {name: c, dataRef: of-c}]}`, blueprintOf(t,
		singleImport[:len(singleImport)-1]+`, {name: a, schema: {type: string}}, {name: b, schema: {type: string}}, {name: c, schema: {type: string}}]`,
		note("join", onCluster, `"{{ .imports.a }} {{ .imports.b }} {{ .imports.c }}"`)))
	part := func(name, text, from string) any {
		imports, wired := "", own
		if from != "" {
			imports, wired = `, {name: in, schema: {type: string}}`, own+`, data: [{name: in, dataRef: `+from+`}]`
		}
		return subOf(t, name, `{imports: {`+wired+`}, exports: {data: [{name: out, dataRef: of-`+name+`}]}}`, giving(t, name, text, imports))
	}
	tree := func(parts ...any) v1alpha1.InstallationSpec {
		return rootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, withSubs(blueprintOf(t, singleImport, ""), append([]any{join}, parts...)...))
	}
	root := waitSucceeded(t, create(t, installationOf(space, "root", tree(part("a", "a1", ""), part("b", "b1", ""), part("c", "c1", "")))))
	wantNotes(t, space, "a=a1", "b=b1", "c=c1", "join=a1 b1 c1")

	// The values of the first job must not be used in the second one.
	events, err := env.Admin.Watch(t.Context(), &v1alpha1.InstallationList{}, client.InNamespace(space))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	before := root.Status.JobID
	root = again(t, root, tree(part("a", "a2 after {{ .imports.in }}", "of-c"), part("b", "b2", ""), part("c", "c2", "")), v1alpha1.InstallationPhases.Succeeded)
	wantNotes(t, space, "a=a2 after c2", "b=b2", "c=c2", "join=a2 after c2 b2 c2")
	var order []string
	for event := range events.ResultChan() {
		inst, ok := event.Object.(*v1alpha1.Installation)
		if !ok || inst.Status.JobIDFinished != root.Status.JobID || inst.Status.JobIDFinished == before {
			continue
		}
		name := inst.Annotations[v1alpha1.SubinstallationNameAnnotation]
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		if name == "" {
			break
		}
	}
	if at := func(name string) int { return slices.Index(order, name) }; len(order) != 5 || at("c") > at("a") || at("join") != 3 || at("") != 4 {
		t.Errorf("they ended in the order %q", order)
	}
}

// optionalRoot has an import with a default, an optional import, and an import that is required if
// the optional one is given. It passes all of them to its child.
const optionalRoot = `
imports:
- {name: clusters, type: targetMap, targetType: kubernetes-cluster}
- {name: size, type: data, schema: {type: integer}, required: false, default: {value: 5}}
- {name: backup, type: data, schema: {type: string}, required: false, imports: [{name: bucket, type: data, schema: {type: string}}]}
`

// optionalChild is a subinstallation of it, with an import that has no source.
const optionalChild = `subinstallations:
- name: child
  imports:
    targets: [{name: clusters, targetMapRef: clusters}]
    data:
    - {name: size, dataRef: size}
    {{- if .imports.backup }}
    - {name: backup, dataRef: backup}
    - {name: bucket, dataRef: bucket}
    {{- end }}
  blueprint: {filesystem: {blueprint.yaml: {{ ` + "`CHILD`" + ` | toJson }}}}
`

// TestScenarioOptional: imports of a tree that are missing, that have a default, or that
// are there only because of another one; and short types of Targets in maps.
func TestScenarioOptional(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createAll(t, dataObject(space, "seven", `7`), dataObject(space, "daily", `"daily"`), dataObject(space, "attic", `"attic"`))
	child := blueprintOf(t, strings.Replace(optionalRoot, "required: false, default: {value: 5}}", "default: {value: 1}}\n- {name: color, type: data, schema: {type: string}, required: false, default: {value: blue}}", 1),
		"{{ range $k, $t := .imports.clusters }}\n"+note("note-{{ $k }}", "import: clusters, key: {{ $k }}",
			`"{{ $.imports.size }} {{ $.imports.color }} {{ $.imports.backup | default "none" }} {{ $.imports.bucket | default "none" }}"`)+"{{ end }}")
	root := blueprintOf(t, optionalRoot, "")
	root["subinstallationExecutions"] = []any{map[string]any{"name": "main", "type": "GoTemplate", "template": strings.Replace(optionalChild, "CHILD", strings.ReplaceAll(textOf(t, child), "`", ""), 1)}}
	wired := func(data string) v1alpha1.InstallationSpec {
		return rootOf(t, space, `imports: {targets: [{name: clusters, targetMap: {one: host, two: host}}], data: [`+data+`]}`, root)
	}
	inst := waitSucceeded(t, create(t, installationOf(space, "root", wired(""))))
	for _, test := range []struct{ reason, data, want, says string }{
		{"no optional import is given", "", "5 blue none none", ""},
		{"a value in the place of a default", "{name: size, dataRef: seven}", "7 blue none none", ""},
		{"an import without the import that it requires", "{name: backup, dataRef: daily}", "7 blue none none", "bucket"},
		{"an import with the import that it requires", "{name: backup, dataRef: daily}, {name: bucket, dataRef: attic}", "5 blue daily attic", ""},
		{"no optional import after both", "", "5 blue none none", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			phase := v1alpha1.InstallationPhases.Succeeded
			if test.says != "" {
				phase = v1alpha1.InstallationPhases.Failed
			}
			if inst = again(t, inst, wired(test.data), phase); test.says != "" {
				wantFailure(t, inst, test.says, "")
			}
			wantNotes(t, space, "note-one="+test.want, "note-two="+test.want)
		})
	}
}

// TestScenarioOrphans: subinstallations that a blueprint no longer has are deleted at the end of
// the job of their parent, in the removal round, and each keeps the times of its own job.
func TestScenarioOrphans(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	held := flow("goes", "", "")
	held.held = "[example.org/hold]"
	root := waitSucceeded(t, createTree(t, space, "root", "", held, flow("stays", "", "")))
	orphan := subsOf(t, root)["goes"]
	first := root.Status.TransitionTimes
	root.Spec = treeSpecOf(t, space, "", flow("stays", "", ""))
	root.Annotations = asked
	if err := env.Admin.Update(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	going := waitFor(t, client.ObjectKeyFromObject(orphan), "going", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Deleting
	})
	waits := getInstallation(t, root)
	if waits.Status.InstallationPhase != v1alpha1.InstallationPhases.Progressing || going.Status.JobID != job.RemovalOf(waits.Status.JobID) {
		t.Errorf("the root is %s with job %s, the deleted part has job %s", waits.Status.InstallationPhase, waits.Status.JobID, going.Status.JobID)
	}
	if own := going.Status.TransitionTimes; own == nil || own.TriggerTime == nil || own.InitTime == nil || own.FinishedTime != nil {
		t.Errorf("the times of the deleted part are %+v", own)
	}
	release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Workload.Patch(t.Context(), configMap(space, "note-goes"), release); err != nil {
		t.Fatal(err)
	}
	root = waitDone(t, root, root.Status.JobID)
	if times := root.Status.TransitionTimes; times.TriggerTime.Before(first.FinishedTime) || times.InitTime == nil || times.WaitTime == nil || times.FinishedTime.Before(times.InitTime) || !times.TriggerTime.Equal(waits.Status.TransitionTimes.TriggerTime) {
		t.Errorf("the times of the root are %+v after %+v and %+v", times, waits.Status.TransitionTimes, first)
	}
}

// TestScenarioExportsEnd: the Secret with the exports of an item is emptied when it exports
// nothing any more, and an object that a user has made is taken over by an export.
func TestScenarioExportsEnd(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	const exporting = `exports: {exports: [{key: text, jsonPath: .data.text, fromResource: {apiVersion: v1, kind: ConfigMap, name: one, namespace: NAMESPACE}}]}, manifests:`
	item := note("one", onCluster, "a")
	spec := func(item, given string) v1alpha1.InstallationSpec {
		return rootOf(t, space, `
imports: {targets: [{name: cluster, target: host}]}
exports: {data: [{name: out, dataRef: made}]}
`, blueprintOf(t, singleImport+`
exports: [{name: out, type: data, schema: {type: string}}]
exportExecutions: [{name: main, type: GoTemplate, template: 'exports: {out: `+given+`}'}]
`, item))
	}
	createAll(t, dataObject(space, "made", `"by-hand"`))
	inst := waitSucceeded(t, create(t, installationOf(space, "exports", spec(strings.Replace(item, "manifests:", exporting, 1), "{{ .deployitems.one.text }}"))))
	if got := exportedData(t, space, "made"); got != `"a"` {
		t.Errorf("the export is %s", got)
	}
	key := client.ObjectKey{Namespace: space, Name: itemsByName(t, space)["one"].Name + "-export"}
	if err := env.Admin.Get(t.Context(), key, &corev1.Secret{}); err != nil {
		t.Fatal(err)
	}
	again(t, inst, spec(item, "nothing"), v1alpha1.InstallationPhases.Succeeded)
	if ref := itemsByName(t, space)["one"].Status.ExportReference; ref != nil {
		t.Errorf("the item still names %+v", ref)
	}
	left := &corev1.Secret{}
	if err := env.Admin.Get(t.Context(), key, left); err != nil || string(left.Data["config"]) != "{}" {
		t.Errorf("the Secret is not empty (%v)", err)
	}
	if got := exportedData(t, space, "made"); got != `"nothing"` {
		t.Errorf("the export is %s", got)
	}
}

// TestSignatureOfParts: the verification of a root holds for its subinstallations, too.
func TestSignatureOfParts(t *testing.T) {
	registryServer(t)
	by := newSigner(t)
	for _, test := range []struct {
		reason, path string
		signed       []string
		says         string
		want         []string
	}{
		{"only the root is signed", "/signed-root", []string{"fleet"}, `signature "release" not found in component version example.org/part-a:1.0.0`, nil},
		{"the referenced component versions are signed, too", "/signed-fleet", []string{"fleet", "part-a", "part-b"}, "", []string{"a=a-1.0.0", "b=after-1.0.0"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			space := namespace(t)
			publishFleet(t, space, test.path)
			delivery := openDelivery(t, test.path)
			for _, part := range test.signed {
				name := "example.org/" + part
				delivery.attach(name, "1.0.0", by.plain("release", delivery.digest(name, "1.0.0")))
			}
			shopContext(t, space, test.path, env.Lab.Registry.Password)
			trust(t, space, by)
			inst := installationOf(space, "fleet", v1alpha1.InstallationSpec{})
			decode(t, `
context: vendor
componentDescriptor: {ref: {componentName: example.org/fleet, version: 1.0.0}}
blueprint: {ref: {resourceName: blueprint}}
imports: {targets: [{name: cluster, target: host}]}
verification: {signatureName: release}
`, &inst.Spec)
			root := waitFinished(t, create(t, inst), "")
			if test.says != "" {
				wantFailure(t, root, test.says, "")
			} else if root.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
				t.Errorf("%s: %+v", root.Status.InstallationPhase, root.Status.LastError)
			}
			for name, sub := range subsOf(t, root) {
				if sub.Spec.Verification == nil || sub.Spec.Verification.SignatureName != "release" {
					t.Errorf("%s has %+v", name, sub.Spec.Verification)
				}
			}
			wantNotes(t, space, test.want...)
		})
	}
}
