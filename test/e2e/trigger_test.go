package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// unasked returns an Installation that asks for nothing.
func unasked(inst *v1alpha1.Installation, annotations map[string]string) *v1alpha1.Installation {
	inst.Annotations = annotations
	return inst
}

// notedJob is a job whose beginning and end a watch has shown.
type notedJob struct {
	id              string
	phase           v1alpha1.InstallationPhase
	begun, finished time.Time
	counter         *v1alpha1.AutomaticReconcileStatus
}

// followJobs calls a function with each job of an Installation at its end, until that
// returns true. No version that a watch shows is left out.
func followJobs(t *testing.T, inst *v1alpha1.Installation, what string, ended func(notedJob) bool) {
	t.Helper()
	last := ""
	waitFor(t, client.ObjectKeyFromObject(inst), what, func(inst *v1alpha1.Installation) bool {
		s := inst.Status
		if s.JobID == "" || s.JobID != s.JobIDFinished || s.JobID == last {
			return false
		}
		last = s.JobID
		noted := notedJob{id: s.JobID, phase: s.InstallationPhase, counter: s.AutomaticReconcileStatus}
		if times := s.TransitionTimes; times != nil {
			noted.begun, noted.finished = times.TriggerTime.Time, times.FinishedTime.Time
		}
		return ended(noted)
	})
}

// retrying is an Installation that imports what does not exist, and tries again.
func retrying(t *testing.T, space, name, automatic string) *v1alpha1.Installation {
	t.Helper()
	return asking(t, space, name, `
automaticReconcile: `+automatic+`
imports: {data: [{name: url, dataRef: `+name+`-late}]}
blueprint: {inline: {filesystem: {blueprint.yaml: "imports: [{name: url, type: data, schema: {type: string}}]"}}}
`)
}

// TestAutomaticReconcile: failed jobs are retried as often as wanted and not before
// their time, also if the server is killed in between; succeeded ones are repeated.
func TestAutomaticReconcile(t *testing.T) {
	whole, server := t, startServer(t, env.ServerKubeconfig)
	space := namespace(t)

	t.Run("a failed job is retried", func(t *testing.T) {
		const interval = 3 * time.Second
		inst := create(t, retrying(t, space, "limited", "{failedReconcile: {interval: 3s, numberOfReconciles: 2}}"))
		var done []notedJob
		followJobs(t, inst, "at the end of its second retry", func(ended notedJob) bool {
			done = append(done, ended)
			if len(done) == 1 {
				// The retry is due although the process that had scheduled it has ended.
				server.EndBy(syscall.SIGKILL)
				server = startServer(whole, env.ServerKubeconfig)
			}
			return len(done) == 3
		})
		for i, job := range done {
			if job.phase != v1alpha1.InstallationPhases.Failed || job.counter == nil || job.counter.NumberOfReconciles != i || !job.counter.OnFailed {
				t.Errorf("job %d: %s, %+v", i, job.phase, job.counter)
			}
			// Stored times have whole seconds.
			if i > 0 && job.begun.Sub(done[i-1].finished.Add(-time.Second)) < interval {
				t.Errorf("retry %d began at %s, the job before ended at %s", i, job.begun, done[i-1].finished)
			}
		}
		// A new request starts the count again, and the retries.
		request(t, inst, v1alpha1.ReconcileOperation)
		var counts []int
		followJobs(t, inst, "at the end of further retries", func(ended notedJob) bool {
			if ended.id != done[2].id {
				counts = append(counts, ended.counter.NumberOfReconciles)
			}
			return len(counts) == 3
		})
		if fmt.Sprint(counts) != "[0 1 2]" {
			t.Errorf("the retries count %v", counts)
		}
	})

	t.Run("a retry that succeeds is the last, and is repeated", func(t *testing.T) {
		inst := create(t, retrying(t, space, "both", `{failedReconcile: {interval: 1s}, succeededReconcile: {cronSpec: "@every 2s"}}`))
		waitFinished(t, inst, "")
		createAll(t, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "both-late"}, Data: v1alpha1.NewAnyJSON([]byte(`"x"`))})
		succeeded := 0
		followJobs(t, inst, "repeated after its success", func(ended notedJob) bool {
			if ended.phase == v1alpha1.InstallationPhases.Succeeded {
				if ended.counter == nil || ended.counter.OnFailed || ended.counter.NumberOfReconciles != succeeded {
					t.Errorf("after %d repetitions: %+v", succeeded, ended.counter)
				}
				succeeded++
			}
			return succeeded == 3
		})
		skipped := getInstallation(t, inst)
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.SkipAnnotation))
		if err := env.Admin.Patch(t.Context(), skipped, patch); err != nil {
			t.Fatal(err)
		}
		// One more may have begun before; an explicit request still works.
		last := waitFor(t, client.ObjectKeyFromObject(inst), "at rest", func(inst *v1alpha1.Installation) bool {
			return inst.Annotations[v1alpha1.SkipAnnotation] == "true" && inst.Status.JobID == inst.Status.JobIDFinished
		})
		request(t, inst, v1alpha1.ReconcileOperation)
		waitFinished(t, inst, last.Status.JobID)
	})
}

