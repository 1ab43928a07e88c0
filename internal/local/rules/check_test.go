package rules

import (
	"strings"
	"testing"
)

// TestCheck: each mistake is refused with its place and what to write instead.
func TestCheck(t *testing.T) {
	const head = "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LocalLandscape\n"
	for _, test := range []struct{ reason, text, err string }{
		{"nothing is a mistake", "", ""},
		{"a rule of each kind", "clusters: [{cluster: '*', kinds: [{apiVersion: example.org/v1, kind: A}]}]\nobjects: [{match: {name: slow-*}, after: 2s}]\ncalls: [{match: {}, verbs: [deletecollection], delay: 1s}]", ""},
		{"a cluster without a name", "clusters: [{files: [a]}]", "clusters[0].cluster: name a Target, or * for all"},
		{"a kind without a version", "clusters: [{cluster: a, kinds: [{kind: A}]}]", "clusters[0].kinds[0]: write apiVersion and kind"},
		{"an object without a name", "clusters: [{cluster: a, manifests: [{apiVersion: v1, kind: Secret}]}]", "clusters[0].manifests[0]: write apiVersion, kind and metadata.name"},
		{"the second rule, with a time in the past", "objects: [{match: {}}, {match: {}, after: -1s}]", "objects[1].after is below 0"},
		{"a pattern that has no end", "objects: [{match: {name: '[a'}}]", `objects[0].match: "[a" is not a pattern: only * has a meaning`},
		{"what appears on several clusters", "objects: [{match: {}, create: [{cluster: 'a*'}]}]", "objects[0].create[0].cluster: name one Target"},
		{"what appears without a kind", "objects: [{match: {}, create: [{manifests: [{metadata: {name: a}}]}]}]", "objects[0].create[0].manifests[0]: write apiVersion, kind and metadata.name"},
		{"a call to which nothing happens", "calls: [{match: {}}]", "calls[0]: write what happens: delay, forbidden or fail"},
		{"two answers", "calls: [{match: {}, forbidden: true, fail: {code: 500}}]", "calls[0]: write fail or forbidden, not both"},
		{"a code of success", "calls: [{match: {}, fail: {code: 200}}]", "calls[0].fail.code is 200: write a code from 400 to 599"},
		{"no code", "calls: [{match: {}, fail: {message: a}}]", "calls[0].fail.code is 0"},
		{"a code above those of HTTP", "calls: [{match: {}, fail: {code: 600}}]", "calls[0].fail.code is 600"},
		{"an answer before its request", "calls: [{match: {}, delay: -1s}]", "calls[0]: delay and times cannot be below 0"},
		{"less than no request", "calls: [{match: {}, forbidden: true, times: -1}]", "calls[0]: delay and times cannot be below 0"},
		{"an unknown verb", "calls: [{match: {}, verbs: [apply], delay: 1s}]", `calls[0].verbs: there is no verb "apply": use get, list, watch, create, update, patch, delete, deletecollection`},
		{"all mistakes at once", "clusters: [{}]\ncalls: [{match: {}}]", "calls[0]: write what happens"},
		{"an unknown field", "objects: [{match: {}, befor: 1s}]", `there is no field "befor"`},
		{"a field that was meant", "objects: [{match: {}, redy: false}]", "did you mean ready?"},
		{"a text in the place of a time", "objects: [{match: {}, after: soon}]", "local.yaml: "},
		{"two documents", "---\na: 1", "it has 2 documents: write one"},
	} {
		_, err := Parse(FileName, []byte(head+test.text))
		switch {
		case test.err == "" && err != nil:
			t.Errorf("%s: %v", test.reason, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, want %q", test.reason, err, test.err)
		}
	}
}

// TestOtherFiles: a file that is of another kind is not read as rules.
func TestOtherFiles(t *testing.T) {
	for _, test := range []struct{ reason, text, err string }{
		{"a ConfigMap", "apiVersion: v1\nkind: ConfigMap", `it is of kind "ConfigMap" in "v1"`},
		{"another version", "apiVersion: local.landscaper.gardener.cloud/v2\nkind: LocalLandscape", "write apiVersion: local.landscaper.gardener.cloud/v1alpha1"},
		{"a list", "[a]", "it is not an object"},
		{"no YAML", "a: [", "local.yaml: "},
		{"nothing", "", "it has 0 documents"},
	} {
		if _, err := Parse(FileName, []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.err)
		}
	}
}
