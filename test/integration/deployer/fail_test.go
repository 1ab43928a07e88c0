package deployer_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// secretWord stands in each kubeconfig of the tests and must never be seen.
const secretWord = "top-secret-word"

// altered returns a kubeconfig with a change.
func altered(t *testing.T, change func(map[string]any)) []byte {
	t.Helper()
	var kubeconfig map[string]any
	if err := yaml.Unmarshal(plainAccess, &kubeconfig); err != nil {
		t.Fatal(err)
	}
	change(kubeconfig)
	text, err := yaml.Marshal(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func ofUser(kubeconfig map[string]any) map[string]any {
	return kubeconfig["users"].([]any)[0].(map[string]any)["user"].(map[string]any)
}

func ofCluster(kubeconfig map[string]any) map[string]any {
	return kubeconfig["clusters"].([]any)[0].(map[string]any)["cluster"].(map[string]any)
}

// TestRefusedKubeconfig ends an item at once if its kubeconfig would run a program, read a file or
// cannot work, names the field and shows no value.
func TestRefusedKubeconfig(t *testing.T) {
	namespace := namespaces(t)
	user := func(field string, value any) []byte {
		return altered(t, func(kubeconfig map[string]any) { ofUser(kubeconfig)[field] = value })
	}
	tests := []struct {
		name, reason string
		kubeconfig   []byte
		want         string
	}{
		{"exec", "an exec plugin would run a program", user("exec", map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "command": secretWord, "interactiveMode": "Never"}), ".user.exec"},
		{"authprovider", "an auth provider may run a program", user("auth-provider", map[string]any{"name": secretWord}), ".user.auth-provider"},
		{"cert", "a certificate file is a file of the deployer", user("client-certificate", "/"+secretWord), ".user.client-certificate,"},
		{"key", "a key file is a file of the deployer", user("client-key", "/"+secretWord), ".user.client-key,"},
		{"tokenfile", "a token file is a file of the deployer", user("tokenFile", "/"+secretWord), ".user.tokenFile"},
		{"as", "impersonation is not allowed", user("as", secretWord), ".user.as,"},
		{"ca", "a CA file is a file of the deployer", altered(t, func(kubeconfig map[string]any) {
			delete(ofCluster(kubeconfig), "certificate-authority-data")
			ofCluster(kubeconfig)["certificate-authority"] = "/" + secretWord
		}), ".cluster.certificate-authority,"},
		{"text", "the text is not a kubeconfig", []byte("{" + secretWord), "kubeconfig cannot be decoded"},
		{"context", "the current context does not exist", altered(t, func(kubeconfig map[string]any) { kubeconfig["current-context"] = secretWord }), "no context with the name that current-context says"},
		{"server", "the address is not a URL", altered(t, func(kubeconfig map[string]any) { ofCluster(kubeconfig)["server"] = secretWord }), "clusters[].cluster.server"},
	}
	for _, test := range tests {
		createTarget(t, namespace, test.name, test.kubeconfig)
		item := newItem(t, namespace, test.name, oneConfigMap)
		item.Spec.Target.Name = test.name
		create(t, item)
		ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed)
		last := ended.Status.LastError
		if !hasCode(last, v1alpha1.ErrorConfigurationProblem) || !strings.Contains(last.Message, test.want) {
			t.Errorf("%s: %+v, want a message with %q", test.reason, last, test.want)
		}
		shown, err := yaml.Marshal(ended.Status)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), secretWord) {
			t.Errorf("%s: the status shows a value:\n%s", test.reason, shown)
		}
	}
}

