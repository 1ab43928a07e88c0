package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/landscape"
)

// approver are the rights of a user who approves.
const approver = "- {apiGroups: [delivery.landscaper.dev], resources: [deliveryapprovals], verbs: [create, update, patch, delete, get, list]}"

func approvalBy(rule deliveryv1alpha1.ApprovalRule) deliveryv1alpha1.DeliveryPolicySpec {
	return deliveryv1alpha1.DeliveryPolicySpec{Approval: &rule}
}

// greeting deploys a value that it imports, and another one of a Secret as a part of a Secret.
const greeting = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: greeting, type: data, schema: {type: string}}
- {name: password, type: data, schema: {type: string}}
deployExecutions:
- name: default
  type: GoTemplate
  template: |
    deployItems:
    - name: one
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        updateStrategy: update
        manifests:
        - policy: manage
          manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: greeting, namespace: NAMESPACE}, data: {text: {{ .imports.greeting | quote }}, login: {{ printf "user:%s" .imports.password | quote }}}}
        - policy: manage
          manifest: {apiVersion: v1, kind: Secret, metadata: {name: login, namespace: NAMESPACE}, stringData: {password: {{ .imports.password | quote }}}}
`

const secretValue = "xyzzy-magic-4711"

// greeter creates what an Installation greets with.
func greetingInstallation(t *testing.T, space, name string) *v1alpha1.Installation {
	t.Helper()
	createAll(t,
		&v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "greeting"}, Data: v1alpha1.NewAnyJSON([]byte(`"hello"`))},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "password"}, StringData: map[string]string{"value": `"` + secretValue + `"`}},
	)
	inst := landscape.Described(space, name, strings.ReplaceAll(greeting, "NAMESPACE", space))
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "greeting", DataRef: "greeting"}, {Name: "password", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "password", Key: "value"}}}}
	return create(t, inst)
}

// waitPlan waits for a plan of an Installation that is to be approved, other than one.
func waitPlan(t *testing.T, inst *v1alpha1.Installation, other string) deliveryv1alpha1.DeliveryPlan {
	t.Helper()
	var found deliveryv1alpha1.DeliveryPlan
	waitFor(t, client.ObjectKeyFromObject(inst), "waiting for an approval", func(inst *v1alpha1.Installation) bool {
		said := deferralOf(inst)
		if said == nil || said.Reason != "ApprovalRequired" {
			return false
		}
		list := &deliveryv1alpha1.DeliveryPlanList{}
		if err := env.Admin.List(t.Context(), list, client.InNamespace(inst.Namespace)); err != nil {
			t.Fatal(err)
		}
		for _, plan := range list.Items {
			if plan.Spec.Installation.UID == inst.UID && plan.Spec.Part == 0 && plan.Spec.Digest != other && strings.Contains(said.Message, "plan "+plan.Spec.Digest+" (") {
				found = plan
				return true
			}
		}
		return false
	})
	return found
}

func deferralOf(inst *v1alpha1.Installation) *v1alpha1.Condition {
	for i := range inst.Status.Conditions {
		if inst.Status.Conditions[i].Type == deliveryv1alpha1.DeferredCondition {
			return &inst.Status.Conditions[i]
		}
	}
	return nil
}

func approvalOf(plan deliveryv1alpha1.DeliveryPlan, name, user string) *deliveryv1alpha1.DeliveryApproval {
	return &deliveryv1alpha1.DeliveryApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: plan.Namespace, Name: name},
		Spec:       deliveryv1alpha1.DeliveryApprovalSpec{Installation: plan.Spec.Installation.Name, Digest: plan.Spec.Digest, ApprovedBy: user, AcceptUnknown: plan.Spec.Summary.Unknown > 0},
	}
}

// approve approves as a user.
func approve(t *testing.T, as client.Client, plan deliveryv1alpha1.DeliveryPlan, user string) {
	t.Helper()
	if err := as.Create(t.Context(), approvalOf(plan, plan.Name+"-"+user, user)); err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, plan deliveryv1alpha1.DeliveryPlan) string {
	t.Helper()
	content, err := deliveryplan.Join(&plan, func(name string) (*deliveryv1alpha1.DeliveryPlan, error) {
		part := &deliveryv1alpha1.DeliveryPlan{}
		return part, env.Admin.Get(t.Context(), client.ObjectKey{Namespace: plan.Namespace, Name: name}, part)
	})
	if err != nil {
		t.Fatal(err)
	}
	var shown json.RawMessage
	if _, err := deliveryplan.Decode(content, &shown); err != nil {
		t.Fatal(err)
	}
	return string(shown)
}

// TestDeliveryApproval: approvals with a real API server, real users, and changes at every moment.
func TestDeliveryApproval(t *testing.T) {
	whole, kubeconfig := t, deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	server := startServer(whole, kubeconfig, "--feature-gates", deliveryGate)
	restart := func(between func()) {
		server.EndBy(syscall.SIGKILL)
		between()
		server = startServer(whole, kubeconfig, "--feature-gates", deliveryGate)
	}
	once := approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"})

	t.Run("a job does what was approved with the command line, and an approval is for one job", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", once)
		inst := greetingInstallation(t, space, "shop")
		plan := waitPlan(t, inst, "")
		if plan.Spec.Summary.Create != 2 || plan.Spec.Summary.Unknown != 0 || plan.Spec.Installation.Name != "shop" {
			t.Errorf("%+v", plan.Spec)
		}
		if text := contentOf(t, plan); strings.Contains(text, secretValue) || strings.Contains(text, "magic") || !strings.Contains(text, "greeting") {
			t.Errorf("the plan says %s", text)
		}
		run := func(want string, args ...string) {
			t.Helper()
			if code, out, complaints := cli(t, append(args, "-n", space)...); code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: code %d, %q, %q", args, code, out, complaints)
			}
		}
		run(plan.Spec.Digest+"  2 to create  -", "plans", "list")
		run("+ create ConfigMap "+space+"/greeting\n", "plans", "show", "shop")
		run("landscaper-cli plans approve shop -n "+space, "installations", "inspect", "shop")
		if code, _, said := cli(t, "plans", "approve", "shop", "-n", space, "--digest", "sha256:"+strings.Repeat("0", 64)); code == 0 || !strings.Contains(said, "the present one is "+plan.Spec.Digest) {
			t.Errorf("another digest: code %d, %q", code, said)
		}
		run("Approved plan "+plan.Spec.Digest+" of shop", "plans", "approve", "shop", "--digest", plan.Spec.Digest[:20])
		inst = waitSucceeded(t, inst)
		approved := inst.Status.ApprovedPlan
		if approved == nil || approved.JobID != inst.Status.JobID || approved.Digest != plan.Spec.Digest || len(approved.ApprovedBy) != 1 || deferralOf(inst) != nil {
			t.Errorf("the status says %+v", approved)
		}
		if said := eventsOf(t, inst, "Approved"); len(said) != 1 || !strings.Contains(said[0], plan.Spec.Digest) {
			t.Errorf("events: %v", said)
		}
		request(t, inst, v1alpha1.ReconcileOperation)
		again := waitPlan(t, inst, plan.Spec.Digest)
		if again.Spec.Summary.Keep != 2 || again.Spec.Summary.Create != 0 {
			t.Errorf("the next job: %+v", again.Spec)
		}
	})
	t.Run("a user approves only as the user, and changes no approval", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", once)
		plan := waitPlan(t, create(t, newInstallation(space, "shop", oneConfigMap)), "")
		mallory := tenant(t, "mallory", space, approver)
		err := mallory.Create(t.Context(), approvalOf(plan, "forged", "ann"))
		if err == nil || !strings.Contains(err.Error(), "must be the name of the user who creates the approval: mallory") {
			t.Fatalf("mallory approves for ann: %v", err)
		}
		if err := tenant(t, "trudy", space, "").Create(t.Context(), approvalOf(plan, "own", "trudy")); !apierrors.IsForbidden(err) {
			t.Errorf("without a right: %v", err)
		}
		own := approvalOf(plan, "own", "mallory")
		own.Spec.Digest = "sha256:" + strings.Repeat("0", 64)
		if err := mallory.Create(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		for field, value := range map[string]string{"approvedBy": "ann", "digest": plan.Spec.Digest} {
			change := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{%q:%q}}`, field, value))
			if err := mallory.Patch(t.Context(), own.DeepCopy(), change); err == nil || !strings.Contains(err.Error(), "an approval is not changed") {
				t.Errorf("%s: %v", field, err)
			}
		}
	})
	t.Run("an import that changes between two approvals makes the plan void", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always", Approvers: 2}))
		inst := greetingInstallation(t, space, "shop")
		plan := waitPlan(t, inst, "")
		ann, bob := tenant(t, "ann-void", space, approver), tenant(t, "bob-void", space, approver)
		approve(t, ann, plan, "ann-void")
		waitFor(t, client.ObjectKeyFromObject(inst), "approved by one", func(inst *v1alpha1.Installation) bool {
			return strings.Contains(deferralOf(inst).Message, "needs the approval of 2 users, and has that of ann-void")
		})
		changed := client.RawPatch("application/merge-patch+json", []byte(`{"data":"goodbye"}`))
		if err := env.Admin.Patch(t.Context(), &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "greeting"}}, changed); err != nil {
			t.Fatal(err)
		}
		approve(t, bob, plan, "bob-void")
		second := waitPlan(t, inst, plan.Spec.Digest)
		if said := deferralOf(getInstallation(t, inst)).Message; !strings.Contains(said, "plan "+plan.Spec.Digest+", which ") || !strings.Contains(said, "is not what would happen any more") {
			t.Errorf("it says %s", said)
		}
		if now := getInstallation(t, inst); now.Status.JobID != "" {
			t.Errorf("a job has begun: %+v", now.Status)
		}
		if _, out, _ := cli(t, "plans", "show", "shop", "-n", space); !strings.Contains(out, "Compared with plan "+plan.Spec.Digest+", which ann-void, bob-void has approved:\n") || !strings.Contains(out, "-       + data.text: hello\n+       + data.text: goodbye\n") {
			t.Errorf("the difference:\n%s", out)
		}
		approve(t, ann, second, "ann-void")
		approve(t, bob, second, "bob-void")
		if inst = waitSucceeded(t, inst); strings.Join(inst.Status.ApprovedPlan.ApprovedBy, " ") != "ann-void bob-void" {
			t.Errorf("%+v", inst.Status.ApprovedPlan)
		}
	})
	t.Run("a tree, approved while no server works", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", once)
		root := createTree(t, space, "root", "", flow("first", "", "value"), flow("second", "value", ""), recordedLeaves()[2])
		plan := waitPlan(t, root, "")
		restart(func() {
			if code, _, said := cli(t, "plans", "approve", "root", "-n", space, "--digest", plan.Spec.Digest); code != 0 {
				t.Errorf("code %d, %s", code, said)
			}
		})
		root = waitSucceeded(t, root)
		if approved := root.Status.ApprovedPlan; approved == nil || approved.Digest != plan.Spec.Digest || plan.Spec.Summary.Create != 3 {
			t.Errorf("%+v", approved)
		}
	})
	t.Run("what only the job can know is approved by those who say so", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", once)
		inst := create(t, newInstallation(space, "shop", unservedItem))
		plan := waitPlan(t, inst, "")
		if code, _, said := cli(t, "plans", "approve", "shop", "-n", space, "--digest", plan.Spec.Digest); code == 0 || !strings.Contains(said, "has 1 parts that only the job can know") {
			t.Errorf("code %d, %s", code, said)
		}
		silent := approvalOf(plan, "silent", "ann-silent")
		silent.Spec.AcceptUnknown = false
		if err := tenant(t, "ann-silent", space, approver).Create(t.Context(), silent); err != nil {
			t.Fatal(err)
		}
		// The server has seen the approval when it has seen a later one.
		if code, _, said := cli(t, "plans", "approve", "shop", "-n", space, "--digest", plan.Spec.Digest, "--accept-unknown"); code != 0 {
			t.Fatalf("code %d, %s", code, said)
		}
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "begun", func(inst *v1alpha1.Installation) bool { return inst.Status.JobID != "" })
		if by := inst.Status.ApprovedPlan.ApprovedBy; len(by) != 1 || by[0] == "ann-silent" {
			t.Errorf("approved by %v", by)
		}
	})
	t.Run("deletions alone: what creates passes, and is recorded; the deletion waits", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Deletions"}))
		inst := waitSucceeded(t, create(t, newInstallation(space, "shop", oneConfigMap)))
		if approved := inst.Status.ApprovedPlan; approved == nil || len(approved.ApprovedBy) != 0 {
			t.Errorf("%+v", approved)
		}
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		plan := waitPlan(t, inst, "")
		if !plan.Spec.Installation.Deleted || plan.Spec.Summary.Delete != 1 {
			t.Errorf("%+v", plan.Spec)
		}
		approve(t, tenant(t, "ann-deletes", space, approver), plan, "ann-deletes")
		waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	})
	t.Run("a plan that cannot be worked out says why, and is tried again", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", once)
		inst := newInstallation(space, "shop", oneConfigMap)
		inst.Spec.Imports.Targets[0].Target = "nowhere"
		inst = waitDeferred(t, create(t, inst), "PlanFailed")
		if said := deferralOf(inst).Message; !strings.Contains(said, "nowhere") {
			t.Errorf("it says %s", said)
		}
		change := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"imports":{"targets":[{"name":"cluster","target":"host"}]}}}`))
		if err := env.Admin.Patch(t.Context(), inst.DeepCopy(), change); err != nil {
			t.Fatal(err)
		}
		waitPlan(t, inst, "")
	})
}

// TestApprovalBudget: what an approval costs, and how long the plan of 100 objects takes.
func TestApprovalBudget(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	plain, governed := namespace(t), namespace(t)
	waitForContext(t, plain)
	waitForContext(t, governed)
	policy(t, governed, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	ann := tenant(t, "ann-budget", governed, approver)
	waitSucceeded(t, create(t, newInstallation(namespace(t), "warm", oneConfigMap)))
	count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: "landscaper-approval"}, landscape.Caller{Cluster: env.Target, User: "landscaper-deployer"})
	if err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, create(t, newInstallation(plain, "shop", landscape.ConfigMaps(100))))
	inst, begun := create(t, newInstallation(governed, "shop", landscape.ConfigMaps(100))), time.Now()
	plan := waitPlan(t, inst, "")
	took := time.Since(begun)
	t.Logf("a plan of %d objects after %s", plan.Spec.Summary.Create, took)
	if took > 3*time.Second {
		t.Error("it may take 3 s")
	}
	approve(t, ann, plan, "ann-budget")
	waitSucceeded(t, inst)
	server.EndBy(syscall.SIGTERM)
	list, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spent := map[string]map[string]int{plain: {}, governed: {}}
	for _, r := range list {
		if of := spent[r.Namespace]; of != nil && !strings.Contains(r.Key(), "deliverypolicies") {
			of[r.Key()]++
		}
	}
	more, dryRuns := 0, 0
	for key, times := range spent[governed] {
		extra := times - spent[plain][key]
		if extra != 0 {
			t.Logf("%+d %s", extra, key)
		}
		if strings.HasPrefix(key, env.Target.Name+" ") {
			dryRuns += extra
			continue
		}
		more += extra
	}
	if more > 8 {
		t.Errorf("%d requests more of the resource cluster, at most 8", more)
	}
	if dryRuns > 2*100 {
		t.Errorf("%d requests more of the target cluster, at most one for each object and plan", dryRuns)
	}
}
