package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// TestTargetsOfItems: an author of a blueprint knows, or guesses, the names of other Targets in the
// namespace. An item reaches those that the Installation imports.
func TestTargetsOfItems(t *testing.T) {
	const manifest = "landscaper.gardener.cloud/kubernetes-manifest"
	export := func(name string) string { return "config: {exports: {exports: [{key: k, targetName: " + name + "}]}}" }
	check := func(name string) string {
		return "config: {readinessChecks: {custom: [{name: c}, {name: d, targetName: " + name + "}]}}"
	}
	group := func(name string) string {
		return "config: {deletionGroups: [{customResourceGroup: {targetName: " + name + "}}]}"
	}
	const nothing = "null"
	for _, test := range []struct {
		reason, kind, item string
		// given is what the item gets, in JSON.
		given, refused string
	}{
		{"no Target is named besides that of the item", manifest, "target: {import: cluster}, config: {exports: {exports: [{key: k}]}}", nothing, ""},
		{"the Target of the item by the name of an import, as older blueprints do", manifest, "target: {name: '{{ .imports.cluster.metadata.name }}'}, config: {}", nothing, ""},
		{"the Target of the item by the name of an element of a list", manifest, "target: {name: l1}, config: {}", nothing, ""},
		{"the Target of the item is another one of the namespace", manifest, "target: {name: production}, config: {}", "", "target.name: the Installation imports no Target"},

		{"an export from an imported Target", manifest, export("'{{ .imports.cluster.metadata.name }}'"), nothing, ""},
		{"an export from another Target", manifest, export("production"), "", "config.exports.exports[0].targetName: the Installation imports no Target"},
		{"a check on an element of a map", manifest, check("m-blue"), nothing, ""},
		{"a check on another Target", manifest, check("production"), "", "config.readinessChecks.custom[1].targetName"},
		{"a deletion group on an imported Target", manifest, group("l0"), nothing, ""},
		{"a deletion group on another Target", manifest, group("production"), "", "config.deletionGroups[0].customResourceGroup.targetName"},
		{"a deletion group during updates", manifest, strings.Replace(group("production"), "deletionGroups", "deletionGroupsDuringUpdate", 1), "", "config.deletionGroupsDuringUpdate[0].customResourceGroup.targetName"},
		{"in another case, which decoders accept", manifest, strings.Replace(export("production"), "targetName", "TARGETNAME", 1), "", "config.exports.exports[0].targetName"},
		{"in a Helm item", "landscaper.gardener.cloud/helm", export("production"), "", "config.exports.exports[0].targetName"},
		{"in a kustomize item", "landscaper.gardener.cloud/kustomize", export("production"), "", "config.exports.exports[0].targetName"},

		{"a field of a deployed object that has the same name: the deployer knows that it is not for it", manifest, "config: {manifests: [{manifest: {spec: {targetName: login}}}]}", `{}`, ""},
		{"a deployer of others: its own field names the import, and nothing is refused before the deployer looks at it", "acme.example/vm", "config: {second: host, deep: [{targetName: production}]}", `{"targets":["host"]}`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			blueprint := fmt.Sprintf("\ndeployExecutions: [{name: d, type: GoTemplate, template: %q}]\n", "deployItems: [{name: x, type: "+test.kind+", "+test.item+"}]")
			made, err := children(t, input(t, imports+blueprint))
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), "import it") || strings.Contains(err.Error(), "production") {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if got := asText(t, made.DeployItems[0].Given); got != test.given {
				t.Errorf("given is %s, want %s", got, test.given)
			}
			allowed := input(t, imports+blueprint)
			allowed.NamedTargets = true
			if made, err = children(t, allowed); err != nil {
				t.Fatalf("an administrator allows any name: %v", err)
			}
			if given := made.DeployItems[0].Given; given != nil {
				t.Errorf("an administrator allows any name, and the item is limited to %s", asText(t, given))
			}
		})
	}
}

