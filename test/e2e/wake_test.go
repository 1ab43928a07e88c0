package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestWaitForDefaultContext: an Installation waits for the default Context of its namespace,
// whatever client makes it.
func TestWaitForDefaultContext(t *testing.T) {
	startServer(t, env.ServerKubeconfig, "--controllers", "installation,execution,manifest")
	space := namespace(t)
	inst := create(t, newInstallation(space, "waiting", oneConfigMap))
	waiting := waitFor(t, client.ObjectKeyFromObject(inst), "waits", func(inst *v1alpha1.Installation) bool { return inst.Status.LastError != nil })
	if waiting.Status.InstallationPhase != v1alpha1.InstallationPhases.Init || waiting.Status.LastError.Reason != "CalculateContext" {
		t.Errorf("phase %s, %+v", waiting.Status.InstallationPhase, waiting.Status.LastError)
	}
	createAll(t, &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: v1alpha1.DefaultContextName}})
	if done := waitSucceeded(t, inst); done.Status.JobID != waiting.Status.JobID {
		t.Errorf("another job did it")
	}
}

// TestFailedStaysFailed: a job that has failed is over; the remedy alone does not
// start another one.
func TestFailedStaysFailed(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	pull := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull"}}
	if err := env.Admin.Delete(t.Context(), pull); err != nil {
		t.Fatal(err)
	}
	inst := create(t, shopInstallation(space, "1.0.0"))
	checkFailed(t, inst, "SetupRegistries", "registryPullSecrets", "Secret pull cannot be found")
	createAll(t, &corev1.Secret{ObjectMeta: pull.ObjectMeta, Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(env.Lab.Registry.Password)}})
	// Another Installation runs through all steps after the remedy.
	waitSucceeded(t, create(t, newInstallation(space, "second", oneConfigMap)))
	first := waitFinished(t, inst, "")
	if first.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
		t.Errorf("phase %s", first.Status.InstallationPhase)
	}
	failed := first.Status.JobID
	request(t, inst, v1alpha1.ReconcileOperation)
	if again := waitFinished(t, inst, failed); again.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("phase %s, %+v", again.Status.InstallationPhase, again.Status.LastError)
	}
}

// TestStateByHand: what happens to the Secret with the state of a template.
func TestStateByHand(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	inst := waitSucceeded(t, create(t, shopInstallation(space, "1.0.0")))
	secrets := &corev1.SecretList{}
	if err := env.Admin.List(t.Context(), secrets, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var state *corev1.Secret
	for i := range secrets.Items {
		if owner := metav1.GetControllerOf(&secrets.Items[i]); owner != nil && owner.UID == inst.UID {
			state = &secrets.Items[i]
		}
	}
	if state == nil {
		t.Fatal("there is no Secret with the state")
	}
	token := func() string {
		t.Helper()
		deployed := &corev1.ConfigMap{}
		if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "shop"}, deployed); err != nil {
			t.Fatal(err)
		}
		return deployed.Data["token"]
	}
	before := token()
	state.Data = map[string][]byte{"renamed": state.Data["config"]}
	if err := env.Admin.Update(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	failed := waitFinished(t, inst, inst.Status.JobID)
	if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || token() != before {
		t.Errorf("without the key: phase %s, the token changed: %t", failed.Status.InstallationPhase, token() != before)
	}
	if err := env.Admin.Delete(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	done := waitFinished(t, inst, failed.Status.JobID)
	if done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || token() == before {
		t.Errorf("without the Secret: phase %s, the token changed: %t", done.Status.InstallationPhase, token() != before)
	}
}
