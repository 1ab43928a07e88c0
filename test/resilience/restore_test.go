package resilience

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// restoredLimit is how long the jobs may take after the restore: less than the time in which a
// deployer has to pick an item up (5 minutes), and far less than that of a resync (10 hours).
const restoredLimit = 4 * time.Minute

// TestEtcdIsRestored: in the middle of a hundred jobs etcd is copied. The jobs continue, then the
// copy is restored below the server, which keeps running: objects are older than what it has
// written, some exist again, and others never did. All jobs end.
func TestEtcdIsRestored(t *testing.T) {
	const jobs = 100
	space := namespace(t)
	server := startServer(t, env.ServerKubeconfig)
	// A deletion and a tree are on their way, too: what both wait for comes after the restore.
	leaving := create(t, installationOf(space, "leaving", itemsOn(t, space, "host", yamlItem("one", "manage", guardedSettings(space)))))
	waitSucceeded(t, leaving)
	if err := env.Admin.Delete(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	tree := create(t, installationOf(space, "tree", treeThatWaits(t, space)))
	waitFor(t, client.ObjectKeyFromObject(tree), "waiting for its subinstallation", func(inst *v1alpha1.Installation) bool {
		return strings.Contains(job.Obstacle(inst.Status.Conditions), "closed")
	})
	for i := range jobs {
		create(t, newInstallation(space, fmt.Sprintf("job-%d", i), oneConfigMap))
	}
	awaitSucceeded(t, space, jobs/4, waitLimit)
	if err := env.Lab.Snapshot(t.Context(), "resource", "middle"); err != nil {
		t.Fatal(err)
	}
	awaitSucceeded(t, space, jobs, waitLimit)
	if err := env.Lab.Restore(t.Context(), "resource", "middle"); err != nil {
		t.Fatal(err)
	}
	if ended := succeeded(t, space); len(ended) == jobs {
		t.Fatal("the snapshot was not in the middle of the jobs")
	}
	begun := time.Now()
	awaitSucceeded(t, space, jobs, restoredLimit)
	t.Logf("all jobs have ended %s after the restore", time.Since(begun).Round(time.Second))
	// The server has not restarted, and runs jobs that are requested afterwards.
	select {
	case <-server.Ended():
		t.Fatal("the server has ended")
	default:
	}
	for name, patch := range map[string]string{"guarded": `{"metadata":{"finalizers":null}}`, "closed": `{"data":{"open":"yes"}}`} {
		if err := env.Workload.Patch(t.Context(), configMap(space, name), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	waitSucceeded(t, tree)
	waitGone(t, env.Admin, leaving, &v1alpha1.InstallationList{})
	waitSucceeded(t, create(t, newInstallation(space, "afterwards", oneConfigMap)))
}

// guardedSettings is a ConfigMap that waits for its end until another client lets it go.
func guardedSettings(space string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: guarded, namespace: ` + space + `, finalizers: [acme.example/guard]}}`
}

// treeThatWaits is a tree whose subinstallation waits until its ConfigMap says that it is open.
func treeThatWaits(t *testing.T, space string) v1alpha1.InstallationSpec {
	t.Helper()
	const check = `readinessChecks: {custom: [{name: open, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: closed, namespace: NAMESPACE}], requirements: [{jsonPath: .data.open, operator: exists}]}]}, manifests: [`
	item := strings.Replace(yamlItem("closed", "manage", `{apiVersion: v1, kind: ConfigMap, metadata: {name: closed, namespace: NAMESPACE}}`), "manifests: [", check, 1)
	sub := subOf(t, "sub", `imports: {targets: [{name: cluster, target: cluster}]}`, blueprintOf(t, singleImport, item))
	return rootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, withSubs(blueprintOf(t, singleImport, yamlItem("own", "manage", `{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: NAMESPACE}}`)), sub))
}

// succeeded are the Installations that have succeeded, and whose jobs have ended.
func succeeded(t *testing.T, space string) []string {
	t.Helper()
	all := &v1alpha1.InstallationList{}
	if err := env.Admin.List(t.Context(), all, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range all.Items {
		inst := &all.Items[i]
		if strings.HasPrefix(inst.Name, "job-") && inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && inst.Status.JobID == inst.Status.JobIDFinished {
			names = append(names, inst.Name)
		}
	}
	return names
}

// awaitSucceeded waits until so many jobs have succeeded.
func awaitSucceeded(t *testing.T, space string, count int, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		ended := succeeded(t, space)
		if len(ended) >= count {
			return
		}
		events, err := env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space))
		if err != nil {
			t.Fatalf("%d of %d jobs have succeeded after %s: %v", len(ended), count, limit, err)
		}
		phases := map[string]v1alpha1.InstallationPhase{}
		for event := range events.ResultChan() {
			if inst, ok := event.Object.(*v1alpha1.Installation); ok && phases[inst.Name] != inst.Status.InstallationPhase {
				phases[inst.Name] = inst.Status.InstallationPhase
				if inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && len(succeeded(t, space)) >= count {
					events.Stop()
					return
				}
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("only %d of %d jobs have succeeded after %s; the others:\n%s", len(succeeded(t, space)), count, limit, unfinished(t, space))
		}
	}
}

// unfinished shows the Installations that have not succeeded with all below them: which
// object waits for what.
func unfinished(t *testing.T, space string) string {
	t.Helper()
	done := succeeded(t, space)
	execs, items, all := &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}, &v1alpha1.InstallationList{}
	for _, list := range []client.ObjectList{all, execs, items} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
	}
	lines := &strings.Builder{}
	show := func(kind string, object client.Object, status any) {
		shown, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(lines, "%s %s (version %s, generation %d, annotations %v, deleted at %v): %s\n", kind, object.GetName(), object.GetResourceVersion(), object.GetGeneration(), object.GetAnnotations(), object.GetDeletionTimestamp(), shown)
	}
	for i := range all.Items {
		inst := &all.Items[i]
		if slices.Contains(done, inst.Name) || !strings.HasPrefix(inst.Name, "job-") {
			continue
		}
		show("Installation", inst, inst.Status)
		for j := range execs.Items {
			if exec := &execs.Items[j]; exec.Name == inst.Name {
				show("  Execution", exec, exec.Status)
			}
		}
		for j := range items.Items {
			if item := &items.Items[j]; strings.HasPrefix(item.Name, inst.Name+"-") {
				show("  DeployItem", item, item.Status)
			}
		}
	}
	return lines.String()
}
