package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestBadInput shows that what a user can get wrong ends the job with a message
// that names object, field and remedy, and shows no secret.
func TestBadInput(t *testing.T) {
	// All rows run at the same time: the limits leave each of them the time to get as far as
	// to its own mistake.
	startServer(t, env.ServerKubeconfig, "--pickup-timeout", "12s")
	short := strings.Replace(oneConfigMap, "  target: {import: cluster}\n", "  target: {import: cluster}\n  timeout: 12s\n", 1)
	tests := []struct {
		reason   string
		template string
		// access changes the kubeconfig of the Target.
		access func(*clientcmdapi.Config)
		// kubeconfig replaces it.
		kubeconfig string
		change     func(*v1alpha1.Installation)
		want       []string
		codes      []v1alpha1.ErrorCode
	}{
		{reason: "unreachable target", template: short,
			access: func(c *clientcmdapi.Config) {
				for _, cluster := range c.Clusters {
					cluster.Server = "https://127.0.0.1:1"
				}
			}, want: []string{"host", "127.0.0.1:1", "connection refused"}},
		{reason: "wrong kubeconfig", template: oneConfigMap, kubeconfig: "this is hunter2hunter2 and no kubeconfig", want: []string{"host", "kubeconfig"}, codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}},
		{reason: "wrong credentials", template: oneConfigMap,
			access: func(c *clientcmdapi.Config) {
				for _, user := range c.AuthInfos {
					*user = clientcmdapi.AuthInfo{Token: "hunter2hunter2"}
				}
			}, want: []string{"host"}, codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}},
		{reason: "kubeconfig that runs a program", template: oneConfigMap,
			access: func(c *clientcmdapi.Config) {
				for _, user := range c.AuthInfos {
					*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "touch", Args: []string{"/hacked"}, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}
				}
			}, want: []string{"exec"}, codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}},
		{reason: "kubeconfig that reads a file", template: oneConfigMap,
			access: func(c *clientcmdapi.Config) {
				for _, user := range c.AuthInfos {
					*user = clientcmdapi.AuthInfo{TokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token"}
				}
			}, want: []string{"tokenFile"}, codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}},
		{reason: "template error", template: "deployItems:\n- name: {{ .imports.cluster.metadata.name | nofunction }}\n", want: []string{`execution "default"`, "default:2", "nofunction", "2:    - name:"}},
		{reason: "template that uses a missing value", template: "deployItems:\n- name: {{ .imports.clutser.metadata }}\n", want: []string{"default"}},
		{reason: "template that is no YAML", template: "deployItems: [\n", want: []string{"error while decoding templated execution"}},
		{reason: "item without a type", template: "deployItems:\n- name: a\n", want: []string{"deployItems[0].type: Required value"}},
		{reason: "unknown deploy item type", template: "deployItems:\n- name: a\n  type: acme.example/unknown\n  config: {apiVersion: v1, kind: Any}\n", want: []string{"no deployer has reconciled this deployitem within 12 seconds", "acme.example/unknown"}},
		{reason: "item without a configuration", template: "deployItems:\n- name: a\n  type: landscaper.gardener.cloud/kubernetes-manifest\n  target: {import: cluster}\n", want: []string{"config"}, codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}},
		{reason: "manifest that the API server rejects", template: strings.Replace(short, "data: {greeting: hello}", "data: {greeting: {not: text}}", 1), want: []string{"NAME", "ConfigMap"}},
		{reason: "manifest of a kind that does not exist", template: strings.NewReplacer("apiVersion: v1\n", "apiVersion: acme.example/v1\n", "kind: ConfigMap", "kind: Ghost").Replace(short), want: []string{"Ghost", "acme.example/v1"}},
		{reason: "target that does not exist", template: oneConfigMap, change: func(inst *v1alpha1.Installation) { inst.Spec.Imports.Targets[0].Target = "ghost" }, want: []string{`there is no Target "ghost" in namespace`}},
		{reason: "import that the blueprint needs", template: oneConfigMap, change: func(inst *v1alpha1.Installation) { inst.Spec.Imports.Targets = nil }, want: []string{`blueprint defines import "cluster" of type target, which is not satisfied`, "spec.imports.targets"}},
		{reason: "context that does not exist", template: oneConfigMap, change: func(inst *v1alpha1.Installation) { inst.Spec.Context = "ghost" }, want: []string{`there is no Context "ghost"`}},
		{reason: "blueprint that is no blueprint", template: oneConfigMap, change: func(inst *v1alpha1.Installation) {
			inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON([]byte(`{"blueprint.yaml":"imports: 7"}`))
		}, want: []string{"spec.blueprint: inline.filesystem", "blueprint.yaml", "field imports"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			space := namespace(t)
			if test.access != nil {
				test.kubeconfig = env.ChangedKubeconfig(t, test.access)
			}
			if test.kubeconfig != "" {
				env.ReplaceTarget(t, space, "host", test.kubeconfig)
			}
			inst := newInstallation(space, "wrong", test.template)
			if test.change != nil {
				test.change(inst)
			}
			failed := waitFinished(t, create(t, inst), "")
			said := everything(t, space)
			if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || failed.Status.LastError == nil {
				t.Fatalf("phase %s, error %+v", failed.Status.InstallationPhase, failed.Status.LastError)
			}
			for _, want := range test.want {
				want = strings.NewReplacer("NAME", "wrong").Replace(want)
				if !strings.Contains(failed.Status.LastError.Message, want) {
					t.Errorf("%q is not in the message:\n%s", want, failed.Status.LastError.Message)
				}
			}
			if !slices.Contains(conditionStatus(failed, v1alpha1.StalledCondition), "True") {
				t.Errorf("the Installation does not say that it is stalled: %+v", failed.Status.Conditions)
			}
			for _, code := range test.codes {
				if !strings.Contains(said, string(code)) {
					t.Errorf("no DeployItem has the code %s", code)
				}
			}
			for _, secret := range secrets(t) {
				if strings.Contains(said, secret) {
					t.Errorf("a status or an event shows a credential (%d characters)", len(secret))
				}
			}
		})
	}
}

