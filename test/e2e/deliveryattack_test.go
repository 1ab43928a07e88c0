package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/landscape"
)

// unsure is a leaf that exports what only the API server of the target cluster knows. It is ready when
// another client says so.
func unsure(space string) leaf {
	l := flow("first", "", "uid")
	note := "{apiVersion: v1, kind: ConfigMap, name: note-first, namespace: " + space + "}"
	l.ready = "{custom: [{name: open, resourceSelector: [" + note + "], requirements: [{jsonPath: .data.open, operator: exists}]}]}\n" +
		"        exports: {exports: [{key: uid, jsonPath: .metadata.uid, fromResource: " + note + "}]}"
	l.given = "{text: {{ .values.deployitems.note.uid | quote }}}"
	return l
}

// TestUnknownParts: a tree of which only the job can know a part.
func TestUnknownParts(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	text := func(t *testing.T, space string) string {
		t.Helper()
		note := configMap(space, "note-second")
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(note), note); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return note.Data["text"]
	}
	open := func(t *testing.T, space string) {
		t.Helper()
		change := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"open":"yes"}}`))
		if err := env.Workload.Patch(t.Context(), configMap(space, "note-first"), change); err != nil {
			t.Fatal(err)
		}
	}
	// begin approves the first plan of a tree, and returns the tree when its second part waits for the first.
	begin := func(t *testing.T, space, user string) *v1alpha1.Installation {
		t.Helper()
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
		root := createTree(t, space, "root", "", unsure(space), flow("second", "uid", ""))
		plan := waitPlan(t, root, "")
		if plan.Spec.Summary.Create != 1 || plan.Spec.Summary.Unknown != 1 {
			t.Errorf("%+v", plan.Spec.Summary)
		}
		silent := approvalOf(plan, "silent", "silent-"+user)
		silent.Spec.AcceptUnknown = false
		if err := tenant(t, "silent-"+user, space, approver).Create(t.Context(), silent); err != nil {
			t.Fatal(err)
		}
		approve(t, tenant(t, user, space, approver), plan, user)
		root = waitFor(t, client.ObjectKeyFromObject(root), "running", func(inst *v1alpha1.Installation) bool {
			return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
		})
		if by := root.Status.ApprovedPlan.ApprovedBy; len(by) != 1 || by[0] != user {
			t.Errorf("approved by %v: an approval counts that does not say that it is for unknown parts, too", by)
		}
		waitTarget(t, configMap(space, "note-first"))
		return root
	}

	t.Run("a user approves what is unknown, and the job works it out", func(t *testing.T) {
		space := namespace(t)
		root := begin(t, space, "ann-accepts")
		open(t, space)
		waitSucceeded(t, root)
		first := configMap(space, "note-first")
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil || text(t, space) != string(first.UID) {
			t.Errorf("%v: the second part says %q, want %q", err, text(t, space), first.UID)
		}
	})
	t.Run("a user changes a subinstallation in the unknown part after its parent has written it", func(t *testing.T) {
		space := namespace(t)
		root := begin(t, space, "ann-deceived")
		second := subsOf(t, root)["second"]
		evil := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"importDataMappings":{"text":"evil"}}}`))
		if err := tenant(t, "mallory-changes", space, "").Patch(t.Context(), second, evil); err != nil {
			t.Fatal(err)
		}
		open(t, space)
		waitFor(t, client.ObjectKeyFromObject(root), "failed", func(inst *v1alpha1.Installation) bool {
			return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Failed
		})
		if last := getInstallation(t, second).Status.LastError; last == nil || last.Reason != "NotApproved" || !strings.Contains(last.Message, "was changed after its parent had written it") {
			t.Errorf("%+v", last)
		}
		if said := text(t, space); said != "" {
			t.Errorf("the second part says %q", said)
		}
	})
	t.Run("a policy refuses unknown parts", func(t *testing.T) {
		space := namespace(t)
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Deletions", Unknown: deliveryv1alpha1.RefuseUnknown}))
		root := waitDeferred(t, createTree(t, space, "root", "", unsure(space), flow("second", "uid", "")), "PlanRefused")
		if said := deferralOf(root).Message; !strings.Contains(said, "has 1 parts that only the job can know, which the policy does not permit") {
			t.Errorf("it says %s", said)
		}
	})
}

