package deployer_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// failure is a row of the published catalogue of errors, and how it is provoked.
type failure struct {
	row               string
	operation, reason string
	code              v1alpha1.ErrorCode
	// config is the configuration; by default one that works.
	config string
	// target is the kubeconfig; nil is one that works, and none means no Target.
	target   []byte
	noTarget bool
	// prepare happens before the item has its job, to the item as it is stored.
	prepare func(t *testing.T, item *v1alpha1.DeployItem)
	// rules are the faults of the cluster.
	on    *lab.Cluster
	rules []lab.Rule
	// then is another configuration, after the first job.
	then string
	// remove looks at the error of the deletion instead.
	remove bool
	// message is in the message.
	message string
}

// shows reports whether an item has the error of the row.
func (f *failure) shows(item *v1alpha1.DeployItem) bool {
	last := item.Status.LastError
	return last != nil && last.Operation == f.operation && last.Reason == f.reason && hasCode(last, f.code) &&
		(f.code != v1alpha1.ErrorTimeout || strings.Contains(last.Message, f.message))
}

func rule(verb, resource, action string, status int) []lab.Rule {
	return []lab.Rule{{Name: "row", Verbs: []string{verb}, Resources: []string{resource}, Share: 1, Action: action, Status: status}}
}

func catalogue(t *testing.T) []failure {
	const (
		oneMap   = "manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: row, namespace: NAMESPACE}}}]\n"
		elsehow  = "{apiVersion: v1, kind: ConfigMap, name: late, namespace: NAMESPACE}"
		checked  = "{jsonPath: .data.go, operator: exists}"
		unusable = "https://127.0.0.1:1"
	)
	badStatus := func(t *testing.T, item *v1alpha1.DeployItem) {
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "acme.example/v1", "kind": "ProviderStatus"}`)}
	}
	foreignSecret := func(t *testing.T, item *v1alpha1.DeployItem) {
		secret := &corev1.Secret{ObjectMeta: configMap(item.Namespace, item.Name+"-export").ObjectMeta}
		if err := items.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	deploy := func(t *testing.T, item *v1alpha1.DeployItem) {
		create(t, item)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	}
	noFinalizer := func(t *testing.T, item *v1alpha1.DeployItem) { item.Finalizers = nil }
	const c, u, timeout = v1alpha1.ErrorConfigurationProblem, v1alpha1.ErrorUnauthorized, v1alpha1.ErrorTimeout
	return []failure{
		{row: "the Target is missing", operation: "reconcilePrivate", reason: "NoTargetFound", noTarget: true, code: timeout, message: "create it, and start the job again"},
		{row: "the second Target is missing until the time is over", operation: "StandardTimeoutChecker.TimeoutExceeded", reason: "ProgressingTimeout", code: timeout, config: "readinessChecks: {custom: [{name: c, targetName: nowhere, resourceSelector: " + elsehow + ", requirements: [" + checked + "]}]}", message: "nowhere does not exist: create it, or correct targetName"},
		{row: "the finalizer cannot be added", operation: "reconcile", reason: "AddFinalizer", prepare: noFinalizer, on: resource, rules: rule("patch", "deployitems.landscaper.gardener.cloud", "status", 500)},
		{row: "the finalizer cannot be removed", operation: "delete", reason: "RemoveFinalizer", remove: true, on: resource, rules: rule("patch", "deployitems.landscaper.gardener.cloud", "status", 500)},
		{row: "the kubeconfig is refused", operation: "reconcile", reason: "ValidateTarget", code: c, target: []byte("{}")},
		{row: "the kubeconfig is refused at the deletion, too", operation: "delete", reason: "ValidateTarget", code: c, remove: true, prepare: func(t *testing.T, item *v1alpha1.DeployItem) {
			create(t, item)
			awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			changeTarget(t, item.Namespace, []byte("{}"))
			awaitTarget(t, item.Namespace, "kubeconfig")
		}},
		{row: "there is no configuration", operation: "reconcile", reason: "ProviderConfigurationMissing", code: c, config: "-"},
		{row: "the second Target of a check is missing", operation: "reconcile", reason: "NoTargetFound", config: "readinessChecks: {custom: [{name: c, targetName: nowhere, resourceSelector: " + elsehow + ", requirements: [" + checked + "]}]}", message: "correct targetName"},
		{row: "the kubeconfig of a second Target is refused", operation: "reconcile", reason: "ValidateTarget", code: c, message: ".user.exec",
			config: "readinessChecks: {custom: [{name: c, targetName: runs-programs, resourceSelector: " + elsehow + ", requirements: [" + checked + "]}]}",
			prepare: func(t *testing.T, item *v1alpha1.DeployItem) {
				createTarget(t, item.Namespace, "runs-programs", altered(t, func(k map[string]any) {
					ofUser(k)["exec"] = map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "command": secretWord, "interactiveMode": "Never"}
				}))
			}},
		{row: "a deletion fails", operation: "delete", reason: "DeleteWithUninstall", remove: true, on: target, rules: rule("delete", "configmaps", "status", 500)},
		{row: "the time is over", operation: "StandardTimeoutChecker.TimeoutExceeded", reason: "ProgressingTimeout", code: timeout, on: target, rules: rule("create", "configmaps", "status", 500), message: `timeout at: "deployer: apply manifests"`},
		{row: "the configuration cannot be read", operation: "InitManifestOperation", reason: "ParseProviderConfiguration", code: c, config: "manifests: text"},
		{row: "the configuration cannot work", operation: "InitManifestOperation", reason: "ValidateProviderConfiguration", code: c, config: "updateStrategy: own"},
		{row: "the stored status cannot be read", operation: "InitManifestOperation", reason: "ParseProviderStatus", code: c, prepare: badStatus},
		{row: "the cluster does not accept the credentials", operation: "TalkToCluster", reason: "Unauthorized", code: u, target: altered(t, func(k map[string]any) { ofUser(k)["token"] = secretWord })},
		{row: "the cluster does not answer", operation: "TalkToCluster", reason: "ConnectionRefused", target: altered(t, func(k map[string]any) { ofCluster(k)["server"] = unusable })},
		{row: "the kind is not known", operation: "GetApiResource", reason: "GetApiResource", config: "manifests: [{manifest: {apiVersion: v1, kind: Nothing, metadata: {name: a}}}]"},
		{row: "the group is not known", operation: "GetApiResource", reason: "GetApiResource", config: "manifests: [{manifest: {apiVersion: unknown.example/v1, kind: Nothing, metadata: {name: a}}}]"},
		{row: "the namespace is missing", operation: "ApplyObjects", reason: "ApplyNewObject", config: "manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NAMESPACE-not}}}]", message: "-not does not exist on the cluster, create it or put it among the manifests"},
		{row: "the creation is forbidden", operation: "ApplyObjects", reason: "ApplyNewObject", on: target, rules: rule("create", "configmaps", "status", 403)},
		{row: "an orphan cannot be deleted", operation: "ApplyObjects", reason: "cleanupOrphanedResourcesInGroups", prepare: deploy, then: configHead, on: target, rules: rule("delete", "configmaps", "status", 500)},
		{row: "an object does not become ready", operation: "WaitForObjectsReady", reason: "ProgressingTimeout", code: timeout, config: "readinessChecks: {custom: [{name: c, resourceSelector: " + elsehow + ", requirements: [" + checked + "]}]}", message: "ConfigMap"},
		{row: "a value does not come", operation: "ReconcileManifests", reason: "ReadExportValues", code: timeout, config: "exports: {exports: [{key: k, jsonPath: .data.go, fromResource: " + elsehow + "}]}", message: `timeout at: "deployer: during export - key: k"`},
		{row: "the exports cannot be stored", operation: "CreateExports", reason: "CreateOrUpdateSecret", prepare: foreignSecret, config: "exports: {}", message: "does not belong to the item"},
		{row: "a patch after the deployment is refused", operation: "ReconcileManifests", reason: "PatchAfterDeployment", config: strings.Replace(oneMap, "}}}]", "}}, patchAfterDeployment: {data: {a: [1]}}}]", 1)},
		{row: "the second Target of a deletion is missing", operation: "delete", reason: "NoTargetFound", remove: true, config: oneMap + "deletionGroups: [{customResourceGroup: {targetName: nowhere, deleteAllResources: true, resources: [{apiVersion: v1, kind: Secret}]}}]"},
		{row: "the objects to delete cannot be listed", operation: "delete", reason: "DeleteWithUninstall", remove: true, config: oneMap + "deletionGroups: [{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: Secret, namespaces: [NAMESPACE]}]}}]", on: target, rules: rule("list", "secrets", "status", 500)},
		{row: "an annotation before the deletion is refused", operation: "delete", reason: "DeleteWithUninstall", remove: true, config: strings.Replace(oneMap, "}}}]", "}}, patchBeforeDelete: {data: {a: [1]}}}]", 1)},
	}
}

// changeTarget puts another kubeconfig into the Target of a test.
func changeTarget(t *testing.T, namespace string, kubeconfig []byte) {
	t.Helper()
	made := &v1alpha1.Target{}
	if err := items.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cluster"}, made); err != nil {
		t.Fatal(err)
	}
	made.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig": ` + string(kubeconfig) + `}`))
	if err := items.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
}

