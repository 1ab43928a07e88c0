package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestMonitored: with the values of the example, Prometheus finds the pods, is let in, has a token that the
// server accepts, and has the rules; Grafana has the dashboards.
func TestMonitored(t *testing.T) {
	values := valuesOf(t, "monitored.yaml")
	for name := range values {
		if _, known := valuesOf(t, "values.yaml")[name]; !known {
			t.Errorf("the chart has no value %s", name)
		}
	}
	objects := render(t, values)
	find := func(kind, name string) map[string]any {
		t.Helper()
		object, err := Find(objects, kind, name)
		if err != nil {
			t.Fatal(err)
		}
		return object.Object
	}
	monitor := find("PodMonitor", Release)
	endpoints, _, _ := unstructured.NestedSlice(monitor, "spec", "podMetricsEndpoints")
	if len(endpoints) != 1 {
		t.Fatalf("%d endpoints", len(endpoints))
	}
	endpoint := endpoints[0].(map[string]any)
	pods, _, _ := unstructured.NestedMap(find("Deployment", Release), "spec", "template")
	podLabels, _, _ := unstructured.NestedStringMap(pods, "metadata", "labels")
	if !selects(t, monitor["spec"].(map[string]any)["selector"], podLabels) {
		t.Error("the PodMonitor does not select the pods of the server")
	}
	ports, _ := json.Marshal(pods["spec"])
	if !strings.Contains(string(ports), `"name":"`+endpoint["port"].(string)+`"`) {
		t.Errorf("the pods have no port %v", endpoint["port"])
	}
	name, _, _ := unstructured.NestedString(endpoint, "authorization", "credentials", "name")
	token := find("Secret", name)
	account, _, _ := unstructured.NestedString(token, "metadata", "annotations", "kubernetes.io/service-account.name")
	find("ServiceAccount", account)
	binding := find("ClusterRoleBinding", account)
	role, _, _ := unstructured.NestedString(binding, "roleRef", "name")
	rules, _, _ := unstructured.NestedSlice(find("ClusterRole", role), "rules")
	if want := []any{map[string]any{"nonResourceURLs": []any{"/metrics"}, "verbs": []any{"get"}}}; !reflect.DeepEqual(rules, want) {
		t.Errorf("the token may do %v", rules)
	}
	contains(t, objects, "NetworkPolicy", Release, []string{`"app.kubernetes.io/name":"prometheus"`})

	var alerts map[string]any
	if err := yaml.Unmarshal(fileOf(t, "monitoring/alerts.yaml"), &alerts); err != nil {
		t.Fatal(err)
	}
	if spec := find("PrometheusRule", Release)["spec"]; !reflect.DeepEqual(spec, alerts) {
		t.Errorf("the rules are %v", spec)
	}
	boards, _, _ := unstructured.NestedStringMap(find("ConfigMap", Release+"-dashboards"), "data")
	for _, name := range []string{"operator.json", "namespaces.json"} {
		if boards[Release+"-"+name] != string(fileOf(t, "monitoring/dashboards/"+name)) {
			t.Errorf("the dashboard %s is missing, or another one", name)
		}
	}
}

func fileOf(t *testing.T, name string) []byte {
	t.Helper()
	directory, err := Landscaper.Directory()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestOpenMetrics: metrics without authentication need no token, and none is made.
func TestOpenMetrics(t *testing.T) {
	objects := render(t, map[string]any{
		"metrics": map[string]any{"authenticated": false}, "monitoring": map[string]any{"podMonitor": map[string]any{"enabled": true}}, "networkPolicy": map[string]any{"enabled": false},
	})
	monitor, err := Find(objects, "PodMonitor", Release)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(monitor.Object); strings.Contains(string(text), "authorization") || strings.Contains(string(text), "https") {
		t.Errorf("the PodMonitor is %s", text)
	}
	if _, err := Find(objects, "Secret", Release+"-metrics-token"); err == nil {
		t.Error("there is a token")
	}
}
