package dataflow

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

func TestHashes(t *testing.T) {
	object := &v1alpha1.DataObject{Data: v1alpha1.NewAnyJSON([]byte(`{"port":8443,"hosts":["a"]}`))}
	if got, err := valueobject.DataHash(object); err != nil || got != "1ed1c434f729172d53f25be21ec9fccddc53ea3e" {
		t.Errorf("the order of keys must not matter: %s, %v", got, err)
	}
	object.Annotations = map[string]string{v1alpha1.DataObjectHashAnnotation: "old"}
	if got, err := valueobject.DataHash(object); err != nil || got == "old" {
		t.Errorf("an object that was edited by hand has another hash than its annotation says: %s, %v", got, err)
	}
	object.Data = v1alpha1.NewAnyJSON([]byte(`12345678901234567890`))
	large, err := valueobject.DataHash(object)
	object.Data = v1alpha1.NewAnyJSON([]byte(`12345678901234567891`))
	if other, otherErr := valueobject.DataHash(object); err != nil || otherErr != nil || large == other {
		t.Errorf("large numbers must not be rounded: %s", large)
	}
	object.Data = v1alpha1.NewAnyJSON([]byte(`"` + hidden))
	_, err = valueobject.DataHash(object)
	wantError(t, "what is not JSON", err, "the value is not JSON")
	if got := valueobject.TargetHash(&v1alpha1.TargetSpec{}); got != "da39a3ee5e6b4b0d3255bfef95601890afd80709" {
		t.Errorf("a Target without content: %s", got)
	}
	if a, b := valueobject.TargetHash(&v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "a"}}), valueobject.TargetHash(&v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "a", Key: "k"}}); a == b {
		t.Error("the key of a Secret is part of the content")
	}
}

func TestImportsHash(t *testing.T) {
	host := target("host", "{}")
	// Both were recorded from upstream.
	recorded := []struct {
		want    string
		imports Imports
	}{
		{"e33d3b041a7833ac77c1dea46466e2adb9980dd5", Imports{Targets: map[string]*v1alpha1.Target{"cluster": host}}},
		{"aae860900fddbc9dd4d0d79fbb7b4609cbe8b120", Imports{
			Data:    map[string]DataImport{"gitRepositoryName": data(`"landscaper"`), "secretName": data(`"cluster2"`)},
			Targets: map[string]*v1alpha1.Target{"cluster": host, "cluster2": host},
		}},
	}
	for _, test := range recorded {
		if got, err := ImportsHash(test.imports); err != nil || got != test.want {
			t.Errorf("imports hash %s, %v, want %s", got, err, test.want)
		}
	}
	changed := target("host", "{}")
	changed.Generation = 2
	tests := []struct {
		reason        string
		before, after Imports
		same          bool
	}{
		{"the form of data is of no importance", Imports{Data: map[string]DataImport{"a": data(`{"b":1,"a":2}`)}}, Imports{Data: map[string]DataImport{"a": data("{ \"a\": 2,\n\"b\": 1 }")}}, true},
		{"data changed", Imports{Data: map[string]DataImport{"a": data("1")}}, Imports{Data: map[string]DataImport{"a": data("2")}}, false},
		{"a Target in a list changed", Imports{TargetLists: map[string][]*v1alpha1.Target{"a": {host, host}}}, Imports{TargetLists: map[string][]*v1alpha1.Target{"a": {host, changed}}}, false},
		{"a list became shorter", Imports{TargetLists: map[string][]*v1alpha1.Target{"a": {host, host}}}, Imports{TargetLists: map[string][]*v1alpha1.Target{"a": {host}}}, false},
		{"a Target in a map changed", Imports{TargetMaps: map[string]map[string]*v1alpha1.Target{"a": {"k": host}}}, Imports{TargetMaps: map[string]map[string]*v1alpha1.Target{"a": {"k": changed}}}, false},
		{"a key of a map changed", Imports{TargetMaps: map[string]map[string]*v1alpha1.Target{"a": {"k": host}}}, Imports{TargetMaps: map[string]map[string]*v1alpha1.Target{"a": {"l": host}}}, false},
		{"an empty list differs from no list", Imports{}, Imports{TargetLists: map[string][]*v1alpha1.Target{"a": {}}}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			before, errBefore := ImportsHash(test.before)
			after, errAfter := ImportsHash(test.after)
			if errBefore != nil || errAfter != nil || (before == after) != test.same {
				t.Errorf("%s and %s, %v, %v", before, after, errBefore, errAfter)
			}
		})
	}
}

// TestHashOfSecrets: the hash of a value from a Secret confirms no guess, and changes
// with the value only.
func TestHashOfSecrets(t *testing.T) {
	hash := func(value, salt string) string {
		t.Helper()
		sum, err := ImportsHash(Imports{Data: map[string]DataImport{"password": {Value: v1alpha1.NewAnyJSON([]byte(value)), Salt: salt}}})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	for _, test := range []struct {
		reason string
		a, b   string
		same   bool
	}{
		{"a Secret that is read again", hash(`"x"`, "uid"), hash(`"x"`, "uid"), true},
		{"another value", hash(`"x"`, "uid"), hash(`"y"`, "uid"), false},
		{"a guess without the Secret", hash(`"x"`, "uid"), hash(`"x"`, ""), false},
		{"a Secret of one's own with the guess", hash(`"x"`, "uid"), hash(`"x"`, "own"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if (test.a == test.b) != test.same {
				t.Errorf("%s, %s", test.a, test.b)
			}
		})
	}
}

// TestDeepValues: each level of a value indents all that is below it, in the form that
// is hashed. A text of 20 KB that is nested 10,000 times became 200 MB.
func TestDeepValues(t *testing.T) {
	nested := func(depth int, inner string) string {
		return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
	}
	for _, test := range []struct{ reason, text, want string }{
		{"values of blueprints", nested(100, "1"), ""},
		{"as deep as decoders go", nested(9_999, ""), "nested too deeply"},
		{"deeper than decoders go", nested(100_000, ""), "not JSON"},
		{"many values, all of them deep", nested(500, "1"+strings.Repeat(",1", 100_000)), "nested too deeply"},
		{"objects", strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000), "nested too deeply"},
		{"brackets in a text", `"` + strings.Repeat(`[\"`, 100_000) + `"`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			raw, err := valueobject.EncodeJSON([]byte(test.text))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%d bytes, %v", len(raw), err)
			}
			if err == nil {
				value, _ := jsonvalue.FromJSONWithNumbers([]byte(test.text))
				if want, _ := json.MarshalIndent(value, "", "  "); string(raw) != string(want) {
					t.Error("the form has changed")
				}
			}
		})
	}
	deep := Imports{Data: map[string]DataImport{"a": data(nested(9_999, ""))}}
	if _, err := ImportsHash(deep); !errors.Is(err, valueobject.ErrTooDeep) {
		t.Errorf("the digest of the imports: %v", err)
	}
}
