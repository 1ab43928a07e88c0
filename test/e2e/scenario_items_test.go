package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// itemsOf is an Installation with a Target and the given items.
func itemsOf(t *testing.T, space string, items ...string) v1alpha1.InstallationSpec {
	t.Helper()
	return rootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, blueprintOf(t, singleImport, strings.Join(items, "")))
}

// writeByHand changes a note on the target cluster.
func writeByHand(t *testing.T, space, name string) {
	t.Helper()
	setData(t, space, name, "text", "by-hand")
}

// setData sets a value of a ConfigMap on the target cluster.
func setData(t *testing.T, space, name, key, value string) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{%q:%q}}`, key, value))
	if err := env.Workload.Patch(t.Context(), configMap(space, name), patch); err != nil {
		t.Fatal(err)
	}
}

// TestScenarioItems: what becomes of the items of an Installation from job to job.
func TestScenarioItems(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	succeeded := v1alpha1.InstallationPhases.Succeeded
	inst := waitSucceeded(t, create(t, installationOf(space, "items", itemsOf(t, space, note("one", onCluster, "a"), note("two", onCluster, "b", "timeout: none")))))
	wantNotes(t, space, "one=a", "two=b")

	t.Run("items are renamed, added and removed", func(t *testing.T) {
		two := itemsByName(t, space)["two"]
		inst = again(t, inst, itemsOf(t, space, note("two", onCluster, "b2"), note("first", onCluster, "a"), note("three", onCluster, "c")), succeeded)
		wantNotes(t, space, "first=a", "three=c", "two=b2")
		if items := itemsByName(t, space); len(items) != 3 || items["two"].UID != two.UID {
			t.Errorf("items %v", items)
		}
	})
	t.Run("deployed objects are deleted with their items, and deployed again with them", func(t *testing.T) {
		inst = again(t, inst, itemsOf(t, space), succeeded)
		wantNotes(t, space)
		if items := itemsByName(t, space); len(items) != 0 {
			t.Errorf("%d items are left", len(items))
		}
		inst = again(t, inst, itemsOf(t, space, note("two", onCluster, "b")), succeeded)
		wantNotes(t, space, "two=b")
	})
	t.Run("labels of a template are on its item", func(t *testing.T) {
		inst = again(t, inst, itemsOf(t, space, note("two", onCluster, "b", "labels: {tier: front, team: a}")), succeeded)
		inst = again(t, inst, itemsOf(t, space, note("two", onCluster, "b", "labels: {tier: back}")), succeeded)
		if labels := itemsByName(t, space)["two"].Labels; labels["tier"] != "back" || labels["team"] != "" {
			t.Errorf("labels %v", labels)
		}
	})
	t.Run("an item with updateOnChangeOnly is left alone if nothing changed", func(t *testing.T) {
		const lazy = "updateOnChangeOnly: true"
		inst = again(t, inst, itemsOf(t, space, note("lazy", onCluster, "a", lazy), note("eager", onCluster, "a")), succeeded)
		writeByHand(t, space, "lazy")
		writeByHand(t, space, "eager")
		inst = again(t, inst, inst.Spec, succeeded)
		wantNotes(t, space, "eager=a", "lazy=by-hand")
		inst = again(t, inst, itemsOf(t, space, note("lazy", onCluster, "b", lazy), note("eager", onCluster, "a")), succeeded)
		wantNotes(t, space, "eager=a", "lazy=b")
	})
	t.Run("removed items are deleted in the reverse order of their dependencies", func(t *testing.T) {
		spec := newInstallation(space, "items", twoItems).Spec
		inst = again(t, inst, spec, succeeded)
		inst.Spec, inst.Annotations = itemsOf(t, space, note("one", onCluster, "a")), asked
		if err := env.Admin.Update(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		house := itemsByName(t, space)["house"]
		waitItem(t, house, "waiting", func(item *v1alpha1.DeployItem) bool { return item.Status.Phase == v1alpha1.DeployItemPhases.Deleting })
		if foundation := itemsByName(t, space)["foundation"]; foundation == nil || foundation.Status.Phase != v1alpha1.DeployItemPhases.Succeeded {
			t.Errorf("the foundation is deleted before the house: %+v", foundation)
		}
		release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := env.Workload.Patch(t.Context(), configMap(space, "house"), release); err != nil {
			t.Fatal(err)
		}
		inst = waitDone(t, inst, inst.Status.JobID)
		wantNotes(t, space, "one=a")
	})
	t.Run("an item may not become one of another type", func(t *testing.T) {
		failed := again(t, inst, itemsOf(t, space, strings.Replace(note("one", onCluster, "a"), "landscaper.gardener.cloud/kubernetes-manifest", "acme.example/other", 1)), v1alpha1.InstallationPhases.Failed)
		wantFailure(t, failed, "type", "")
		wantNotes(t, space, "one=a")
	})
}

// executionOf returns the Execution of an Installation.
func executionOf(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Execution {
	t.Helper()
	exec := &v1alpha1.Execution{}
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), exec); err != nil {
		t.Fatal(err)
	}
	return exec
}

// compressed returns items in the form in which upstream stores all of them.
func compressed(t *testing.T, items v1alpha1.DeployItemTemplateList) []byte {
	t.Helper()
	raw, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// handOver gives a job to an Execution and waits for its end.
func handOver(t *testing.T, exec *v1alpha1.Execution, jobID string) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"status":{"jobID":%q}}`, jobID))
	if err := env.Admin.Status().Patch(t.Context(), exec, patch); err != nil {
		t.Fatal(err)
	}
	events, err := env.Admin.Watch(t.Context(), &v1alpha1.ExecutionList{}, client.InNamespace(exec.Namespace), client.MatchingFields{"metadata.name": exec.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if current, ok := event.Object.(*v1alpha1.Execution); ok && current.Status.JobIDFinished == jobID {
			if current.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded || current.Status.ObservedGeneration != current.Generation {
				t.Errorf("job %s: %s, generation %d of %d: %+v", jobID, current.Status.ExecutionPhase, current.Status.ObservedGeneration, current.Generation, current.Status.LastError)
			}
			return
		}
	}
	t.Fatalf("job %s has not ended", jobID)
}