// TestCatalogue provokes every row of the catalogue of errors that a deployer of manifests can
// have. A wait has a time limit.
func TestCatalogue(t *testing.T) {
	for _, row := range catalogue(t) {
		t.Run(row.row, func(t *testing.T) {
			namespace := namespaces(t)
			if !row.noTarget {
				if row.target == nil {
					row.target = access
				}
				createTarget(t, namespace, "cluster", row.target)
			}
			item := newItem(t, namespace, "row", oneConfigMap)
			switch row.config {
			case "":
			case "-":
				item.Spec.Configuration = nil
			default:
				setConfig(t, item, configHead+row.config)
			}
			status := item.Status.DeepCopy()
			if row.prepare != nil {
				row.prepare(t, item)
				status = item.Status.DeepCopy()
			}
			if row.remove && item.UID == "" {
				create(t, item)
				awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			}
			if row.on != nil {
				t.Cleanup(func() {
					if err := row.on.SetFaults(context.Background(), lab.Faults{}); err != nil {
						t.Error(err)
					}
				})
				for i := range row.rules {
					row.rules[i].Namespaces = []string{namespace}
				}
				if err := row.on.SetFaults(t.Context(), lab.Faults{Seed: 1, Rules: row.rules}); err != nil {
					t.Fatal(err)
				}
			}
			switch {
			case row.then != "":
				again(t, item, row.then)
			case row.remove:
				if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
					t.Fatal(err)
				}
				remove(t, item)
			case item.UID == "" && row.code != v1alpha1.ErrorTimeout:
				if err := items.Create(t.Context(), item); err != nil {
					t.Fatal(err)
				}
				item.Status.ProviderStatus = status.ProviderStatus
				handOver(t, item)
			}
			// It would be tried again and again; other tests count requests.
			t.Cleanup(func() {
				if _, err := interrupt(context.Background(), item, v1alpha1.DeployItemPhases.Failed); client.IgnoreNotFound(err) != nil {
					t.Error(err)
				}
			})
			var failing *v1alpha1.DeployItem
			if row.code == v1alpha1.ErrorTimeout {
				failing = awaitLimit(t, item, row.shows)
			} else {
				failing = awaitItem(t, item, "the error", row.shows)
			}
			last := failing.Status.LastError
			if !row.shows(failing) {
				t.Errorf("last error %+v", last)
			}
			if row.code != "" && (!hasCode(last, row.code) || !failing.Status.Phase.IsFinal()) {
				t.Errorf("phase %s, codes %v, want %s", failing.Status.Phase, last.Codes, row.code)
			}
			if !strings.Contains(last.Message, row.message) || strings.Contains(last.Message, secretWord) {
				t.Errorf("message %q", last.Message)
			}
		})
	}
}