// TestWrongConfiguration ends an item at once if its configuration cannot work.
func TestWrongConfiguration(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	const head = "apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\nkind: ProviderConfiguration\n"
	tests := []struct{ name, reason, config, want string }{
		{"kind", "an unknown kind", "{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: Other}", "kind must be ProviderConfiguration"},
		{"version", "an unknown version", "{apiVersion: manifest.deployer.landscaper.gardener.cloud/v9, kind: ProviderConfiguration}", "apiVersion must be"},
		{"type", "a field of the wrong type", head + "manifests: text", "field manifests"},
		{"strategy", "an unknown strategy", head + "updateStrategy: replace", "updateStrategy has a value that does not exist"},
		{"policy", "an unknown policy", head + "manifests: [{policy: own, manifest: {}}]", "manifests[0].policy has a value that does not exist"},
		{"manifest", "no manifest", head + "manifests: [{policy: manage}]", "manifests[0].manifest is missing"},
		{"object", "a manifest that is not an object", head + "manifests: [{manifest: text}]", "manifests[0].manifest must be an object"},
		{"name", "an object without a name", head + "manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}}]", "manifests[0].manifest: the ConfigMap has no metadata.name"},
		{"namespace", "an object without a namespace", head + "manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]", "has no metadata.namespace"},
		{"exports", "an export without an object", head + "exports: {exports: [{key: a, jsonPath: .b}]}", "exports.exports[0]: fromResource is missing"},
		{"checks", "a check without requirements", head + "readinessChecks: {custom: [{name: c, resourceSelector: [{apiVersion: v1, kind: A, name: a}]}]}", "readinessChecks.custom[0].requirements is missing"},
		{"groups", "a group that does not exist", head + "deletionGroups: [{predefinedResourceGroup: {type: all}}]", "deletionGroups[0].predefinedResourceGroup.type does not exist"},
		{"schedules", "two schedules", head + "continuousReconcile: {every: 1m, cron: '@daily'}", "continuousReconcile has both cron and every"},
	}
	for _, test := range tests {
		item := newItem(t, namespace, test.name, test.config)
		create(t, item)
		last := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed).Status.LastError
		if !hasCode(last, v1alpha1.ErrorConfigurationProblem) || !strings.Contains(last.Message, test.want) {
			t.Errorf("%s: %+v, want a message with %q", test.reason, last, test.want)
		}
	}
	bare := newItem(t, namespace, "bare", "{}")
	bare.Spec.Configuration = nil
	create(t, bare)
	if last := awaitEnd(t, bare, v1alpha1.DeployItemPhases.Failed).Status.LastError; last.Reason != "ProviderConfigurationMissing" {
		t.Errorf("no configuration: %+v", last)
	}
}

// closedAddress is an address that refuses connections: it has no listener, and no other process
// gets it before the end of the test.
func closedAddress(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
}

// TestUnreachableTarget deploys to a cluster that does not answer and to one that
// refuses connections, while another item is not held up.
func TestUnreachableTarget(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	closed := closedAddress(t)
	server := func(address string) []byte {
		return altered(t, func(kubeconfig map[string]any) { ofCluster(kubeconfig)["server"] = "https://" + address })
	}
	createTarget(t, namespace, "silent", server(silent.Addr().String()))
	createTarget(t, namespace, "closed", server(closed))
	createTarget(t, namespace, "cluster", access)
	for i := range 40 {
		item := newItem(t, namespace, fmt.Sprintf("silent-%d", i), oneConfigMap)
		item.Spec.Target.Name = "silent"
		create(t, item)
	}
	refused := newItem(t, namespace, "refused", oneConfigMap)
	refused.Spec.Target.Name = "closed"
	ended := awaitLimit(t, refused, func(item *v1alpha1.DeployItem) bool {
		return strings.Contains(item.Status.LastError.Message, "connection refused")
	})
	if last := ended.Status.LastError; ended.Status.Phase != v1alpha1.DeployItemPhases.Failed || !hasCode(last, v1alpha1.ErrorTimeout) ||
		!strings.Contains(last.Message, "connection refused") || !strings.Contains(last.Message, closed) {
		t.Errorf("phase %s, last error %+v", ended.Status.Phase, last)
	}
	good := newItem(t, namespace, "good", oneConfigMap)
	create(t, good)
	awaitEnd(t, good, v1alpha1.DeployItemPhases.Succeeded)
	one := newItem(t, namespace, "silent-0", oneConfigMap)
	stuck := awaitItem(t, one, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
	if !strings.Contains(stuck.Status.LastError.Message, "no answer in time") || stuck.Status.Phase.IsFinal() {
		t.Errorf("phase %s, last error %+v", stuck.Status.Phase, stuck.Status.LastError)
	}
	// A kubeconfig that works triggers all items that wait for it.
	fixed := &v1alpha1.Target{}
	if err := items.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "silent"}, fixed); err != nil {
		t.Fatal(err)
	}
	working := &v1alpha1.Target{}
	if err := items.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cluster"}, working); err != nil {
		t.Fatal(err)
	}
	fixed.Spec = working.Spec
	if err := items.Update(t.Context(), fixed); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		awaitItem(t, newItem(t, namespace, fmt.Sprintf("silent-%d", i), oneConfigMap), "the success", func(item *v1alpha1.DeployItem) bool {
			return item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
		})
	}
}

// TestUnauthorized ends an item at once if the cluster does not accept the
// credentials.
func TestUnauthorized(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", altered(t, func(kubeconfig map[string]any) { ofUser(kubeconfig)["token"] = secretWord }))
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	last := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed).Status.LastError
	if !hasCode(last, v1alpha1.ErrorUnauthorized) || strings.Contains(last.Message, secretWord) {
		t.Errorf("last error %+v", last)
	}
}

