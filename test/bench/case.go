package main

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// blueprint deploys one ConfigMap.
const blueprint = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
deployExecutions:
- name: default
  type: GoTemplate
  template: |
    deployItems:
    - name: one
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        updateStrategy: update
        manifests:
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: NAME, namespace: SPACE}
            data: {greeting: hello}
`

// withItems returns a maker of Installations with so many items of one ConfigMap each.
func withItems(count int) func(namespace, name string) *v1alpha1.Installation {
	head, item, _ := strings.Cut(blueprint, "    - name: one\n")
	var text strings.Builder
	text.WriteString(head)
	for i := range count {
		number := ""
		if i > 0 {
			number = fmt.Sprintf("-%d", i)
		}
		text.WriteString("    - name: one" + number + "\n" + strings.ReplaceAll(item, "{name: NAME,", "{name: NAME"+number+","))
	}
	return func(namespace, name string) *v1alpha1.Installation {
		return described(namespace, name, strings.NewReplacer("NAME", name, "SPACE", namespace).Replace(text.String()))
	}
}

// described returns the smallest case with another description of its blueprint.
func described(namespace, name, description string) *v1alpha1.Installation {
	inst := newInstallation(namespace, name)
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(files(description))
	return inst
}

// newInstallation returns the smallest case.
func newInstallation(namespace, name string) *v1alpha1.Installation {
	text := strings.NewReplacer("NAME", name, "SPACE", namespace).Replace(blueprint)
	filesystem := files(text)
	return &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
		},
		Spec: v1alpha1.InstallationSpec{
			Blueprint: v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(filesystem)}},
			Imports:   v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}},
		},
	}
}

// files returns the files of an inline blueprint with this description.
func files(description string) []byte {
	encoded, err := json.Marshal(map[string]string{"blueprint.yaml": description})
	if err != nil {
		panic(fmt.Sprintf("a map of texts cannot be encoded: %v", err))
	}
	return encoded
}
