package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// secondName is an item whose check looks at a second Target.
func secondName(name string) string {
	return strings.Replace(oneConfigMap, "    manifests:\n", `    readinessChecks: {custom: [{name: there, targetName: `+name+`, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: secret, namespace: NAMESPACE}], requirements: [{jsonPath: .data.word, operator: exists}]}]}
    exports: {exports: [{key: word, targetName: `+name+`, jsonPath: .data.word, fromResource: {apiVersion: v1, kind: ConfigMap, name: secret, namespace: NAMESPACE}}]}
    manifests:
`, 1)
}

// TestAuthorsReach: a namespace has a Target that an Installation does not import, and its blueprint
// knows the name. Users reach it, and an administrator can let blueprints reach it, too.
func TestAuthorsReach(t *testing.T) {
	run := func(t *testing.T, allowed bool) {
		space := namespace(t)
		env.CreateTarget(t, space, "production", env.TargetKubeconfig)
		word := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "secret"}, Data: map[string]string{"word": "x"}}
		if err := env.Workload.Create(t.Context(), word); err != nil {
			t.Fatal(err)
		}
		exporting := landscape.Described(space, "account", strings.ReplaceAll(`apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]
exports: [{name: made, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {made: {type: landscaper.gardener.cloud/kubernetes-cluster, secretRef: {name: production}}}"}]
`, "NAMESPACE", space))
		exporting.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "made", Target: "made"}}
		for _, test := range []struct {
			reason, wants string
			inst          *v1alpha1.Installation
		}{
			{"the Target of an item", "target.name", newInstallation(space, "item", strings.Replace(oneConfigMap, "{import: cluster}", "{name: production}", 1))},
			{"the second Target of an item", "config.exports.exports[0].targetName", newInstallation(space, "second", secondName("production"))},
			{"a Secret behind an exported Target", "exports.targets.made", exporting},
		} {
			t.Run(test.reason, func(t *testing.T) {
				create(t, test.inst)
				if allowed {
					waitSucceeded(t, test.inst)
					return
				}
				checkFailed(t, test.inst, "", test.wants, "blueprints.namedTargets")
				made := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "made"}}
				for reader, object := range map[client.Client]client.Object{env.Workload: configMap(space, test.inst.Name), env.Admin: made} {
					if err := reader.Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
						t.Errorf("%T %s exists: %v", object, object.GetName(), err)
					}
				}
			})
		}
		t.Run("the name of an import", func(t *testing.T) {
			inst := newInstallation(space, "imports", secondName("{{ .imports.cluster.metadata.name }}"))
			create(t, inst)
			waitSucceeded(t, inst)
			item := env.ItemsByName(t, space)["one"]
			if _, there := item.Annotations[v1alpha1.GivenAnnotation]; there {
				t.Errorf("an item that names what is imported looks as before: %v", item.Annotations)
			}
		})
	}
	t.Run("authors reach what they were given", func(t *testing.T) {
		startServer(t, env.ServerKubeconfig)
		run(t, false)
	})
	t.Run("an administrator allows all names", func(t *testing.T) {
		registryServer(t, "blueprints: {namedTargets: true}")
		run(t, true)
	})
}
