package work_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func run(t *testing.T, sensitive bool) *work.Run {
	t.Helper()
	return work.NewRun(t.Context(), &work.Config{Settings: call.Settings{Sensitive: sensitive}})
}

func TestNewRun(t *testing.T) {
	config := &work.Config{
		Features: map[work.Feature]bool{work.Control: true},
	}
	r := work.NewRun(t.Context(), config)
	for feature, want := range map[work.Feature]bool{work.Control: true, work.Interpolation: false, "nonsense": false, "": false} {
		if r.Feature(feature) != want {
			t.Errorf("%q is %t", feature, !want)
		}
	}
}

// TestShow shows values in messages, and never those that may be secret.
func TestShow(t *testing.T) {
	wide := make([]value.Value, 1000)
	for i := range wide {
		wide[i] = value.Int(i)
	}
	for _, test := range []struct {
		reason     string
		value      value.Value
		want, hush string
	}{
		{"a text", value.Text("s3cret"), `"s3cret"`, "<string>"},
		{"a text that came from outside", value.Data("s3cret"), `"s3cret"`, "<string>"},
		{"a text that would break the line", value.Text("a\nb"), `"a\nb"`, "<string>"},
		{"a number, which may be a PIN", value.Int(4711), "4711", "<int>"},
		{"a boolean", value.Bool(true), "true", "<bool>"},
		{"nil", value.Null{}, "nil", "<nil>"},
		{"undefined", value.Undefined{}, "<undef>", "<undef>"},
		{"a small list", value.ListOf(value.Text("s3cret")), `["s3cret"]`, "<list>"},
		{"a small map, whose keys may be secret as well", value.MapOf("s3cret", value.Int(1)), `{ "s3cret" = 1 }`, "<map>"},
		{"a large list is named only", value.ListOf(wide...), "<list>", "<list>"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := run(t, false).Show(test.value); got != test.want {
				t.Errorf("got %s", got)
			}
			if got := run(t, true).Show(test.value); got != test.hush {
				t.Errorf("what may be secret is shown as %s", got)
			}
		})
	}
	// Each length cuts the characters at another byte.
	for i := range 8 {
		t.Run(fmt.Sprintf("a long text is cut between two characters, after %d bytes more", i), func(t *testing.T) {
			got := run(t, false).Show(value.Text(strings.Repeat("a", i) + strings.Repeat("漢", 100_000)))
			if len(got) > 1000 || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) || strings.Contains(got, "ufffd") {
				t.Errorf("got %d bytes: %.300q", len(got), got)
			}
		})
	}
}

func TestShownPaths(t *testing.T) {
	var root *place.Path
	keyed := root.Field("list").Entry(2, "name:s3cret").Field("a")
	if got := run(t, false).ShownStub(keyed); got != "list.name:s3cret.a" {
		t.Errorf("got %s", got)
	}
	for reason, got := range map[string]string{
		"in the stubs": run(t, true).ShownStub(keyed),
		"in the tree":  run(t, true).Shown(keyed),
	} {
		if got != "list.[2].a" {
			t.Errorf("%s: got %s", reason, got)
		}
	}
}

// TestKeep keeps results and what failed, and asks again for what was not there yet.
func TestKeep(t *testing.T) {
	waits := &outcome.Pending{Class: outcome.Waiting}
	for _, test := range []struct {
		reason string
		first  error
		calls  int
	}{
		{"a result", nil, 1},
		{"a failure: the same question has the same answer", errors.New("no"), 1},
		{"the end of the evaluation", &outcome.Abort{Err: errors.New("over")}, 1},
		{"what has to wait is asked for again", waits, 3},
		{"a wait with a message of the function is asked for again", fmt.Errorf("read: %w", waits), 3},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r, calls := run(t, false), 0
			for range 3 {
				v, err := r.Keep("key", func() (value.Value, error) {
					calls++
					return value.Int(calls), test.first
				})
				if !errors.Is(err, test.first) || calls == 1 && v != value.Value(value.Int(1)) {
					t.Errorf("got %v, %v", v, err)
				}
			}
			if calls != test.calls {
				t.Errorf("it was asked %d times", calls)
			}
			if v, err := r.Keep("other", func() (value.Value, error) { return value.Text("x"), nil }); err != nil || v != value.Value(value.Text("x")) {
				t.Errorf("another key has %v, %v", v, err)
			}
			if _, err := run(t, false).Keep("key", func() (value.Value, error) { return nil, context.Canceled }); !errors.Is(err, context.Canceled) {
				t.Error("another evaluation sees what this one kept")
			}
		})
	}
}

