package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/server/install"
)

// write gives an Installation another specification and asks for a job.
func write(t *testing.T, inst *v1alpha1.Installation, template string) {
	t.Helper()
	present := getInstallation(t, inst)
	present.Spec = newInstallation(inst.Namespace, inst.Name, template).Spec
	present.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
	if err := env.Admin.Update(t.Context(), present); err != nil {
		t.Fatal(err)
	}
}

// waitGeneration waits until the job of a generation has ended.
func waitGeneration(t *testing.T, inst *v1alpha1.Installation, generation int64, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
	t.Helper()
	return waitFor(t, client.ObjectKeyFromObject(inst), fmt.Sprintf("%s with generation %d", phase, generation), func(inst *v1alpha1.Installation) bool {
		return inst.Status.ObservedGeneration == generation && inst.Status.InstallationPhase == phase && inst.Status.JobID == inst.Status.JobIDFinished
	})
}

// TestRollback: the way back with a real API server, by the command line and by the server.
func TestRollback(t *testing.T) {
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	startServer(t, deliveryUser(t, "way-back"), "--feature-gates", deliveryGate)
	space := namespace(t)
	policy(t, space, "way-back", deliveryv1alpha1.DeliveryPolicySpec{History: &deliveryv1alpha1.History{Revisions: 3, Rollback: deliveryv1alpha1.RollbackOnFailure}})
	run := func(t *testing.T, want []string, args ...string) {
		t.Helper()
		code, out, complaints := cli(t, append([]string{"installations"}, append(args, "-n", space)...)...)
		t.Logf("%v\n%s", args, out)
		for _, part := range want {
			if code != 0 || !strings.Contains(out, part) {
				t.Errorf("%v: code %d, %q is missing in %q, %q", args, code, part, out, complaints)
			}
		}
	}
	greeting := func(t *testing.T, want string) {
		t.Helper()
		deployed := configMap(space, "shop")
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || deployed.Data["greeting"] != want {
			t.Errorf("the greeting is %q, want %q: %v", deployed.Data["greeting"], want, err)
		}
	}
	inst := waitSucceeded(t, create(t, newInstallation(space, "shop", oneConfigMap)))
	earliest := inst.Status.JobID
	write(t, inst, strings.Replace(oneConfigMap, "hello", "good morning", 1))
	waitGeneration(t, inst, 2, v1alpha1.InstallationPhases.Succeeded)
	greeting(t, "good morning")

	t.Run("a user goes back", func(t *testing.T) {
		run(t, []string{earliest[:8], "Succeeded"}, "history", "shop")
		run(t, []string{"~ generation", "1", "2"}, "diff", "shop")
		run(t, []string{"from generation 2 back to generation 1", "1 to change"}, "rollback", "shop", "--dry-run")
		greeting(t, "good morning")
		run(t, []string{"has the specification of generation 1 again"}, "rollback", "shop", "--to", earliest[:8], "--yes", "--wait")
		inst = waitGeneration(t, inst, 3, v1alpha1.InstallationPhases.Succeeded)
		greeting(t, "hello")
		if last := inst.Status.History[0]; last.Trigger != v1alpha1.TriggeredByRollback || last.RequestedBy != "landscaper-cli" {
			t.Errorf("%+v", last)
		}
	})
	t.Run("the server goes back from an upgrade that fails, once", func(t *testing.T) {
		// No cluster accepts this name.
		broken := strings.NewReplacer("{name: NAME,", "{name: NOT_VALID,", "- name: one", "- name: one\n  timeout: 5s").Replace(oneConfigMap)
		write(t, inst, broken)
		inst = waitGeneration(t, inst, 5, v1alpha1.InstallationPhases.Succeeded)
		greeting(t, "hello")
		said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
		if said == nil || said.Message != "the job of generation 4 has failed, and the specification is that of generation 3 again" || len(eventsOf(t, inst, "RolledBack")) != 1 {
			t.Errorf("%+v, %v", said, eventsOf(t, inst, "RolledBack"))
		}
		if records := inst.Status.History; records[0].Trigger != v1alpha1.TriggeredByRollback || records[1].Phase != v1alpha1.InstallationPhases.Failed {
			t.Errorf("%+v", records)
		}
		run(t, []string{"rollback, by landscaper", "Failed ("}, "history", "shop", "--limit", "3")
		write(t, inst, broken)
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "left with what has failed", func(inst *v1alpha1.Installation) bool {
			said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
			return said != nil && said.ObservedGeneration == 6 && strings.HasSuffix(said.Message, "it was rolled back before")
		})
		if inst.Generation != 6 {
			t.Errorf("generation %d", inst.Generation)
		}
	})
	t.Run("revisions are few, do not change, and need a right of their own", func(t *testing.T) {
		list := &deliveryv1alpha1.DeliveryRevisionList{}
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
		// Three, and the last one that has succeeded is among them.
		if len(list.Items) != 3 {
			t.Errorf("%d revisions are kept", len(list.Items))
		}
		if err := env.Admin.Patch(t.Context(), &list.Items[0], client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"digest":"other"}}`))); !apierrors.IsInvalid(err) {
			t.Errorf("a revision is changed: %v", err)
		}
		if err := tenant(t, "no-revisions", space, "").List(t.Context(), list, client.InNamespace(space)); !apierrors.IsForbidden(err) {
			t.Errorf("a tenant without the right for it gets %v", err)
		}
	})
}
