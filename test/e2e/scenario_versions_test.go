package e2e

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// fleetConstructor has two versions of a component: the second one has another version
// of a part, one part less and one more.
func fleetConstructor() string {
	text := "components:\n"
	add := func(name, version, directory string, references ...string) {
		text += "- name: example.org/" + name + "\n  version: " + version + "\n  provider: {name: vendor}\n  componentReferences: [" + strings.Join(references, ", ") + "]\n" +
			"  resources: [{name: blueprint, type: landscaper.gardener.cloud/blueprint, input: {type: dir, path: " + directory +
			", compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}}]\n"
	}
	add("part-a", "1.0.0", "a")
	add("part-a", "2.0.0", "a")
	add("part-b", "1.0.0", "b")
	add("part-c", "1.0.0", "c")
	reference := func(part, version string) string {
		return "{name: " + part + ", componentName: example.org/" + part + ", version: " + version + "}"
	}
	add("fleet", "1.0.0", "first", reference("part-a", "1.0.0"), reference("part-b", "1.0.0"))
	add("fleet", "2.0.0", "second", reference("part-a", "2.0.0"), reference("part-c", "1.0.0"))
	return text
}

// publishFleet pushes the components: part a exports its version, and the others import
// it.
func publishFleet(t *testing.T, space, path string) {
	t.Helper()
	follower := func(name string) string {
		return textOf(t, blueprintOf(t, singleImport[:len(singleImport)-1]+", {name: up, schema: {type: string}}]", note(name, onCluster, "after-{{ .imports.up }}")))
	}
	fleet := func(other string) string {
		part := func(name, wiring string) any {
			template := map[string]any{}
			decode(t, wiring, &template)
			template["name"], template["blueprint"] = name, map[string]any{"ref": "cd://componentReferences/part-" + name + "/resources/blueprint"}
			return template
		}
		return textOf(t, withSubs(
			blueprintOf(t, singleImport+`
exports: [{name: seen, type: data, schema: {type: string}}]
exportExecutions:
- {name: main, type: GoTemplate, template: 'exports: {seen: {{ index .dataobjects "a-version" }}}'}
`, ""),
			part(other, `imports: {targets: [{name: cluster, target: cluster}], data: [{name: up, dataRef: a-version}]}`),
			part("a", `{imports: {targets: [{name: cluster, target: cluster}]}, exports: {data: [{name: version, dataRef: a-version}]}}`),
		))
	}
	a := textOf(t, blueprintOf(t, singleImport+`
exports: [{name: version, type: data, schema: {type: string}}]
exportExecutions:
- {name: main, type: GoTemplate, template: "exports: {version: {{ .cd.component.version }}}"}
`, note("a", onCluster, "a-{{ .cd.component.version }}")))
	files := map[string]string{"constructor.yaml": fleetConstructor()}
	for directory, blueprint := range map[string]string{"a": a, "b": follower("b"), "c": follower("c"), "first": fleet("b"), "second": fleet("c")} {
		files[directory+"/blueprint.yaml"] = strings.ReplaceAll(blueprint, "NAMESPACE", space)
	}
	publishFiles(t, path, files)
}