// TestScenarioExecution: both forms of a list of items, and an Execution that is changed
// by hand.
func TestScenarioExecution(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	succeeded := v1alpha1.InstallationPhases.Succeeded
	large := strings.Repeat("x", 50<<10)
	inst := waitSucceeded(t, create(t, installationOf(space, "large", itemsOf(t, space, note("a", onCluster, large), note("b", onCluster, large), note("c", onCluster, large)))))
	if exec := executionOf(t, inst); len(exec.Spec.DeployItemsCompressed) == 0 || len(exec.Spec.DeployItems) != 0 {
		t.Errorf("a large list is stored as %d items", len(exec.Spec.DeployItems))
	}
	wantNotes(t, space, "a="+large, "b="+large, "c="+large)
	a := itemsByName(t, space)["a"]

	t.Run("a list that has become small", func(t *testing.T) {
		inst = again(t, inst, itemsOf(t, space, note("a", onCluster, "small"), note("b", onCluster, "small")), succeeded)
		if exec := executionOf(t, inst); len(exec.Spec.DeployItemsCompressed) != 0 || len(exec.Spec.DeployItems) != 2 {
			t.Errorf("a small list is stored as %d items", len(exec.Spec.DeployItems))
		}
		wantNotes(t, space, "a=small", "b=small")
		if now := itemsByName(t, space)["a"]; now.UID != a.UID {
			t.Errorf("the item was replaced")
		}
	})
	t.Run("a list of items in the other form is no change", func(t *testing.T) {
		exec := executionOf(t, inst)
		exec.Spec.DeployItemsCompressed, exec.Spec.DeployItems = compressed(t, exec.Spec.DeployItems), nil
		if err := env.Admin.Update(t.Context(), exec); err != nil {
			t.Fatal(err)
		}
		before := itemsByName(t, space)["a"]
		inst = again(t, inst, inst.Spec, succeeded)
		if now := executionOf(t, inst); now.Generation != exec.Generation {
			t.Errorf("the Execution was written: generation %d after %d", now.Generation, exec.Generation)
		}
		if now := itemsByName(t, space)["a"]; now.Generation != before.Generation {
			t.Errorf("the item was written: generation %d after %d", now.Generation, before.Generation)
		}
	})
	t.Run("changed by hand, and given a job", func(t *testing.T) {
		for _, form := range []string{"plain", "compressed"} {
			exec := executionOf(t, inst)
			items, err := exec.Spec.Items()
			if err != nil {
				t.Fatal(err)
			}
			before := itemsByName(t, space)["a"]
			config := items[0].Configuration
			at, end := bytes.Index(config.Raw, []byte(`"text":`)), 0
			end = at + bytes.IndexByte(config.Raw[at:], '}')
			config.Raw = append(append(append([]byte{}, config.Raw[:at]...), []byte(`"text":"`+form+`"`)...), config.Raw[end:]...)
			exec.Spec.DeployItems, exec.Spec.DeployItemsCompressed = items[:1], nil
			if form == "compressed" {
				exec.Spec.DeployItems, exec.Spec.DeployItemsCompressed = nil, compressed(t, items[:1])
			}
			if err := env.Admin.Update(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
			handOver(t, exec, "by-hand-"+form)
			wantNotes(t, space, "a="+form)
			if now := itemsByName(t, space)["a"]; now.Generation != before.Generation+1 || now.Status.ObservedGeneration != now.Generation || now.Status.JobIDFinished != "by-hand-"+form {
				t.Errorf("generation %d after %d, status %+v", now.Generation, before.Generation, now.Status)
			}
		}
		// The next job of the Installation puts it right.
		inst = again(t, inst, inst.Spec, succeeded)
		wantNotes(t, space, "a=small", "b=small")
	})
}
