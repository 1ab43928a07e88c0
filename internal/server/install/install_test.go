package install

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api"
	"go.landscaper.dev/internal/model/admission"
	"go.landscaper.dev/internal/model/validation"
)

// definition is one of ours, of a revision, with versions; the first one is stored.
func definition(revision string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Annotations = "as.example.test", map[string]string{}
	if revision != "" {
		crd.Annotations[revisionAnnotation] = revision
	}
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "as", Kind: "A"}
	for i, name := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Storage: i == 0, Served: true})
	}
	return crd
}

// TestRefuseDowngrade: an older schema would cut fields off the objects of a newer one.
func TestRefuseDowngrade(t *testing.T) {
	tests := []struct {
		reason, installed, ours string
		refused                 bool
	}{
		{"an older one is there", "11", "12", false},
		{"the same revision is installed", "12", "12", false},
		{"a newer one is there", "13", "12", true},
		{"numbers, not texts, are compared", "9", "12", false},
		{"upstream, or a user, has installed the CRD", "", "12", false},
		{"the revision is not a number", "latest", "12", false},
		{"a number that is larger than any", "99999999999999999999", "12", false},
		{"this release has no revision: it could remove any field", "1", "", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := refuseDowngrade(definition(test.installed, "v1"), definition(test.ours, "v1"))
			if (err != nil) != test.refused {
				t.Fatalf("got %v", err)
			}
			if err != nil && test.ours != "" && (!strings.Contains(err.Error(), "API revision 13, this release has 12") || !strings.Contains(err.Error(), "--allow-downgrade")) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// TestUpgraded: our parts are replaced, what others have added stays, and objects stay in
// the version in which they are stored.
func TestUpgraded(t *testing.T) {
	shape := func(crd *apiextensionsv1.CustomResourceDefinition) string {
		var all []string
		for _, version := range crd.Spec.Versions {
			all = append(all, version.Name+" "+strconv.FormatBool(version.Storage)+" "+warningOf(version))
		}
		return strings.Join(all, ", ")
	}
	ours := definition("12", "v1alpha1")
	warning := "ours"
	ours.Spec.Versions[0].DeprecationWarning = &warning
	tests := []struct {
		reason string
		live   *apiextensionsv1.CustomResourceDefinition
		want   string
	}{
		{"the version is replaced", definition("11", "v1alpha1"), "v1alpha1 true ours"},
		{"another storage version stays", definition("11", "v1", "v1alpha1"), "v1 true , v1alpha1 false ours"},
		{"ours is stored, another one was added", definition("11", "v1alpha1", "v1"), "v1alpha1 true ours, v1 false "},
		{"ours is missing", definition("11", "v1"), "v1 true , v1alpha1 false ours"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			before := test.live.DeepCopy()
			got := upgraded(test.live, ours)
			if shape(got) != test.want || Revision(got) != "12" {
				t.Errorf("%s of revision %s, want %s", shape(got), Revision(got), test.want)
			}
			if diff := cmp.Diff(before, test.live); diff != "" {
				t.Errorf("what was read has changed: %s", diff)
			}
			if again := upgraded(got, ours); shape(again) != shape(got) {
				t.Errorf("a second time makes a difference: %s", shape(again))
			}
		})
	}
	t.Run("what others have added", func(t *testing.T) {
		live := definition("", "v1alpha1")
		live.Annotations, live.Labels = map[string]string{"team": "a"}, map[string]string{"team": "b"}
		live.Spec.Names.Categories, live.Spec.Names.ShortNames = []string{"all"}, []string{"old"}
		live.Spec.PreserveUnknownFields = true
		live.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		got := upgraded(live, ours)
		if got.Annotations["team"] != "a" || got.Labels["team"] != "b" || got.Spec.Conversion == nil || len(got.Spec.Names.Categories) != 1 {
			t.Errorf("the object is deleted: %+v", got)
		}
		if got.Spec.PreserveUnknownFields || len(got.Spec.Names.ShortNames) > 0 {
			t.Errorf("what is ours was not replaced: %+v", got.Spec)
		}
	})
	t.Run("a definition without annotations", func(t *testing.T) {
		live := definition("", "v1alpha1")
		live.Annotations = nil
		if got := upgraded(live, ours); Revision(got) != "12" {
			t.Errorf("%v", got.Annotations)
		}
	})
}

// TestNote: who waits for a definition hears why it is not served.
func TestNote(t *testing.T) {
	condition := func(kind apiextensionsv1.CustomResourceDefinitionConditionType, status apiextensionsv1.ConditionStatus, message string) apiextensionsv1.CustomResourceDefinitionCondition {
		return apiextensionsv1.CustomResourceDefinitionCondition{Type: kind, Status: status, Message: message}
	}
	established, accepted := condition(apiextensionsv1.Established, "True", ""), condition(apiextensionsv1.NamesAccepted, "True", "")
	refused := condition(apiextensionsv1.NamesAccepted, "False", "the name is taken")
	tests := []struct {
		reason     string
		name       string
		conditions []apiextensionsv1.CustomResourceDefinitionCondition
		left       string
	}{
		{"nothing is said yet", "as.example.test", nil, "first"},
		{"a CRD that is served", "as.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{accepted, established}, ""},
		{"a CRD that is served, with conditions in another order", "as.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{established, accepted}, ""},
		{"a CRD with the names of another one", "as.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{refused}, "the name is taken"},
		{"a CRD that is served under its former names", "as.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{established, refused}, "the name is taken"},
		{"not yet", "as.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{condition(apiextensionsv1.Established, "False", "installing")}, "first"},
		{"a CRD that is not waited for", "bs.example.test", []apiextensionsv1.CustomResourceDefinitionCondition{established}, "first"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			waiting := map[string]string{"as.example.test": "first"}
			crd := definition("1", "v1")
			crd.Name, crd.Status.Conditions = test.name, test.conditions
			note(waiting, crd)
			if waiting["as.example.test"] != test.left || len(waiting) > 1 {
				t.Errorf("waiting for %v", waiting)
			}
		})
	}
}

// TestIncludes: what the API server has filled in is no difference.
func TestIncludes(t *testing.T) {
	object := func(fields ...any) map[string]any {
		made := map[string]any{}
		for i := 0; i < len(fields); i += 2 {
			made[fields[i].(string)] = fields[i+1]
		}
		return made
	}
	tests := []struct {
		reason         string
		stored, wanted any
		want           bool
	}{
		{"equal objects", object("a", "x"), object("a", "x"), true},
		{"more is stored", object("a", "x", "b", "y"), object("a", "x"), true},
		{"less is stored", object(), object("a", "x"), false},
		{"objects with another value", object("a", "y"), object("a", "x"), false},
		{"deeper", object("a", object("b", "x", "c", "y")), object("a", object("b", "x")), true},
		{"a list has the same length", object("a", []any{"x", "y"}), object("a", []any{"x"}), false},
		{"a list has its order", object("a", []any{"x", "y"}), object("a", []any{"y", "x"}), false},
		{"an entry of a list was filled up", object("a", []any{object("b", "x", "c", "y")}), object("a", []any{object("b", "x")}), true},
		{"a text for a map", object("a", "x"), object("a", object()), false},
		{"a map for a list", object("a", object()), object("a", []any{}), false},
		{"nothing is wanted where something is", object("a", "x"), object("a", nil), false},
		{"an empty map is wanted where nothing is", object(), object("a", object()), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := includes(test.stored, test.wanted); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// TestCelMap: what an administrator has written becomes texts of an expression, and
// nothing else.
func TestCelMap(t *testing.T) {
	tests := []struct {
		reason  string
		sources validation.SourceNamespaces
		want    string
	}{
		{"nothing is allowed", nil, `{}`},
		{"always in the same order", validation.SourceNamespaces{"b": {"x"}, "a": {"y", "x"}}, `{"a": ["y", "x"], "b": ["x"]}`},
		{"a source without importers", validation.SourceNamespaces{"a": nil}, `{"a": []}`},
		{"quotes stay in the text", validation.SourceNamespaces{`a"]}`: {`x", "*`}}, `{"a\"]}": ["x\", \"*"]}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := celMap(test.sources); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestManifests: what is part of the program can be read, is marked, and holds what the
// administrator allows.
func TestManifests(t *testing.T) {
	t.Run("definitions have the revision of this release", func(t *testing.T) {
		revisions, err := Revisions()
		if err != nil || len(revisions) < 5 {
			t.Fatalf("%d: %v", len(revisions), err)
		}
		for name, revision := range revisions {
			if revision != strconv.Itoa(api.Revision()) {
				t.Errorf("%s has %q", name, revision)
			}
		}
	})
	policies, err := Policies(validation.SourceNamespaces{"shared": {"team"}})
	if err != nil {
		t.Fatal(err)
	}
	bound, filled := map[string]bool{}, 0
	for _, object := range policies {
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			bound[object.GetName()] = true
		}
	}
	for _, object := range policies {
		if object.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		t.Run(object.GetName(), func(t *testing.T) {
			if !bound[object.GetName()] || object.GetLabels()[componentLabel] != componentAdmission {
				t.Errorf("bound %t, labels %v", bound[object.GetName()], object.GetLabels())
			}
			typed := &admissionv1.ValidatingAdmissionPolicy{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
				t.Fatal(err)
			}
			for _, variable := range typed.Spec.Variables {
				if variable.Name == admission.AllowedSourceNamespaces {
					filled++
					if variable.Expression != `{"shared": ["team"]}` {
						t.Errorf("allowed %s", variable.Expression)
					}
				}
			}
		})
	}
	if filled == 0 {
		t.Error("no policy has the permissions")
	}
	t.Run("another administrator allows something else", func(t *testing.T) {
		others, err := Policies(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range others {
			if variables, _, _ := unstructured.NestedSlice(object.Object, "spec", "variables"); strings.Contains(strings.Join(expressions(variables), " "), `"shared"`) {
				t.Errorf("%s still has the permissions of the first one", object.GetName())
			}
		}
	})
}

func expressions(variables []any) (all []string) {
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok {
			text, _ := fields["expression"].(string)
			all = append(all, text)
		}
	}
	return all
}

func warningOf(version apiextensionsv1.CustomResourceDefinitionVersion) string {
	if version.DeprecationWarning == nil {
		return ""
	}
	return *version.DeprecationWarning
}
