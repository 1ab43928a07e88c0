package deployer_test

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// refusal is something on a cluster that refuses an object.
type refusal struct {
	reason string
	// objects are what refuses it; those that have no namespace go with the test.
	objects []client.Object
	// prepare is what else has to be done.
	prepare func(t *testing.T, namespace string)
	// manifest is what is refused, want what the item says.
	manifest, want string
}

const (
	plainConfigMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: refused, namespace: NAMESPACE}, data: {pin: "` + secretWord + `"}}`
	plainPod       = `{apiVersion: v1, kind: Pod, metadata: {name: refused, namespace: NAMESPACE}, spec: {containers: [{name: app, image: "example.org/app:1", resources: {limits: {cpu: "2"}, requests: {cpu: "2"}}}]}}`
)

// policy is an admission policy for the ConfigMaps of a namespace, with its binding.
func policy(namespace, name string, validation admissionv1.Validation) []client.Object {
	everything, deny := admissionv1.Fail, []admissionv1.ValidationAction{admissionv1.Deny}
	in := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
	configMaps := admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	return []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &everything, MatchConstraints: &admissionv1.MatchResources{NamespaceSelector: in, ResourceRules: []admissionv1.NamedRuleWithOperations{configMaps}},
			Validations: []admissionv1.Validation{validation},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name + "-everywhere"}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: deny}},
	}
}

// silentWebhook is a webhook without a server for the ConfigMaps of a namespace.
func silentWebhook(namespace string) client.Object {
	url, none := "https://127.0.0.1:1/validate", admissionv1.SideEffectClassNone
	return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "silent-" + namespace}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "silent.acme.example", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
		Rules:             []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{"*"}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}},
	}}}
}

// refusals are those of a real API server, for a namespace.
func refusals(namespace string) []refusal {
	quantity := quantities.MustParse
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": quantity("0")}}}
	wantsMemory := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "memory"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"limits.memory": quantity("1Gi")}}}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": quantity("500m")}}}}}
	counted := func(name string) func(*testing.T, string) {
		return func(t *testing.T, namespace string) {
			await(t, deployed, &corev1.ResourceQuotaList{}, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, "the count", func(quota *corev1.ResourceQuota) bool { return len(quota.Status.Hard) > 0 })
		}
	}
	restricted := func(t *testing.T, namespace string) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
		if err := deployed.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, patch); err != nil {
			t.Fatal(err)
		}
	}
	const no = "object.metadata.name != 'refused'"
	return []refusal{
		{"a policy with a message", policy(namespace, "said-"+namespace, admissionv1.Validation{Expression: no, Message: "this name is taken"}), nil, plainConfigMap,
			"admission policy said-" + namespace + " (binding said-" + namespace + `-everywhere) of the cluster refuses it: "this name is taken"`},
		{"a policy whose message has a value", policy(namespace, "computed-"+namespace, admissionv1.Validation{Expression: no, MessageExpression: "'the pin ' + object.data.pin + ' is weak'"}), nil, plainConfigMap,
			`of the cluster refuses it: "the pin … is weak"`},
		{"a policy without a message", policy(namespace, "mute-"+namespace, admissionv1.Validation{Expression: no}), nil, plainConfigMap, `of the cluster refuses it: "failed expression: object.metadata.name != 'refused'"`},
		{"a webhook without a server", []client.Object{silentWebhook(namespace)}, nil, plainConfigMap, "admission webhook silent.acme.example of the cluster cannot be asked (connection refused): repair it, or remove its configuration"},
		{"a quota", []client.Object{quota}, counted("few"), plainConfigMap, "quota few of the namespace is used up (requested count/configmaps=1; used count/configmaps="},
		{"a quota that wants to know more", []client.Object{wantsMemory}, counted("memory"), plainPod, "quota memory of the namespace refuses containers that do not say what they need (limits.memory)"},
		{"a limit", []client.Object{limits}, nil, plainPod, "a LimitRange of the namespace refuses it: maximum cpu usage per Container is 500m, but limit is 2"},
		{"a Pod Security level", nil, restricted, plainPod, "the Pod Security level restricted (latest) of the namespace refuses it: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile"},
	}
}

// TestRefusalsAreNamed asks a real API server for what it says when something of the
// cluster refuses an object: the item names it, and no value.
func TestRefusalsAreNamed(t *testing.T) {
	t.Parallel()
	for i, reason := range refusals("") {
		t.Run(reason.reason, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			row := refusals(namespace)[i]
			for _, object := range row.objects {
				if err := deployed.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
				if object.GetNamespace() == "" {
					t.Cleanup(func() {
						if err := deployed.Delete(context.WithoutCancel(t.Context()), object); err != nil {
							t.Error(err)
						}
					})
				}
			}
			if row.prepare != nil {
				row.prepare(t, namespace)
			}
			item := newItem(t, namespace, "item", configHead+"manifests: [{manifest: "+row.manifest+"}]\n")
			create(t, item)
			refused := awaitRefusal(t, item, namespace)
			if last := refused.Status.LastError; !strings.Contains(last.Message, row.want) || strings.Contains(last.Message, secretWord) {
				t.Errorf("%q", last.Message)
			}
			// It would be tried again and again.
			if _, err := interrupt(t.Context(), refused, v1alpha1.DeployItemPhases.Failed); err != nil {
				t.Error(err)
			}
		})
	}
}

// awaitRefusal waits until an item reports a refusal. An API server applies new policies and quotas
// after a while: until then, the object is created again and again.
func awaitRefusal(t *testing.T, item *v1alpha1.DeployItem, namespace string) *v1alpha1.DeployItem {
	t.Helper()
	for {
		jobID := item.Status.JobID
		item = awaitItem(t, item, "the refusal", func(item *v1alpha1.DeployItem) bool {
			return item.Status.LastError != nil || item.Status.JobIDFinished == jobID
		})
		if item.Status.LastError != nil {
			return item
		}
		if err := deployed.Delete(t.Context(), configMap(namespace, "refused")); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		handOver(t, item)
	}
}
