package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const deliveryGate = "DeliveryPolicies=true"

// deliveryUser makes a user with the rules of the chart where policies are on.
func deliveryUser(t *testing.T, name string) string {
	t.Helper()
	rules, err := landscape.WriteRules(t.TempDir(), name, map[string]any{"featureGates": map[string]any{"DeliveryPolicies": true}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	return user.Kubeconfig
}

// tenant makes a user who may change Installations of a namespace, and what more rules say.
func tenant(t *testing.T, name, space, more string) client.Client {
	t.Helper()
	manifest := fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: %[1]s, namespace: %[2]s}
rules:
- {apiGroups: [landscaper.gardener.cloud], resources: [installations], verbs: ["*"]}
%[3]s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s, namespace: %[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]s}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %[1]s}]
`, name, space, more)
	file, err := landscape.WriteManifest(t.TempDir(), []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: file})
	if err != nil {
		t.Fatal(err)
	}
	c, err := landscape.Connect(user.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func policy(t *testing.T, space, name string, spec deliveryv1alpha1.DeliveryPolicySpec) *deliveryv1alpha1.DeliveryPolicy {
	t.Helper()
	made := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Spec: spec}
	if err := env.Admin.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	// A policy counts when the server has seen it.
	waitPolicy(t, made, "seen", func(p *deliveryv1alpha1.DeliveryPolicy) bool { return p.Status.ObservedGeneration == p.Generation })
	return made
}

func waitPolicy(t *testing.T, of *deliveryv1alpha1.DeliveryPolicy, what string, condition func(*deliveryv1alpha1.DeliveryPolicy) bool) {
	t.Helper()
	events, err := env.Admin.Watch(t.Context(), &deliveryv1alpha1.DeliveryPolicyList{}, client.InNamespace(of.Namespace), client.MatchingFields{"metadata.name": of.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	limit := time.After(waitLimit)
	for {
		select {
		case event := <-events.ResultChan():
			if found, ok := event.Object.(*deliveryv1alpha1.DeliveryPolicy); ok && condition(found) {
				return
			}
		case <-limit:
			t.Fatalf("DeliveryPolicy %s is not %s", of.Name, what)
		}
	}
}

func frozen(until time.Time, applies deliveryv1alpha1.AppliesTo) deliveryv1alpha1.DeliveryPolicySpec {
	return deliveryv1alpha1.DeliveryPolicySpec{Freezes: []deliveryv1alpha1.Freeze{{
		From: metav1.NewTime(time.Now().Add(-time.Hour)), To: metav1.NewTime(until), Reason: "year end", AppliesTo: applies,
	}}}
}

func waitDeferred(t *testing.T, inst *v1alpha1.Installation, reason string) *v1alpha1.Installation {
	t.Helper()
	return waitFor(t, client.ObjectKeyFromObject(inst), "deferred", func(inst *v1alpha1.Installation) bool {
		said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.DeferredCondition)
		return said != nil && said.Reason == reason
	})
}

func eventsOf(t *testing.T, inst *v1alpha1.Installation, reason string) []string {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(inst.Namespace)); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, event := range list.Items {
		if event.Regarding.Name == inst.Name && event.Reason == reason {
			found = append(found, event.Note)
		}
	}
	return found
}

// withoutDelivery deletes the kinds of policies, which another test may have brought.
func withoutDelivery(ctx context.Context, t *testing.T) {
	t.Helper()
	kinds, err := install.DeliveryCRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		if err := env.Admin.Delete(ctx, kind); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range kinds {
		err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			err := env.Admin.Get(ctx, client.ObjectKeyFromObject(kind), kind.DeepCopy())
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
	}
}

// TestDelivery: windows, freezes, overrides and pauses with a real API server, over restarts.
func TestDelivery(t *testing.T) {
	whole, kubeconfig := t, deliveryUser(t, "landscaper-delivery")
	t.Run("a cluster without the kind is no reason to end, and no server is ready", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		withoutDelivery(ctx, t)
		server := launchServer(t, kubeconfig, "--feature-gates", deliveryGate)
		err := server.AwaitReadiness(ctx, http.StatusServiceUnavailable, func(text string) bool {
			return strings.Contains(text, "does not serve kind DeliveryPolicy") && strings.Contains(text, "landscaper install --feature-gates=DeliveryPolicies=true")
		})
		if err != nil {
			t.Fatal(err)
		}
		waitSucceeded(t, create(t, newInstallation(namespace(t), "works", oneConfigMap)))
		if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		<-server.Ended()
		if !strings.Contains(server.Output(), "the cluster serves the kinds of delivery.landscaper.dev now") {
			t.Errorf("it ended otherwise:\n%s", server.Tail(20))
		}
	})
	server := startServer(whole, kubeconfig, "--feature-gates", deliveryGate)
	restart := func(between func()) {
		server.EndBy(syscall.SIGKILL)
		between()
		server = startServer(whole, kubeconfig, "--feature-gates", deliveryGate)
	}
	far := time.Now().Add(240 * time.Hour)

	t.Run("a freeze defers a request until its end", func(t *testing.T) {
		space, until := namespace(t), time.Now().Add(8*time.Second).Truncate(time.Second)
		freeze := policy(t, space, "freeze", frozen(until, "All"))
		inst := waitDeferred(t, create(t, newInstallation(space, "first", oneConfigMap)), "Frozen")
		said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.DeferredCondition)
		if want := "deferred by DeliveryPolicy freeze: frozen (year end); it may begin at " + until.UTC().Format(time.RFC3339); inst.Status.JobID != "" || inst.Annotations[v1alpha1.OperationAnnotation] != "reconcile" || said.Message != want {
			t.Errorf("job %q, %v, %q, want %q", inst.Status.JobID, inst.Annotations, said.Message, want)
		}
		waitPolicy(t, freeze, "counting it", func(p *deliveryv1alpha1.DeliveryPolicy) bool {
			return p.Status.Selected == 1 && p.Status.Deferred == 1 && meta.IsStatusConditionFalse(p.Status.Conditions, deliveryv1alpha1.OpenCondition)
		})
		inst = waitSucceeded(t, inst)
		if begun := inst.Status.TransitionTimes.TriggerTime; begun.Time.Before(until) || job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.DeferredCondition) != nil {
			t.Errorf("it began at %s, frozen until %s: %+v", begun, until, inst.Status.Conditions)
		}
		if found := eventsOf(t, inst, "Frozen"); len(found) != 1 {
			t.Errorf("events: %v", found)
		}
		waitPolicy(t, freeze, "open again", func(p *deliveryv1alpha1.DeliveryPolicy) bool {
			return p.Status.Deferred == 0 && meta.IsStatusConditionTrue(p.Status.Conditions, deliveryv1alpha1.OpenCondition)
		})
	})
	t.Run("a job that is deferred survives a restart, and begins when the policy is deleted", func(t *testing.T) {
		space := namespace(t)
		freeze := policy(t, space, "freeze", frozen(far, "All"))
		inst := waitDeferred(t, create(t, newInstallation(space, "kept", oneConfigMap)), "Frozen")
		restart(func() {})
		later := create(t, newInstallation(space, "later", oneConfigMap))
		waitDeferred(t, later, "Frozen")
		if now := getInstallation(t, inst); now.Status.JobID != "" || now.Annotations[v1alpha1.OperationAnnotation] == "" {
			t.Errorf("job %q, %v", now.Status.JobID, now.Annotations)
		}
		if err := env.Admin.Delete(t.Context(), freeze); err != nil {
			t.Fatal(err)
		}
		waitSucceeded(t, inst)
		waitSucceeded(t, later)
	})
	t.Run("the policy is deleted while no server works", func(t *testing.T) {
		space := namespace(t)
		freeze := policy(t, space, "freeze", frozen(far, "All"))
		inst := waitDeferred(t, create(t, newInstallation(space, "kept", oneConfigMap)), "Frozen")
		restart(func() {
			if err := env.Admin.Delete(t.Context(), freeze); err != nil {
				t.Fatal(err)
			}
		})
		waitSucceeded(t, inst)
	})
	t.Run("automatic jobs are deferred, are not lost, and do not pile up; requests pass", func(t *testing.T) {
		space := namespace(t)
		inst := newInstallation(space, "often", oneConfigMap)
		inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{SucceededReconcile: &v1alpha1.SucceededReconcile{Interval: v1alpha1.NewDuration(4 * time.Second)}}
		freeze := policy(t, space, "freeze", frozen(far, "Automatic"))
		inst = waitDeferred(t, waitSucceeded(t, create(t, inst)), "Frozen")
		deferred := inst.Status.JobID
		request(t, inst, v1alpha1.ReconcileOperation)
		inst = waitDeferred(t, waitDone(t, inst, deferred), "Frozen")
		before := inst.Status.JobID
		if err := env.Admin.Delete(t.Context(), freeze); err != nil {
			t.Fatal(err)
		}
		inst = waitDone(t, inst, before)
		if inst.Status.History[0].Trigger != v1alpha1.TriggeredBySchedule || inst.Status.AutomaticReconcileStatus.NumberOfReconciles != 1 {
			t.Errorf("%+v, %+v", inst.Status.History[0], inst.Status.AutomaticReconcileStatus)
		}
	})
	t.Run("an override needs the right for it, is for one job, and is recorded", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "freeze", frozen(far, "All"))
		inst := waitDeferred(t, create(t, newInstallation(space, "urgent", oneConfigMap)), "Frozen")
		override := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+deliveryv1alpha1.OverrideAnnotation+`":"freeze"},"labels":{"validation.landscaper.gardener.cloud/skip-validation":"true"}}}`))
		if err := tenant(t, "without-right", space, "").Patch(t.Context(), inst.DeepCopy(), override); !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(fmt.Sprint(err), "needs the verb override on DeliveryPolicy freeze") {
			t.Fatalf("a tenant without the right gets %v", err)
		}
		may := tenant(t, "with-right", space, "- {apiGroups: [delivery.landscaper.dev], resources: [deliverypolicies], resourceNames: [freeze], verbs: [override]}")
		if err := may.Patch(t.Context(), inst.DeepCopy(), override); err != nil {
			t.Fatal(err)
		}
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "done and without its override", func(inst *v1alpha1.Installation) bool {
			return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && inst.Annotations[deliveryv1alpha1.OverrideAnnotation] == ""
		})
		if noted := inst.Annotations[deliveryv1alpha1.OverriddenAnnotation]; noted != inst.Status.JobID+" freeze" || len(eventsOf(t, inst, "Overridden")) != 1 {
			t.Errorf("noted %q, events %v", noted, eventsOf(t, inst, "Overridden"))
		}
		if over := inst.Status.History[0].Overridden; over == nil || over.Policy != "freeze" || over.By == "" {
			t.Errorf("the history has %+v", inst.Status.History[0])
		}
		request(t, inst, v1alpha1.ReconcileOperation)
		waitDeferred(t, inst, "Frozen")
		request(t, inst, v1alpha1.InterruptOperation)
		waitFor(t, client.ObjectKeyFromObject(inst), "not deferred any more", func(inst *v1alpha1.Installation) bool {
			return job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.DeferredCondition) == nil
		})
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitDeferred(t, inst, "Frozen")
	})
	t.Run("a pause stops a job between two items, over a restart, and it goes on", func(t *testing.T) {
		space := namespace(t)
		second := strings.NewReplacer("deployItems:\n", "", "name: one", "name: two\n  dependsOn: [one]", "name: NAME,", "name: NAME-two,").Replace(oneConfigMap)
		inst := create(t, newInstallation(space, "halted", readyWhenOpen+second))
		waitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space}}, "waiting", func(item *v1alpha1.DeployItem) bool {
			reconciling := job.GetCondition(item.Status.Conditions, v1alpha1.ReconcilingCondition)
			return reconciling != nil && reconciling.Reason == "Waiting"
		})
		stop := policy(t, space, "stop", deliveryv1alpha1.DeliveryPolicySpec{Paused: &deliveryv1alpha1.Pause{Reason: "incident 7"}})
		setData(t, space, "halted", "open", "yes")
		paused := func(inst *v1alpha1.Installation) bool {
			return strings.Contains(job.Obstacle(inst.Status.Conditions), "paused by DeliveryPolicy stop (incident 7)")
		}
		waitFor(t, client.ObjectKeyFromObject(inst), "paused", paused)
		restart(func() {})
		waitDeferred(t, create(t, newInstallation(space, "another", oneConfigMap)), "Paused")
		if two := itemsByName(t, space)["two"]; two.Status.JobID != "" {
			t.Errorf("the second item has begun: %+v", two.Status)
		}
		if _, said, _ := cli(t, "installations", "inspect", "halted", "-n", space); !strings.Contains(said, "incident 7") {
			t.Errorf("the tree says:\n%s", said)
		}
		stop.Spec.Paused = nil
		if err := env.Admin.Patch(t.Context(), stop, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":null}}`))); err != nil {
			t.Fatal(err)
		}
		waitSucceeded(t, inst)
		if two := itemsByName(t, space)["two"]; two.Status.Phase != v1alpha1.DeployItemPhases.Succeeded {
			t.Errorf("%+v", two.Status)
		}
	})
	t.Run("the command line pauses and resumes", func(t *testing.T) {
		space := namespace(t)
		inst := waitSucceeded(t, create(t, newInstallation(space, "shop", oneConfigMap)))
		run := func(want string, args ...string) {
			t.Helper()
			if code, out, complaints := cli(t, append([]string{"installations"}, append(args, "-n", space)...)...); code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: code %d, %q, %q", args, code, out, complaints)
			}
		}
		run("Paused shop", "pause", "shop", "--reason", "incident-7")
		waitPolicy(t, &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pause-shop"}}, "seen", func(p *deliveryv1alpha1.DeliveryPolicy) bool { return p.Status.ObservedGeneration == p.Generation })
		request(t, inst, v1alpha1.ReconcileOperation)
		waitDeferred(t, inst, "Paused")
		run("Waiting: deferred by DeliveryPolicy pause-shop: paused (incident-7); it may begin when the policy is changed", "inspect", "shop")
		run("Resumed shop", "resume", "shop")
		waitDone(t, inst, inst.Status.JobID)
	})
	t.Run("what cannot be meant is refused", func(t *testing.T) {
		space := namespace(t)
		for reason, spec := range map[string]deliveryv1alpha1.DeliveryPolicySpec{
			"above 0 and up to 168h":      {Windows: []deliveryv1alpha1.Window{{Start: "22:00", Duration: "0s"}}},
			"up to 168h":                  {Windows: []deliveryv1alpha1.Window{{Start: "22:00", Duration: "169h"}}},
			"start and duration belong":   {Windows: []deliveryv1alpha1.Window{{Start: "22:00"}}},
			"write either start":          {Windows: []deliveryv1alpha1.Window{{}}},
			"spec.windows[0].start":       {Windows: []deliveryv1alpha1.Window{{Start: "25:00", Duration: "1h"}}},
			"spec.windows[0].days[0]":     {Windows: []deliveryv1alpha1.Window{{Days: []deliveryv1alpha1.Weekday{"Fryday"}, Start: "22:00", Duration: "1h"}}},
			"to must be after from":       frozen(time.Now().Add(-2*time.Hour), "All"),
			"Unsupported value: \"Some\"": frozen(far, "Some"),
		} {
			made := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "bad"}, Spec: spec}
			if err := env.Admin.Create(t.Context(), made, client.DryRunAll); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	})
}
