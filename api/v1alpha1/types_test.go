package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestTargetImportEncoding(t *testing.T) {
	tests := []struct{ reason, json string }{
		{"an empty list is a value", `{"name":"a","targets":[]}`},
		{"an empty map is a value", `{"name":"a","targetMap":{}}`},
		{"what is absent stays absent", `{"name":"a","target":"x"}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var item TargetImport
			if err := json.Unmarshal([]byte(test.json), &item); err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(item); err != nil || string(got) != test.json {
				t.Errorf("%s becomes %s (%v)", test.json, got, err)
			}
		})
	}
}

func TestExecutionItems(t *testing.T) {
	config := &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Any"}`)}
	plain := DeployItemTemplateList{{Name: "a", Type: "t", Configuration: config}}
	raw, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}

	// Both forms at once: the compressed one counts.
	spec := ExecutionSpec{DeployItems: DeployItemTemplateList{{Name: "old"}}, DeployItemsCompressed: compressed.Bytes()}
	got, err := spec.Items()
	if err != nil || cmp.Diff(plain, got) != "" {
		t.Errorf("compressed items: %v\n%s", err, cmp.Diff(plain, got))
	}

	// A few items are stored so that a person can read them.
	if err := spec.SetItems(plain); err != nil || spec.DeployItemsCompressed != nil || len(spec.DeployItems) != 1 {
		t.Errorf("few items: %+v, %v", spec, err)
	}

	// Many items are compressed, and come back the same.
	many := DeployItemTemplateList{{Name: "big", Configuration: config, Labels: map[string]string{"x": strings.Repeat("y", plainItemsLimit)}}}
	if err := spec.SetItems(many); err != nil || spec.DeployItems != nil {
		t.Errorf("many items stay plain: %v", err)
	}
	got, err = spec.Items()
	if err != nil || cmp.Diff(many, got) != "" {
		t.Errorf("many items: %v\n%s", err, cmp.Diff(many, got))
	}

	// An item that the schema of the plain form would refuse is compressed.
	if err := spec.SetItems(DeployItemTemplateList{{Name: "a", Type: "t"}}); err != nil || spec.DeployItems != nil {
		t.Errorf("an item without a configuration stays plain: %v", err)
	}

	if err := spec.SetItems(nil); err != nil || spec.DeployItems != nil || spec.DeployItemsCompressed != nil {
		t.Errorf("no items: %+v, %v", spec, err)
	}
}

// TestObservedExecution reads a list that upstream compressed.
func TestObservedExecution(t *testing.T) {
	const stored = `H4sIAAAAAAAA/3SPQWvDMAyF/4vOXkZ3zHXnwWCwS+lBi19dU8c2slIIJf99qMlyGT2+J+nTe8c7ZR5BPZUMcqRzNZE4+zZwhXSBxSNDuiGVyb9epx9IhqK9jJzjGU3tjCVAqd9pl/LwTbXKg1ljzHHkRIujoeRzDLbONX5DWizZNjZg51FTmSHd8xy3A6d64TdydI3ZU0+fUm7RQ94f8ElYjep2aqP+eN/Vv+e3AznyrGyTIIDGHKwJUioWenuz4j+4GhrKfydb8TZySnhefnFUS4rDvPblAFpOjqbqWfGlwopgs9WgZTn9AgAA//8BAAD//0PtS06jAQAA`
	compressed, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	items, err := (&ExecutionSpec{DeployItemsCompressed: compressed}).Items()
	if err != nil || len(items) != 1 || items[0].Name != "one" || items[0].Type != ManifestDeployItemType || items[0].Target.Name != "host" {
		t.Errorf("got %+v, %v", items, err)
	}
}

func TestExecutionItemsBomb(t *testing.T) {
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	block := bytes.Repeat([]byte(" "), 1<<20)
	for range decompressedItemsLimit>>20 + 1 {
		if _, err := writer.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&ExecutionSpec{DeployItemsCompressed: compressed.Bytes()}).Items(); err == nil || !strings.Contains(err.Error(), "bytes after decompression") {
		t.Errorf("a list without end was read: %v", err)
	}
}

func TestPhases(t *testing.T) {
	tests := []struct {
		phase                   InstallationPhase
		final, deletion, failed bool
	}{
		{InstallationPhases.Init, false, false, false},
		{InstallationPhases.Succeeded, true, false, false},
		{InstallationPhases.Failed, true, false, true},
		{InstallationPhases.TriggerDelete, false, true, false},
		{InstallationPhases.DeleteFailed, true, true, true},
	}
	for _, test := range tests {
		if test.phase.IsFinal() != test.final || test.phase.IsDeletion() != test.deletion || test.phase.IsFailed() != test.failed {
			t.Errorf("%s: final %t, deletion %t, failed %t", test.phase, test.phase.IsFinal(), test.phase.IsDeletion(), test.phase.IsFailed())
		}
	}
	// What old releases wrote is understood, and nothing else is touched.
	for old, want := range map[ExecutionPhase]ExecutionPhase{
		"Pending": "Init", "PendingDependencies": "Init", "Completed": "Succeeded", "Aborted": "Failed",
		"Progressing": "Progressing", "Deleting": "Deleting", "": "",
	} {
		t.Run(string(old), func(t *testing.T) {
			if got := old.Current(); got != want {
				t.Errorf("old phase %q is %q, want %q", old, got, want)
			}
		})
	}
	if DeployItemPhase("Aborted").Current() != DeployItemPhases.Failed || !InstallationPhase("").IsEmpty() {
		t.Error("phases of DeployItems and empty phases")
	}
}

