package schema

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

const (
	// maxWork is how many comparisons the check of a value may take.
	maxWork = 1_000_000
	// maxChain is how many schemas may apply to the same value one inside the
	// other, references included.
	maxChain = 256
	// matchWork is how many steps of a regular expression count as one comparison.
	matchWork = 64
)

// samePlace returns the schemas that apply to the same value as the given one.
func samePlace(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, list := range [][]*jsonschema.Schema{{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf} {
			for _, schema := range list {
				if schema != nil && !yield(schema) {
					return
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
			if schema, ok := s.Dependencies[name].(*jsonschema.Schema); ok && !yield(schema) {
				return
			}
		}
	}
}

// inside returns the schemas that apply to parts of the value, in a stable order: the first mistake
// is reported.
func inside(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		all := []*jsonschema.Schema{s.Contains}
		for _, part := range []any{s.Items, s.AdditionalItems, s.AdditionalProperties} {
			switch part := part.(type) {
			case *jsonschema.Schema:
				all = append(all, part)
			case []*jsonschema.Schema:
				all = append(all, part...)
			}
		}
		all = append(all, slices.SortedFunc(maps.Values(s.Properties), byLocation)...)
		all = append(all, slices.SortedFunc(maps.Values(s.PatternProperties), byLocation)...)
		for _, extension := range s.Extensions {
			if rule, ok := extension.(*nameRule); ok {
				all = append(all, rule.schema)
			}
		}
		for _, schema := range all {
			if schema != nil && !yield(schema) {
				return
			}
		}
	}
}

func byLocation(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) }

// finite refuses schemas that could be applied to the same value without end.
func finite(root *jsonschema.Schema, linked *link.Linked) error {
	search := chains{linked: linked, lengths: map[*jsonschema.Schema]int{}}
	seen := map[*jsonschema.Schema]bool{root: true}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; queue = queue[1:] {
		if _, err := search.length(queue[0]); err != nil {
			return err
		}
		for _, next := range []iter.Seq[*jsonschema.Schema]{samePlace(queue[0]), inside(queue[0])} {
			for schema := range next {
				if !seen[schema] {
					seen[schema] = true
					queue = append(queue, schema)
				}
			}
		}
	}
	return nil
}

// chains measures how many schemas apply one inside the other.
type chains struct {
	linked  *link.Linked
	lengths map[*jsonschema.Schema]int
	// open are the schemas that are being measured.
	open []*jsonschema.Schema
}

// unmeasured marks a schema that is being measured.
const unmeasured = -1

func (c *chains) length(s *jsonschema.Schema) (int, error) {
	switch length, known := c.lengths[s]; {
	case known && length == unmeasured:
		return 0, c.cycle(s)
	case known:
		return length, nil
	case len(c.open) == maxChain:
		return 0, errChain
	}
	c.lengths[s] = unmeasured
	c.open = append(c.open, s)
	longest := 0
	for next := range samePlace(s) {
		length, err := c.length(next)
		if err != nil {
			return 0, err
		}
		longest = max(longest, length)
	}
	if longest++; longest > maxChain {
		return 0, errChain
	}
	c.open = c.open[:len(c.open)-1]
	c.lengths[s] = longest
	return longest, nil
}

var errChain = errors.New("more than 256 schemas apply to the same value one inside the other, references included")

// cycle names the references that lead back to a schema.
func (c *chains) cycle(to *jsonschema.Schema) error {
	var names []string
	inCycle := false
	for _, schema := range append(c.open, to) {
		if inCycle = inCycle || schema == to; inCycle {
			_, fragment, _ := strings.Cut(schema.Location, "#/")
			name := c.linked.Original(strings.Split(fragment, "/"))
			if len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	if len(names) == 1 {
		names = append(names, names[0])
	}
	return fmt.Errorf("cyclic references detected: %s applies to the same value without end; a schema may refer to itself only below properties or items", strings.Join(names, " -> "))
}

// work counts comparisons before they are made: a small schema may lead to very
// many of them.
type work struct{ done int }

// evaluate counts what a value costs; it reports whether that is still allowed.
func (w *work) evaluate(s *jsonschema.Schema, value any) bool {
	w.done++
	if s.Enum != nil {
		w.done += len(s.Enum.Values)
	}
	if w.done > maxWork {
		return false
	}
	for next := range samePlace(s) {
		if !w.evaluate(next, value) {
			return false
		}
	}
	switch value := value.(type) {
	case map[string]any:
		return w.object(s, value)
	case []any:
		return w.array(s, value)
	case string:
		return w.match(s.Pattern, value)
	}
	return true
}

func (w *work) match(pattern jsonschema.Regexp, text string) bool {
	if pattern, ok := pattern.(*link.Pattern); ok {
		w.done += len(text) * pattern.Size / matchWork
	}
	return w.done <= maxWork
}

func (w *work) object(s *jsonschema.Schema, object map[string]any) bool {
	for name, value := range object {
		if !w.property(s, name, value) {
			return false
		}
		for _, extension := range s.Extensions {
			if rule, ok := extension.(*nameRule); ok && !w.evaluate(rule.schema, name) {
				return false
			}
		}
	}
	return true
}

func (w *work) property(s *jsonschema.Schema, name string, value any) bool {
	schema, found := s.Properties[name]
	if found && !w.evaluate(schema, value) {
		return false
	}
	for pattern, schema := range s.PatternProperties {
		if !w.match(pattern, name) {
			return false
		}
		if pattern.MatchString(name) {
			if found = true; !w.evaluate(schema, value) {
				return false
			}
		}
	}
	additional, ok := s.AdditionalProperties.(*jsonschema.Schema)
	return found || !ok || w.evaluate(additional, value)
}

func (w *work) array(s *jsonschema.Schema, array []any) bool {
	for i, value := range array {
		item, _ := s.Items.(*jsonschema.Schema)
		if list, ok := s.Items.([]*jsonschema.Schema); ok {
			if item, _ = s.AdditionalItems.(*jsonschema.Schema); i < len(list) {
				item = list[i]
			}
		}
		for _, schema := range []*jsonschema.Schema{item, s.Contains} {
			if schema != nil && !w.evaluate(schema, value) {
				return false
			}
		}
	}
	return true
}