func TestInsertKeys(t *testing.T) {
	task := value.New(value.MapOf("<<", value.Int(1)))
	task.Work = &work.Task{}
	data := value.MapOf("<<", value.Int(1))
	data.Data = true
	for _, test := range []struct {
		reason  string
		node    *value.Node
		key     string
		message string
		alone   bool
	}{
		{"two signs", value.New(value.MapOf("<<", value.Int(1))), "<<", "", true},
		{"three signs", value.New(value.MapOf("<<<", value.Int(1))), "<<<", "", true},
		{"beside fields", value.New(value.MapOf("<<", value.Int(1), "a", value.Int(2))), "<<", "", false},
		{"none", value.New(value.MapOf("a", value.Int(2))), "", "", false},
		{"an empty map", value.New(value.MapOf()), "", "", false},
		{"an escaped one is a field", value.New(value.MapOf("<<!", value.Int(1))), "", "", false},
		{"a control is not a merge", value.New(value.MapOf("<<if", value.Int(1))), "", "", false},
		{"both", value.New(value.MapOf("<<", value.Int(1), "<<<", value.Int(1))), "", "multiple merge keys not allowed", false},
		{"data from outside inserts nothing", value.New(data), "", "", false},
		{"a map that is being worked on", task, "<<", "", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			key, n, err := work.InsertOf(test.node.Value.(*value.Map))
			if key != test.key || (n != nil) != (key != "") || (err != nil) != (test.message != "") || err != nil && err.Error() != test.message {
				t.Errorf("got %q, %v, %v", key, n, err)
			}
			if _, n, err := work.InsertEntry(test.node); err != nil || (n != nil) != test.alone {
				t.Errorf("as an entry of a list: %v, %v", n, err)
			}
		})
	}
	for _, v := range []value.Value{value.Null{}, value.Text("<<"), value.ListOf(value.Text("<<"))} {
		if key, n, err := work.InsertEntry(value.New(v)); key != "" || n != nil || err != nil {
			t.Errorf("%v inserts %v, %v", v, n, err)
		}
	}
}

func TestKeyTags(t *testing.T) {
	for _, test := range []struct {
		reason, key, field string
		off, ok            bool
	}{
		{"a field that names the entry", "key:id", "id", false, true},
		{"a field that does not", "key:!id", "id", true, true},
		{"no field", "key:", "", false, false},
		{"no field that does not", "key:!", "", true, false},
		{"another key", "id", "", false, false},
		{"nothing", "", "", false, false},
		{"capitals", "KEY:id", "", false, false},
		{"a field with a colon", "key:a:b", "a:b", false, true},
		{"two marks are one mark and a name", "key:!!a", "!a", true, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if field, off, ok := work.IsKeyTag(test.key); ok != test.ok || ok && (field != test.field || off != test.off) {
				t.Errorf("got %q, %t, %t", field, off, ok)
			}
		})
	}
}

func TestRootScope(t *testing.T) {
	fields := value.MapOf("a", value.Int(1))
	busy := value.New(fields)
	busy.Work = &work.Task{}
	own := &scope.Level{}
	for _, test := range []struct {
		reason string
		doc    *work.Document
		there  bool
	}{
		{"a map", &work.Document{Root: value.New(fields)}, true},
		{"a list has no names", &work.Document{Root: value.New(value.ListOf())}, false},
		{"nil has none", &work.Document{Root: value.New(value.Null{})}, false},
		{"a map that may still become another one", &work.Document{Root: busy}, false},
		{"no root yet", &work.Document{}, false},
		{"a level that is known", &work.Document{Root: busy, RootLevel: own}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			first := test.doc.RootScope()
			if (first != nil) != test.there || first != test.doc.RootScope() {
				t.Errorf("got %v, then %v", first, test.doc.RootScope())
			}
		})
	}
}

