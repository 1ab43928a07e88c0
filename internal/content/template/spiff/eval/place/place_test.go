package place_test

import (
	"math"
	"slices"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func TestPaths(t *testing.T) {
	var root *place.Path
	secret := root.Field("imports").Field("s3cret").Field("x")
	secret.Parent.Secret = true
	tests := []struct {
		reason              string
		path                *place.Path
		shown, stub, silent string
	}{
		{"the root", root, "", "", ""},
		{"a field", root.Field("a").Field("b"), "a.b", "a.b", "a.b"},
		{"an entry by position", root.Field("a").Entry(0, ""), "a.[0]", "a.[0]", "a.[0]"},
		{"an entry by its key", root.Field("a").Entry(3, "name:x").Field("b"), "a.[3].b", "a.name:x.b", "a.[3].b"},
		{"an entry of the root", root.Entry(12, ""), "[12]", "[12]", "[12]"},
		{"a key from outside", secret, "imports.s3cret.x", "imports.s3cret.x", "imports.<key>.x"},
		{"an empty key", root.Field("").Field("a"), ".a", ".a", ".a"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.path.String(); got != test.shown {
				t.Errorf("it is %q, want %q", got, test.shown)
			}
			if got := test.path.StubString(); got != test.stub {
				t.Errorf("in stubs it is %q, want %q", got, test.stub)
			}
			if got := test.path.Report(true); got != test.silent {
				t.Errorf("with secrets it is %q, want %q", got, test.silent)
			}
			if back := place.PathOf(place.StepsOf(test.path)); back.String() != test.stub {
				t.Errorf("of its steps it becomes %q", back)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		reason, text string
		want         syntax.Step
	}{
		{"a name", "a", syntax.Step{Key: "a"}},
		{"a position", "[3]", syntax.Step{Index: 3, IsIndex: true}},
		{"a position from the end", "[-1]", syntax.Step{Index: -1, IsIndex: true}},
		{"brackets without a number are a name", "[a]", syntax.Step{Key: "[a]"}},
		{"a number is a name", "3", syntax.Step{Key: "3"}},
		{"nothing", "", syntax.Step{}},
		{"brackets alone", "[]", syntax.Step{Key: "[]"}},
		{"a number beyond 64 bit", "[99999999999999999999]", syntax.Step{Key: "[99999999999999999999]"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := place.ParseStep(test.text); got != test.want {
				t.Errorf("%+v", got)
			}
		})
	}
	for _, test := range []struct{ reason, step, declared, field, want string }{
		{"name is the usual field", "x", "", "name", "x"},
		{"the declared field", "x", "id", "id", "x"},
		{"a field of its own", "key:x", "id", "key", "x"},
		{"a value with a colon", "key:x:y", "", "key", "x:y"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if field, want := place.KeyStep(test.step, test.declared); field != test.field || want != test.want {
				t.Errorf("%q %q", field, want)
			}
		})
	}
	for _, test := range []struct {
		reason              string
		length, index, want int
	}{
		{"the first", 3, 0, 0}, {"the last", 3, 2, 2}, {"behind the end", 3, 3, -1}, {"the last from the end", 3, -1, 2},
		{"the first from the end", 3, -3, 0}, {"before the start", 3, -4, -1}, {"of nothing", 0, 0, -1}, {"of nothing from the end", 0, -1, -1},
		{"the smallest number", 3, math.MinInt, -1}, {"the largest number", 3, math.MaxInt, -1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := place.ListIndex(test.length, test.index); got != test.want {
				t.Errorf("%d", got)
			}
		})
	}
}

func flagged(v value.Value, flags value.Flags) *value.Node {
	return &value.Node{Value: v, Flags: flags}
}

func TestStubs(t *testing.T) {
	entry := value.MapOf("name", value.Text("n"), "v", value.Int(1))
	first := value.New(value.MapOf("a", value.Int(1), "l", value.ListOf(entry, value.Int(2))))
	second := value.New(value.MapOf("a", value.Int(3), "b", value.Int(4), "l", value.Text("x")))
	stubs := place.StubsOf([]*value.Node{first, second})
	tests := []struct {
		reason string
		at     *place.Stubs
		want   value.Value
	}{
		{"the first one that has it", stubs.Field("a"), value.Int(1)},
		{"a later one", stubs.Field("b"), value.Int(4)},
		{"none", stubs.Field("c"), nil},
		{"below none", stubs.Field("c").Field("d"), nil},
		{"an entry by position", stubs.Field("l").Entry(1, "", ""), value.Int(2)},
		{"an entry by key", stubs.Field("l").Entry(7, "name", "n").Field("v"), value.Int(1)},
		{"no entry with the key", stubs.Field("l").Entry(0, "name", "z"), nil},
		{"a position behind the end", stubs.Field("l").Entry(2, "", ""), nil},
		{"a path", stubs.Follow([]syntax.Step{{Key: "l"}, {Key: "n"}, {Key: "v"}}), value.Int(1)},
		{"a path from the end", stubs.Follow([]syntax.Step{{Key: "l"}, {Index: -1, IsIndex: true}}), value.Int(2)},
		{"a path into a number", stubs.Follow([]syntax.Step{{Key: "a"}, {Key: "b"}}), nil},
		{"a position of a map", stubs.Follow([]syntax.Step{{Index: 0, IsIndex: true}}), nil},
		{"no stubs", place.StubsOf(nil).Field("a"), nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			n := test.at.First()
			if (n == nil) != (test.want == nil) || n != nil && n.Value != test.want {
				t.Errorf("%+v", n)
			}
			if override := test.at.Override(); override != n {
				t.Errorf("what overrides is %+v", override)
			}
		})
	}
}

func TestDefaultsAndInjections(t *testing.T) {
	fields := value.NewMap([]string{"d", "i", "p"}, []*value.Node{
		flagged(value.Int(1), value.Default), flagged(value.Int(2), value.Inject), value.New(value.Int(3)),
	}, false)
	stubs := place.StubsOf([]*value.Node{value.New(fields)})
	if stubs.Field("d").Override() != nil || stubs.Field("d").First() == nil {
		t.Error("a default overrides")
	}
	if stubs.Field("i").Override() == nil || stubs.Field("p").Override() == nil {
		t.Error("what is injected, or plain, does not override")
	}
	under := place.StubsOf([]*value.Node{flagged(fields, value.Default)})
	if under.Field("p").Override() != nil || under.Field("i").Override() == nil {
		t.Error("below a default only what is injected overrides")
	}
	b := value.NewBuilder(1)
	b.SetValue("i", value.Int(9))
	added := stubs.InjectedFields(b)
	if len(added) != 1 || added["d"] == nil {
		t.Errorf("added are %v", added)
	}
	list := value.NewList([]*value.Node{value.New(value.Int(1)), flagged(value.Int(2), value.Inject), flagged(value.Int(3), value.Inject)})
	var injected []value.Value
	for _, n := range place.StubsOf([]*value.Node{value.New(list)}).InjectedEntries() {
		injected = append(injected, n.Value)
	}
	if !slices.Equal(injected, []value.Value{value.Int(2), value.Int(3)}) {
		t.Errorf("injected are %v", injected)
	}
	if place.StubsOf(nil).InjectedEntries() != nil || place.StubsOf(nil).InjectedFields(b) != nil || stubs.InjectedEntries() != nil {
		t.Error("something is injected without a list")
	}
}
