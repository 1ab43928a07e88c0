package access

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestOwnersCannotFillStatuses: messages of Flux, which the owner of a shoot can write, are limited
// in length.
func TestOwnersCannotFillStatuses(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "message": "no\x1b[2J\n" + strings.Repeat("x", 1<<20)},
	}}}}
	if described := judge(object).String(); len(described) > 2000 || strings.ContainsAny(described, "\x1b\n") {
		t.Errorf("%d bytes are reported: %q...", len(described), described[:50])
	}
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name, status  string
		ready, failed bool
		reason        string
	}{
		{"new", `{}`, false, false, "Flux has not seen it"},
		{"ready", `{observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 2}]}`, true, false, "it is ready for what it says now"},
		{"ready before", `{observedGeneration: 1, conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`, false, false, "it was ready for something else"},
		{"failed", `{observedGeneration: -1, conditions: [{type: Ready, status: "False", observedGeneration: 2, message: no access}]}`, false, true, "Flux has tried"},
		{"failed before", `{observedGeneration: -1, conditions: [{type: Ready, status: "False", observedGeneration: 1}]}`, false, false, "Flux has not tried what it says now"},
		{"under way", `{observedGeneration: 2, conditions: [{type: Ready, status: Unknown, observedGeneration: 2}]}`, false, false, "Flux is at it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			text := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {namespace: flux-system, name: main, generation: 2}\nstatus: " + test.status
			asJSON, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := object.UnmarshalJSON(asJSON); err != nil {
				t.Fatal(err)
			}
			got := judge(object)
			if (got == nil) != test.ready || got != nil && got.Failed != test.failed {
				t.Errorf("%+v: %s", got, test.reason)
			}
		})
	}
}

func TestKubeconfigOfShoot(t *testing.T) {
	generic := `apiVersion: v1
kind: Config
current-context: shoot
contexts: [{name: shoot, context: {cluster: shoot, user: other}}, {name: else, context: {cluster: else, user: other}}]
clusters: [{name: shoot, cluster: {server: "https://kube-apiserver", certificate-authority-data: YQ==}}, {name: else, cluster: {server: "https://else"}}]
users: [{name: other, user: {tokenFile: /var/run/secrets/token}}]
`
	made, err := withToken([]byte(generic), "our-token")
	if err != nil {
		t.Fatal(err)
	}
	text := string(made)
	for part, want := range map[string]bool{"https://kube-apiserver": true, "our-token": true, "YQ==": true, "https://else": false, "tokenFile": false} {
		if strings.Contains(text, part) != want {
			t.Errorf("%q in the kubeconfig: %v, want %v", part, !want, want)
		}
	}
	if _, err := withToken([]byte("{token: hidden"), "our-token"); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("a broken kubeconfig: %v", err)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	key := client.ObjectKey{Namespace: "garden-lab", Name: "flux-config"}
	err := refused(apierrors.NewForbidden(resource, key.Name, nil), "read", "ConfigMap", key)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.resources") || !strings.Contains(err.Error(), "garden-lab/flux-config") {
		t.Errorf("not allowed: %v", err)
	}
	err = refused(apierrors.NewNotFound(resource, key.Name), "read", "ConfigMap", key)
	if !apierrors.IsNotFound(err) || strings.Contains(err.Error(), "spec.resources") {
		t.Errorf("not there: %v", err)
	}
}