func TestTasks(t *testing.T) {
	var root *place.Path
	expr, err := syntax.Parse("a + 1")
	if err != nil {
		t.Fatal(err)
	}
	at := work.Slot{Path: root.Field("m").Field("<<")}
	hosted := at
	hosted.Host = value.New(value.Null{})
	for _, test := range []struct {
		reason      string
		task        work.Task
		path, shown string
	}{
		{"an expression that was parsed", work.Task{Slot: at, Expr: expr}, "m.<<", "(( a + 1 ))"},
		{"the text that the author wrote counts more", work.Task{Slot: at, Expr: expr, Expression: "(( merge ))"}, "m.<<", "(( merge ))"},
		{"an insert is reported at the map that it belongs to", work.Task{Slot: hosted}, "m", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.task.ReportPath().String(); got != test.path {
				t.Errorf("it is at %s", got)
			}
			if got := test.task.Shown(); got != test.shown {
				t.Errorf("it is shown as %s", got)
			}
		})
	}
}

func TestLeaves(t *testing.T) {
	template, stub := &work.Document{Final: true}, &work.Document{}
	stubs := place.StubsOf([]*value.Node{value.New(value.MapOf())})
	for _, test := range []struct {
		reason string
		slot   work.Slot
		shape  value.Shape
		want   bool
	}{
		{"plain data without counterparts stays as it is", work.Slot{Doc: template}, value.Shape{}, true},
		{"an expression in it", work.Slot{Doc: template}, value.Shape{Active: true}, false},
		{"stubs may override", work.Slot{Doc: template, Stubs: stubs}, value.Shape{}, false},
		{"markers end with the template", work.Slot{Doc: template}, value.Shape{Marked: true}, false},
		{"markers of a stub reach the next document", work.Slot{Doc: stub}, value.Shape{Marked: true}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.slot.Leaves(test.shape) != test.want {
				t.Errorf("want %t", test.want)
			}
		})
	}
}

// table has tags of three documents; the third is being processed.
func table(t *testing.T, names ...string) *work.TagTable {
	t.Helper()
	tags := work.NewTagTable(nil)
	tags.Doc = 3
	var root *place.Path
	for i, name := range names {
		name, global := strings.CutPrefix(name, "*")
		if err := tags.Define(name, value.New(value.Int(i)), root.Field(fmt.Sprint("f", i)), global); err != nil {
			t.Fatal(err)
		}
	}
	return tags
}

func TestDefine(t *testing.T) {
	var root *place.Path
	secret := root.Field("imports").Field("s3cret")
	secret.Secret = true
	node := value.New(value.Int(1))
	for _, test := range []struct {
		reason  string
		before  func(*work.TagTable) error
		doc     int
		message string
	}{
		{"a new name", func(*work.TagTable) error { return nil }, 1, ""},
		{"a node that is evaluated twice", func(t *work.TagTable) error { return t.Define("t", node, root.Field("a"), false) }, 1, ""},
		{"another node at the same place, which replaced it", func(t *work.TagTable) error { return t.Define("t", value.New(value.Int(2)), secret, false) }, 1, ""},
		{"another place", func(t *work.TagTable) error { return t.Define("t", value.New(value.Int(2)), root.Field("a"), false) }, 1, `duplicate tag "t": imports.<key> <-> a`},
		{"a global one elsewhere", func(t *work.TagTable) error { return t.Define("t", value.New(value.Int(2)), root.Field("a"), true) }, 1, "duplicate tag"},
		{"an equal path in another document is another place", func(t *work.TagTable) error { return t.Define("t", value.New(value.Int(2)), secret, false) }, 2, "duplicate tag"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tags := work.NewTagTable(nil)
			tags.Doc = 1
			if err := test.before(tags); err != nil {
				t.Fatal(err)
			}
			tags.Doc = test.doc
			err := tags.Define("t", node, secret, false)
			if (err != nil) != (test.message != "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a key from outside is told: %v", err)
			}
			if err == nil && tags.Get("t").Node != node {
				t.Error("it is another node")
			}
		})
	}
}

