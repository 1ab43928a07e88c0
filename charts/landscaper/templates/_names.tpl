{{- define "landscaper.labels" -}}
app.kubernetes.io/name: landscaper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "landscaper.selector" -}}
app.kubernetes.io/name: landscaper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "landscaper.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