// TestReconcileIfChanged: with the annotation a new or changed Installation runs, and
// nothing else makes it run; a failed job is not repeated.
func TestReconcileIfChanged(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := create(t, unasked(newInstallation(space, "gitops", oneConfigMap), map[string]string{v1alpha1.ReconcileIfChangedAnnotation: "true"}))
	first := waitSucceeded(t, inst)

	changed := getInstallation(t, inst)
	changed.Labels = map[string]string{"a": "label"}
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	passed(t, space, "label")
	if now := getInstallation(t, inst); now.Status.JobID != first.Status.JobID {
		t.Errorf("a label has started a job")
	}

	changed = getInstallation(t, inst)
	changed.Spec = newInstallation(space, "gitops", strings.ReplaceAll(oneConfigMap, "hello", "{{ fail }}")).Spec
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	failed := waitFinished(t, inst, first.Status.JobID)
	if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || failed.Status.ObservedGeneration != failed.Generation {
		t.Errorf("%s of generation %d: %+v", failed.Status.InstallationPhase, failed.Status.ObservedGeneration, failed.Status.LastError)
	}
	passed(t, space, "failure")
	if now := getInstallation(t, inst); now.Status.JobID != failed.Status.JobID || now.Annotations[v1alpha1.ReconcileIfChangedAnnotation] != "true" {
		t.Errorf("after the failure: job %s, annotations %v", now.Status.JobID, now.Annotations)
	}

	changed = getInstallation(t, inst)
	changed.Spec = newInstallation(space, "gitops", strings.ReplaceAll(oneConfigMap, "hello", "again")).Spec
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if done := waitFinished(t, inst, failed.Status.JobID); done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("%+v", done.Status.LastError)
	}
	wantDeployed(t, space, "gitops", "greeting", "again")
}

// passed returns when a whole job has been done: whatever was due before has begun.
func passed(t *testing.T, space, name string) {
	t.Helper()
	waitSucceeded(t, create(t, newInstallation(space, name, oneConfigMap)))
}

// passingOn is an Installation that exports what it imports, if that begins with v.
func passingOn(t *testing.T, space, name, from string, annotations map[string]string) *v1alpha1.Installation {
	t.Helper()
	return unasked(asking(t, space, name, strings.NewReplacer("FROM", from, "NAME", name).Replace(`
imports: {data: [{name: given, dataRef: FROM}]}
exports: {data: [{name: taken, dataRef: out-of-NAME}]}
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        imports: [{name: given, type: data, schema: {type: string}}]
        exports: [{name: taken, type: data, schema: {type: string, pattern: "^v"}}]
        exportExecutions:
        - {name: default, type: GoTemplate, template: "exports: {taken: {{ .imports.given }}}"}
`)), annotations)
}

// asked asks for a job.
var asked = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}

