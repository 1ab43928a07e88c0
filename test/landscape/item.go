package landscape

import (
	"fmt"
	"strings"
)

// OneItem is the template of a deployment with one item, which puts objects into the
// target that is imported as cluster. The objects are YAML.
func OneItem(objects ...string) string {
	text := `deployItems:
- name: one
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    updateStrategy: update
    manifests:
`
	for _, object := range objects {
		text += "    - policy: manage\n      manifest:\n" + Indent(object, 8)
	}
	return text
}

// OneConfigMap is the template of an item with one ConfigMap, which is named like the
// Installation that NewInstallation makes of it.
var OneConfigMap = OneItem(`apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: NAMESPACE}
data: {greeting: hello}
`)

// ConfigMaps is the template of so many items with one ConfigMap each.
func ConfigMaps(count int) string {
	item := strings.TrimPrefix(OneConfigMap, "deployItems:\n")
	var all strings.Builder
	all.WriteString("deployItems:\n")
	for i := range count {
		all.WriteString(strings.NewReplacer("name: one", fmt.Sprint("name: item-", i), "name: NAME,", fmt.Sprintf("name: NAME-%d,", i)).Replace(item))
	}
	return all.String()
}

// HelmItem is the template of an item that deploys a packed chart as a release with the
// name and namespace of the Installation. More are further fields of its configuration.
func HelmItem(archive, more string) string {
	return `deployItems:
- name: chart
  type: landscaper.gardener.cloud/helm
  target: {import: cluster}
  config:
    apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    name: NAME
    namespace: NAMESPACE
    chart: {archive: {raw: ` + archive + `}}
` + Indent(more, 4)
}

// Indent moves a text to the right.
func Indent(text string, by int) string {
	blanks := strings.Repeat(" ", by)
	return blanks + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+blanks) + "\n"
}
