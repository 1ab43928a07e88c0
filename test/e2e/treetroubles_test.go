package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// flow is a leaf that imports a text under one name and exports it under another one;
// either may be empty.
func flow(name, from, to string) leaf {
	l := leaf{name: name}
	targets := "targets: [{name: cluster, target: cluster}]"
	if l.wiring = "{imports: {" + targets + "}"; from != "" {
		l.imports, l.text = "- {name: text, schema: {type: string}}", "{{ .imports.text | quote }}"
		l.wiring = "{imports: {" + targets + ", data: [{name: text, dataRef: " + from + "}]}"
	}
	if to != "" {
		l.exported, l.given = "[{name: text, schema: {type: string}}]", "{text: of-"+name+"}"
		l.wiring += ", exports: {data: [{name: text, dataRef: " + to + "}]}"
	}
	l.wiring += "}"
	return l
}

// failing lets the template of a leaf fail.
func failing(l leaf) leaf {
	l.text = `{{ fail "no capacity left" }}`
	return l
}

// subPhases returns the phases of subinstallations by their names in the blueprint.
func subPhases(t *testing.T, root *v1alpha1.Installation) map[string]string {
	t.Helper()
	phases := map[string]string{}
	for name, sub := range subsOf(t, root) {
		phases[name] = string(sub.Status.InstallationPhase)
		if sub.Status.JobIDFinished != root.Status.JobIDFinished {
			t.Errorf("%s has finished %s, its parent %s", name, sub.Status.JobIDFinished, root.Status.JobIDFinished)
		}
	}
	return phases
}

