package landscape

import "strings"

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

// Indent moves a text to the right.
func Indent(text string, by int) string {
	blanks := strings.Repeat(" ", by)
	return blanks + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+blanks) + "\n"
}