func asText(t *testing.T, value *v1alpha1.Given) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReferencesOfExports: an exported Target is read with the rights of the server, so that what it
// refers to must have been given to the Installation.
func TestReferencesOfExports(t *testing.T) {
	const (
		secret   = "secretRef: {name: access, key: kubeconfig}"
		oldForm  = "config: {kubeconfig: {secretRef: {name: production, key: kubeconfig}}}"
		self     = "config: {selfConfig: {serviceAccount: {name: boss}}}"
		oidc     = "config: {oidcConfig: {server: 'https://evil.example', serviceAccount: {name: boss}, audience: [a]}}"
		imported = "imports: [{name: cluster, targetType: kubernetes-cluster}, {name: login, schema: {}}]\n"
		refused  = "the Installation was not given"
	)
	with := func(spec string) func(*testing.T, *Input) {
		return func(t *testing.T, in *Input) { in.Imports.Targets["cluster"].Spec = specOf(t, spec) }
	}
	withSecret := func(name, key string) func(*testing.T, *Input) {
		return func(t *testing.T, in *Input) {
			in.Installation.Spec.Imports.Data = []v1alpha1.DataImport{{Name: name, SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "access", Key: key}}}}
			in.Imports.Data[name] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"x"`))}
		}
	}
	for _, test := range []struct {
		reason, export string
		change         func(*testing.T, *Input)
		refused        string
	}{
		{"a kubeconfig that the blueprint has", "config: {kubeconfig: text}", nil, ""},
		{"a Target of another kind that refers to nothing", "config: {address: here}", nil, ""},
		{"a Secret of the namespace", secret, nil, refused},
		{"a Secret of the namespace in the form of old releases", oldForm, nil, refused},
		{"a ServiceAccount of the namespace", self, nil, refused},
		{"a token of a ServiceAccount for another server", oidc, nil, refused},

		{"the Secret of an imported Target", secret, with(secret), ""},
		{"another key of the Secret of an imported Target", "secretRef: {name: access, key: boss}", with(secret), refused},
		{"the whole Secret of which a Target has one key", "secretRef: {name: access}", with(secret), refused},
		{"one key of the Secret that a Target has as a whole", secret, with("secretRef: {name: access}"), ""},
		{"an imported Target in the old form, passed on as it is", oldForm, with(oldForm), ""},
		{"an imported Target with a ServiceAccount, passed on as it is", self, with(self), ""},
		{"the ServiceAccount of an imported Target, for another server", oidc, with("config: {oidcConfig: {server: 'https://good.example', serviceAccount: {name: boss}, audience: [a]}}"), refused},

		{"a Secret that the blueprint imports as a value", secret, withSecret("login", ""), ""},
		{"the key of a Secret that the blueprint imports as a value", secret, withSecret("login", "kubeconfig"), ""},
		{"another key of a Secret than the blueprint imports as a value", secret, withSecret("login", "user"), refused},
		{"a Secret that only a mapping of the user sees", secret, withSecret("other", ""), refused},
		{"a Secret of which a mapping of the user makes the import", secret, func(t *testing.T, in *Input) {
			withSecret("login", "")(t, in)
			in.Installation.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"login": v1alpha1.NewAnyJSON([]byte(`"part"`))}
		}, refused},
	} {
		t.Run(test.reason, func(t *testing.T) {
			make := func() (Input, *Plan) {
				in := input(t, imported+`
exports: [{name: made, type: target, targetType: kubernetes-cluster}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {made: {type: landscaper.gardener.cloud/kubernetes-cluster, `+test.export+`}}"}]
`)
				in.Installation.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "made", Target: "new"}}
				in.Imports.Data["login"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"x"`))}
				if test.change != nil {
					test.change(t, &in)
				}
				made, err := New(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return in, made
			}
			in, made := make()
			copies, err := made.Copies()
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string, err error) {
				t.Helper()
				if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), "made") || strings.Contains(err.Error(), "boss")) {
					t.Errorf("%s: %v, want %q", when, err, test.refused)
				}
			}
			_, err = made.Exports(t.Context(), Results{Scope: copies.Targets})
			check("at once", err)
			content, _, err := made.Stored()
			if err != nil {
				t.Fatal(err)
			}
			reopened, err := Reopen(t.Context(), in.Installation, content, Surroundings{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = reopened.Exports(t.Context(), Results{Scope: copies.Targets})
			check("at the end of the job", err)
			if reopened, err = Reopen(t.Context(), in.Installation, content, Surroundings{NamedTargets: true}); err != nil {
				t.Fatal(err)
			}
			if _, err = reopened.Exports(t.Context(), Results{}); err != nil {
				t.Errorf("an administrator allows any name: %v", err)
			}
			exported := &v1alpha1.Target{Spec: specOf(t, test.export)}
			if _, err = made.Exports(t.Context(), Results{Scope: []*v1alpha1.Target{exported}}); err != nil {
				t.Errorf("a subinstallation has exported such a Target: %v", err)
			}
		})
	}
}