// TestImportChangesInJob: a user changes what a part of the tree imports, while the approved job waits for
// the part before it.
func TestImportChangesInJob(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	space := namespace(t)
	policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	first, second := flow("first", "", "value"), flow("second", "value", "")
	first.ready = unsure(space).ready[:strings.Index(unsure(space).ready, "\n")]
	second.imports += "\n- {name: greeting, schema: {type: string}}"
	second.text = "{{ .imports.greeting | quote }}"
	second.wiring = strings.Replace(second.wiring, "data: [", "data: [{name: greeting, dataRef: greeting}, ", 1)
	root := createTree(t, space, "root", "", first, second)
	plan := waitPlan(t, root, "")
	if plan.Spec.Summary.Unknown != 0 || plan.Spec.Summary.Create != 2 {
		t.Errorf("%+v", plan.Spec.Summary)
	}
	approve(t, tenant(t, "ann-imports", space, approver), plan, "ann-imports")
	root = waitFor(t, client.ObjectKeyFromObject(root), "running", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	waitTarget(t, configMap(space, "note-first"))
	copied := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope(root.Name), "greeting")}}
	if err := env.Admin.Patch(t.Context(), copied, client.RawPatch("application/merge-patch+json", []byte(`{"data":"evil"}`))); err != nil {
		t.Fatal(err)
	}
	if err := env.Workload.Patch(t.Context(), configMap(space, "note-first"), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"open":"yes"}}`))); err != nil {
		t.Fatal(err)
	}
	root = waitFor(t, client.ObjectKeyFromObject(root), "failed", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Failed
	})
	if last := subsOf(t, root)["second"].Status.LastError; last == nil || last.Reason != "NotApproved" || !strings.Contains(last.Message, "item note of root/second is another one now") {
		t.Errorf("%+v", last)
	}
	written := configMap(space, "note-second")
	if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(written), written); client.IgnoreNotFound(err) != nil || len(written.Data) > 0 {
		t.Errorf("%v: %v was written", err, written.Data)
	}
}

// below is a subinstallation with others below it, and with a leaf that says the name of its Target at the
// bottom.
func below(t *testing.T, space string, levels int) any {
	t.Helper()
	if levels == 0 {
		bottom := flow("bottom", "", "")
		bottom.text = "{{ .imports.cluster.metadata.name | quote }}"
		return bottom.template(t, space)
	}
	description := map[string]any{}
	decode(t, `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: [{name: cluster, targetType: kubernetes-cluster}]}`, &description)
	description["subinstallations"] = []any{below(t, space, levels-1)}
	template := map[string]any{"name": fmt.Sprint("level-", levels), "blueprint": map[string]any{"filesystem": map[string]any{"blueprint.yaml": encoded(t, description)}}}
	decode(t, `imports: {targets: [{name: cluster, target: cluster}]}`, &template)
	return template
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNamesOfCopies: the first job of a tree of many levels is the approved one, although an item has the
// name of a Target whose copy does not exist when the plan is worked out.
func TestNamesOfCopies(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	for levels := 1; levels <= 3; levels++ {
		space := namespace(t)
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
		description := map[string]any{}
		decode(t, treeRoot, &description)
		description["subinstallations"] = []any{below(t, space, levels)}
		createAll(t, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "greeting"}, Data: v1alpha1.NewAnyJSON([]byte(`"hello"`))})
		root := &v1alpha1.Installation{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "root", Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}},
			Spec:       treeSpecOf(t, space, ""),
		}
		root.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON([]byte(encoded(t, map[string]string{"blueprint.yaml": encoded(t, description)})))
		root = create(t, root)
		user := fmt.Sprint("ann-below-", levels)
		approve(t, tenant(t, user, space, approver), waitPlan(t, root, ""), user)
		waitSucceeded(t, root)
		note, target := configMap(space, "note-bottom"), &v1alpha1.Target{}
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(note), note); err != nil {
			t.Fatal(err)
		}
		if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: note.Data["text"]}, target); err != nil {
			t.Errorf("%d levels: the item has the name %s: %v", levels, note.Data["text"], err)
		}
	}
}

// waitTarget waits until an object exists on the target cluster.
func waitTarget(t *testing.T, object client.Object) {
	t.Helper()
	events, err := env.Workload.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	select {
	case <-events.ResultChan():
	case <-time.After(waitLimit):
		t.Fatalf("%s does not come", object.GetName())
	}
}

// secretive deploys a secret value in all ways that a template has, and the kubeconfig of its Target.
const secretive = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
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
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: open, namespace: NAMESPACE, annotations: {example.org/login: {{ .imports.password | quote }}}}
            data:
              plain: {{ .imports.password | quote }}
              encoded: {{ .imports.password | b64enc | quote }}
              within: {{ printf "user:%s@db" .imports.password | b64enc | quote }}
              doubly: {{ .imports.password | b64enc | b64enc | quote }}
              kubeconfig: {{ toJson .imports.cluster.spec.config | quote }}
        - policy: manage
          manifest: {apiVersion: v1, kind: Secret, metadata: {name: hidden, namespace: NAMESPACE}, data: {password: {{ .imports.password | b64enc | quote }}}}
    - name: release
      type: landscaper.gardener.cloud/helm
      target: {import: cluster}
      config:
        apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
        kind: ProviderConfiguration
        name: greeter
        namespace: NAMESPACE
        chart: {archive: {raw: CHART}}
        values: {greeting: {{ .imports.password | quote }}}
`

