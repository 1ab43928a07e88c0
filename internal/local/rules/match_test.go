package rules

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/local/apiserver"
)

// widget is an object with labels.
func widget() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "shop", "name": "front-1", "labels": map[string]any{"app": "front", "tier": "web"}},
	}}
}

// TestLike: an empty pattern and * fit all, and the rest has to be the same.
func TestLike(t *testing.T) {
	for _, test := range []struct {
		reason, pattern, text string
		fits                  bool
	}{
		{"no pattern fits all", "", "a", true},
		{"no pattern fits nothing as well", "", "", true},
		{"a star fits all", "*", "a/b", true},
		{"a text fits itself", "edge", "edge", true},
		{"a text fits no longer one", "edge", "edge-1", false},
		{"a text fits no shorter one", "edge-1", "edge", false},
		{"capital letters count", "edge", "Edge", false},
		{"a star at the end", "slow-*", "slow-1", true},
		{"a star stands for nothing, too", "slow-*", "slow-", true},
		{"what is before the star counts", "slow-*", "fast-1", false},
		{"stars on both sides", "*-db-*", "shop-db-0", true},
		{"a star fits over the slash of a version", "*v1", "apps/v1", true},
		{"a slash fits a slash", "example.org/*", "example.org/v1beta1", true},
		{"a slash is no other letter", "apps/v1", "apps-v1", false},
	} {
		if like(test.pattern, test.text) != test.fits {
			t.Errorf("%s: %q and %q: %t", test.reason, test.pattern, test.text, !test.fits)
		}
	}
}

// TestFits: all that a match names has to fit, and what it does not name fits all.
func TestFits(t *testing.T) {
	for _, test := range []struct {
		reason string
		match  Match
		fits   bool
	}{
		{"an empty match", Match{}, true},
		{"all fields", Match{Cluster: "edge", APIVersion: "example.org/v1", Kind: "Widget", Namespace: "shop", Name: "front-*", Labels: map[string]string{"app": "front"}}, true},
		{"another cluster", Match{Cluster: "core"}, false},
		{"another version", Match{APIVersion: "example.org/v2"}, false},
		{"another kind", Match{Kind: "Gadget"}, false},
		{"another namespace", Match{Namespace: "default"}, false},
		{"another name", Match{Kind: "Widget", Name: "back-*"}, false},
		{"one of two labels is another one", Match{Labels: map[string]string{"app": "front", "tier": "db"}}, false},
		{"a label that it does not have", Match{Labels: map[string]string{"team": "a"}}, false},
		{"the value of a label is no pattern", Match{Labels: map[string]string{"app": "*"}}, false},
	} {
		if test.match.Fits("edge", widget()) != test.fits {
			t.Errorf("%s: %t", test.reason, !test.fits)
		}
	}
}

// TestFirstRule: the first rule that fits counts, and those of a case go before those of the folder.
func TestFirstRule(t *testing.T) {
	folder := Behaviour{
		Clusters: []Cluster{{Cluster: "e*", Kinds: []ServedKind{{Kind: "A"}}}, {Cluster: "core"}},
		Objects:  []Object{{Match: Match{Kind: "Widget", Name: "front-*"}, Merge: Manifest{"from": "folder"}}, {Match: Match{Kind: "Widget"}, Merge: Manifest{"from": "second"}}},
	}
	both := Behaviour{Clusters: []Cluster{{Cluster: "edge"}}, Objects: []Object{{Match: Match{Kind: "Widget", Namespace: "shop"}, Merge: Manifest{"from": "case"}}}}.Before(folder)
	object := widget()
	if from := folder.rule("edge", object).Merge["from"]; from != "folder" {
		t.Errorf("the first one is that of %v", from)
	}
	if from := both.rule("edge", object).Merge["from"]; from != "case" {
		t.Errorf("the one of a case: %v", from)
	}
	object.SetKind("Gadget")
	if rule := both.rule("edge", object); rule.Merge != nil || rule.Ready != nil {
		t.Errorf("an object without a rule has %v", rule)
	}
	if given := both.For("edge"); len(given) != 2 || given[0].Cluster != "edge" || given[1].Cluster != "e*" {
		t.Errorf("a cluster has at the beginning %v", given)
	}
}

// TestCallFits: a rule is about the verbs that it names, and its match is that of objects.
func TestCallFits(t *testing.T) {
	request := apiserver.Request{Kind: apiserver.NewKind(widget().GroupVersionKind(), ""), Verb: "create", Namespace: "shop", Name: "front-1"}
	for _, test := range []struct {
		reason string
		call   Call
		fits   bool
	}{
		{"all verbs", Call{}, true},
		{"the verb", Call{Verbs: []string{"get", "create"}}, true},
		{"another verb", Call{Verbs: []string{"update", "patch"}}, false},
		{"the verb, and another kind", Call{Verbs: []string{"create"}, Match: Match{Kind: "Gadget"}}, false},
		{"the name in the request", Call{Match: Match{APIVersion: "example.org/*", Kind: "Widget", Namespace: "shop", Name: "front-1"}}, true},
		{"another name", Call{Match: Match{Name: "back"}}, false},
	} {
		if test.call.fits("edge", request) != test.fits {
			t.Errorf("%s: %t", test.reason, !test.fits)
		}
	}
}