func wantPhases(t *testing.T, root *v1alpha1.Installation, want string) {
	t.Helper()
	var got []string
	for name, phase := range subPhases(t, root) {
		got = append(got, name+"="+phase)
	}
	slices.Sort(got)
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// wantFailure checks that a job has failed and what it says.
func wantFailure(t *testing.T, inst *v1alpha1.Installation, says, not string) {
	t.Helper()
	if e := inst.Status.LastError; inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || e == nil || !strings.Contains(e.Message, says) || not != "" && strings.Contains(e.Message, not) {
		t.Fatalf("%s: %+v, want %q and not %q", inst.Status.InstallationPhase, e, says, not)
	}
}

// TestTreeFailure: the failure of a subinstallation stops its importers, and nothing else; the root
// names the cause.
func TestTreeFailure(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	leaves := []leaf{flow("a", "", "x"), failing(flow("b", "x", "v")), flow("c", "v", ""), flow("d", "", "")}
	root := waitFinished(t, createTree(t, space, "root", "", leaves...), "")
	wantPhases(t, root, "a=Succeeded b=Failed c=Failed d=Succeeded")
	subs := subsOf(t, root)
	if e := root.Status.LastError; e.Operation != "buildErrorIfFailedChild" || e.Reason != "children failed" {
		t.Errorf("%+v", e)
	}
	wantFailure(t, root, "no capacity left", "depending on")
	wantFailure(t, root, "; in b", subs["b"].Name)
	wantFailure(t, subs["c"], "depending on Installation "+subs["b"].Name, "")
	if subs["c"].Status.ExecutionReference != nil {
		t.Errorf("c has an Execution: %+v", subs["c"].Status)
	}
	wantDeployed(t, space, "note-d", "text", "from-d")

	snapshot, err := reading.Collect(t.Context(), env.Admin, space)
	if err != nil {
		t.Fatal(err)
	}
	if found := inspect.Blockers(inspect.Tree(snapshot, space, "root")); len(found) != 1 || found[0].TemplateName != "b" || !strings.Contains(found[0].Why(), "no capacity left") {
		t.Errorf("blockers %+v", found)
	}

	leaves[1] = flow("b", "x", "v")
	root = again(t, root, treeSpecOf(t, space, "", leaves...), v1alpha1.InstallationPhases.Succeeded)
	wantDeployed(t, space, "note-c", "text", "of-b")

	t.Run("objects that are no longer wanted are deleted, and moved objects are taken over", func(t *testing.T) {
		// The import of c comes from e now, and b is deleted.
		root = again(t, root, treeSpecOf(t, space, "", leaves[0], leaves[2], leaves[3], flow("e", "", "v")), v1alpha1.InstallationPhases.Succeeded)
		wantPhases(t, root, "a=Succeeded c=Succeeded d=Succeeded e=Succeeded")
		wantDeployed(t, space, "note-c", "text", "of-e")
		wantNothingDeployed(t, space, "note-b")
	})
	t.Run("an empty definition of a component, as upstream stores it", func(t *testing.T) {
		d := subsOf(t, root)["d"]
		// The definition can only be created without validation; after that it is as any other.
		for _, patch := range []string{
			`{"metadata":{"labels":{"` + v1alpha1.SkipValidationLabel + `":"true"}}}`,
			`{"spec":{"componentDescriptor":{}}}`,
			`{"metadata":{"labels":{"` + v1alpha1.SkipValidationLabel + `":null}}}`,
		} {
			if err := env.Admin.Patch(t.Context(), d.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				t.Fatal(err)
			}
		}
		spec := treeSpecOf(t, space, "", leaves[0], leaves[2], flow("d", "x", ""), flow("e", "", "v"))
		root = again(t, root, spec, v1alpha1.InstallationPhases.Succeeded)
		wantDeployed(t, space, "note-d", "text", "of-a")
		if after := subsOf(t, root)["d"]; after.UID != d.UID || after.Spec.ComponentDescriptor == nil || !after.Spec.ComponentDescriptor.IsEmpty() {
			t.Errorf("the subinstallation was replaced: %+v", after.Spec)
		}
	})
}

// TestTreeHeld: cycles and collisions are reported before anything runs, and hold only the
// subinstallations in them.
func TestTreeHeld(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := waitFinished(t, createTree(t, space, "root", "",
		flow("a", "v", "x"), flow("b", "x", "v"), flow("c", "x", ""), flow("d", "", ""), flow("e", "", "z"), flow("f", "", "z"), flow("g", "", "w")), "")
	wantPhases(t, root, "a=Failed b=Failed c=Failed d=Succeeded e=Failed f=Failed g=Succeeded")
	wantFailure(t, root, "in a cycle: ", "depending on")
	subs := subsOf(t, root)
	wantFailure(t, subs["a"], subs["a"].Name+" imports v of "+subs["b"].Name, "")
	wantFailure(t, subs["e"], "z is exported by Installation ", "")
	wantDeployed(t, space, "note-d", "text", "from-d")
	// A server that ends sends what it still has to say.
	server.EndBy(syscall.SIGTERM)
	list := &eventsv1.EventList{}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Reason == "SubinstallationWarnings" && e.Regarding.Name == "root" && strings.Contains(e.Note, "a -> b -> a") && strings.Contains(e.Note, "z is already exported by subinstallation e")
	}) {
		t.Errorf("no warning is reported: %+v", list.Items)
	}
}

