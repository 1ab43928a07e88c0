package secrets

import (
	"testing"

	"go.landscaper.dev/test/landscape"
)

// canaryChart does with a value what its templates are told.
var canaryChart = map[string]string{
	"values.yaml": "do: none\nmap: {key: {of: chart}}\n",
	"templates/do.yaml": `{{- $meta := printf "metadata: {name: %s}" .Release.Name }}
{{- if eq .Values.do "fail" }}{{ fail (printf "never use %s here" .Values.secret) }}{{ end }}
{{- if eq .Values.do "require" }}{{ required (print "set what goes with " .Values.secret) .Values.absent }}{{ end }}
{{- if eq .Values.do "index" }}{{ index .Values.secret "a" }}{{ end }}
{{- if eq .Values.do "parse" }}{{ semverCompare .Values.secret "1.0.0" }}{{ end }}
{{- if eq .Values.do "template" }}{{ tpl (print "{{ " .Values.secret) . }}{{ end }}
{{- if eq .Values.do "include" }}{{ include .Values.secret . }}{{ end }}
{{- if eq .Values.do "lookup" }}{{ lookup .Values.secret "Secret" "" "" }}{{ end }}
{{- if eq .Values.do "open" }}a: [{{ .Values.secret }}{{ end }}
{{- if eq .Values.do "text" }}{{ .Values.secret }}{{ end }}
{{- if eq .Values.do "label" }}{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}", labels: {a: "{{ .Values.secret }} Ä"}}}{{ end }}
{{- if eq .Values.do "port" }}{apiVersion: v1, kind: Service, {{ $meta }}, spec: {ports: [{port: "{{ .Values.secret }}"}]}}{{ end }}
{{- if eq .Values.do "none" }}{apiVersion: v1, kind: Secret, {{ $meta }}, stringData: {a: "{{ .Values.secret }}"}}{{ end }}
`,
	"templates/hook.yaml": `{{ if eq .Values.do "hook" }}{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}", annotations: {helm.sh/hook: pre-install}, labels: {a: "{{ .Values.secret }} Ä"}}}{{ end }}`,
	"templates/NOTES.txt": "The password is {{ .Values.secret }}.",
	"values.schema.json":  `{"properties": {"number": {"type": "integer"}, "one": {"enum": ["a"]}}}`,
}

// canaryCharts are charts that fail with a value in their hands, and some that do not.
func canaryCharts(t *testing.T) []canaryCase {
	t.Helper()
	archive := packed(t, "1.0.0", canaryChart)
	item := func(reason, values, more, says string) canaryCase {
		return canaryCase{reason: "chart " + reason, says: says, template: `deployItems:
- name: one
  type: landscaper.gardener.cloud/helm
  target: {import: cluster}
  timeout: 12s
  config:
    apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    name: NAME
    namespace: NAMESPACE
    chart: {archive: {raw: ` + archive + `}}
    values: {secret: "VALUE", ` + values + `}
` + landscape.Indent(more, 4)}
	}
	good := func(c canaryCase) canaryCase {
		c.succeeds = true
		return c
	}
	const atomic, plain = "helmDeploymentConfig: {install: {atomic: true}}", "helmDeployment: false"
	return []canaryCase{
		good(item("that works", "do: none", "", "Succeeded")), good(item("without a release", "do: none", plain, "Succeeded")),
		good(item("whose values do not fit", "do: none, map: {key: VALUE}", "", "values: map.key is a single value")),
		item("that fails", "do: fail", "", "do.yaml"), item("that wants a value", "do: require", "", "do.yaml"), item("that indexes", "do: index", "", "do.yaml"),
		item("that parses a version", "do: parse", "", "do.yaml"), item("that executes a value", "do: template", "", "not a valid template"),
		item("that includes", "do: include", "", "do.yaml"),
		item("that prints half a list", "do: open", "", "do.yaml"), item("that prints a text", "do: text", "", "do.yaml"),
		item("with a label", "do: label", "", "ConfigMap"), item("with a label, atomic", "do: label", atomic, "ConfigMap"), item("with a label, without a release", "do: label", plain, "ConfigMap"),
		item("with a port", "do: port", "", "Service"), item("with a hook", "do: hook", "", "pre-install hook"),
		item("with a schema", "number: VALUE", "", "values.schema.json"), item("with a schema, one of some", "one: VALUE", "", "values.schema.json"),
		item("with a wrong option", "do: none", "helmDeploymentConfig: {install: {VALUE: true}}", "helmDeploymentConfig"),
		item("with a wrong time", "do: none", "helmDeploymentConfig: {install: {timeout: VALUE}}", "helmDeploymentConfig"),
		item("with an export", "do: none", "exports: {exports: [{key: a, jsonPath: .Values.secret.absent}]}", "export"),
	}
}
