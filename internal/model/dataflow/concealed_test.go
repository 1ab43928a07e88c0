package dataflow

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// secretData is what is imported from the Secret with this UID.
func secretData(raw, uid string) DataImport {
	return DataImport{Value: v1alpha1.NewAnyJSON([]byte(raw)), Salt: uid}
}

// TestCopiesOfSecrets: the DataObject that others expect exists, under its name and with its
// labels; the value is in a Secret that has the same.
func TestCopiesOfSecrets(t *testing.T) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "dataflow-root", Namespace: "cu-example", UID: "uid"}, Status: v1alpha1.InstallationStatus{JobID: "job"}}
	imports := Imports{Data: map[string]DataImport{"secretName": secretData(`"hunter2"`, "uid-of-secret")}}
	made, err := DataCopies(inst, constructed(t, "[{name: secretName, schema: {type: string}}]", imports, nil))
	if err != nil || len(made.DataObjects) != 1 || len(made.Secrets) != 1 {
		t.Fatalf("%d DataObjects, %d Secrets, %v", len(made.DataObjects), len(made.Secrets), err)
	}
	object, secret := made.DataObjects[0], made.Secrets[0]
	const name = "4um4czklwyfpstqyl4qnts6gdbwd4tee"
	if object.Name != name || valueobject.SecretOf(object) != name || asJSON(t, object.Data) != `{"secretRef":{"key":"value","name":"`+name+`"}}` {
		t.Errorf("DataObject %s", asJSON(t, object))
	}
	if hash := object.Annotations[v1alpha1.DataObjectHashAnnotation]; hash == "" || hash == valueobject.Hash([]byte(`"hunter2"`)) {
		t.Errorf("the digest %q confirms guesses", hash)
	}
	if strings.Contains(asJSON(t, object), hidden) {
		t.Errorf("the DataObject has the value: %s", asJSON(t, object))
	}
	if secret.Name != name || secret.Namespace != "cu-example" || secret.Type != valueobject.ValueSecretType || string(secret.Data["value"]) != `"hunter2"` || len(secret.Annotations) != 0 {
		t.Errorf("Secret %s", asJSON(t, secret))
	}
	if !maps.Equal(secret.Labels, object.Labels) || secret.Labels[v1alpha1.DataObjectKeyLabel] != "secretName" || secret.OwnerReferences[0].UID != "uid" {
		t.Errorf("metadata of the Secret %+v", secret.ObjectMeta)
	}
	secret.UID = "uid-of-copy"
	back, err := FromDataObject(object, secret)
	if err != nil || string(back.Value.RawMessage) != `"hunter2"` || back.Salt != "uid-of-copy" {
		t.Errorf("read again: %s, salt %q, %v", back.Value.RawMessage, back.Salt, err)
	}
	byKey, _, err := ScopeValues(made.DataObjects, made.Secrets, nil)
	if err != nil || asJSON(t, byKey) != `{"secretName":"hunter2"}` {
		t.Errorf("in the scope: %s, %v", asJSON(t, byKey), err)
	}
	_, _, err = ScopeValues(made.DataObjects, nil, nil)
	wantError(t, "without its Secret a copy has no value", err, "which is missing")

	imports.Data["secretName"] = secretData(`"`+strings.Repeat("x", corev1.MaxSecretSize)+`"`, "uid")
	_, err = DataCopies(inst, constructed(t, "[{name: secretName, schema: {type: string}}]", imports, nil))
	wantError(t, "what does not fit into a Secret", err, `copy of import "secretName": the value comes from a Secret and needs`)
}