// TestScenarioVersions: another version of the component of a root brings other parts,
// other versions of parts, and takes parts away; overwrites reach the parts, too.
func TestScenarioVersions(t *testing.T) {
	registryServer(t)
	space := namespace(t)
	publishFleet(t, space, "/fleet")
	shopContext(t, space, "/fleet", env.Lab.Registry.Password)
	version := func(version string) v1alpha1.InstallationSpec {
		var spec v1alpha1.InstallationSpec
		decode(t, `
context: vendor
componentDescriptor: {ref: {componentName: example.org/fleet, version: `+version+`}}
blueprint: {ref: {resourceName: blueprint}}
imports: {targets: [{name: cluster, target: host}]}
exports: {data: [{name: seen, dataRef: seen}]}
`, &spec)
		return spec
	}
	root := waitSucceeded(t, create(t, installationOf(space, "fleet", version("1.0.0"))))
	check := func(seen string, want ...string) {
		t.Helper()
		wantNotes(t, space, want...)
		if got := exportedData(t, space, "seen"); got != `"`+seen+`"` {
			t.Errorf("the export is %s, want %s", got, seen)
		}
	}
	check("1.0.0", "a=a-1.0.0", "b=after-1.0.0")
	a := subsOf(t, root)["a"]

	t.Run("the next version", func(t *testing.T) {
		root = again(t, root, version("2.0.0"), v1alpha1.InstallationPhases.Succeeded)
		check("2.0.0", "a=a-2.0.0", "c=after-2.0.0")
		if subs := subsOf(t, root); len(subs) != 2 || subs["a"].UID != a.UID || subs["c"] == nil {
			t.Errorf("subinstallations %v", subs)
		}
	})
	t.Run("an overwritten part", func(t *testing.T) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"overwrites":[{"source":{"componentName":"example.org/part-a","version":"2.0.0"},"substitution":{"version":"1.0.0"}}]}`))
		overwrites := &v1alpha1.ComponentVersionOverwrites{}
		overwrites.Namespace, overwrites.Name = space, "hotfix"
		if err := env.Admin.Patch(t.Context(), overwrites, patch); err != nil {
			t.Fatal(err)
		}
		root = again(t, root, version("2.0.0"), v1alpha1.InstallationPhases.Succeeded)
		check("1.0.0", "a=a-1.0.0", "c=after-1.0.0")
	})
	t.Run("a version that does not exist takes nothing away", func(t *testing.T) {
		root = again(t, root, version("3.0.0"), v1alpha1.InstallationPhases.Failed)
		check("1.0.0", "a=a-1.0.0", "c=after-1.0.0")
	})
	t.Run("the first version again brings its parts back", func(t *testing.T) {
		root = again(t, root, version("1.0.0"), v1alpha1.InstallationPhases.Succeeded)
		check("1.0.0", "a=a-1.0.0", "b=after-1.0.0")
	})
}

// TestScenarioDeletedByHand: a part of a tree that a user deletes exists again after the next job,
// and roots that are deleted at once are removed in the order of their data.
func TestScenarioDeletedByHand(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := waitSucceeded(t, createTree(t, space, "root", "", flow("give", "", "x"), flow("take", "x", "")))
	t.Run("a subinstallation", func(t *testing.T) {
		take := subsOf(t, root)["take"]
		if err := env.Admin.Delete(t.Context(), take); err != nil {
			t.Fatal(err)
		}
		// Without a job of its parent nothing becomes of it, and it says so.
		said := "the deletion begins with the next job of Installation root"
		waitFor(t, client.ObjectKeyFromObject(take), "explained", func(inst *v1alpha1.Installation) bool {
			return slices.ContainsFunc(inst.Status.Conditions, func(c v1alpha1.Condition) bool {
				return c.Type == v1alpha1.ReconcilingCondition && c.Reason == "Waiting" && strings.HasPrefix(c.Message, said)
			})
		})
		snapshot, err := reading.Collect(t.Context(), env.Admin, space)
		if err != nil {
			t.Fatal(err)
		}
		inspect.Tree(snapshot, space, "root").Walk(func(node *inspect.Node) {
			if node.TemplateName == "take" && !strings.HasPrefix(node.Why(), said) {
				t.Errorf("inspect says %q", node.Why())
			}
		})
		root = again(t, root, root.Spec, v1alpha1.InstallationPhases.Succeeded)
		wantNotes(t, space, "note-give=from-give", "note-take=of-give")
		if now := subsOf(t, root)["take"]; now == nil || now.UID == take.UID || now.DeletionTimestamp != nil {
			t.Errorf("in its place there is %+v", now)
		}
	})
	t.Run("a ConfigMap and the object with its export", func(t *testing.T) {
		object := &v1alpha1.DataObject{}
		object.Namespace, object.Name = space, v1alpha1.GenerateDataObjectName("Inst.root", "x")
		if err := env.Admin.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if err := env.Workload.Delete(t.Context(), configMap(space, "note-take")); err != nil {
			t.Fatal(err)
		}
		root = again(t, root, root.Spec, v1alpha1.InstallationPhases.Succeeded)
		wantNotes(t, space, "note-give=from-give", "note-take=of-give")
	})
	t.Run("roots at once", func(t *testing.T) {
		setValue(t, space, "value", "v1")
		one := waitDone(t, create(t, passingOn(t, space, "one", "value", asked)), "")
		two := waitDone(t, create(t, passingOn(t, space, "two", "out-of-one", asked)), "")
		last := waitDone(t, create(t, passingOn(t, space, "last", "out-of-two", asked)), "")
		events, err := env.Admin.Watch(t.Context(), &v1alpha1.InstallationList{}, client.InNamespace(space))
		if err != nil {
			t.Fatal(err)
		}
		defer events.Stop()
		for _, inst := range []*v1alpha1.Installation{one, two, last} {
			if err := env.Admin.Delete(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
		}
		var gone []string
		for event := range events.ResultChan() {
			if event.Type == "DELETED" {
				if gone = append(gone, event.Object.(*v1alpha1.Installation).Name); len(gone) == 3 {
					break
				}
			}
		}
		if strings.Join(gone, " ") != "last two one" {
			t.Errorf("they went in the order %v", gone)
		}
	})
}