// setValue stores a value that Installations import.
func setValue(t *testing.T, space, name, value string) {
	t.Helper()
	object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	data := v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", value))
	err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	object.Data = data
	if err == nil {
		err = env.Admin.Update(t.Context(), object)
	} else {
		err = env.Admin.Create(t.Context(), object)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDependents: roots follow from the success of what they import from, if that has
// changed what they import, and in no other case.
func TestDependents(t *testing.T) {
	whole, server := t, startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	setValue(t, space, "value", "v1")
	two := create(t, passingOn(t, space, "two", "out-of-one", nil))
	last := create(t, passingOn(t, space, "last", "out-of-two", nil))
	skipping := create(t, passingOn(t, space, "skipping", "out-of-one", map[string]string{v1alpha1.SkipAnnotation: "true"}))
	one := waitDone(t, create(t, passingOn(t, space, "one", "value", asked)), "")
	two, last = waitDone(t, two, ""), waitDone(t, last, "")
	if got := exportedData(t, space, "out-of-last"); got != `"v1"` {
		t.Errorf("out-of-last is %s", got)
	}
	if id := getInstallation(t, skipping).Status.JobID; id != "" {
		t.Errorf("the Installation to skip has job %s", id)
	}

	t.Run("unchanged exports trigger no importer", func(t *testing.T) {
		request(t, one, v1alpha1.ReconcileOperation)
		one = waitDone(t, one, one.Status.JobID)
		if len(one.Status.DependentsToTrigger) != 0 {
			t.Errorf("%+v follow", one.Status.DependentsToTrigger)
		}
		passed(t, space, "same")
		if now := getInstallation(t, two); now.Status.JobID != two.Status.JobID {
			t.Errorf("two has another job")
		}
	})

	t.Run("a change of an import from elsewhere triggers no importer", func(t *testing.T) {
		setValue(t, space, "beside", "v1")
		spec := two.Spec
		spec.Imports.Data = append(spec.Imports.Data, v1alpha1.DataImport{Name: "beside", DataRef: "beside"})
		two = again(t, two, spec, v1alpha1.InstallationPhases.Succeeded)
		setValue(t, space, "beside", "v2")
		request(t, one, v1alpha1.ReconcileOperation)
		one = waitDone(t, one, one.Status.JobID)
		if len(one.Status.DependentsToTrigger) != 0 {
			t.Errorf("%+v follow", one.Status.DependentsToTrigger)
		}
	})

	t.Run("a failed job triggers no importer", func(t *testing.T) {
		setValue(t, space, "value", "wrong")
		request(t, one, v1alpha1.ReconcileOperation)
		one = waitFinished(t, one, one.Status.JobID)
		if one.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || len(one.Status.DependentsToTrigger) != 0 {
			t.Errorf("%s, %+v follow", one.Status.InstallationPhase, one.Status.DependentsToTrigger)
		}
		passed(t, space, "failing")
		if now := getInstallation(t, two); now.Status.JobID != two.Status.JobID {
			t.Errorf("two has another job")
		}
	})

	t.Run("a change reaches the last importer, also if the server is killed in between", func(t *testing.T) {
		setValue(t, space, "value", "v2")
		request(t, one, v1alpha1.ReconcileOperation)
		waitFor(t, client.ObjectKeyFromObject(one), "about to ask dependents", func(inst *v1alpha1.Installation) bool {
			return len(inst.Status.DependentsToTrigger) == 1 && inst.Status.DependentsToTrigger[0].Name == "two" && inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded
		})
		server.EndBy(syscall.SIGKILL)
		startServer(whole, env.ServerKubeconfig)
		two, last = waitDone(t, two, two.Status.JobID), waitDone(t, last, last.Status.JobID)
		if got := exportedData(t, space, "out-of-last"); got != `"v2"` {
			t.Errorf("out-of-last is %s", got)
		}
		for _, inst := range []*v1alpha1.Installation{one, two} {
			waitFor(t, client.ObjectKeyFromObject(inst), "done with asking", func(inst *v1alpha1.Installation) bool { return len(inst.Status.DependentsToTrigger) == 0 })
		}
		if id := getInstallation(t, skipping).Status.JobID; id != "" {
			t.Errorf("the Installation to skip has job %s", id)
		}
	})

	t.Run("a job of a skipped Installation can still be requested", func(t *testing.T) {
		request(t, skipping, v1alpha1.ReconcileOperation)
		waitDone(t, skipping, "")
	})
}

// TestServerTriggers: an administrator may let changes of specs and of imports start
// jobs of all roots.
func TestServerTriggers(t *testing.T) {
	space := namespace(t)
	const name = "landscaper-triggers"
	rules, err := landscape.WriteRules(t.TempDir(), name, map[string]any{"namespaces": []any{space}, "reconcile": map[string]any{"onImportChange": true}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, user.Kubeconfig, "--namespaces", space, "--reconcile-on-spec-change", "--reconcile-on-import-change")

	// The second one is there first, and waits for the first.
	setValue(t, space, "value", "v1")
	two := create(t, passingOn(t, space, "two", "out-of-one", nil))
	one := create(t, passingOn(t, space, "one", "value", nil))
	skipping := create(t, passingOn(t, space, "skipping", "value", map[string]string{v1alpha1.SkipAnnotation: "true"}))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "secret"}, StringData: map[string]string{"value": "v1"}}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "config"}, Data: map[string]string{"value": "v1"}}
	createAll(t, secret, configMap)
	ofSecret, ofConfigMap := passingOn(t, space, "of-secret", "x", nil), passingOn(t, space, "of-config", "x", nil)
	ofSecret.Spec.Imports, ofConfigMap.Spec.Imports = v1alpha1.InstallationImports{}, v1alpha1.InstallationImports{}
	if err := yaml.Unmarshal([]byte(`{data: [{name: given, secretRef: {name: secret, key: value}}]}`), &ofSecret.Spec.Imports); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(`{data: [{name: given, configMapRef: {name: config, key: value}}]}`), &ofConfigMap.Spec.Imports); err != nil {
		t.Fatal(err)
	}
	roots := []*v1alpha1.Installation{one, create(t, ofSecret), create(t, ofConfigMap)}
	exports := func(inst *v1alpha1.Installation, value string) {
		t.Helper()
		waitFor(t, client.ObjectKeyFromObject(inst), "done with "+value, func(inst *v1alpha1.Installation) bool {
			return inst.Status.JobID != "" && inst.Status.JobID == inst.Status.JobIDFinished && inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded &&
				isExported(t, inst, value)
		})
	}
	for _, inst := range append(roots, two) {
		exports(inst, "v1")
	}
	setValue(t, space, "value", "v2")
	secret.StringData = map[string]string{"value": "v2"}
	configMap.Data = map[string]string{"value": "v2"}
	for _, object := range []client.Object{secret, configMap} {
		if err := env.Admin.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for _, inst := range roots {
		exports(inst, "v2")
	}
	waitFor(t, client.ObjectKeyFromObject(two), "done with v2", func(inst *v1alpha1.Installation) bool {
		return inst.Status.JobID == inst.Status.JobIDFinished && exportedData(t, space, "out-of-two") == `"v2"`
	})

	last := getInstallation(t, one)
	setValue(t, space, "value", "wrong")
	failed := waitFinished(t, one, last.Status.JobID)
	passed(t, space, "once")
	if now := getInstallation(t, one); failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || now.Status.JobID != failed.Status.JobID {
		t.Errorf("%s with job %s, now %s", failed.Status.InstallationPhase, failed.Status.JobID, now.Status.JobID)
	}
	if id := getInstallation(t, skipping).Status.JobID; id != "" {
		t.Errorf("the Installation to skip has job %s", id)
	}
}

// isExported reports whether an Installation has exported a value; what comes from a
// Secret is in a Secret.
func isExported(t *testing.T, inst *v1alpha1.Installation, value string) bool {
	t.Helper()
	return strings.Contains(exportedData(t, inst.Namespace, "out-of-"+inst.Name), value)
}