// TestForeignValues: a DataObject is followed only to a Secret that was written for it.
func TestForeignValues(t *testing.T) {
	owner := func(kind, uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Name: "a", UID: types.UID(uid)}}
	}
	object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{
		Namespace: "a", Name: "copy", Annotations: map[string]string{v1alpha1.DataObjectSecretAnnotation: "copy"}, OwnerReferences: owner("Installation", "u"),
	}}
	for _, test := range []struct {
		reason string
		change func(*corev1.Secret)
		want   string
	}{
		{"a Secret of the DataObject itself", func(*corev1.Secret) {}, ""},
		{"a Secret of a user", func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }, "which was not written for it"},
		{"a Secret of another Installation", func(s *corev1.Secret) { s.OwnerReferences = owner("Installation", "other") }, "which was not written for it"},
		{"a Secret without an owner", func(s *corev1.Secret) { s.OwnerReferences = nil }, "which was not written for it"},
		{"a Secret of another type", func(s *corev1.Secret) { s.OwnerReferences = owner("Deployment", "u") }, "which was not written for it"},
		{"another name", func(s *corev1.Secret) { s.Name = "other" }, "which was not written for it"},
		{"another namespace", func(s *corev1.Secret) { s.Namespace = "b" }, "which was not written for it"},
		{"a value that is not JSON", func(s *corev1.Secret) { s.Data["value"] = []byte(hidden) }, "which was not written for it"},
		{"a Secret without a value", func(s *corev1.Secret) { s.Data = nil }, "which was not written for it"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "copy", UID: "s", OwnerReferences: owner("Installation", "u")}, Type: valueobject.ValueSecretType, Data: map[string][]byte{"value": []byte("1")}}
			test.change(secret)
			_, err := FromDataObject(object, secret)
			wantError(t, test.reason, err, test.want)
		})
	}
	_, err := FromDataObject(object, nil)
	wantError(t, "none", err, "DataObject copy has its value in Secret copy, which is missing: start another job")
}

// TestWhatComesFromSecrets: which copies are in Secrets.
func TestWhatComesFromSecrets(t *testing.T) {
	inst := installation(t, "", "blueprint: {}")
	for _, test := range []struct {
		reason   string
		mapping  string
		bindings map[string]any
		want     bool
	}{
		{"an import that does not come from a Secret", "(( color ))", nil, false},
		{"a fixed value", "password", nil, false},
		{"the value", "(( password ))", nil, true},
		{"a part of it", "(( substr( password 0 1 ) ))", nil, true},
		{"the value among all imports", "(( .imports.password ))", nil, true},
		{"the value behind an own field of the name", "{color: (( ___.password ))}", nil, true},
		{"all imports", "(( imports ))", nil, true},
		{"everything", "(( ___ ))", nil, true},
		{"a name that is put together", "(( eval( \"pass\" \"word\" ) ))", nil, true},
		{"two steps", "{first: (( password )), second: (( first ))}", nil, true},
		{"in a list", "[a, (( password ))]", nil, true},
		{"a longer name", "(( color \"passwords\" ))", nil, false},
		{"a value that an import execution makes", "", map[string]any{"made": "x"}, true},
		{"a value that an import execution does not change", "(( color ))", map[string]any{"made": "blue"}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			imports := Imports{Data: map[string]DataImport{"password": secretData(`"hunter2"`, "uid-of-secret"), "color": data(`"blue"`), "passwords": data(`"1"`), "made": data(`"before"`)}}
			inst.Spec.ImportDataMappings = nil
			if test.mapping != "" {
				inst.Spec.ImportDataMappings = decode[map[string]v1alpha1.AnyJSON](t, "{made: "+test.mapping+"}")
			}
			list := definitions(t, "[{name: made, schema: {}}, {name: password, schema: {}}]")
			blue := func(context.Context, string, v1alpha1.AnyJSON, map[string]any) (any, error) { return "blue", nil }
			mapped, _, err := ApplyImportMappings(t.Context(), inst, list, imports, blue)
			if err != nil {
				t.Fatal(err)
			}
			values, err := Construct(t.Context(), "inst", list, imports, mapped, compileType)
			if err == nil {
				err = values.Bind(test.bindings)
			}
			if err != nil {
				t.Error(err)
				return
			}
			made, err := DataCopies(inst, values)
			if err != nil || len(made.DataObjects) != 2 {
				t.Errorf("%d copies, %v", len(made.DataObjects), err)
				return
			}
			if got := valueobject.SecretOf(made.DataObjects[0]) != ""; got != test.want {
				t.Errorf("in a Secret: %v, want %v", got, test.want)
			}
			if valueobject.SecretOf(made.DataObjects[1]) == "" {
				t.Error("the import itself is not in a Secret")
			}
		})
	}
}