// TestSecretsInPlans: neither a stored plan nor what is said about it has a secret value: as it is, encoded,
// as a value of a chart, in the kubeconfig of a Target, or as the difference of two Secrets.
func TestSecretsInPlans(t *testing.T) {
	const first, second = "xyzzy-magic-4711", "plugh-magic-0815"
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	space := namespace(t)
	policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "password"}, StringData: map[string]string{"value": `"` + first + `"`}}
	createAll(t, password)
	inst := landscape.Described(space, "shop", strings.NewReplacer("NAMESPACE", space, "CHART", packed(t, "1.0.0", greeter)).Replace(secretive))
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "password", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "password", Key: "value"}}}}
	inst = create(t, inst)
	target := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "host"}, target); err != nil {
		t.Fatal(err)
	}
	forbidden := map[string]string{}
	for _, value := range []string{first, second} {
		within := base64.StdEncoding.EncodeToString([]byte("user:" + value + "@db"))
		once := base64.StdEncoding.EncodeToString([]byte(value))
		forbidden["the value "+value], forbidden["its encoding "+once], forbidden["a text with it, encoded"] = value, once, within
		forbidden["its double encoding "+value] = base64.StdEncoding.EncodeToString([]byte(once))
	}
	forbidden["the token of the Target"] = tokenOf(t, target)
	check := func(plan deliveryv1alpha1.DeliveryPlan, want string) {
		t.Helper()
		said := wholeOf(t, plan) + deferralOf(getInstallation(t, inst)).Message + strings.Join(append(eventsOf(t, inst, "Deferred"), append(eventsOf(t, inst, "ApprovalRequired"), eventsOf(t, inst, "Approved")...)...), "\n")
		if _, out, complaints := cli(t, "plans", "show", "shop", "-n", space); true {
			said += out + complaints
		}
		for what, value := range forbidden {
			if strings.Contains(said, value) {
				t.Errorf("plan %s has %s", plan.Name, what)
			}
		}
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	plan := waitPlan(t, inst, "")
	check(plan, "hidden")
	approve(t, tenant(t, "ann-secrets", space, approver), plan, "ann-secrets")
	inst = waitSucceeded(t, inst)
	change := client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"value":"\"`+second+`\""}}`))
	if err := env.Admin.Patch(t.Context(), password, change); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	changed := waitPlan(t, inst, plan.Spec.Digest)
	if changed.Spec.Summary.Change < 2 {
		t.Errorf("%+v", changed.Spec.Summary)
	}
	check(changed, "hidden")
	server.AwaitReady()
}

// tokenOf is the token in the kubeconfig of a Target.
func tokenOf(t *testing.T, target *v1alpha1.Target) string {
	t.Helper()
	var config struct{ Kubeconfig string }
	decode(t, string(target.Spec.Configuration.RawMessage), &config)
	loaded, err := clientcmd.Load([]byte(config.Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range loaded.AuthInfos {
		if len(user.Token) > 10 {
			return user.Token
		}
	}
	t.Fatal("the Target has no token that could be seen")
	return ""
}

// wholeOf is all that is stored of a plan: what it shows, and what it permits.
func wholeOf(t *testing.T, plan deliveryv1alpha1.DeliveryPlan) string {
	t.Helper()
	content, err := deliveryplan.Join(&plan, func(name string) (*deliveryv1alpha1.DeliveryPlan, error) {
		part := &deliveryv1alpha1.DeliveryPlan{}
		return part, env.Admin.Get(t.Context(), client.ObjectKey{Namespace: plan.Namespace, Name: name}, part)
	})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestApprovalOfAnother: an approval is for one job of one Installation, whatever has its name.
func TestApprovalOfAnother(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	space := namespace(t)
	policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	ann := tenant(t, "ann-once", space, approver)
	inst := create(t, newInstallation(space, "shop", oneConfigMap))
	plan := waitPlan(t, inst, "")
	approve(t, ann, plan, "ann-once")
	inst = waitSucceeded(t, inst)

	// The same change is asked for again, and the approval is given again: its digest is that of the job
	// that was.
	deployed := configMap(space, "shop")
	if err := env.Workload.Delete(t.Context(), deployed); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	second := waitPlan(t, inst, plan.Spec.Digest)
	if second.Spec.Summary != plan.Spec.Summary {
		t.Errorf("%+v, first %+v", second.Spec.Summary, plan.Spec.Summary)
	}
	replayed := approvalOf(plan, "replayed", "ann-once")
	if err := ann.Create(t.Context(), replayed); err != nil {
		t.Fatal(err)
	}
	approve(t, ann, second, "ann-once")
	inst = waitFor(t, client.ObjectKeyFromObject(inst), "begun with the second plan", func(inst *v1alpha1.Installation) bool {
		return inst.Status.ApprovedPlan.Digest == second.Spec.Digest
	})
	inst = waitSucceeded(t, inst)

	// Another Installation of the name, with the same specification: the approvals are still there.
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	approve(t, ann, waitPlan(t, inst, second.Spec.Digest), "ann-once")
	waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	other := create(t, newInstallation(space, "shop", oneConfigMap))
	third := waitPlan(t, other, "")
	approvals := &deliveryv1alpha1.DeliveryApprovalList{}
	if err := env.Admin.List(t.Context(), approvals, client.InNamespace(space)); err != nil || len(approvals.Items) != 4 {
		t.Errorf("%v: %d approvals", err, len(approvals.Items))
	}
	if third.Spec.Digest == plan.Spec.Digest || getInstallation(t, other).Status.JobID != "" {
		t.Errorf("plan %s is that of another Installation", third.Spec.Digest)
	}
}

// TestHugePlan: a plan of more than 64 MiB is refused with a clear message, and the server keeps its memory.
func TestHugePlan(t *testing.T) {
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	space, plain := namespace(t), namespace(t)
	policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	waitSucceeded(t, create(t, newInstallation(plain, "warm", oneConfigMap)))
	before, err := server.PeakMemory()
	if err != nil {
		t.Fatal(err)
	}
	leaves := make([]leaf, 120)
	for i := range leaves {
		leaves[i] = flow(fmt.Sprint("big-", i), "", "")
		leaves[i].text = `{{ repeat 900000 "x" | quote }}`
	}
	begun := time.Now()
	root := waitDeferred(t, createTree(t, space, "root", "", leaves...), "PlanRefused")
	took := time.Since(begun)
	if said := deferralOf(root).Message; !strings.Contains(said, "or follows from more than 128 MiB: a plan that is not stored whole is not approved") {
		t.Errorf("it says %s", said)
	}
	peak, err := server.PeakMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("refused after %s; peak memory %d MiB, before %d MiB", took, peak>>20, before>>20)
	if peak > 700<<20 {
		t.Errorf("the server took %d MiB", peak>>20)
	}
	plans := &deliveryv1alpha1.DeliveryPlanList{}
	if err := env.Admin.List(t.Context(), plans, client.InNamespace(space)); err != nil || len(plans.Items) > 0 {
		t.Errorf("%v: %d objects are stored", err, len(plans.Items))
	}
	waitSucceeded(t, create(t, newInstallation(plain, "after", oneConfigMap)))
}

// TestPlansBesideOthers: a tenant with 200 roots that need plans, on a cluster that never answers, delays
// neither the plan of another tenant nor a job.
func TestPlansBesideOthers(t *testing.T) {
	const roots = 200
	kubeconfig := deliveryUser(t, "landscaper-approval")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	hostile, own, plain := namespace(t), namespace(t), namespace(t)
	for _, space := range []string{hostile, own} {
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
	}
	env.CreateTarget(t, hostile, "silent", `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {token: a}}], clusters: [{name: a, cluster: {server: "https://`+listener.Addr().String()+`"}}]}`)
	measure := func(name string) (plan, job time.Duration) {
		begun := time.Now()
		waitPlan(t, create(t, newInstallation(own, name, oneConfigMap)), "")
		plan, begun = time.Since(begun), time.Now()
		waitSucceeded(t, create(t, newInstallation(plain, name, oneConfigMap)))
		return plan, time.Since(begun)
	}
	measure("warm")
	planAlone, jobAlone := measure("alone")
	for i := range roots {
		inst := newInstallation(hostile, fmt.Sprint("root-", i), oneConfigMap)
		inst.Spec.Imports.Targets[0].Target = "silent"
		create(t, inst)
	}
	plan, job := measure("beside")
	t.Logf("a plan took %s, beside %d others %s; a job %s and %s", planAlone, roots, plan, jobAlone, job)
	if plan > 10*planAlone+5*time.Second || job > 10*jobAlone+5*time.Second {
		t.Error("they were delayed")
	}
	plans := &deliveryv1alpha1.DeliveryPlanList{}
	if err := env.Admin.List(t.Context(), plans, client.InNamespace(hostile)); err != nil || len(plans.Items) > roots/2 {
		t.Errorf("%v: %d plans are there already, so that little was measured", err, len(plans.Items))
	}
	abandonAll(t, hostile)
}

// abandonAll deletes roots that nothing has been deployed of.
func abandonAll(t *testing.T, space string) {
	t.Helper()
	if err := env.Admin.DeleteAllOf(t.Context(), &deliveryv1alpha1.DeliveryPolicy{}, client.InNamespace(space)); err != nil {
		t.Error(err)
	}
	if err := env.Admin.DeleteAllOf(t.Context(), &v1alpha1.Installation{}, client.InNamespace(space)); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// TestApprovalAhead: a job that waits for the end of a freeze is approved meanwhile, and a way back of the
// server needs an approval like any job.
func TestApprovalAhead(t *testing.T) {
	kubeconfig := deliveryUser(t, "way-back")
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	startServer(t, kubeconfig, "--feature-gates", deliveryGate)
	always := approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"})

	t.Run("approved during a freeze", func(t *testing.T) {
		space := namespace(t)
		spec := *always.DeepCopy()
		now := time.Now()
		spec.Freezes = []deliveryv1alpha1.Freeze{{From: metav1.NewTime(now.Add(-time.Hour)), To: metav1.NewTime(now.Add(time.Hour)), Reason: "launch"}}
		frozen := policy(t, space, "production", spec)
		inst := create(t, newInstallation(space, "shop", oneConfigMap))
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "frozen with a plan", func(inst *v1alpha1.Installation) bool {
			said := deferralOf(inst)
			return said != nil && said.Reason == "Frozen" && strings.Contains(said.Message, "needs the approval of a user")
		})
		if code, _, said := cli(t, "plans", "approve", "shop", "-n", space, "--yes"); code != 0 {
			t.Fatalf("code %d, %s", code, said)
		}
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "frozen and approved", func(inst *v1alpha1.Installation) bool {
			return strings.Contains(deferralOf(inst).Message, "and is compared with what would happen then; it may begin at ")
		})
		if inst.Status.JobID != "" {
			t.Errorf("a job has begun: %+v", inst.Status)
		}
		thaw := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"freezes":null}}`))
		if err := env.Admin.Patch(t.Context(), frozen, thaw); err != nil {
			t.Fatal(err)
		}
		if inst = waitSucceeded(t, inst); len(inst.Status.ApprovedPlan.ApprovedBy) != 1 {
			t.Errorf("%+v", inst.Status.ApprovedPlan)
		}
	})
	t.Run("the way back is approved", func(t *testing.T) {
		space := namespace(t)
		spec := *always.DeepCopy()
		spec.History = &deliveryv1alpha1.History{Revisions: 3, Rollback: deliveryv1alpha1.RollbackOnFailure}
		policy(t, space, "production", spec)
		ann := tenant(t, "ann-back", space, approver)
		inst := create(t, newInstallation(space, "shop", oneConfigMap))
		plan := waitPlan(t, inst, "")
		approve(t, ann, plan, "ann-back")
		inst = waitSucceeded(t, inst)
		// It is never ready.
		never := "{custom: [{name: open, timeout: 2s, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: shop, namespace: " + space + "}], requirements: [{jsonPath: .data.open, operator: exists}]}]}"
		broken := strings.NewReplacer("hello", "good morning", "- name: one", "- name: one\n  timeout: 5s", "updateStrategy: update", "updateStrategy: update\n    readinessChecks: "+never).Replace(oneConfigMap)
		write(t, inst, broken)
		upgrade := waitPlan(t, inst, plan.Spec.Digest)
		approve(t, ann, upgrade, "ann-back")
		inst = waitFor(t, client.ObjectKeyFromObject(inst), "back", func(inst *v1alpha1.Installation) bool { return inst.Generation == 3 })
		back := waitPlan(t, inst, upgrade.Spec.Digest)
		deployed := configMap(space, "shop")
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || deployed.Data["greeting"] != "good morning" {
			t.Errorf("%v: the greeting is %q before the approval", err, deployed.Data["greeting"])
		}
		if back.Spec.Summary.Change != 1 {
			t.Errorf("%+v", back.Spec.Summary)
		}
		approve(t, ann, back, "ann-back")
		inst = waitGeneration(t, inst, 3, v1alpha1.InstallationPhases.Succeeded)
		if last := inst.Status.History[0]; last.Trigger != v1alpha1.TriggeredByRollback || inst.Status.ApprovedPlan.Digest != back.Spec.Digest {
			t.Errorf("%+v, %+v", last, inst.Status.ApprovedPlan)
		}
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || deployed.Data["greeting"] != "hello" {
			t.Errorf("%v: the greeting is %q", err, deployed.Data["greeting"])
		}
	})
}
