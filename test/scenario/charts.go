package scenario

import (
	"testing"

	"go.landscaper.dev/test/landscape"
)

// Greeter is a chart with a ConfigMap, a Deployment and a hook.
var Greeter = map[string]string{
	"values.yaml":         "replicas: 1\ngreeting: hello\nport: 8080\n",
	"templates/NOTES.txt": "Greetings from {{ .Release.Name }}.\n",
	"templates/greeting.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-greeting
data:
  greeting: {{ .Values.greeting | quote }}
  revision: {{ .Release.Revision | quote }}
  upgrade: {{ .Release.IsUpgrade | quote }}
`,
	"templates/server.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: server, image: "example.org/server:1"}]}
`,
	"templates/hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}
data: {ran: {{ .Release.Revision | quote }}}
`,
}

// Packed is the archive of a chart with the name greeter.
func Packed(t *testing.T, version string, files map[string]string) string {
	t.Helper()
	archive, err := landscape.Chart("greeter", version, "", files)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}
