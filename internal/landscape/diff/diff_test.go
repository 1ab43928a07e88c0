package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type m = map[string]any

func TestFields(t *testing.T) {
	for _, test := range []struct {
		reason        string
		before, after any
		want          []Field
	}{
		{"no change", m{"a": int64(1)}, m{"a": int64(1)}, nil},
		{"nothing in two spellings", m{"a": []any{}, "b": m{}}, m{"c": nil}, nil},
		{"a value", m{"a": m{"b": "x", "c": "y"}}, m{"a": m{"b": "z", "c": "y"}}, []Field{{Path: "a.b", Before: "x", After: "z"}}},
		{"a new field and a removed one, sorted", m{"z": "1"}, m{"a": "2"}, []Field{{Path: "a", After: "2"}, {Path: "z", Before: "1"}}},
		{"an element", m{"l": []any{m{"n": "a"}, "b"}}, m{"l": []any{m{"n": "c"}, "b"}}, []Field{{Path: "l[0].n", Before: "a", After: "c"}}},
		{"a longer list as a whole", m{"l": []any{"a"}}, m{"l": []any{"a", "b"}}, []Field{{Path: "l", Before: []any{"a"}, After: []any{"a", "b"}}}},
		{"a key that needs quotes", m{"x.y/z": "a"}, m{"x.y/z": "b"}, []Field{{Path: "['x.y/z']", Before: "a", After: "b"}}},
		{"another kind of value", m{"a": "1"}, m{"a": int64(1)}, []Field{{Path: "a", Before: "1", After: int64(1)}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if difference := cmp.Diff(test.want, Fields(test.before, test.after)); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func object(kind string, before, after m) Object {
	return Object{APIVersion: "v1", Kind: kind, Namespace: "n", Name: "a", Before: before, After: after}
}

func moves(object Object) Object {
	object.MovesFrom, object.MovesTo = "x/canary", "y"
	return object
}

func replaced(object Object) Object { object.Replaced = true; return object }

func TestOf(t *testing.T) {
	live := m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "a", "uid": "1", "managedFields": []any{"x"}}, "data": m{"k": "v"}, "status": m{"x": "y"}}
	same := m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "a", "resourceVersion": "7"}, "data": m{"k": "v"}}
	for _, test := range []struct {
		reason string
		given  Object
		want   Change
	}{
		{"what only an API server writes is no change", object("ConfigMap", live, same), Change{Action: Keep}},
		{"nothing, and nothing to come", object("ConfigMap", nil, nil), Change{Action: Keep}},
		{"new", object("ConfigMap", nil, m{"kind": "ConfigMap", "metadata": m{"name": "a", "labels": m{"l": "1"}}, "data": m{"k": "v"}}),
			Change{Action: Create, Fields: []Field{{Path: "data.k", After: "v"}, {Path: "metadata.labels.l", After: "1"}}}},
		{"an unknown outcome has its reason without confidential parts", Object{APIVersion: "v1", Kind: "Job", Namespace: "n", Name: "a", Unknown: "it runs canary"}, Change{Action: Unknown, Reason: "it runs ***"}},
		{"moving as it is", moves(object("ConfigMap", live, same)), Change{Action: Move, MovesFrom: "x/***", MovesTo: "y"}},
		{"a move without a write", moves(object("ConfigMap", live, nil)), Change{Action: Move, MovesFrom: "x/***", MovesTo: "y"}},
		{"moving and changing", moves(object("ConfigMap", m{"data": m{"k": "v"}}, m{"data": m{"k": "w"}})), Change{Action: Move, MovesFrom: "x/***", MovesTo: "y", Fields: []Field{{Path: "data.k", Before: "v", After: "w"}}}},
		{"made anew by another item", replaced(moves(object("ConfigMap", m{"data": m{"k": "v"}}, m{"data": m{"k": "w"}}))), Change{Action: Replace, MovesFrom: "x/***", MovesTo: "y", Fields: []Field{{Path: "data.k", Before: "v", After: "w"}}}},
		{"going", object("ConfigMap", live, nil), Change{Action: Delete}},
		{"a secret value is changed or not, and nothing more", object("Secret", m{"data": m{"p": "old", "q": "same"}, "type": "a"}, m{"data": m{"p": "new", "q": "same", "r": "more"}, "type": "b"}),
			Change{Action: Update, Fields: []Field{{Path: "data.p", Before: "(secret)", After: "(secret)", Secret: true}, {Path: "data.r", After: "(secret)", Secret: true}, {Path: "type", Before: "a", After: "b"}}}},
		{"a value of a new Secret is hidden", object("Secret", nil, m{"stringData": m{"p": "canary"}}),
			Change{Action: Create, Fields: []Field{{Path: "stringData.p", After: "(secret)", Secret: true}}}},
		{"a secret value elsewhere is hidden, and what was there before", object("ConfigMap", m{"a": []any{"x"}, "b": "before"}, m{"a": []any{true, nil, m{"b": "url://canary"}}, "b": int64(5)}),
			Change{Action: Update, Fields: []Field{{Path: "a", Before: "(secret)", After: "(secret)", Secret: true}, {Path: "b", Before: "(secret)", After: "(secret)", Secret: true}}}},
		{"a secret that goes", object("ConfigMap", m{"a": m{"canary": "x"}}, m{"a": "b", "canary": "c"}),
			Change{Action: Update, Fields: []Field{{Path: "a", Before: "(secret)", After: "(secret)", Secret: true}, {Path: "***", After: "c"}}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.want.APIVersion, test.want.Kind, test.want.Namespace, test.want.Name = "v1", test.given.Kind, "n", "a"
			hide := func(text string) string { return strings.NewReplacer("canary", "***", "5", "*").Replace(text) }
			if difference := cmp.Diff(test.want, Of(test.given, hide)); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	var s Summary
	s.Add(Keep)
	if s.Changes() || s.String() != "0 to create, 0 to change, 0 to delete, 1 unchanged" {
		t.Error(s.String())
	}
	s.Add(Move)
	if !s.Changes() || s.String() != "0 to create, 0 to change, 1 moves, 0 to delete, 1 unchanged" {
		t.Error(s.String())
	}
	s.Add(Move)
	for _, action := range []Action{Create, Update, Delete, Unknown} {
		s.Add(action)
	}
	if !s.Changes() || s.String() != "1 to create, 1 to change, 2 move, 1 to delete, 1 unchanged, 1 known only when the job runs" {
		t.Error(s.String())
	}
	s = Summary{Unknown: 1}
	if !s.Changes() {
		t.Error("an unknown outcome may change")
	}
}
