package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// localResult is what "local run -o json" prints.
type localResult struct {
	Installations []struct{ Namespace, Name, Phase, Message string }
	Clusters      []struct {
		Name    string
		Objects []map[string]any
	}
}

// TestFidelity runs examples in memory and on clusters: they end in the same phases with the same messages, and
// what they deploy has the same fields.
func TestFidelity(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	for _, test := range []struct{ reason, file, target string }{
		{"objects of a template", "first-installation/installation.yaml", "first-cluster"},
		{"a kustomization", "kustomize-without-flux/installation.yaml", "first-cluster"},
		{"a chart", "helm/hello-world/installation.yaml", "my-cluster"},
		{"charts that wait for each other", "helm/multiple-items/installation.yaml", "my-cluster"},
		{"a chart that cannot be rendered", "helm/error-handling/immediate.yaml", "my-cluster"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			space := namespace(t)
			text, err := os.ReadFile(filepath.Join("../../examples", test.file))
			if err != nil {
				t.Fatal(err)
			}
			// Namespaces of the example are those of the test, so that tests do not meet.
			manifest := regexp.MustCompile(`amespace: (default|hello|goodbye|[a-z-]*hello[a-z-]*)\b`).ReplaceAllString(string(text), "amespace: "+space)
			inMemory := runLocally(t, manifest, space)
			inst := &v1alpha1.Installation{}
			if err := yaml.UnmarshalStrict([]byte(manifest), inst); err != nil {
				t.Fatal(err)
			}
			inst.Namespace = space
			createTarget(t, space, test.target, env.TargetKubeconfig)
			onClusters := waitFinished(t, create(t, inst), "")
			if len(inMemory.Installations) != 1 || len(inMemory.Clusters) != 1 {
				t.Fatalf("%+v", inMemory)
			}
			local := inMemory.Installations[0]
			if local.Phase != string(onClusters.Status.InstallationPhase) {
				t.Errorf("the phase is %s in memory, and %s on clusters (%s)", local.Phase, onClusters.Status.InstallationPhase, local.Message)
			}
			message := ""
			if onClusters.Status.LastError != nil {
				message = onClusters.Status.LastError.Message
			}
			if masked(local.Message) != masked(message) {
				t.Errorf("the message is\n%s\nin memory, and\n%s\non clusters", local.Message, message)
			}
			compared := compareObjects(t, inMemory.Clusters[0].Objects)
			if local.Phase == string(v1alpha1.InstallationPhases.Succeeded) && compared == 0 {
				t.Error("there is nothing to compare")
			}
		})
	}
}

// hashes differ: they are worked out from UIDs.
var hashes = regexp.MustCompile(`-[a-z0-9]{5,}\b`)

func masked(message string) string { return hashes.ReplaceAllString(message, "-…") }

// runLocally brings up a manifest in memory.
func runLocally(t *testing.T, manifest, space string) *localResult {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"installation.yaml": manifest,
		"local.yaml":        "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LocalLandscape\nnamespace: " + space + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, complaints := cli(t, "local", "run", folder, "-o", "json")
	result := &localResult{}
	if err := json.Unmarshal([]byte(out), result); err != nil {
		t.Fatalf("code %d, %v: %s %s", code, err, out, complaints)
	}
	return result
}

// compareObjects compares what is in memory with what is on the target cluster. The API server of that adds
// defaults, and controllers add objects and a status. It returns how many objects were compared.
func compareObjects(t *testing.T, objects []map[string]any) (compared int) {
	t.Helper()
	for _, fields := range objects {
		local := &unstructured.Unstructured{Object: fields}
		if local.GetKind() == "Namespace" || strings.HasPrefix(local.GetName(), "sh.helm.release") {
			continue // a release is compressed, and has the times of its steps
		}
		name := fmt.Sprintf("%s %s/%s", local.GetKind(), local.GetNamespace(), local.GetName())
		real := &unstructured.Unstructured{}
		real.SetGroupVersionKind(local.GroupVersionKind())
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(local), real); err != nil {
			t.Errorf("%s is in memory, and not on the cluster: %v", name, err)
			continue
		}
		compared++
		for _, part := range slices.DeleteFunc(keys(fields), func(key string) bool { return key == "metadata" || key == "status" }) {
			if missing := lacks(fields[part], real.Object[part], part); missing != "" {
				t.Errorf("%s: %s", name, missing)
			}
		}
		for _, kind := range []func(*unstructured.Unstructured) map[string]string{(*unstructured.Unstructured).GetLabels, (*unstructured.Unstructured).GetAnnotations} {
			for key := range kind(local) {
				if _, has := kind(real)[key]; !has {
					t.Errorf("%s has %s in memory only", name, key)
				}
			}
		}
	}
	return compared
}

func keys(fields map[string]any) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lacks names a field that is in memory, and not the same on the cluster.
func lacks(local, real any, at string) string {
	switch local := local.(type) {
	case map[string]any:
		fields, _ := real.(map[string]any)
		for _, name := range keys(local) {
			if missing := lacks(local[name], fields[name], at+"."+name); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		list, _ := real.([]any)
		if len(list) != len(local) {
			return fmt.Sprintf("%s has %d elements in memory, and %d on the cluster", at, len(local), len(list))
		}
		for i := range local {
			if missing := lacks(local[i], list[i], fmt.Sprintf("%s[%d]", at, i)); missing != "" {
				return missing
			}
		}
		return ""
	case nil:
		return "" // the API server drops it
	}
	if !reflect.DeepEqual(local, real) && fmt.Sprint(local) != fmt.Sprint(real) {
		return fmt.Sprintf("%s is %v in memory, and %v on the cluster", at, local, real)
	}
	return ""
}
