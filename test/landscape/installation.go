package landscape

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// NewInstallation returns an Installation that asks for a job, with an inline blueprint
// that imports the Target host as cluster and has one template of deploy items. NAME and
// NAMESPACE in the template stand for those of the Installation.
func NewInstallation(namespace, name, template string) *v1alpha1.Installation {
	template = strings.NewReplacer("NAMESPACE", namespace, "NAME", name).Replace(template)
	return Described(namespace, name, `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
deployExecutions:
- name: default
  type: GoTemplate
  template: |
`+Indent(template, 4))
}

// Described returns one like it with the description of its blueprint.
func Described(namespace, name, description string) *v1alpha1.Installation {
	return &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
		},
		Spec: v1alpha1.InstallationSpec{
			Blueprint: v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(encode(files(description)))}},
			Imports:   v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}},
		},
	}
}

// files are those of a blueprint with this description.
func files(description string) map[string]string {
	return map[string]string{"blueprint.yaml": description}
}

// encode is for values that are made of maps, lists and texts, which always can be.
func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", value, err))
	}
	return encoded
}
