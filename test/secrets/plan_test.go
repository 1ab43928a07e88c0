package secrets

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// repeated repeats a secret in all the ways that are looked for.
var repeated = landscape.OneItem(`apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: NAMESPACE}
data: {password: {{ .imports.secret | b64enc }}}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: NAMESPACE, annotations: {example.org/{{ .imports.secret }}: "here"}}
data:
  plain: {{ .imports.secret }}
  packed: {{ printf "user:%s@host" .imports.secret | b64enc }}
  part: {{ .imports.secret | trunc 9 }}
  loud: {{ .imports.secret | upper }}
  document: "host: here\npassword: {{ .imports.secret }}\n"
  fixed: {{ if hasSuffix "next" .imports.secret }}new{{ else }}old{{ end }}
`)

// TestPlanShowsNoSecret changes a secret and looks at the output of plan: what changes, and neither
// what it was nor what it becomes.
func TestPlanShowsNoSecret(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	canaryImports(t, space)
	inst := canaryCase{reason: "repeated", template: repeated}.installation(space)
	inst.Annotations = nil
	create(t, inst)
	look := func(want int, wants ...string) {
		t.Helper()
		for _, form := range []string{"text", "json", "yaml"} {
			out := planned(t, space, "repeated", want, "-o", form)
			lookForCanary(t, "the plan as "+form, out)
			if strings.Contains(out, canary[:8]) {
				t.Errorf("the plan as %s has a part of the canary:\n%s", form, out)
			}
			if form != "text" {
				continue
			}
			for _, want := range wants {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
		}
	}
	secret := []string{"plain", "packed", "part", "loud", "document"}
	var created, changed []string
	for _, name := range secret {
		created = append(created, "      + data."+name+": (secret)\n")
		changed = append(changed, "      ~ data."+name+": (secret, changed)\n")
	}
	look(2, append(created, "      + data.fixed: old\n", "  + create Secret "+space+"/repeated\n      + data.password: (secret)\n")...)
	request(t, inst, v1alpha1.ReconcileOperation)
	waitSucceeded(t, inst)
	look(0)

	assistant := scenario.NewAssistant(t, env.Resource.Kubeconfig, "-n", space)
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "values"}, Data: map[string][]byte{"value": []byte("another-one-next")}}
	if err := env.Admin.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	look(2, append(changed, "      ~ data.fixed: old -> new\n", "  ~ change Secret "+space+"/repeated\n      ~ data.password: (secret, changed)\n")...)
	text, failed := assistant.Ask(t, "plan_job", map[string]any{"name": inst.Name})
	if failed || !strings.Contains(text, `"data.plain: (secret, changed)"`) || !strings.Contains(text, `"data.fixed: old → new"`) || !strings.Contains(text, `"data.password: (secret, changed)"`) {
		t.Errorf("an assistant gets another plan: %s", text)
	}
	if lookForCanary(t, "the plan of an assistant", text); strings.Contains(text, canary[:8]) || strings.Contains(text, "another-one") {
		t.Errorf("an assistant sees a part of a secret: %s", text)
	}
}

// planCanaries plans all cases again, those that fail as well: one part of them for an assistant.
func planCanaries(t *testing.T, space string, cases map[string]canaryCase) {
	const assistant = "assistant"
	forms := []string{"text", "json", "yaml", assistant}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if forms[i%len(forms)] == assistant {
				text, _ := newAssistant(t, space).Ask(t, "plan_job", map[string]any{"name": name})
				if lookForCanary(t, "the plan of an assistant", text); text == "" {
					t.Error("the plan says nothing")
				}
				return
			}
			code, out, complaints := cli(t, "inst", "plan", name, "-n", space, "-o", forms[i%len(forms)], "--ca-file", env.Lab.Registry.CAFile)
			if out+complaints == "" || code != 0 && code != 1 && code != 2 && code != 4 {
				t.Errorf("plan says nothing, code %d", code)
			}
			lookForCanary(t, "the plan", out+complaints)
		})
	}
}

func newAssistant(t *testing.T, space string) *scenario.Assistant {
	t.Helper()
	return scenario.NewAssistant(t, env.Resource.Kubeconfig, "-n", space, "--ca-file", env.Lab.Registry.CAFile, "--allow-writes")
}

// askAboutCanaries lets an assistant ask about all cases: a question about each, since each reads the whole
// namespace, and in turn all that are no plans.
func askAboutCanaries(t *testing.T, space string, cases map[string]canaryCase) {
	assistant := newAssistant(t, space)
	asked := func(tool string, arguments map[string]any) {
		t.Helper()
		text, failed := assistant.Ask(t, tool, arguments)
		if text == "" || failed {
			t.Errorf("%s of %v: failed %t, %q", tool, arguments, failed, text)
		}
		lookForCanary(t, "the answer of "+tool, text)
	}
	asked("list_installations", map[string]any{"limit": 500})
	asked("show_data_flow", nil)
	tools := []string{"explain_why", "show_tree", "show_last_job", "explain_why", "list_events", "list_jobs", "explain_why", "show_data_flow", "end_job"}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		asked(tools[i%len(tools)], map[string]any{"name": name})
	}
}