func TestTagTable(t *testing.T) {
	tags := table(t, "lib.b", "lib.a", "lib.a.deep", "*lib.far", "library", "lib", "*both")
	for _, test := range []struct {
		reason, prefix string
		want           []string
	}{
		{"the nearest level first, in the order of names", "lib", []string{"lib.a", "lib.b", "lib.far", "lib.a.deep"}},
		{"a name that only begins so is not below", "libr", nil},
		{"below an undefined name", "nope", nil},
		{"a part of a name", "lib.a", []string{"lib.a.deep"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range 5 { // tables are maps, which have no order
				if got := tags.Below(test.prefix); !slices.Equal(got, test.want) {
					t.Fatalf("got %v", got)
				}
			}
		})
	}
	t.Run("global tags are shared with the next document, local ones are not", func(t *testing.T) {
		next := work.NewTagTable(tags.Global)
		if next.Get("both") == nil || next.Get("lib") != nil {
			t.Errorf("local: %v, global: %v", next.Get("lib"), next.Get("both"))
		}
	})
	t.Run("a tag of this level goes before a shared one", func(t *testing.T) {
		near := work.NewTagTable(tags.Global)
		near.Local["both"] = &work.Tag{Path: "near"}
		if near.Get("both").Path != "near" {
			t.Error("the far one won")
		}
	})
}

func TestDocumentTags(t *testing.T) {
	tags := table(t)
	for _, test := range []struct{ reason, name, want string }{
		{"the current document", "doc.0", "doc.3"},
		{"the document before", "doc.-1", "doc.2"},
		{"a document that never was", "doc.-7", "doc.-4"},
		{"by its number", "doc.1", "doc.1"},
		{"a name", "doc.x", "doc.x"},
		{"nothing", "doc.", "doc."},
		{"a deeper name", "doc.0.x", "doc.0.x"},
		{"a number beyond the numbers", "doc.-99999999999999999999", "doc.-99999999999999999999"},
		{"another tag", "document.0", "document.0"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := tags.DocumentTag(test.name); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestAnnounce finds tags before anything is evaluated.
func TestAnnounce(t *testing.T) {
	marker := func(name string) value.Value { return value.Text("(( &tag:" + name + " (1) ))") }
	for _, test := range []struct {
		reason string
		root   value.Value
		want   string // of the tag "t"
	}{
		{"a field", value.MapOf("a", value.MapOf("b", marker("t"))), "a.b"},
		{"an entry", value.MapOf("a", value.ListOf(value.Int(1), marker("t"))), "a.[1]"},
		{"an insert key belongs to the map around", value.MapOf("a", value.MapOf("<<", marker("t"))), "a"},
		{"an entry that only inserts takes no place", value.ListOf(value.MapOf("<<", value.Text("(( x ))")), marker("t")), "[0]"},
		{"a tag in such an entry belongs to the list", value.MapOf("a", value.ListOf(value.MapOf("<<", marker("t")))), "a"},
		{"the root", marker("t"), ""},
		{"a call that defines it", value.MapOf("a", value.Text(`(( tagdef("t", 1) ))`)), "a"},
		{"plain text", value.MapOf("a", value.Text("&tag:t")), "none"},
		{"text from outside", value.MapOf("a", value.Data("(( &tag:t (1) ))")), "none"},
		{"an escaped expression", value.MapOf("a", value.Text("((! &tag:t (1) ))")), "none"},
		{"another name", value.MapOf("a", marker("tt")), "none"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tags := table(t)
			tags.Announce(value.New(test.root), nil)
			got := "none"
			if found := tags.Candidates["t"]; len(found) == 1 {
				got = place.PathOf(found[0]).String()
			} else if len(found) > 1 {
				t.Errorf("%d places", len(found))
			}
			if got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("places do not share their memory", func(t *testing.T) {
		tags := table(t)
		tags.Announce(value.New(value.MapOf("r", value.MapOf("s", value.MapOf("a", value.MapOf("b", marker("t"), "c", marker("u"), "d", marker("t")))))), nil)
		var got []string
		for _, steps := range append(tags.Candidates["t"], tags.Candidates["u"]...) {
			got = append(got, place.PathOf(steps).String())
		}
		if want := []string{"r.s.a.b", "r.s.a.d", "r.s.a.c"}; !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what is announced and not yet defined is waited for, with all below", func(t *testing.T) {
		tags := table(t, "lib.done")
		tags.Announce(value.New(value.ListOf(marker("lib"), marker("lib.b"), marker("lib.a"), marker("lib.done"), marker("library"))), nil)
		for range 5 {
			if got := tags.Pending("lib"); !slices.Equal(got, []string{"lib", "lib.a", "lib.b"}) {
				t.Fatalf("got %v", got)
			}
		}
	})
}
