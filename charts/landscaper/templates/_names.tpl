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

{{- /* The pods of the server. Those of jobs have the same labels and a component besides. */ -}}
{{- define "landscaper.server" -}}
matchLabels: {{- include "landscaper.selector" . | nindent 2 }}
matchExpressions:
- {key: app.kubernetes.io/component, operator: DoesNotExist}
{{- end }}

{{- define "landscaper.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "landscaper.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* Which nodes a pod may run on. */ -}}
{{- define "landscaper.placement" -}}
{{- with .Values.nodeSelector -}}
nodeSelector: {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .Values.tolerations -}}
tolerations: {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .Values.affinity -}}
affinity: {{- toYaml . | nindent 2 }}
{{ end -}}
{{- end }}

{{- define "landscaper.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* A binding of the role of the same name to the program. Its argument is a list:
the context, the kind of the role, the name, and the namespace or "". */ -}}
{{- define "landscaper.binding" -}}
{{- $root := index . 0 -}}{{- $kind := index . 1 -}}{{- $name := index . 2 -}}{{- $namespace := index . 3 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "landscaper.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name }}
subjects:
- kind: ServiceAccount
  name: {{ $root.Release.Name }}
  namespace: {{ $root.Release.Namespace }}
{{- end }}

{{- /* What the controllers and deployers need in each namespace that they work in. */ -}}
{{- define "landscaper.rules" -}}
# Installations belong to the users: the program sets finalizers and annotations, and
# writes the status. Subinstallations belong to the program.
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations]
  verbs: [get, list, watch, create, update, patch, delete]
# Executions and DeployItems belong to the program.
- apiGroups: [landscaper.gardener.cloud]
  resources: [executions, deployitems]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations/status, executions/status, deployitems/status]
  verbs: [update]
# An owner reference that blocks the deletion of its owner needs this where the
# API server enforces it.
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations/finalizers, executions/finalizers]
  verbs: [update]
# Imports are copied, exports are stored. A copy whose import no longer exists is deleted.
- apiGroups: [landscaper.gardener.cloud]
  resources: [targets, dataobjects]
  verbs: [get, list, watch, create, update, delete]
# Every namespace gets a default Context.
- apiGroups: [landscaper.gardener.cloud]
  resources: [contexts]
  verbs: [get, list, watch, create, patch]
# TargetSyncs belong to the users: the program sets finalizers, removes requests, and
# writes the status.
- apiGroups: [landscaper.gardener.cloud]
  resources: [targetsyncs]
  verbs: [get, list, watch, patch]
- apiGroups: [landscaper.gardener.cloud]
  resources: [targetsyncs/status]
  verbs: [update]
{{- if dig "DeliveryPolicies" (dig "AllAlpha" false .Values.featureGates) .Values.featureGates }}
# DeliveryPolicies belong to the users: the program writes their status.
- apiGroups: [delivery.landscaper.dev]
  resources: [deliverypolicies]
  verbs: [get, list, watch]
- apiGroups: [delivery.landscaper.dev]
  resources: [deliverypolicies/status]
  verbs: [update]
# DeliveryRevisions belong to the program: it keeps specifications in them.
- apiGroups: [delivery.landscaper.dev]
  resources: [deliveryrevisions]
  verbs: [list, create, delete]
# Approvals belong to the users, too; plans are what they approve.
- apiGroups: [delivery.landscaper.dev]
  resources: [deliveryapprovals]
  verbs: [get, list, watch]
- apiGroups: [delivery.landscaper.dev]
  resources: [deliveryplans]
  verbs: [get, list, watch, create, delete]
{{- end }}
{{- if dig "Fleets" (dig "AllAlpha" false .Values.featureGates) .Values.featureGates }}
# Fleets and Channels belong to the users: the program sets finalizers, and writes their status.
- apiGroups: [fleet.landscaper.dev]
  resources: [fleets, channels]
  verbs: [get, list, watch, patch]
- apiGroups: [fleet.landscaper.dev]
  resources: [fleets/status, channels/status]
  verbs: [update]
# It keeps what a Fleet has rolled out, for the way back.
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, create, delete]
{{- end }}
# A Context may name overwrites.
- apiGroups: [landscaper.gardener.cloud]
  resources: [componentversionoverwrites]
  verbs: [get]
# The access to target clusters may be in Secrets; their metadata is watched.
# Executions of blueprints keep their state in Secrets, and a job keeps there what its
# exports need until it ends. TargetSyncs make Secrets for their Targets.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch, create, update, delete]
# Imports and OCM configurations may be in ConfigMaps.
- apiGroups: [""]
  resources: [configmaps]
  {{- if .Values.reconcile.onImportChange }}
  # Only their metadata is watched.
  verbs: [get, list, watch]
  {{- else }}
  verbs: [get]
  {{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.console.enabled }}
# The console shows the events about our kinds, to users who may list events.
- apiGroups: [""]
  resources: [events]
  verbs: [list, watch]
{{- end }}
{{- end }}

{{- /* The console in the configuration. Secrets are mounted where it says. */ -}}
{{- define "landscaper.console" -}}
address: ":8443"
url: {{ required "console.url: write the address of the console in browsers" .url | quote }}
sessionTime: {{ .sessionTime | quote }}
{{- if .tls.secretName }}
tls: {certificate: /etc/console/tls/tls.crt, key: /etc/console/tls/tls.key}
{{- end }}
{{- if or .actions.enabled .plans.enabled }}
actions: {enabled: {{ .actions.enabled }}, groups: {{ toJson .actions.groups }}}
plans: {enabled: {{ .plans.enabled }}}
{{- end }}
login:
  token: {{ .login.token }}
  {{- with .login.oidc }}
  oidc:
    {{- toYaml (omit . "secretName" "caFromSecret") | nindent 4 }}
    {{- if .secretName }}
    clientSecret: /etc/console/oidc/clientSecret
    {{- end }}
    {{- if .caFromSecret }}
    certificateAuthorities: /etc/console/oidc/ca.crt
    {{- end }}
  {{- end }}
  {{- with .login.proxy }}
  proxy:
    {{- toYaml (omit . "secretName") | nindent 4 }}
    {{- if .secretHeader }}
    secret: /etc/console/proxy/secret
    {{- end }}
    {{- if .certificateNames }}
    certificateAuthorities: /etc/console/proxy/ca.crt
    {{- end }}
  {{- end }}
{{- end }}

{{- /* The Secrets of the console, by the names of their volumes. */ -}}
{{- define "landscaper.consoleSecrets" -}}
{{- if .enabled -}}
{{- with .tls.secretName }}
tls: {{ . }}
{{- end }}
{{- with .login.oidc.secretName }}
oidc: {{ . }}
{{- end }}
{{- with .login.proxy.secretName }}
proxy: {{ . }}
{{- end }}
{{- end -}}
{{- end }}

{{- /* Targets may be reached with tokens of ServiceAccounts. */ -}}
{{- define "landscaper.tokenRule" -}}
- apiGroups: [""]
  resources: [serviceaccounts/token]
  verbs: [create]
{{- end }}

{{- /* What only "helm test" runs, with its weight. */ -}}
{{- define "landscaper.testHook" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
