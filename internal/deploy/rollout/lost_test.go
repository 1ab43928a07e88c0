package rollout

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

const (
	robot       = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: ns}}`
	token       = `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, namespace: ns, annotations: {kubernetes.io/service-account.name: robot}}}`
	robotPod    = `{apiVersion: v1, kind: Pod, metadata: {name: robot, namespace: ns}, spec: {serviceAccountName: robot}}`
	tokenExport = `exports: [{key: token, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: Secret, name: token, namespace: ns}}]`
	shortJob    = `{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns}, spec: {ttlSecondsAfterFinished: 1}}`
)

var errRefused = errors.New("refused")

// withAccounts is a cluster that knows ServiceAccounts.
func withAccounts() *fakecluster.Cluster {
	cluster := fakecluster.New()
	cluster.Know(schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, "serviceaccounts", meta.RESTScopeNamespace)
	return cluster
}

// lossRow is an object that another client deletes while a roll-out waits for it.
type lossRow struct {
	reason  string
	objects []string
	change  func(t *testing.T, desiredState *DesiredState)
	there   string
	// waits is what is waited for, kind and name what is deleted then.
	waits, kind, name string
	// stays says that it is not applied again.
	stays bool
	// ends fulfils the wait; nothing if the end of the object does.
	ends string
}

func lossRows() []lossRow {
	check := func(text string) func(*testing.T, *DesiredState) {
		return func(t *testing.T, desiredState *DesiredState) { desiredState.Checks = checks(t, text) }
	}
	exports := func(text string) func(*testing.T, *DesiredState) {
		return func(t *testing.T, desiredState *DesiredState) { desiredState.Exports = exportsFrom(t, text) }
	}
	const byLabel = `[{name: web, labelSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {test.example/deployitem: item}}, requirements: [{jsonPath: .data.go, operator: exists}]}]`
	signalWithout := strings.Replace(signal, `, data: {go: "1"}`, "", 1)
	return []lossRow{
		{reason: "a Secret whose value is exported", objects: []string{robot, token}, change: exports(tokenExport),
			waits: "a value at .data.token of Secret ns/token", kind: "Secret", name: "token", ends: strings.Replace(token, `}}}`, `}}, data: {token: eA==}}`, 1)},
		{reason: "a Pod that has to become ready", objects: []string{pod}, waits: "Pod ns/p to become ready", kind: "Pod", name: "p", ends: readyPod},
		{reason: "an object that a check names", objects: []string{signalWithout}, change: check("[" + checkHere + "]"),
			waits: "ConfigMap ns/signal to become ready", kind: "ConfigMap", name: "signal", ends: signal},
		{reason: "an object that a check finds by its label", objects: []string{signalWithout}, change: check(byLabel),
			waits: "ConfigMap ns/signal to become ready", kind: "ConfigMap", name: "signal", ends: strings.Replace(signal, "namespace: ns}", "namespace: ns, labels: {test.example/deployitem: item}}", 1)},
		{reason: "what a reference leads to", objects: []string{configMap, token}, change: exports(`exports: [{key: k, jsonPath: .metadata, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}, fromObjectRef: {apiVersion: v1, kind: ConfigMap, jsonPath: .data.late}}]`),
			waits: "a value at .data.late of ConfigMap ns/a", kind: "ConfigMap", name: "a", ends: strings.Replace(configMap, `x: "1"`, `late: "1"`, 1)},
		{reason: "a definition that the item uses", objects: []string{definition, tenant}, waits: "CustomResourceDefinition tenants.acme.example to become ready", kind: "CustomResourceDefinition", name: "tenants.acme.example",
			ends: strings.Replace(definition, "versions: [{name: v1}]}}", `versions: [{name: v1}]}, status: {conditions: [{type: Established, status: "True"}]}}`, 1)},
		{reason: "an object of another owner is left to that owner", objects: []string{configMap}, there: signalWithout, change: check("[" + checkHere + "]"),
			waits: "ConfigMap ns/signal to become ready", kind: "ConfigMap", name: "signal", stays: true, ends: signal},
		{reason: "an object of another Target", objects: []string{signalWithout}, change: check("[" + strings.Replace(checkHere, "name: here", "name: here, targetName: edge", 1) + "]"),
			waits: "ConfigMap ns/signal on Target edge to become ready", kind: "ConfigMap", name: "signal", stays: true},
		{reason: "an object that is to be ignored", objects: []string{signalWithout}, there: signalWithout, change: func(t *testing.T, desiredState *DesiredState) {
			desiredState.Checks, desiredState.Objects[0].Policy = checks(t, "["+checkHere+"]"), deployer.IgnorePolicy
		}, waits: "ConfigMap ns/signal to become ready", kind: "ConfigMap", name: "signal", stays: true, ends: signal},
		{reason: "an object of another owner that the item leaves alone", objects: []string{signalWithout}, there: signalWithout, change: func(t *testing.T, desiredState *DesiredState) {
			desiredState.Checks, desiredState.Objects[0].Policy = checks(t, "["+checkHere+"]"), deployer.FallbackPolicy
		}, waits: "ConfigMap ns/signal to become ready", kind: "ConfigMap", name: "signal", stays: true, ends: signal},
		{reason: "a Job that is deleted by itself", objects: []string{shortJob}, change: func(_ *testing.T, desiredState *DesiredState) { desiredState.Readiness = deployer.ReadinessModeKstatus },
			waits: "Job ns/j to become ready", kind: "Job", name: "j", stays: true},
		{reason: "a Job that is deleted by itself and that a check waits for", objects: []string{shortJob}, change: check(`[{name: done, resourceSelector: {apiVersion: batch/v1, kind: Job, name: j, namespace: ns}, requirements: [{jsonPath: .status.succeeded, operator: exists}]}]`),
			waits: "Job ns/j to become ready", kind: "Job", name: "j", stays: true, ends: strings.Replace(shortJob, "}}", "}, status: {succeeded: 1}}", 1)},
	}
}

// TestLostObjects deletes an object while it is awaited: what the item has applied itself is
// applied again, with or without a watch, and nothing of others is made.
func TestLostObjects(t *testing.T) {
	for _, row := range lossRows() {
		t.Run(row.reason, func(t *testing.T) { loseOne(t, row) })
	}
}

func loseOne(t *testing.T, row lossRow) {
	cluster := withAccounts()
	job := &testJob{clusters: map[string]target.Cluster{"edge": fakecluster.New()}}
	desiredState := wishFor(objects(t, row.objects...))
	if row.change != nil {
		row.change(t, &desiredState)
	}
	if row.there != "" {
		cluster.Put(objects(t, row.there)[0].Object)
	}
	r := start(t, job, cluster, desiredState, nil)
	defer func() { _ = r.Close() }()
	mustWait(t, r, row.waits)
	namespace := "ns"
	if row.kind == "CustomResourceDefinition" {
		namespace = ""
	}
	before := cluster.Find(row.kind, namespace, row.name)
	job.wakes = 0
	cluster.Remove(row.kind, namespace, row.name)
	if job.wakes == 0 && !row.stays {
		t.Error("nothing was triggered")
	}
	waiting, err := r.Continue(t.Context())
	after := cluster.Find(row.kind, namespace, row.name)
	if err != nil || (after == nil) != row.stays {
		t.Fatalf("it exists: %t, waiting %v, error %v", after != nil, waiting, err)
	}
	if !row.stays {
		if after.GetUID() == before.GetUID() || len(waiting) != 1 || !strings.Contains(waiting[0], "it was deleted once (") || !strings.Contains(waiting[0], "and applied again at ") {
			t.Errorf("waiting %v", waiting)
		}
		recorded(t, r, after)
	}
	if row.ends != "" {
		job.wakes = 0
		cluster.Put(objects(t, row.ends)[0].Object)
		if job.wakes == 0 {
			t.Error("nothing was triggered at the end")
		}
		mustEnd(t, r)
	}
	if err := r.Close(); err != nil || cluster.Watched() != 0 {
		t.Errorf("error %v, %d watches are left", err, cluster.Watched())
	}
}

// recorded checks that an object is in the inventory with its identity.
func recorded(t *testing.T, r *Rollout, object *unstructured.Unstructured) {
	t.Helper()
	for _, entry := range r.Inventory() {
		if entry.Resource.Kind == object.GetKind() && entry.Resource.Name == object.GetName() && entry.Resource.UID == object.GetUID() {
			return
		}
	}
	t.Errorf("the inventory %v does not have %s with UID %s", r.Inventory(), object.GetName(), object.GetUID())
}

// TestLostWithoutWatch applies an object again also where nothing can be watched.
func TestLostWithoutWatch(t *testing.T) {
	for _, desiredState := range []DesiredState{
		{Objects: objects(t, pod)},
		{Objects: objects(t, configMap), Exports: exportsFrom(t, `exports: [{key: k, jsonPath: .data.late, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}]`)},
		{Objects: objects(t, configMap), Checks: checks(t, `[{name: c, resourceSelector: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}, requirements: [{jsonPath: .data.late, operator: exists}]}]`)},
	} {
		cluster := fakecluster.New()
		cluster.NoWatch = errRefused
		desiredState.Name, desiredState.Owner = "test deployer", wishFor(nil).Owner
		r := start(t, &testJob{}, cluster, desiredState, nil)
		_, _ = r.Continue(t.Context())
		for range 3 {
			_, _ = r.Continue(t.Context())
		}
		object := desiredState.Objects[0].Object
		if cluster.Remove(object.GetKind(), "ns", object.GetName()); cluster.Find(object.GetKind(), "ns", object.GetName()) != nil {
			t.Fatal("it still exists")
		}
		_, err := r.Continue(t.Context())
		if cluster.Find(object.GetKind(), "ns", object.GetName()) == nil {
			t.Errorf("%s was not applied again, error %v", object.GetKind(), err)
		}
		_ = r.Close()
	}
}

// TestFighter deletes an object whenever it exists: it is not applied again at once, and the
// message names who may do that, and when it continues.
func TestFighter(t *testing.T) {
	cluster, job := withAccounts(), &testJob{}
	desiredState := wishFor(objects(t, robot, token))
	desiredState.Exports = exportsFrom(t, tokenExport)
	r := start(t, job, cluster, desiredState, nil)
	defer func() { _ = r.Close() }()
	mustWait(t, r, "a value at .data.token of Secret ns/token, to export token")
	for range 5 {
		cluster.Remove("Secret", "ns", "token")
		if _, err := r.Continue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	created := 0
	for _, request := range cluster.Requests {
		if request.Verb == "create" && request.Kind == "Secret" {
			created++
		}
	}
	if created != 2 {
		t.Errorf("it was created %d times, want twice at once", created)
	}
	mustWait(t, r, "Secret ns/token (it does not exist any more; it was deleted 2 times (kube-controller-manager deletes it as long as ServiceAccount ns/robot does not exist, or was created again) and is applied again at ")
	job.expired = true
	if _, err := r.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), `timeout at: "deployer: during export - key: token": it waited for Secret ns/token (it does not exist any more; it was deleted 2 times (`) {
		t.Errorf("error %v", err)
	}
}

// TestLostAtTheEndOfTheTime applies nothing again when the time is over.
func TestLostAtTheEndOfTheTime(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	r := start(t, job, cluster, wishFor(objects(t, pod)), nil)
	defer func() { _ = r.Close() }()
	mustWait(t, r, "Pod ns/p")
	cluster.Remove("Pod", "ns", "p")
	job.expired = true
	if _, err := r.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "it does not exist any more") || cluster.Find("Pod", "ns", "p") != nil {
		t.Errorf("error %v, objects %v", err, cluster.Names())
	}
}

// TestReadyAgain waits again for what depends on an object that was applied again, and keeps
// the limit of the check that was under way.
func TestReadyAgain(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	desiredState := wishFor(objects(t, pod, configMap))
	desiredState.Checks = checks(t, `[{name: slow, timeout: 1h, resourceSelector: {apiVersion: v1, kind: Pod, name: p, namespace: ns}, requirements: [{jsonPath: .data.late, operator: exists}]}]`)
	r := start(t, job, cluster, desiredState, nil)
	defer func() { _ = r.Close() }()
	mustWait(t, r, "Pod ns/p to become ready (it has no condition Ready yet)")
	cluster.Put(objects(t, readyPod)[0].Object)
	mustWait(t, r, `Pod ns/p to become ready (check "slow"`)
	limit := r.custom.limit
	cluster.Remove("Pod", "ns", "p")
	mustWait(t, r, "Pod ns/p to become ready (it has no condition Ready yet; it was deleted once")
	cluster.Put(objects(t, readyPod)[0].Object)
	mustWait(t, r, `Pod ns/p to become ready (check "slow": field .data.late does not exist yet; it was deleted once`)
	if r.custom.limit != limit {
		t.Error("the check has its whole time again")
	}
}

// TestAccountsFirst applies a ServiceAccount before what cannot live without it.
func TestAccountsFirst(t *testing.T) {
	for range 20 {
		cluster, exists := withAccounts(), false
		cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
			switch {
			case request.Verb != "create":
			case request.Kind == "ServiceAccount":
				exists = true
			case !exists && request.Kind != "ConfigMap":
				t.Errorf("%s %s is created before its ServiceAccount", request.Kind, request.Name)
			}
			return fakecluster.Fault{}
		}
		desiredState := wishFor(objects(t, robot, robotPod, configMap, token))
		desiredState.SkipReadiness = true
		mustEnd(t, start(t, &testJob{}, cluster, desiredState, nil))
	}
}

// TestAccountThatFails leaves out what needs a ServiceAccount as long as that is not there.
func TestAccountThatFails(t *testing.T) {
	cluster := withAccounts()
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Kind == "ServiceAccount" {
			return fakecluster.Fault{Before: errRefused}
		}
		return fakecluster.Fault{}
	}
	r := start(t, &testJob{}, cluster, wishFor(objects(t, token, configMap, robot)), nil)
	if _, err := r.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "ServiceAccount ns/robot") {
		t.Errorf("error %v", err)
	}
	if cluster.Find("Secret", "ns", "token") != nil || cluster.Find("ConfigMap", "ns", "a") == nil {
		t.Errorf("there is %v", cluster.Names())
	}
	cluster.Fault = nil
	mustEnd(t, r)
	if cluster.Find("Secret", "ns", "token") == nil {
		t.Error("the Secret was forgotten")
	}
}

// TestAccountBeingDeleted waits for the end of a ServiceAccount before anything is made for it.
func TestAccountBeingDeleted(t *testing.T) {
	cluster := withAccounts()
	cluster.Put(objects(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: ns, finalizers: [acme.example/hold], deletionTimestamp: "2026-01-01T00:00:00Z"}}`)[0].Object)
	r := start(t, &testJob{}, cluster, wishFor(objects(t, token, robot)), nil)
	mustWait(t, r, "the end of ServiceAccount ns/robot")
	if cluster.Find("Secret", "ns", "token") != nil {
		t.Error("the Secret is created for a ServiceAccount that is being deleted")
	}
	cluster.Remove("ServiceAccount", "ns", "robot")
	mustEnd(t, r)
	if cluster.Find("Secret", "ns", "token") == nil {
		t.Error("the Secret was forgotten")
	}
}

// TestLostNamespace applies a Namespace of the item again when another client has deleted it with
// its content, once its deletion has ended.
func TestLostNamespace(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")
	going := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errRefused)
	going.ErrStatus.Details.Causes = append(going.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	for _, row := range []struct {
		reason string
		fault  error
		held   bool
	}{{"it is deleted", missing, false}, {"it is being deleted", going, true}} {
		t.Run(row.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			r := start(t, &testJob{}, cluster, wishFor(objects(t, namespace, pod)), nil)
			defer func() { _ = r.Close() }()
			mustWait(t, r, "Pod ns/p to become ready")
			cluster.Remove("Pod", "ns", "p")
			cluster.Remove("Namespace", "", "ns")
			if row.held {
				cluster.Put(objects(t, `{apiVersion: v1, kind: Namespace, metadata: {name: ns, finalizers: [kubernetes], deletionTimestamp: "2026-01-01T00:00:00Z"}}`)[0].Object)
			}
			there := false
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				there = there || request.Verb == "create" && request.Kind == "Namespace" && !row.held
				if request.Verb == "create" && request.Kind == "Pod" && !there {
					return fakecluster.Fault{Before: row.fault}
				}
				return fakecluster.Fault{}
			}
			if _, err := r.Continue(t.Context()); err == nil {
				t.Fatal("no error says that the Namespace is missing")
			}
			if row.held {
				mustWait(t, r, "the end of Namespace ns")
				row.held = false
				cluster.Remove("Namespace", "", "ns")
			}
			mustWait(t, r, "Pod ns/p to become ready")
			recorded(t, r, cluster.Find("Namespace", "", "ns"))
			recorded(t, r, cluster.Find("Pod", "ns", "p"))
		})
	}
}

