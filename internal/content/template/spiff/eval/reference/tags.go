package reference

import (
	"errors"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// tagged resolves a reference below a tag.
func (f *Finder) tagged(ref *syntax.Ref) (*value.Node, error) {
	name := f.Doc.Tags.DocumentTag(ref.Tag)
	if name == "doc."+strconv.Itoa(f.Doc.Tags.Doc) && len(ref.Steps) > 0 {
		return f.Find(&syntax.Ref{Absolute: true, Steps: ref.Steps})
	}
	if err := f.awaitTags(name); err != nil {
		return nil, err
	}
	if exact := f.Doc.Tags.Get(name); exact != nil {
		n, err := f.tagContent(ref, exact)
		if _, failed := errors.AsType[*outcome.Failure](err); !failed {
			return n, err
		}
		if len(f.Doc.Tags.Below(name)) == 0 {
			return n, err
		}
	}
	return f.searchTags(ref, name)
}

// tagContent follows the path of the reference below one tag.
func (f *Finder) tagContent(ref *syntax.Ref, t *work.Tag) (*value.Node, error) {
	if _, err := f.Top(t.Node); err != nil {
		return nil, outcome.Dependent(err, "'%s' unresolved", syntax.RefText(ref, 0))
	}
	return f.Walk(t.Node, ref.Steps, func(i int) string { return syntax.RefText(ref, i) })
}

// searchTags looks for the path in all tags below a name.
func (f *Finder) searchTags(ref *syntax.Ref, name string) (*value.Node, error) {
	names := f.Doc.Tags.Below(name)
	if len(names) == 0 {
		return nil, outcome.Fail("tag '%s' not found", ref.Tag)
	}
	var hit *value.Node
	hitName := ""
	for _, candidate := range names {
		if hit != nil && strings.Count(candidate, ".") > strings.Count(hitName, ".") {
			break
		}
		n, err := f.tagContent(ref, f.Doc.Tags.Get(candidate))
		if err != nil {
			if outcome.AsFailure(err) == nil {
				return nil, err
			}
			continue
		}
		if hit != nil {
			return nil, outcome.Fail("ambiguous tag resolution for %s: %s <-> %s", syntax.RefText(ref, len(ref.Steps)), hitName, candidate)
		}
		hit, hitName = n, candidate
	}
	if hit == nil {
		return nil, outcome.Fail("'%s' not found", syntax.RefText(ref, len(ref.Steps)))
	}
	return hit, nil
}

// awaitTags evaluates the nodes that may define the tag, or one below it.
func (f *Finder) awaitTags(name string) error {
	t := f.Doc.Tags
	for _, candidate := range t.Pending(name) {
		for _, steps := range t.Candidates[candidate] {
			if err := f.visit(steps); outcome.Aborted(err) || outcome.Again(err) {
				return err
			}
		}
	}
	return nil
}

// visit evaluates the node at a place of the document.
func (f *Finder) visit(steps []syntax.Step) error {
	if _, err := f.Top(f.Doc.Root); err != nil {
		return err
	}
	_, err := f.Walk(f.Doc.Root, steps, func(i int) string { return syntax.StepsText(steps[:i]) })
	return err
}