// TestTreeInterrupted: an interruption ends working and waiting jobs, and with it the whole tree;
// the next job is like any other.
func TestTreeInterrupted(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	slow := flow("slow", "", "x")
	slow.ready = "{custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: note-slow, namespace: " + space + "}], requirements: [{jsonPath: .data.open, operator: exists}]}]}"
	root := createTree(t, space, "root", "", slow, flow("after", "x", ""), flow("other", "", ""))
	progressing := waitFor(t, client.ObjectKeyFromObject(root), "progressing", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	waitFor(t, client.ObjectKeyFromObject(subsOf(t, progressing)["after"]), "waiting", func(inst *v1alpha1.Installation) bool {
		return inst.Status.LastError != nil && inst.Status.LastError.Reason == "AllPredecessorsFinished"
	})
	waitFor(t, client.ObjectKeyFromObject(subsOf(t, progressing)["slow"]), "progressing", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	waitSucceeded(t, subsOf(t, progressing)["other"])
	request(t, root, v1alpha1.InterruptOperation)
	root = waitFinished(t, root, "")
	wantFailure(t, root, "operation was interrupted", "")
	wantPhases(t, root, "after=Failed other=Succeeded slow=Failed")
	for name, sub := range subsOf(t, root) {
		if sub.Annotations[v1alpha1.OperationAnnotation] != "" {
			t.Errorf("%s is still asked to %s", name, sub.Annotations[v1alpha1.OperationAnnotation])
		}
	}
	again(t, root, treeSpecOf(t, space, "", flow("slow", "", "x"), flow("after", "x", ""), flow("other", "", "")), v1alpha1.InstallationPhases.Succeeded)
	wantDeployed(t, space, "note-after", "text", "of-slow")
}

// TestTreeDeletion: a tree is deleted in the reverse order of its data, also if the server is
// killed half-way; a deletion that fails says why, and continues when it is requested.
func TestTreeDeletion(t *testing.T) {
	whole, server := t, startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	held := flow("consumer", "x", "")
	held.held = "[example.org/hold]"
	root := waitSucceeded(t, createTree(t, space, "root", "", flow("producer", "", "x"), held, flow("alone", "", "")))
	subs := subsOf(t, root)
	if err := env.Admin.Delete(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	waitFor(t, client.ObjectKeyFromObject(subs["producer"]), "waiting", func(inst *v1alpha1.Installation) bool {
		return inst.Status.LastError != nil && inst.Status.LastError.Reason == "SiblingImport" && strings.Contains(inst.Status.LastError.Message, subs["consumer"].Name)
	})
	waitGone(t, env.Admin, subs["alone"].DeepCopy(), &v1alpha1.InstallationList{})
	wantDeployed(t, space, "note-producer", "text", "from-producer")
	server.EndBy(syscall.SIGKILL)
	startServer(whole, env.ServerKubeconfig)
	request(t, root, v1alpha1.InterruptOperation)
	failed := waitFor(t, client.ObjectKeyFromObject(root), "failed", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed
	})
	if message := failed.Status.LastError.Message; !strings.Contains(message, "operation was interrupted") {
		t.Errorf("the root says %q", message)
	}
	wantDeployed(t, space, "note-producer", "text", "from-producer")
	release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Workload.Patch(t.Context(), configMap(space, "note-consumer"), release); err != nil {
		t.Fatal(err)
	}
	request(t, root, v1alpha1.ReconcileOperation)
	waitGone(t, env.Admin, root.DeepCopy(), &v1alpha1.InstallationList{})
	for _, name := range []string{"producer", "consumer", "alone"} {
		wantNothingDeployed(t, space, "note-"+name)
	}
	if left := subsOf(t, root); len(left) > 0 {
		t.Errorf("%d subinstallations are left", len(left))
	}
}

// TestTreeLeftBehind: what must not be uninstalled stays, through all levels.
func TestTreeLeftBehind(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := waitSucceeded(t, createTree(t, space, "root", "", flow("producer", "", "x"), flow("consumer", "x", "")))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+v1alpha1.DeleteWithoutUninstallAnnotation+`":"true"}}}`))
	if err := env.Admin.Patch(t.Context(), root.DeepCopy(), patch); err != nil {
		t.Fatal(err)
	}
	if err := env.Admin.Delete(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, root.DeepCopy(), &v1alpha1.InstallationList{})
	wantDeployed(t, space, "note-producer", "text", "from-producer")
	wantDeployed(t, space, "note-consumer", "text", "of-producer")
}

// TestOrphanedTree: subinstallations whose parent was torn away delete themselves. The
// Targets that they share go with the parent, so that nothing can be uninstalled.
func TestOrphanedTree(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := waitSucceeded(t, createTree(t, space, "root", "", flow("producer", "", "x"), flow("consumer", "x", "")))
	subs := subsOf(t, root)
	keep := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+v1alpha1.DeleteWithoutUninstallAnnotation+`":"true"}}}`))
	for _, sub := range subs {
		if err := env.Admin.Patch(t.Context(), sub.DeepCopy(), keep); err != nil {
			t.Fatal(err)
		}
	}
	if err := env.Admin.Patch(t.Context(), root.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	if err := env.Admin.Delete(t.Context(), root, client.PropagationPolicy("Background")); err != nil {
		t.Fatal(err)
	}
	for _, sub := range subs {
		waitGone(t, env.Admin, sub.DeepCopy(), &v1alpha1.InstallationList{})
	}
}