func TestErrorCodeUnrecoverable(t *testing.T) {
	for code, want := range map[ErrorCode]bool{
		ErrorConfigurationProblem: true, ErrorInternalProblem: true, ErrorTimeout: true, ErrorUnauthorized: true, ErrorCyclicDependencies: true,
		ErrorWebhook: false, ErrorUnfinished: false, ErrorForInfoOnly: false, ErrorNoRetry: false,
	} {
		t.Run(string(code), func(t *testing.T) {
			if got := code.Unrecoverable(); got != want {
				t.Errorf("%s: unrecoverable %t, want %t", code, got, want)
			}
		})
	}
}

func TestKubernetesClusterTargetConfigEncoding(t *testing.T) {
	seconds := int64(600)
	text := "K"
	tests := map[string]KubernetesClusterTargetConfig{
		`{"kubeconfig":"K"}`: {Kubeconfig: ValueRef{StrVal: &text}},
		`{"kubeconfig":null,"selfConfig":{"serviceAccount":{"name":"in-cluster-deployer"},"expirationSeconds":600}}`:                                                           {SelfConfig: &SelfConfig{ServiceAccount: LocalObjectName{Name: "in-cluster-deployer"}, ExpirationSeconds: &seconds}},
		`{"kubeconfig":null,"oidcConfig":{"server":"https://api.edge.example.org","caData":"Q0E=","serviceAccount":{"name":"edge-deployer"},"audience":["edge-oidc-client"]}}`: {OIDCConfig: &OIDCConfig{Server: "https://api.edge.example.org", CAData: []byte("CA"), ServiceAccount: LocalObjectName{Name: "edge-deployer"}, Audience: []string{"edge-oidc-client"}}},
	}
	for want, config := range tests {
		if got, err := json.Marshal(config); err != nil || string(got) != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	}
}

func TestBlueprintSetDefaults(t *testing.T) {
	schema := &JSONSchemaDefinition{RawMessage: []byte(`{}`)}
	blueprint := &Blueprint{
		Imports: ImportDefinitionList{
			{FieldValueDefinition: FieldValueDefinition{Name: "data", Schema: schema}},
			{FieldValueDefinition: FieldValueDefinition{Name: "target", TargetType: "kubernetes-cluster"}},
			{FieldValueDefinition: FieldValueDefinition{Name: "map", TargetType: "kubernetes-cluster"}, Type: ImportTypeTargetMap,
				ConditionalImports: ImportDefinitionList{{FieldValueDefinition: FieldValueDefinition{Name: "nested", TargetType: "acme.example/vm"}}}},
			{FieldValueDefinition: FieldValueDefinition{Name: "both", Schema: schema, TargetType: "x"}},
		},
		Exports: ExportDefinitionList{{FieldValueDefinition: FieldValueDefinition{Name: "target", TargetType: "kubernetes-cluster"}}},
	}
	blueprint.SetDefaults()
	if blueprint.JSONSchemaVersion != DefaultJSONSchemaVersion {
		t.Errorf("schema dialect %q", blueprint.JSONSchemaVersion)
	}
	imports := blueprint.Imports
	if imports[0].Type != ImportTypeData || imports[1].Type != ImportTypeTarget || imports[3].Type != "" {
		t.Errorf("types %q, %q, %q", imports[0].Type, imports[1].Type, imports[3].Type)
	}
	if imports[1].TargetType != string(KubernetesClusterTargetType) || imports[2].TargetType != string(KubernetesClusterTargetType) || imports[2].ConditionalImports[0].TargetType != "acme.example/vm" {
		t.Errorf("target types %q, %q, %q", imports[1].TargetType, imports[2].TargetType, imports[2].ConditionalImports[0].TargetType)
	}
	if !*imports[0].Required || !*imports[2].ConditionalImports[0].Required {
		t.Error("imports are required by default, also the nested ones")
	}
	if blueprint.Exports[0].Type != ExportTypeTarget || blueprint.Exports[0].TargetType != string(KubernetesClusterTargetType) {
		t.Errorf("export %+v", blueprint.Exports[0])
	}
}

// TestSemanticEquality: objects with durations can be compared as the libraries of
// Kubernetes do.
func TestSemanticEquality(t *testing.T) {
	with := func(text string) *Installation {
		duration := &Duration{}
		if err := duration.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return &Installation{Status: InstallationStatus{History: []JobRecord{{JobID: "a", Running: duration}}}}
	}
	for _, test := range []struct {
		reason, a, b string
		equal        bool
	}{
		{"two spellings of one duration are equal", `"1m"`, `"60s"`, true},
		{"two durations differ", `"1m"`, `"2m"`, false},
		{"two texts that are not durations differ", `"soon"`, `"later"`, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := equality.Semantic.DeepEqual(with(test.a), with(test.b)); got != test.equal {
				t.Errorf("equal %t", got)
			}
		})
	}
}
