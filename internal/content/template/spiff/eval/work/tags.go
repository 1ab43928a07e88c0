package work

import (
	"sort"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/embedded"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Tag is a named node.
type Tag struct {
	Node *value.Node
	Path string
	Doc  int // number of the document in its stream
}

// TagTable holds the tags of a processing level; global ones are shared.
type TagTable struct {
	Local, Global map[string]*Tag
	// Candidates are the places of expressions that define a tag.
	Candidates map[string][][]syntax.Step
	Doc        int
	Defined    int
}

// NewTagTable makes the table of a level that shares global tags with others.
func NewTagTable(global map[string]*Tag) *TagTable {
	if global == nil {
		global = map[string]*Tag{}
	}
	return &TagTable{Local: map[string]*Tag{}, Global: global, Candidates: map[string][][]syntax.Step{}}
}

// Define gives a node a tag. A name belongs to one place only.
func (t *TagTable) Define(name string, n *value.Node, p *place.Path, global bool) error {
	where := p.Report(true)
	for _, table := range []map[string]*Tag{t.Local, t.Global} {
		if other := table[name]; other != nil && other.Node != n && (other.Doc != t.Doc || other.Path != where) {
			return outcome.Fail("duplicate tag %q: %s <-> %s", name, where, other.Path)
		}
	}
	table := t.Local
	if global {
		table = t.Global
	}
	table[name] = &Tag{Node: n, Path: where, Doc: t.Doc}
	t.Defined++
	return nil
}

// Get returns a tag, one of this level first.
func (t *TagTable) Get(name string) *Tag {
	if found := t.Local[name]; found != nil {
		return found
	}
	return t.Global[name]
}

// Below returns the names of the tags below a prefix, nearest level first.
func (t *TagTable) Below(prefix string) []string {
	var names []string
	for _, table := range []map[string]*Tag{t.Local, t.Global} {
		for name := range table {
			if strings.HasPrefix(name, prefix+".") {
				names = append(names, name)
			}
		}
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := strings.Count(names[i], "."), strings.Count(names[j], ".")
		if a != b {
			return a < b
		}
		return names[i] < names[j]
	})
	return names
}

// DocumentTag resolves the implicit tags doc.N, doc.-1 and doc.0.
func (t *TagTable) DocumentTag(name string) string {
	rest, ok := strings.CutPrefix(name, "doc.")
	if !ok {
		return name
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n > 0 {
		return name
	}
	return "doc." + strconv.Itoa(t.Doc+n)
}

// Pending returns the announced tags that have the name or are below it.
func (t *TagTable) Pending(name string) []string {
	var names []string
	for candidate := range t.Candidates {
		if (candidate == name || strings.HasPrefix(candidate, name+".")) && t.Get(candidate) == nil {
			names = append(names, candidate)
		}
	}
	sort.Strings(names)
	return names
}

// Announce finds the expressions of a document that define tags.
func (t *TagTable) Announce(n *value.Node, steps []syntax.Step) {
	switch v := n.Value.(type) {
	case value.String:
		if !v.Data && embedded.IsExpression(v.Text) {
			for _, name := range embedded.TagNames(v.Text) {
				at := append([]syntax.Step(nil), steps...)
				t.Candidates[name] = append(t.Candidates[name], at)
			}
		}
	case *value.Map:
		if !v.Shape.Active {
			return
		}
		for i, k := range v.Keys {
			if k == InsertKeys[0] || k == InsertKeys[1] {
				t.Announce(v.Items[i], steps)
				continue
			}
			t.Announce(v.Items[i], append(steps, syntax.Step{Key: k}))
		}
	case *value.List:
		if !v.Shape.Active {
			return
		}
		entry := 0
		for _, item := range v.Items {
			if _, insert, _ := InsertEntry(item); insert != nil {
				t.Announce(insert, steps)
				continue
			}
			t.Announce(item, append(steps, syntax.Step{Index: entry, IsIndex: true}))
			entry++
		}
	}
}
