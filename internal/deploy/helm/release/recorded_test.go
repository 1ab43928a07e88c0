package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// The chart that was deployed with upstream, and what existed afterwards.
var (
	recordedChart = map[string]string{
		"templates/configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-greeting
  namespace: {{ .Release.Namespace }}
data:
  greeting: {{ .Values.greeting | quote }}
  chart: "{{ .Chart.Name }}-{{ .Chart.Version }}"
  revision: "{{ .Release.Revision }}"
  isUpgrade: "{{ .Release.IsUpgrade }}"
  service: {{ .Release.Service }}
`,
		"templates/hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-delete-policy": before-hook-creation}
data: {ran: "{{ .Release.Revision }}"}
`,
		"templates/NOTES.txt": "Installed.\n",
	}
	recordedObjects = map[string]string{
		"archived-greeting": `apiVersion: v1
data: {chart: greeter-1.0.0, greeting: hi, isUpgrade: 'false', revision: '1', service: Helm}
kind: ConfigMap
metadata:
  annotations: {meta.helm.sh/release-name: archived, meta.helm.sh/release-namespace: helm}
  labels: {app.kubernetes.io/managed-by: Helm}
  name: archived-greeting
  namespace: helm
`,
		"archived-hook": `apiVersion: v1
data: {ran: '1'}
kind: ConfigMap
metadata:
  annotations: {helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-delete-policy: before-hook-creation}
  name: archived-hook
  namespace: helm
`,
	}
	recordedLabels = map[string]string{"modifiedAt": "1795310402", "name": "archived", "owner": "helm", "status": "deployed", "version": "1"}
)

type unboundedJob struct{ release.Alone }

func (unboundedJob) Checkpoint(context.Context, string) error { return nil }
func (unboundedJob) Expired() bool                            { return false }
func (unboundedJob) Requeue()                                 {}

// TestAsRecorded compares an installation with the objects that upstream has deployed.
func TestAsRecorded(t *testing.T) {
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "greeter", Version: "1.0.0", AppVersion: "1.0.0"}, Values: map[string]any{"greeting": "hello from the chart"}}
	for name, text := range recordedChart {
		chart.Templates = append(chart.Templates, &common.File{Name: name, Data: []byte(text)})
	}
	in := render.Input{Chart: chart, Values: map[string]any{"greeting": "hi"}, Name: "archived", Namespace: "helm", Revision: 1, Capabilities: common.DefaultCapabilities}
	values, err := render.Merge(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	output, err := render.Render(t.Context(), in, values)
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := output.Sort()
	if err != nil {
		t.Fatal(err)
	}
	cluster := fakecluster.New()
	store := &storage.Store{Cluster: cluster, Namespace: "helm", Now: func() time.Time { return time.Unix(1795310402, 0) }}
	operation, err := release.Plan(t.Context(), store, unboundedJob{}, release.DesiredState{
		Name: "archived", Namespace: "helm", Chart: chart, Values: in.Values, Manifest: sorted.Manifest, Hooks: sorted.Hooks, Notes: output.Notes, Rule: readiness.Unready,
	}, nil, release.Install)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operation.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, text := range recordedObjects {
		var want map[string]any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		stored := cluster.Find("ConfigMap", "helm", name).DeepCopy()
		for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
			unstructured.RemoveNestedField(stored.Object, "metadata", field)
		}
		if diff := cmp.Diff(want, stored.Object); diff != "" {
			t.Errorf("%s, -recorded +got\n%s", name, diff)
		}
	}
	record := cluster.Find("Secret", "helm", "sh.helm.release.v1.archived.v1")
	if diff := cmp.Diff(recordedLabels, record.GetLabels()); diff != "" {
		t.Errorf("labels of the record, -recorded +got\n%s", diff)
	}
	if kind, _, _ := unstructured.NestedString(record.Object, "type"); kind != "helm.sh/release.v1" || output.Notes != "Installed.\n" {
		t.Errorf("type %s, notes %q", kind, output.Notes)
	}
}