// TestUnknownAuthority reports that the certificate of the server is not trusted.
func TestUnknownAuthority(t *testing.T) {
	namespace := namespaces(t)
	config, err := clientcmd.Load(plainAccess)
	if err != nil {
		t.Fatal(err)
	}
	createTarget(t, namespace, "cluster", altered(t, func(kubeconfig map[string]any) {
		delete(ofCluster(kubeconfig), "certificate-authority-data")
	}))
	item := newItem(t, namespace, "item", oneConfigMap)
	create(t, item)
	failing := awaitItem(t, item, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
	if message := failing.Status.LastError.Message; !strings.Contains(message, "certificate authority") || len(config.Clusters) != 1 {
		t.Errorf("message %s", message)
	}
}

// TestRejectedManifest shows in which field the API server sees which mistake, reports each error
// once, and gives up when the time is over.
func TestRejectedManifest(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	var ended *v1alpha1.DeployItem
	// The first attempt has to be over before the time is. Each item has its own events.
	for _, limit := range []string{"4s", "15s", "1m"} {
		item := newItem(t, namespace, "rejected-"+limit, `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: Not_A_Valid_Name, namespace: NAMESPACE}}}]}`)
		item.Spec.Timeout = duration(limit)
		create(t, item)
		if ended = awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed); ended.Status.FirstError.Reason == "ApplyNewObject" {
			break
		}
	}
	first, last := ended.Status.FirstError, ended.Status.LastError
	if first.Operation != "ApplyObjects" || first.Reason != "ApplyNewObject" || !strings.Contains(first.Message, "metadata.name: the value is invalid (it must be a name in lower case") {
		t.Errorf("first error %+v", first)
	}
	if last.Operation != "StandardTimeoutChecker.TimeoutExceeded" || last.Reason != "ProgressingTimeout" || !hasCode(last, v1alpha1.ErrorTimeout) ||
		!strings.HasPrefix(last.Message, `timeout at: "deployer: apply manifests"`) || !strings.Contains(last.Message, "Not_A_Valid_Name") {
		t.Errorf("last error %+v", last)
	}
	if len(ended.Status.LastErrors) != 2 {
		t.Errorf("%d errors, want the two that differ", len(ended.Status.LastErrors))
	}
	reasons := map[string]int{}
	for _, event := range awaitEvents(t, ended, 2) {
		reasons[event.Reason]++
		if event.Action != "ReconcileDeployItem" || event.Type != corev1.EventTypeWarning || event.ReportingController != "manifest.deployer.landscaper.gardener.cloud" {
			t.Errorf("event %+v", event)
		}
	}
	if reasons["ApplyNewObject"] != 1 || reasons["ProgressingTimeout"] != 1 {
		t.Errorf("events %v", reasons)
	}
}

// awaitEvents waits for a number of events about an item.
func awaitEvents(t *testing.T, item *v1alpha1.DeployItem, number int) []*eventsv1.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	watched, err := items.Watch(ctx, &eventsv1.EventList{}, client.InNamespace(item.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	var events []*eventsv1.Event
	for event := range watched.ResultChan() {
		if found, ok := event.Object.(*eventsv1.Event); ok && found.Regarding.Name == item.Name {
			events = append(events, found)
		}
		if len(events) == number {
			return events
		}
	}
	t.Fatalf("%d of %d events", len(events), number)
	return events
}

// TestSecretInRejectedManifest shows nothing of a Secret that is refused.
func TestSecretInRejectedManifest(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "rejected", `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, manifests: [{manifest: {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: NAMESPACE}, type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: `+secretWord+`}}}]}`)
	create(t, item)
	failing := awaitError(t, item, "")
	if _, err := interrupt(t.Context(), failing, v1alpha1.DeployItemPhases.Failed); err != nil {
		t.Fatal(err)
	}
	message := failing.Status.FirstError.Message
	if strings.Contains(message, secretWord) || !strings.Contains(message, "Secret "+namespace+"/a") || !strings.Contains(message, "data") {
		t.Errorf("message %s", message)
	}
}

// TestMissingDefinition names the kind that the cluster does not know, and continues when it does.
func TestMissingDefinition(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	// The definition stays, so that each run has a group of its own.
	group := namespace + ".example"
	item := newItem(t, namespace, "item", `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, manifests: [{manifest: {apiVersion: `+group+`/v1, kind: Guest, metadata: {name: a, namespace: NAMESPACE}}}]}`)
	create(t, item)
	failing := awaitItem(t, item, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
	if last := failing.Status.LastError; last.Operation != "GetApiResource" || !strings.Contains(last.Message, "does not know kind Guest in "+group+"/v1") {
		t.Errorf("last error %+v", last)
	}
	definition := unstructuredFrom(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: guests.`+group+`}
spec:
  group: `+group+`
  names: {kind: Guest, plural: guests}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)
	if err := deployed.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if ended.Status.LastError != nil || ended.Status.FirstError == nil {
		t.Errorf("a success clears the last error only: %+v", ended.Status)
	}
}