// TestReplacedTargets: subinstallations get a copy of what import executions make of imports.
func TestReplacedTargets(t *testing.T) {
	const secret, self = "secretRef: {name: access, key: kubeconfig}", "config: {selfConfig: {serviceAccount: {name: boss}}}"
	for _, test := range []struct{ reason, cluster, bindings, refused string }{
		{"a label is added to an imported Target", secret, `cluster: {metadata: {name: host, labels: {a: b}}, spec: {type: t, ` + secret + `}}`, ""},
		{"another binding looks like a Target", "", `other: {metadata: {name: host}, spec: {type: t, ` + secret + `}}`, ""},
		{"a Target that refers to nothing", "", `cluster: {metadata: {name: host}, spec: {type: t, config: {kubeconfig: text}}}`, ""},
		{"a Secret of the namespace", "", `cluster: {metadata: {name: host}, spec: {type: t, ` + secret + `}}`, `import execution "i": the Target refers to`},
		{"a Secret of the namespace in a list", "", `list: [{metadata: {name: host}, spec: {type: t, ` + secret + `}}]`, "the Target refers to"},
		{"a ServiceAccount of the namespace in a map", "", `map: {blue: {metadata: {name: host}, spec: {type: t, ` + self + `}}}`, "the Target refers to"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := input(t, imports+fmt.Sprintf("importExecutions: [{name: i, type: GoTemplate, template: %q}]\n", "bindings: {"+test.bindings+"}"))
			if test.cluster != "" {
				in.Imports.Targets["cluster"].Spec = specOf(t, test.cluster)
			}
			_, err := New(t.Context(), in)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || strings.Contains(err.Error(), "boss")) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
			in.NamedTargets = true
			if _, err := New(t.Context(), in); err != nil {
				t.Errorf("an administrator allows any name: %v", err)
			}
		})
	}
}

// TestTargetsOfSubinstallations: a # in front of a name reaches over all levels, and so past what the
// Installation was given.
func TestTargetsOfSubinstallations(t *testing.T) {
	sub := func(name, imports, exports string) string {
		return "\n- {name: " + name + ", blueprint: {filesystem: {blueprint.yaml: ''}}, imports: {targets: [" + imports + "]}, exports: {targets: [" + exports + "]}}"
	}
	for _, test := range []struct{ reason, subs, refused string }{
		{"an import of the parent", sub("a", "{name: c, target: cluster}", ""), ""},
		{"the Target that the parent imports, by its real name", sub("a", "{name: c, target: '#host'}", ""), ""},
		{"the real name of what a sibling exports", sub("a", "{name: c, target: '#shared'}", "") + sub("b", "", "{name: e, target: '#shared'}"), ""},
		{"the name that a sibling exports in the scope of the parent", sub("a", "{name: c, target: '#shared'}", "") + sub("b", "", "{name: e, target: shared}"), "subinstallations[0].imports.targets[0].target"},
		{"any Target of the namespace", sub("a", "{name: c, target: '#production'}", ""), "subinstallations[0].imports.targets[0].target"},
		{"in a list", sub("a", "{name: c, targets: [cluster, '#production']}", ""), "subinstallations[0].imports.targets[0].targets[1]"},
		{"in a map", sub("a", "{name: c, targetMap: {x: '#production'}}", ""), "subinstallations[0].imports.targets[0].targetMap[x]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := input(t, imports+"subinstallations:"+test.subs)
			_, err := children(t, in)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), "imports no Target of this name")) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
			in.NamedTargets = true
			if _, err := children(t, in); err != nil {
				t.Errorf("an administrator allows any name: %v", err)
			}
		})
	}
}

func specOf(t *testing.T, text string) v1alpha1.TargetSpec {
	t.Helper()
	spec := v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType}
	if err := yaml.Unmarshal([]byte("{"+text+"}"), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}
