package e2e

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// copies returns the keys of the copies of imports of an Installation.
func copies(t *testing.T, space, name string) []string {
	t.Helper()
	scope := []client.ListOption{client.InNamespace(space), client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(name)}}
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		if err := env.Admin.List(t.Context(), list, scope...); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for i := range data.Items {
		keys = append(keys, data.Items[i].Labels[v1alpha1.DataObjectKeyLabel])
	}
	for i := range targets.Items {
		keys = append(keys, targets.Items[i].Labels[v1alpha1.DataObjectKeyLabel]+targets.Items[i].Labels[v1alpha1.DataObjectIndexLabel])
	}
	slices.Sort(keys)
	return keys
}

// setImports replaces the imports of a blueprint, in one line of YAML.
func setImports(inst *v1alpha1.Installation, imports string) {
	const before = `- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}`
	text := strings.Replace(string(inst.Spec.Blueprint.Inline.Filesystem.RawMessage), before, imports, 1)
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON([]byte(text))
}

// TestCopiesFollowImports: the scope of an Installation holds what its last job has
// imported, and nothing of the jobs before.
func TestCopiesFollowImports(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createTarget(t, space, "second", env.TargetKubeconfig)
	createAll(t, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "value"}, Data: v1alpha1.NewAnyJSON([]byte(`1`))})
	const cluster = `- {name: cluster, targetType: kubernetes-cluster}`
	inst := newInstallation(space, "shrinking", oneConfigMap)
	setImports(inst, cluster+`\n- {name: all, type: targetList, targetType: kubernetes-cluster}\n- {name: value, schema: {type: integer}}`)
	inst.Spec.Imports.Targets = append(inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: "all", Targets: []string{"host", "second"}})
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "value", DataRef: "value"}}
	inst = waitSucceeded(t, create(t, inst))
	if got, want := copies(t, space, inst.Name), []string{"all0", "all1", "cluster", "value"}; !slices.Equal(got, want) {
		t.Fatalf("copies %v, want %v", got, want)
	}
	first := inst.Status.JobID
	smaller := newInstallation(space, "shrinking", oneConfigMap)
	setImports(smaller, cluster+`\n- {name: all, type: targetList, targetType: kubernetes-cluster}`)
	inst.Spec = smaller.Spec
	inst.Spec.Imports.Targets = append(inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: "all", Targets: []string{"second"}})
	inst.Annotations = smaller.Annotations
	if err := env.Admin.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	again := waitFinished(t, inst, first)
	if again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("phase %s: %+v", again.Status.InstallationPhase, again.Status.LastError)
	}
	if got, want := copies(t, space, inst.Name), []string{"all0", "cluster"}; !slices.Equal(got, want) {
		t.Errorf("copies %v, want %v", got, want)
	}
}

// TestSecretsAreCopiedToSecrets: what comes from a Secret is in no DataObject, and when
// it comes from somewhere else, nothing of the Secret's copy is left.
func TestSecretsAreCopiedToSecrets(t *testing.T) {
	const secret = "kept-apart"
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createAll(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "login"}, Data: map[string][]byte{"password": []byte(secret)}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "login"}, Data: map[string]string{"password": "known"}},
	)
	inst := newInstallation(space, "concealed", oneConfigMap)
	setImports(inst, `- {name: cluster, targetType: kubernetes-cluster}\n- {name: password, schema: {type: string}}\n- {name: mapped, schema: {type: string}}`)
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "password", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "login", Key: "password"}}}}
	inst.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"mapped": v1alpha1.NewAnyJSON([]byte(`"(( \"x\" password ))"`))}
	inst = waitSucceeded(t, create(t, inst))
	if inData, inSecrets := copiedValues(t, space); strings.Contains(inData, secret) || inSecrets != "\""+secret+"\" \"x"+secret+"\"" {
		t.Errorf("DataObjects %s, Secrets %s", inData, inSecrets)
	}
	first := inst.Status.JobID
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "password", ConfigMapRef: &v1alpha1.ImportConfigMapReference{LocalConfigMapReference: v1alpha1.LocalConfigMapReference{Name: "login", Key: "password"}}}}
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
	if err := env.Admin.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	if again := waitFinished(t, inst, first); again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("phase %s: %+v", again.Status.InstallationPhase, again.Status.LastError)
	}
	if inData, inSecrets := copiedValues(t, space); inData != `"known" "xknown"` || inSecrets != "" {
		t.Errorf("DataObjects %s, Secrets %s", inData, inSecrets)
	}
}

