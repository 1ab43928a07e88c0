package gardener

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// decoded reads a shoot that a gardenlet has written.
func decoded(t *testing.T, text string) *Shoot {
	t.Helper()
	cluster := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--lab--bench"}, Spec: ClusterSpec{Shoot: runtime.RawExtension{Raw: []byte(text)}}}
	shoot, err := cluster.DecodeShoot()
	if err != nil {
		t.Fatal(err)
	}
	return shoot
}

// TestShootsThatCannotBeRead: the message names the Cluster and quotes nothing, because a
// shoot holds what its owner wrote.
func TestShootsThatCannotBeRead(t *testing.T) {
	const secretWord = "Tr0ubador"
	for reason, text := range map[string]string{
		"nothing":                    "",
		"no JSON":                    secretWord,
		"YAML":                       "metadata: {name: " + secretWord + "}",
		"the beginning of a shoot":   `{"metadata":{"name":"` + secretWord,
		"a list":                     `["` + secretWord + `"]`,
		"a text":                     `"` + secretWord + `"`,
		"a number as a name":         `{"metadata":{"name":1},"spec":{}}`,
		"a text as a generation":     `{"metadata":{"generation":"` + secretWord + `"}}`,
		"a fraction as a generation": `{"status":{"observedGeneration":1.5}}`,
		"a generation beyond all":    `{"status":{"observedGeneration":99999999999999999999}}`,
		"a text for yes":             `{"spec":{"hibernation":{"enabled":"` + secretWord + `"}}}`,
		"a map of resources":         `{"spec":{"resources":{"` + secretWord + `":{}}}}`,
		"a time that is not valid":   `{"metadata":{"creationTimestamp":"` + secretWord + `"}}`,
		"levels without end":         strings.Repeat(`{"spec":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"two documents":              `{"metadata":{"name":"a"}}{"metadata":{"name":"` + secretWord + `"}}`,
	} {
		t.Run(reason, func(t *testing.T) {
			cluster := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--lab--bench"}, Spec: ClusterSpec{Shoot: runtime.RawExtension{Raw: []byte(text)}}}
			shoot, err := cluster.DecodeShoot()
			if err == nil {
				t.Fatalf("read %+v", shoot)
			}
			if strings.Contains(err.Error(), secretWord) || !strings.Contains(err.Error(), "shoot--lab--bench") || len(err.Error()) > 200 {
				t.Errorf("says %.300v", err)
			}
		})
	}
}

// TestShootsOfOthers: newer gardenlets write more, older ones less.
func TestShootsOfOthers(t *testing.T) {
	for _, test := range []struct{ reason, text string }{
		{"nothing but braces", `{}`},
		{"null", `null`},
		{"nulls", `{"metadata":null,"spec":null,"status":null}`},
		{"nulls further in", `{"spec":{"hibernation":null,"resources":null},"status":{"lastOperation":null,"clusterIdentity":null}}`},
		{"hibernation without a word", `{"spec":{"hibernation":{}}}`},
		{"hibernation with null", `{"spec":{"hibernation":{"enabled":null}}}`},
		{"fields that we do not know", `{"kind":"Shoot","spec":{"provider":{"type":"x","workers":[{"name":"a"}]},"hibernation":{"schedules":[{"start":"0 0 * * *"}]}},"status":{"conditions":[]}}`},
		{"names in other letters are other names", `{"Spec":{"Hibernation":{"Enabled":true}},"STATUS":{"lastoperation":{"state":"Failed"}}}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			shoot := decoded(t, test.text)
			if shoot.Hibernates() || shoot.HasFailed() {
				t.Errorf("hibernates: %v, has failed: %v", shoot.Hibernates(), shoot.HasFailed())
			}
			if found, ok := shoot.Resource("", "Secret"); ok {
				t.Errorf("refers to %+v", found)
			}
		})
	}
}

// TestHasFailed: only what Gardener has given up, and for the shoot as it is now.
func TestHasFailed(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         bool
	}{
		{"given up", `{"metadata":{"generation":2},"status":{"observedGeneration":2,"lastOperation":{"state":"Failed"}}}`, true},
		{"changed since", `{"metadata":{"generation":3},"status":{"observedGeneration":2,"lastOperation":{"state":"Failed"}}}`, false},
		{"a Shoot that is retried", `{"metadata":{"generation":2},"status":{"observedGeneration":2,"lastOperation":{"state":"Error"}}}`, false},
		{"a state that we do not know", `{"metadata":{"generation":2},"status":{"observedGeneration":2,"lastOperation":{"state":"Aborted"}}}`, false},
		{"in other letters", `{"metadata":{"generation":2},"status":{"observedGeneration":2,"lastOperation":{"state":"failed"}}}`, false},
		{"never tried", `{"metadata":{"generation":1},"status":{}}`, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decoded(t, test.text).HasFailed(); got != test.want {
				t.Errorf("has failed: %v", got)
			}
		})
	}
}

