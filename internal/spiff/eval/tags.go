package eval

import (
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// tag is a named node.
type tag struct {
	node *value.Node
	path string
	doc  int // number of the document in its stream
}

// tagTable holds the tags of a processing level; global ones are shared.
type tagTable struct {
	local, global map[string]*tag
	// candidates are the places of expressions that define a tag.
	candidates map[string][][]syntax.Step
	doc        int
	defined    int
}

func newTagTable(global map[string]*tag) *tagTable {
	if global == nil {
		global = map[string]*tag{}
	}
	return &tagTable{local: map[string]*tag{}, global: global, candidates: map[string][][]syntax.Step{}}
}

func (t *tagTable) define(name string, n *value.Node, p *path, global bool) error {
	where := p.report(true)
	for _, table := range []map[string]*tag{t.local, t.global} {
		if other := table[name]; other != nil && other.node != n && (other.doc != t.doc || other.path != where) {
			return fail("duplicate tag %q: %s <-> %s", name, where, other.path)
		}
	}
	table := t.local
	if global {
		table = t.global
	}
	table[name] = &tag{node: n, path: where, doc: t.doc}
	t.defined++
	return nil
}

func (t *tagTable) get(name string) *tag {
	if found := t.local[name]; found != nil {
		return found
	}
	return t.global[name]
}

// below returns the names of the tags below a prefix, nearest level first.
func (t *tagTable) below(prefix string) []string {
	var names []string
	for _, table := range []map[string]*tag{t.local, t.global} {
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

// documentTag resolves the implicit tags doc.N, doc.-1 and doc.0.
func (t *tagTable) documentTag(name string) string {
	rest, ok := strings.CutPrefix(name, "doc.")
	if !ok {
		return name
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n > 0 {
		return name
	}
	return "doc." + strconv.Itoa(t.doc+n)
}

// tagged resolves a reference below a tag.
func (e *env) tagged(ref *syntax.Ref) (*value.Node, error) {
	name := e.doc.tags.documentTag(ref.Tag)
	if name == "doc."+strconv.Itoa(e.doc.tags.doc) && len(ref.Steps) > 0 {
		return e.reference(&syntax.Ref{Absolute: true, Steps: ref.Steps})
	}
	if err := e.awaitTags(name); err != nil {
		return nil, err
	}
	if exact := e.doc.tags.get(name); exact != nil {
		n, err := e.tagContent(ref, exact)
		if _, failed := errors.AsType[*Failure](err); !failed {
			return n, err
		}
		if len(e.doc.tags.below(name)) == 0 {
			return n, err
		}
	}
	return e.searchTags(ref, name)
}

// tagContent follows the path of the reference below one tag.
func (e *env) tagContent(ref *syntax.Ref, t *tag) (*value.Node, error) {
	if _, err := e.top(t.node); err != nil {
		return nil, waiting(err, "'%s' unresolved", refText(ref, 0))
	}
	return e.walk(t.node, ref.Steps, func(i int) string { return refText(ref, i) })
}

// searchTags looks for the path in all tags below a name.
func (e *env) searchTags(ref *syntax.Ref, name string) (*value.Node, error) {
	names := e.doc.tags.below(name)
	if len(names) == 0 {
		return nil, fail("tag '%s' not found", ref.Tag)
	}
	var hit *value.Node
	hitName := ""
	for _, candidate := range names {
		if hit != nil && strings.Count(candidate, ".") > strings.Count(hitName, ".") {
			break
		}
		n, err := e.tagContent(ref, e.doc.tags.get(candidate))
		if err != nil {
			if failure(err) == nil {
				return nil, err
			}
			continue
		}
		if hit != nil {
			return nil, fail("ambiguous tag resolution for %s: %s <-> %s", refText(ref, len(ref.Steps)), hitName, candidate)
		}
		hit, hitName = n, candidate
	}
	if hit == nil {
		return nil, fail("'%s' not found", refText(ref, len(ref.Steps)))
	}
	return hit, nil
}

// awaitTags evaluates the nodes that may define the tag, or one below it.
func (e *env) awaitTags(name string) error {
	t := e.doc.tags
	for _, candidate := range t.pending(name) {
		for _, steps := range t.candidates[candidate] {
			if err := e.visit(steps); aborted(err) || again(err) {
				return err
			}
		}
	}
	return nil
}

// pending returns the announced tags that have the name or are below it.
func (t *tagTable) pending(name string) []string {
	var names []string
	for candidate := range t.candidates {
		if (candidate == name || strings.HasPrefix(candidate, name+".")) && t.get(candidate) == nil {
			names = append(names, candidate)
		}
	}
	sort.Strings(names)
	return names
}

// visit evaluates the node at a place of the document.
func (e *env) visit(steps []syntax.Step) error {
	if _, err := e.top(e.doc.root); err != nil {
		return err
	}
	_, err := e.walk(e.doc.root, steps, func(i int) string { return stepsText(steps[:i]) })
	return err
}

// announce finds the expressions of a document that define tags.
func (t *tagTable) announce(n *value.Node, steps []syntax.Step) {
	switch v := n.Value.(type) {
	case value.String:
		if !v.Data && isExpression(v.Text) {
			for _, name := range tagNames(v.Text) {
				place := append([]syntax.Step(nil), steps...)
				t.candidates[name] = append(t.candidates[name], place)
			}
		}
	case *value.Map:
		if !v.Shape.Active {
			return
		}
		for i, k := range v.Keys {
			if k == insertKeys[0] || k == insertKeys[1] {
				t.announce(v.Items[i], steps)
				continue
			}
			t.announce(v.Items[i], append(steps, syntax.Step{Key: k}))
		}
	case *value.List:
		if !v.Shape.Active {
			return
		}
		at := 0
		for _, item := range v.Items {
			if _, insert, _ := insertEntry(item); insert != nil {
				t.announce(insert, steps)
				continue
			}
			t.announce(item, append(steps, syntax.Step{Index: at, IsIndex: true}))
			at++
		}
	}
}

var tagPattern = regexp.MustCompile(`(?:&tag:|tagdef\(\s*")\*?([A-Za-z_][A-Za-z0-9_]*(?:[.:][A-Za-z_][A-Za-z0-9_]*)*)`)

// tagNames lists the tags that the text of an expression defines.
func tagNames(text string) []string {
	if !strings.Contains(text, "tag") {
		return nil
	}
	var names []string
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(m[1], ":", "."))
	}
	return names
}