// copiedValues returns the values of all DataObjects with a key, and of all Secrets that
// hold such values.
func copiedValues(t *testing.T, space string) (inData, inSecrets string) {
	t.Helper()
	data, secrets := &v1alpha1.DataObjectList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{data, secrets} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space), client.HasLabels{v1alpha1.DataObjectKeyLabel}); err != nil {
			t.Fatal(err)
		}
	}
	var values, hidden []string
	for i := range data.Items {
		values = append(values, string(data.Items[i].Data.RawMessage))
	}
	for i := range secrets.Items {
		hidden = append(hidden, string(secrets.Items[i].Data["value"]))
	}
	slices.Sort(values)
	slices.Sort(hidden)
	return strings.Join(values, " "), strings.Join(hidden, " ")
}

// TestForeignCopy: an object that belongs to another client is not overwritten.
func TestForeignCopy(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	name := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "cluster")
	createTarget(t, space, name, "theirs: true")
	inst := create(t, newInstallation(space, "shop", oneConfigMap))
	checkFailed(t, inst, "CreateImportsAndSubobjects", "Target "+name+" does not belong to this Installation", "delete it")
	theirs := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, theirs); err != nil || !strings.Contains(string(theirs.Spec.Configuration.RawMessage), "theirs") || len(theirs.OwnerReferences) > 0 {
		t.Errorf("%+v, %v", theirs, err)
	}
}

// TestDeleteWithoutSources: what an Installation was made from is not needed to
// delete it.
func TestDeleteWithoutSources(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	inst := waitSucceeded(t, create(t, shopInstallation(space, "1.0.0")))
	stopRegistry(t)
	for _, object := range []client.Object{
		&v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "vendor"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull"}},
	} {
		if err := env.Admin.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	waitGone(t, env.Workload, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "shop"}}, &corev1.ConfigMapList{})
}

// stopRegistry lets the registry hang. The returned function resumes it, which happens at the end
// of the test in any case.
func stopRegistry(t *testing.T) func() {
	t.Helper()
	if err := env.Lab.Signal(t.Context(), "registry", "STOP"); err != nil {
		t.Fatal(err)
	}
	stopped := true
	resume := func() {
		if !stopped {
			return
		}
		stopped = false
		if err := env.Lab.Signal(context.Background(), "registry", "CONT"); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(resume)
	return resume
}

// TestWarningEvents: a probable mistake is reported once in a job, in one event for each kind.
func TestWarningEvents(t *testing.T) {
	publish(t, "/delivery")
	server := registryServer(t)
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	createAll(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "useless"}, Data: map[string][]byte{"token": []byte("hunter2")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "useless-too"}},
	)
	landscape := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "vendor"}}
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(landscape), landscape); err != nil {
		t.Fatal(err)
	}
	landscape.RegistryPullSecrets = append(landscape.RegistryPullSecrets, v1alpha1.LocalPullSecret{Name: "useless"}, v1alpha1.LocalPullSecret{Name: "useless-too"})
	if err := env.Admin.Update(t.Context(), landscape); err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, create(t, shopInstallation(space, "1.0.0")))
	// A server that ends sends what it still has to say.
	server.EndBy(syscall.SIGTERM)
	list := &eventsv1.EventList{}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for i := range list.Items {
		if event := &list.Items[i]; event.Type == corev1.EventTypeWarning {
			warnings = append(warnings, event.Reason+": "+event.Note)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "ContextWarnings: Secret useless has neither") || !strings.Contains(warnings[0], "Secret useless-too has neither") || strings.Contains(warnings[0], "hunter2") {
		t.Errorf("warnings %q", warnings)
	}
}