// conditionStatus returns the status of the conditions of a type.
func conditionStatus(inst *v1alpha1.Installation, conditionType v1alpha1.ConditionType) []string {
	var found []string
	for _, condition := range inst.Status.Conditions {
		if condition.Type == conditionType {
			found = append(found, string(condition.Status))
		}
	}
	return found
}

// everything returns what the statuses and events of a namespace say.
func everything(t *testing.T, namespace string) string {
	t.Helper()
	var said strings.Builder
	installations, executions, items := &v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}
	events := &eventsv1.EventList{}
	for _, list := range []client.ObjectList{installations, executions, items, events} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
	}
	add := func(object any) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		delete(fields, "spec")
		delete(fields, "metadata")
		said.WriteString(encode(t, fields))
	}
	for i := range installations.Items {
		add(&installations.Items[i])
	}
	for i := range executions.Items {
		add(&executions.Items[i])
	}
	for i := range items.Items {
		add(&items.Items[i])
	}
	for i := range events.Items {
		add(&events.Items[i])
	}
	return said.String()
}

// secrets returns the values that must not be shown.
func secrets(t *testing.T) []string {
	t.Helper()
	found := []string{"hunter2hunter2"}
	config, err := clientcmd.Load([]byte(env.TargetKubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		if user.Token != "" {
			found = append(found, user.Token)
		}
	}
	return found
}

// TestSecretsStayOutOfTheLog looks at the log of a server that had to do with
// credentials.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	waitSucceeded(t, create(t, newInstallation(space, "quiet", oneConfigMap)))
	own, err := os.ReadFile(env.ServerKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(own)
	if err != nil {
		t.Fatal(err)
	}
	all := secrets(t)
	for _, user := range config.AuthInfos {
		all = append(all, user.Token)
	}
	log := server.Output()
	if !strings.Contains(log, "quiet") {
		t.Error("the log does not speak of the Installation at all")
	}
	for _, secret := range all {
		if secret != "" && strings.Contains(log, secret) {
			t.Errorf("the log shows a credential (%d characters)", len(secret))
		}
	}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
