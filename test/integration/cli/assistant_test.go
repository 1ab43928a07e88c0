package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// looks are the tools that read an Installation.
var looks = []string{"show_tree", "explain_why", "show_last_job", "list_events", "list_jobs", "show_data_flow"}

// TestAssistant: what an assistant learns from a real API server.
func TestAssistant(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-item", "Failed")
	update(t, newItem(namespace, "shop", "shop-item"), itemJob("job-1", "Failed", "no such chart"))
	tellOf(t, shop, "Warning", "Refused", "no such chart in the repository")
	plant(t, namespace, "tools", "", "tools-item", "Succeeded")
	assistant := scenario.NewAssistant(t, resource.Kubeconfig, "-n", namespace)
	for _, test := range []struct {
		reason, tool string
		arguments    map[string]any
		want         string
	}{
		{"all roots", "list_installations", nil, `"name":"tools"`},
		{"what has failed, of all namespaces", "list_installations", map[string]any{"all_namespaces": true, "troubled_only": true, "contains": namespace}, `"name":"shop"`},
		{"the tree", "show_tree", map[string]any{"name": "shop"}, `{"depth":2,"kind":"DeployItem","name":"shop-item"`},
		{"the cause", "explain_why", map[string]any{"name": "shop"}, `"message":"no such chart"`},
		{"the events", "list_events", map[string]any{"name": "shop"}, `"message":"no such chart in the repository"`},
		{"the story", "show_last_job", map[string]any{"name": "shop"}, `"message":"no such chart"`},
		{"the flow", "show_data_flow", map[string]any{}, `[Failed] shop`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			text, failed := assistant.Ask(t, test.tool, test.arguments)
			if failed || !strings.Contains(text, test.want) {
				t.Errorf("failed %t: %s", failed, text)
			}
		})
	}
}

// TestAssistantPlans: a plan with a digest, a job for that plan, and the record of who has asked for it.
func TestAssistantPlans(t *testing.T) {
	namespace := newNamespace(t)
	empty := newInstallation(namespace, "empty", "")
	empty.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{
		Filesystem: v1alpha1.NewAnyJSON([]byte(`{"blueprint.yaml": "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"}`)),
	}}
	create(t, empty, job("job-1", "Succeeded"))
	assistant := scenario.NewAssistant(t, resource.Kubeconfig, "-n", namespace, "--allow-writes")
	var plan struct{ Digest, Summary string }
	text, failed := assistant.Ask(t, "plan_job", map[string]any{"name": "empty"})
	if err := json.Unmarshal([]byte(text), &plan); err != nil || failed || plan.Digest == "" || !strings.HasPrefix(plan.Summary, "0 to create") {
		t.Fatalf("failed %t: %s", failed, text)
	}
	if text, failed := assistant.Ask(t, "start_job", map[string]any{"name": "empty"}); failed || !strings.Contains(text, `"requested":false`) || !strings.Contains(text, plan.Digest) {
		t.Errorf("failed %t: %s", failed, text)
	}
	if text, failed := assistant.Ask(t, "start_job", map[string]any{"name": "empty", "digest": plan.Digest}); failed || !strings.Contains(text, `"requested":true`) {
		t.Errorf("failed %t: %s", failed, text)
	}
	update(t, empty, func(*v1alpha1.Installation) {})
	if empty.Annotations[v1alpha1.OperationAnnotation] != string(v1alpha1.ReconcileOperation) {
		t.Errorf("annotations %v", empty.Annotations)
	}
	if !slices.ContainsFunc(empty.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == "landscaper-cli-mcp" }) {
		t.Errorf("the API server knows another client: %+v", empty.ManagedFields)
	}
}

// TestAssistantRights: what the user may not read, the assistant does not learn.
func TestAssistantRights(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Failed")
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "installations-only"}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"installations"}, Verbs: []string{"get", "list"}}}}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}}}
	for _, err := range []error{cluster.Create(t.Context(), role), cluster.Create(t.Context(), binding)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	assistant := scenario.NewAssistant(t, resource.Kubeconfig, "-n", namespace, "--as", "reader", "--allow-writes")
	if text, failed := assistant.Ask(t, "show_tree", map[string]any{"name": "shop"}); failed || strings.Contains(text, "shop-item") || !strings.Contains(text, `"incomplete":["list executions`) {
		t.Errorf("failed %t: %s", failed, text)
	}
	if text, failed := assistant.Ask(t, "list_installations", map[string]any{"all_namespaces": true}); !failed || !strings.Contains(text, "forbidden") {
		t.Errorf("failed %t: %s", failed, text)
	}
	running := plant(t, namespace, "busy", "", "busy-item", "Progressing")
	if text, failed := assistant.Ask(t, "end_job", map[string]any{"name": "busy", "job": running.Status.JobID}); !failed || !strings.Contains(text, "forbidden") {
		t.Errorf("failed %t: %s", failed, text)
	}
}

// TestAssistantOfHostileStatus: whatever others have written, an answer is bounded, and has nothing in it
// that its reader does not see.
func TestAssistantOfHostileStatus(t *testing.T) {
	namespace := plantHostile(t)
	assistant := scenario.NewAssistant(t, resource.Kubeconfig, "-n", namespace)
	for _, name := range []string{"shop", "wide"} {
		for _, tool := range append(slices.Clone(looks), "plan_job") {
			text, _ := assistant.Ask(t, tool, map[string]any{"name": name})
			if text == "" || len(text) > 100<<10 {
				t.Errorf("%s of %s: %d bytes", tool, name, len(text))
			}
			var content any
			if err := json.Unmarshal([]byte(text), &content); err == nil {
				text = strings.Join(leaves(content), "\n")
			}
			if at := strings.IndexFunc(text, forbidden); at >= 0 {
				t.Errorf("%s: %q", tool, text[max(0, at-60):min(len(text), at+20)])
			}
		}
	}
}

// leaves are all texts of a value.
func leaves(value any) (texts []string) {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			texts = append(texts, leaves(field)...)
		}
	case []any:
		for _, element := range value {
			texts = append(texts, leaves(element)...)
		}
	case string:
		texts = append(texts, value)
	}
	return texts
}
