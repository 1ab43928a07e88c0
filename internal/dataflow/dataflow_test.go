package dataflow

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func target(name string, config string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(config))},
	}
}

func TestHashes(t *testing.T) {
	object := &v1alpha1.DataObject{Data: v1alpha1.NewAnyJSON([]byte(`{"port":8443,"hosts":["a"]}`))}
	if got, err := DataHash(object); err != nil || got != "1ed1c434f729172d53f25be21ec9fccddc53ea3e" {
		t.Errorf("the order of keys must not matter: %s, %v", got, err)
	}
	object.Annotations = map[string]string{v1alpha1.DataObjectHashAnnotation: "old"}
	if got, err := DataHash(object); err != nil || got == "old" {
		t.Errorf("an object that was edited by hand has another hash than its annotation says: %s, %v", got, err)
	}
	object.Data = v1alpha1.NewAnyJSON([]byte(`12345678901234567890`))
	large, err := DataHash(object)
	object.Data = v1alpha1.NewAnyJSON([]byte(`12345678901234567891`))
	if other, otherErr := DataHash(object); err != nil || otherErr != nil || large == other {
		t.Errorf("large numbers must not be rounded: %s", large)
	}
	if got := TargetHash(&v1alpha1.TargetSpec{}); got != "da39a3ee5e6b4b0d3255bfef95601890afd80709" {
		t.Errorf("a Target without content: %s", got)
	}
	if a, b := TargetHash(&v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "a"}}), TargetHash(&v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "a", Key: "k"}}); a == b {
		t.Error("the key of a Secret is part of the content")
	}
	// Recorded from the public system.
	if got, err := ImportsHash(Imports{Targets: map[string]*v1alpha1.Target{"cluster": target("host", "{}")}}); err != nil || got != "e33d3b041a7833ac77c1dea46466e2adb9980dd5" {
		t.Errorf("imports hash %s, %v", got, err)
	}
}

func TestTargetNames(t *testing.T) {
	spec := &v1alpha1.InstallationSpec{Imports: v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "a", Target: "host"}, {Name: "b", Target: "#real"}}}}
	if got := TargetNames(spec, ""); got["a"] != "host" || got["b"] != "real" {
		t.Errorf("at a root: %v", got)
	}
	if got := TargetNames(spec, "Inst.shop"); got["a"] == "host" || got["b"] != "real" {
		t.Errorf("in a subinstallation: %v", got)
	}
}

func TestCheckTargets(t *testing.T) {
	required, optional := true, false
	definition := func(required *bool, targetType string, kind v1alpha1.ImportType) v1alpha1.ImportDefinition {
		return v1alpha1.ImportDefinition{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "cluster", TargetType: targetType}, Type: kind, Required: required}
	}
	cluster := string(v1alpha1.KubernetesClusterTargetType)
	given := Imports{Targets: map[string]*v1alpha1.Target{"cluster": target("host", "{}")}}
	tests := []struct {
		reason     string
		definition v1alpha1.ImportDefinition
		imports    Imports
		want       string
	}{
		{"what is asked for", definition(&required, cluster, v1alpha1.ImportTypeTarget), given, ""},
		{"an optional import may be missing", definition(&optional, cluster, v1alpha1.ImportTypeTarget), Imports{}, ""},
		{"a required import is missing", definition(&required, cluster, v1alpha1.ImportTypeTarget), Imports{}, `blueprint import "cluster" of type target is required`},
		{"the Target is of another type", definition(&required, "acme.example/vm", v1alpha1.ImportTypeTarget), given, "asks for a Target of type acme.example/vm, but Target host is of type"},
		{"a list is asked for", definition(&required, cluster, v1alpha1.ImportTypeTargetList), given, "imports a single Target under this name"},
	}
	for _, test := range tests {
		err := CheckTargets(v1alpha1.ImportDefinitionList{test.definition}, test.imports)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
}

func TestTargetCopies(t *testing.T) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "smallest", Namespace: "minimal", UID: "uid"}, Status: v1alpha1.InstallationStatus{JobID: "job"}}
	source := target("host", `{"kubeconfig":"x"}`)
	source.Labels = map[string]string{"team": "blue"}
	source.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "n"}
	definitions := v1alpha1.ImportDefinitionList{{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "cluster"}}, {FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "missing"}}}
	copies := TargetCopies(inst, definitions, Imports{Targets: map[string]*v1alpha1.Target{"cluster": source}})
	if len(copies) != 1 {
		t.Fatalf("%d copies", len(copies))
	}
	got := copies[0]
	// The name is that which the public system gave in the same case.
	if got.Name != "u4upffjwuhdcwp334chs4435fp6kiw7r" || got.Namespace != "minimal" || got.OwnerReferences[0].UID != "uid" || got.OwnerReferences[0].Controller != nil {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	for key, want := range map[string]string{"team": "blue", v1alpha1.DataObjectContextLabel: "Inst.smallest", v1alpha1.DataObjectKeyLabel: "cluster", v1alpha1.DataObjectSourceLabel: "Inst.smallest", v1alpha1.DataObjectSourceTypeLabel: "import", v1alpha1.DataObjectJobIDLabel: "job"} {
		if got.Labels[key] != want {
			t.Errorf("label %s is %q, want %q", key, got.Labels[key], want)
		}
	}
	if got.Annotations["note"] != "n" || got.Annotations[v1alpha1.DataObjectHashAnnotation] != TargetHash(&source.Spec) || got.Annotations["kubectl.kubernetes.io/last-applied-configuration"] != "" {
		t.Errorf("annotations %v", got.Annotations)
	}
}
