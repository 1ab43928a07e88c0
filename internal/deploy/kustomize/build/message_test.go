package build

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestExplain: what the library says, with the names of the source in place of those that
// only the library knows.
func TestExplain(t *testing.T) {
	g := &guard{
		known: map[string]*part{
			".": {id: "k1"}, "a/k3": {id: "k2"}, "b": {id: "k3"}, "overlays/one": {id: "k10"}, "being/read": nil,
		},
		placed: map[string]string{"./f1.yaml": "web.yaml", "./f2.yaml": "odd./f1.yaml", "./f11.yaml": "a/b.yaml"},
		values: []any{map[string]any{"data": map[string]any{"password": word, "n": 1234567}}, "settings"},
		names:  []string{"settings", "ConfigMap"},
	}
	tests := []struct{ reason, said, want string }{
		{"nothing to put into our words", "no resource matches", "no resource matches"},
		{"a directory", "in '/k1'", "in 'the top directory'"},
		{"a directory, as it is included", "in '../k10'", "in 'overlays/one'"},
		{"a directory whose name is what the library calls another one", "in '/k2'", "in 'a/k3'"},
		{"two directories", "/k2 and /k3", "a/k3 and b"},
		{"a directory that was not read to its end", "in '/k4'", "in '/k4'"},
		{"a text that only begins like a directory", "/k1x /k11", "/k1x /k11"},
		{"the directory of the item", "in '/item'", "in '/item'"},
		{"a file", "file './f1.yaml'", "file 'web.yaml'"},
		{"a file whose name begins like another one", "file './f11.yaml'", "file 'a/b.yaml'"},
		{"a file in a directory that looks like what the library says", "file './f2.yaml'", "file 'odd./f1.yaml'"},
		{"a file that was never passed to the library", "file './f99.yaml'", "file './f99.yaml'"},
		{"where it is, in short", "recursed accumulation of path '/k10': wrong", "kustomization of overlays/one: wrong"},
		{"a patch that is quoted", "unable to parse SM or JSON patch from [patch: \"{a: b}\nc\"]", "unable to parse SM or JSON patch from "},
		{"a configuration that is quoted", "plugin failed with config: `a: b\nc: d\n`: wrong", "plugin failed wrong"},
		{"a pointer", "&{0xc000123 true}: wrong", "wrong"},
		{"a name may be shown", "ConfigMap settings is there twice", "ConfigMap settings is there twice"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			// Repeated: a message that changes would be written again with each attempt.
			for range 20 {
				if diff := cmp.Diff(test.want, g.explain(errors.New(test.said)).Error()); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

// TestExplainHidesValues: whatever is quoted, and however.
func TestExplainHidesValues(t *testing.T) {
	g := &guard{}
	g.note(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"password": word},
		"metadata": map[string]any{"name": "web", "namespace": "shop", "generateName": "Gen3rated", "labels": map[string]any{"tier": "Tr0ubador"}},
		"list":     []any{map[string]any{"deep": []any{"Xk9Xk9Xk9"}}},
	})
	for _, test := range []struct {
		reason, said string
		hidden       bool
	}{
		{"a value", "cannot use " + word, true},
		{"a value in quotes", "cannot use \"" + word + "\"", true},
		{"a value with something around it", "cannot use <" + word + ">, sorry", true},
		{"a label", "cannot use Tr0ubador", true},
		{"a value deep inside", "cannot use Xk9Xk9Xk9", true},
		{"a text that is neither name nor namespace of the object", "cannot use Gen3rated", true},
		{"the name of the object", "cannot use web", false},
		{"the namespace of the object", "cannot use shop", false},
		{"the kind of the object", "cannot use Secret", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := g.explain(errors.New(test.said)).Error()
			if hidden := got != test.said; hidden != test.hidden {
				t.Errorf("became %q", got)
			}
			for _, value := range []string{word, "Tr0ubador", "Xk9Xk9Xk9"} {
				if strings.Contains(got, value) {
					t.Errorf("repeats %q", value)
				}
			}
		})
	}
}

// TestNamesThatAreValues: an object of the source may have a value as its name, so a name alone
// does not make a value of another object one that can be shown in full.
func TestNamesThatAreValues(t *testing.T) {
	got := without([]any{"web", word, []any{"web", word}, map[string]any{"web": word, "other": "web"}, 7}, map[string]bool{"web": true})
	want := []any{word, []any{word}, []any{word}, 7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := without(nil, nil); len(got) != 0 {
		t.Errorf("made %v of nothing", got)
	}
}

// TestLongMessages are cut where no sign is cut in two.
func TestLongMessages(t *testing.T) {
	for reason, said := range map[string]string{
		"letters":       strings.Repeat("a", 5000),
		"wide signs":    strings.Repeat("漢", 5000),
		"between signs": "a" + strings.Repeat("漢", 5000),
	} {
		t.Run(reason, func(t *testing.T) {
			got := (&guard{}).explain(errors.New(said)).Error()
			if len(got) > maxMessage+4 || !utf8.ValidString(got) || !strings.HasSuffix(got, " ...") {
				t.Errorf("%d bytes, valid: %v, ends with %q", len(got), utf8.ValidString(got), got[max(0, len(got)-10):])
			}
		})
	}
	exact := strings.Repeat("a", maxMessage)
	if got := (&guard{}).explain(errors.New(exact)).Error(); got != exact {
		t.Errorf("%d bytes become %d", len(exact), len(got))
	}
}