// TestResource: a name alone is not enough, the kind counts.
func TestResource(t *testing.T) {
	shoot := decoded(t, `{"spec":{"resources":[
		{"name":"both","resourceRef":{"apiVersion":"v1","kind":"ConfigMap","name":"first"}},
		{"name":"both","resourceRef":{"apiVersion":"v1","kind":"Secret","name":"second"}},
		{"name":"both","resourceRef":{"apiVersion":"v1","kind":"Secret","name":"third"}},
		{"name":"","resourceRef":{"kind":"Secret","name":"nameless"}}]}}`)
	for _, test := range []struct {
		reason, name string
		kinds        []string
		want         string
	}{
		{"the kind that is wanted, not the first of the name", "both", []string{"Secret"}, "second"},
		{"several kinds: the first matching resource", "both", []string{"Secret", "ConfigMap"}, "first"},
		{"another kind", "both", []string{"Deployment"}, ""},
		{"no kind", "both", nil, ""},
		{"another name", "other", []string{"Secret"}, ""},
		{"in other letters", "Both", []string{"Secret"}, ""},
		{"a resource without a name is found by the empty name", "", []string{"Secret"}, "nameless"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, ok := shoot.Resource(test.name, test.kinds...)
			if ok != (test.want != "") || found.Name != test.want {
				t.Errorf("found %+v, %v", found, ok)
			}
		})
	}
}

// TestConditionsOfOthersStay: their order, too, because Gardener patches the list as it is.
func TestConditionsOfOthersStay(t *testing.T) {
	now := metav1.Now()
	before := []Condition{{Type: "A", Status: ConditionTrue, Message: "a"}, {Type: "B", Status: ConditionFalse}, {Type: "C", Status: ConditionProgressing, Codes: []ErrorCode{CleanupProblem}}}
	kept := append([]Condition(nil), before...)
	types := func(conditions []Condition) (all []string) {
		for _, condition := range conditions {
			all = append(all, condition.Type)
		}
		return all
	}
	for _, test := range []struct {
		reason string
		set    Condition
		want   []string
	}{
		{"in its place", Condition{Type: "B", Status: ConditionTrue}, []string{"A", "B", "C"}},
		{"a new one comes last", Condition{Type: "D", Status: ConditionTrue}, []string{"A", "B", "C", "D"}},
		{"a condition without a type is a condition of its own", Condition{Status: ConditionTrue}, []string{"A", "B", "C", ""}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			after := SetCondition(before, test.set, now)
			if diff := cmp.Diff(test.want, types(after)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(kept, before); diff != "" {
				t.Errorf("the list that was given has changed:\n%s", diff)
			}
			if again := SetCondition(after, test.set, metav1.NewTime(now.AddDate(1, 0, 0))); cmp.Diff(after, again) != "" {
				t.Errorf("said twice it is another one:\n%s", cmp.Diff(after, again))
			}
		})
	}
	if found := FindCondition(nil, "A"); found != nil {
		t.Errorf("found %+v in nothing", found)
	}
}

// TestWireShapes: what we write is what Gardener reads, so that nothing appears that it
// would take for an answer.
func TestWireShapes(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  any
		want   string
	}{
		{"an empty status says nothing", ExtensionStatus{}, `{}`},
		{"an operation says all", LastOperation{State: Processing, Type: Reconcile}, `{"description":"","lastUpdateTime":null,"progress":0,"state":"Processing","type":"Reconcile"}`},
		{"an error without codes", LastError{Description: "d"}, `{"description":"d"}`},
		{"a reference", CrossReference{Kind: "Secret", Name: "a"}, `{"kind":"Secret","name":"a"}`},
		{"Secrets are said, also none", ManagedResourceSpec{}, `{"secretRefs":null}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := json.Marshal(test.value)
			if err != nil || string(got) != test.want {
				t.Errorf("%s, %v, want %s", got, err, test.want)
			}
		})
	}
}

// TestScheme: the kinds of a seed are found by the names that gardenlet gives them.
func TestScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	for range 2 {
		if err := AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for kind, group := range map[string]schema.GroupVersion{
		"Extension": ExtensionsVersion, "ExtensionList": ExtensionsVersion, "Cluster": ExtensionsVersion, "ClusterList": ExtensionsVersion,
		"ManagedResource": ResourcesVersion, "ManagedResourceList": ResourcesVersion,
	} {
		t.Run(kind, func(t *testing.T) {
			object, err := scheme.New(group.WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			copied := object.DeepCopyObject()
			if diff := cmp.Diff(object, copied); diff != "" {
				t.Error(diff)
			}
		})
	}
}
