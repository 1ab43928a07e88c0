{{- define "name" -}}gardener-extension-shoot-flux{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: {{ include "name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* A binding of the role of the same name to the program. Its argument is a list: the
context, the kind of the role, the name, and the namespace or "". */ -}}
{{- define "binding" -}}
{{- $root := index . 0 -}}{{- $kind := index . 1 -}}{{- $name := index . 2 -}}{{- $namespace := index . 3 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name }}
subjects:
- kind: ServiceAccount
  name: {{ include "name" $root }}
  namespace: {{ $root.Release.Namespace }}
{{- end }}
