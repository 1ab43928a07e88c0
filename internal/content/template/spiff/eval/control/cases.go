package control

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// caseEntry is one entry of <<cases.
type caseEntry struct {
	match, is, result *value.Node
}

// caseList finds the first entry of <<cases that fits.
func (c *control) caseList(v value.Value) (value.Value, error) {
	if len(c.names) > 0 {
		return nil, outcome.Fail("control <<switch with <<cases cannot have regular fields such as %q", c.names[0])
	}
	entries, err := c.caseEntries()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		fits, err := c.fits(entry, v)
		if err != nil {
			return nil, err
		}
		if fits {
			return c.settleBranch(entry.result)
		}
	}
	return c.fallback(v)
}

// caseEntries reads <<cases. Entries written in place are placed field by
// field, so that only what is needed is evaluated.
func (c *control) caseEntries() ([]caseEntry, error) {
	list, ok := c.options["cases"].Value.(*value.List)
	if !ok {
		v, err := c.operand("cases")
		if err != nil {
			return nil, err
		}
		if list, ok = v.(*value.List); !ok {
			return nil, outcome.Fail("<<cases must be a list, not %s", value.A(v))
		}
	}
	entries := make([]caseEntry, len(list.Items))
	for i, item := range list.Items {
		m, ok := item.Value.(*value.Map)
		if !ok {
			return nil, outcome.Fail("case %d must be a map, not %s", i, value.A(item.Value))
		}
		for k, key := range m.Keys {
			n := c.branch(m.Items[k])
			switch key {
			case "case":
				entries[i].is = n
			case "match":
				entries[i].match = n
			case "value":
				entries[i].result = n
			default:
				return nil, outcome.Fail("case %d has the unknown field %q, known are case, match and value", i, key)
			}
		}
		if entries[i].is == nil && entries[i].match == nil {
			return nil, outcome.Fail("case %d requires the field case or match", i)
		}
	}
	return entries, nil
}

func (c *control) fits(entry caseEntry, v value.Value) (bool, error) {
	if entry.is != nil {
		want, err := c.settleBranch(entry.is)
		if err != nil {
			return false, err
		}
		if value.Identical(want, v) {
			return true, nil
		}
	}
	if entry.match == nil {
		return false, nil
	}
	match, err := c.settleBranch(entry.match)
	if err != nil {
		return false, err
	}
	l, ok := match.(*scope.Lambda)
	if !ok {
		return value.Truth(match), nil
	}
	result, err := c.Apply(l, []*value.Node{value.New(v)})
	return value.Truth(result), err
}
