package e2e

import (
	"strings"
	"testing"

	"go.landscaper.dev/test/landscape"
)

// TestUnknownFields: a misspelt field never goes unnoticed, wherever it is in an item: it is a
// warning, or the error of a configuration that must be right.
func TestUnknownFields(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: NAMESPACE}, data: {text: a}}`
	manifest := func(version, entry string, more ...string) string {
		return "- {name: one, type: landscaper.gardener.cloud/kubernetes-manifest, target: {import: cluster}, config: {apiVersion: manifest.deployer.landscaper.gardener.cloud/" + version +
			", kind: ProviderConfiguration, updateStrategy: update, " + strings.Join(append(more, ""), ", ") + "manifests: [" + entry + "]}}\n"
	}
	entry := "{policy: manage, manifest: " + configMap + "}"
	archive, err := landscape.Chart("misspelt", "1.0.0", "", map[string]string{"templates/a.yaml": strings.NewReplacer("NAMESPACE", "{{ .Release.Namespace }}").Replace(configMap)})
	if err != nil {
		t.Fatal(err)
	}
	helm := func(more string) string {
		return "- {name: one, type: landscaper.gardener.cloud/helm, target: {import: cluster}, config: {apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, " +
			"name: web, namespace: NAMESPACE, chart: {archive: {raw: " + archive + "}}, " + more + "}}\n"
	}
	kustomization := func(more string) string {
		return "- {name: one, type: landscaper.gardener.cloud/kustomize, target: {import: cluster}, config: {apiVersion: kustomize.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, " + more + "}}\n"
	}
	ignored := func(path, meant string) string {
		return "spec.config." + path + `: unknown field, it is ignored, did you mean "` + meant + `"?`
	}
	for _, test := range []struct{ reason, items, phase, want string }{
		{"in a check of readiness", manifest("v1alpha2", entry, "readinessChecks: {custom: [{name: a, disabled: true, resourceSelecter: [], labelSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {a: b}}, requirements: [{jsonPath: .data.text, operator: exists}]}]}"), "Succeeded", ignored("readinessChecks.custom[0].resourceSelecter", "resourceSelector")},
		{"in a reference of a check of readiness", manifest("v1alpha2", entry, "readinessChecks: {custom: [{name: a, disabled: true, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: one, nammespace: NAMESPACE}], requirements: [{jsonPath: .data.text, operator: exists}]}]}"), "Succeeded", ignored("readinessChecks.custom[0].resourceSelector[0].nammespace", "namespace")},
		{"in a manifest", manifest("v1alpha2", "{policy: manage, annotateBeforeCreat: {}, manifest: "+configMap+"}"), "Succeeded", ignored("manifests[0].annotateBeforeCreat", "annotateBeforeCreate")},
		{"in a predefined deletion group", manifest("v1alpha2", entry, "deletionGroups: [{predefinedResourceGroup: {type: namespaced-resources, forceDelet: true}}]"), "Succeeded", ignored("deletionGroups[0].predefinedResourceGroup.forceDelet", "forceDelete")},
		{"in a kind of a deletion group", manifest("v1alpha2", entry, "deletionGroups: [{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, namespces: [NAMESPACE]}]}}]"), "Succeeded", ignored("deletionGroups[0].customResourceGroup.resources[0].namespces", "namespaces")},
		{"in a configuration of the older version", manifest("v1alpha1", configMap, "readinessCheks: {disableDefault: true}"), "Succeeded", ignored("readinessCheks", "readinessChecks")},
		{"in a configuration of a chart", helm("createNamespce: true"), "Succeeded", ignored("createNamespce", "createNamespace")},
		{"in the options of Helm, which must be right", helm("helmDeploymentConfig: {install: {attomic: true}}"), "Failed", `helmDeploymentConfig.install has an option that does not exist: attomic, did you mean "atomic"?`},
		{"in a configuration of a kustomization, which must be right", kustomization("sourcce: {}"), "Failed", `unknown field "sourcce", did you mean "source"?`},
		{"in a rendered item", strings.Replace(manifest("v1alpha2", entry), "- {name: one,", "- {name: one, dependOn: [x],", 1), "Succeeded", `deployItems[0] has an unknown field "dependOn", which has no effect: did you mean dependsOn?`},
		{"in the Target of a rendered item", strings.Replace(manifest("v1alpha2", entry), "import: cluster", "import: cluster, indx: 1", 1), "Succeeded", `deployItems[0].target has an unknown field "indx", which has no effect: did you mean index?`},
		{"in another case, which has an effect", manifest("v1alpha2", entry, "readinesschecks: {DisableDefault: true}", "deletionGroups: [{predefinedResourceGroup: {type: namespaced-resources, force-delete: true}}]"), "Succeeded", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			space := namespace(t)
			inst := waitFinished(t, create(t, installationOf(space, "tree", itemsOn(t, space, "host", test.items))), "")
			_, seen, _ := cli(t, "inst", "inspect", "tree", "-n", space, "--no-wrap")
			if string(inst.Status.InstallationPhase) != test.phase || !strings.Contains(seen, test.want) {
				t.Errorf("want %s, and %s:\n%s", test.phase, test.want, seen)
			}
			if test.want == "" && strings.Contains(seen, "Warning") {
				t.Errorf("a field in another case has a warning:\n%s", seen)
			}
		})
	}
}