// TestLostOfARelease creates objects again that another client has written, with the marks of that
// client: those that are checked, and those that only an export needs.
func TestLostOfARelease(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	desiredState := wishFor(objects(t, pod))
	desiredState.LookOnly, desiredState.JustWritten, desiredState.Unchecked = true, true, objects(t, configMap)
	desiredState.Marked = func(object *unstructured.Unstructured) *unstructured.Unstructured {
		object = object.DeepCopy()
		object.SetLabels(map[string]string{"release": "shop"})
		return object
	}
	desiredState.Exports = exportsFrom(t, `exports: [{key: k, jsonPath: .data.late, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}]`)
	cluster.Put(objects(t, configMap)[0].Object)
	r := start(t, job, cluster, desiredState, nil)
	defer func() { _ = r.Close() }()
	// The Pod was deleted before the first look.
	mustWait(t, r, "Pod ns/p to become ready (it has no condition Ready yet; it was deleted once")
	cluster.Put(objects(t, strings.Replace(readyPod, "namespace: ns}", "namespace: ns, labels: {release: shop}}", 1))[0].Object)
	mustWait(t, r, "a value at .data.late of ConfigMap ns/a, to export k")
	cluster.Remove("ConfigMap", "ns", "a")
	mustWait(t, r, "a value at .data.late of ConfigMap ns/a (it was deleted once")
	for _, name := range [][2]string{{"Pod", "p"}, {"ConfigMap", "a"}} {
		if object := cluster.Find(name[0], "ns", name[1]); object.GetLabels()["release"] != "shop" {
			t.Errorf("%s has the labels %v", name[0], object.GetLabels())
		}
	}
	desiredState.JustWritten = false
	cluster.Remove("Pod", "ns", "p")
	var missing *apply.Missing
	if _, err := start(t, job, cluster, desiredState, nil).Continue(t.Context()); err == nil || !errors.As(err, &missing) {
		t.Errorf("what was missing before this job is for the release: %v", err)
	}
}
