// Package control evaluates the control structures of YAML maps: <<if, <<switch,
// <<type, <<for and <<merge.
package control

import (
	"maps"
	"slices"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// controlKind describes a control structure: its options, and whether the map
// may have regular fields.
type controlKind struct {
	options []string
	fields  bool
	run     func(*control) (value.Value, error)
}

var controlKinds map[string]controlKind

func init() {
	controlKinds = map[string]controlKind{
		"if":     {options: []string{"then", "else"}, run: (*control).ifElse},
		"switch": {options: []string{"default", "cases"}, fields: true, run: (*control).switchCase},
		"type":   {options: []string{"default"}, fields: true, run: (*control).typeCase},
		"for":    {options: []string{"do", "mapkey"}, run: (*control).forEach},
		"merge":  {fields: true, run: (*control).mergeFields},
	}
}

// controlWord returns the word of a control key such as "<<if".
func controlWord(key string) (string, bool) {
	word, ok := strings.CutPrefix(key, "<<")
	if !ok || word == "" || word == "<" || word[0] == '!' || strings.HasPrefix(word, "<!") {
		return "", false
	}
	return word, true
}

// Has reports whether a map has control keys.
func Has(m *value.Map) bool {
	if !m.Shape.Active {
		return false
	}
	for _, k := range m.Keys {
		if _, ok := controlWord(k); ok {
			return true
		}
	}
	return false
}

// Structure is a map that is a control structure.
type Structure struct {
	Node     *value.Node
	Task     *work.Task
	Raw      *value.Map
	Inserted *value.Map // what its insert key gave
	Key      string     // the insert key, if there is one
	Level    work.Slot  // for its fields and branches
	// Apply calls a lambda at the place of the map.
	Apply func(l *scope.Lambda, args []*value.Node) (value.Value, error)
}

// control is the evaluation of one control structure.
type control struct {
	*work.Run
	Structure
	kind    string
	options map[string]*value.Node // raw content of the control keys
	fields  map[string]*value.Node // raw regular fields
	names   []string               // of the regular fields, sorted
}

// Evaluate evaluates a control structure.
func Evaluate(r *work.Run, s Structure) (value.Value, error) {
	s.Level.Override, s.Level.Inner, s.Level.Host = false, false, nil
	c := &control{Run: r, Structure: s, options: map[string]*value.Node{}, fields: map[string]*value.Node{}}
	if err := c.read(); err != nil {
		return nil, err
	}
	c.Task.Expression = "<" + c.kind + " control>"
	c.Level.Scope.Fields = c.scopeFields()
	return controlKinds[c.kind].run(c)
}

// read sorts the keys into options and regular fields and checks them.
func (c *control) read() error {
	c.collect(c.Inserted)
	c.collect(c.Raw)
	words := slices.Sorted(maps.Keys(c.options))
	for _, word := range words {
		if _, ok := controlKinds[word]; !ok {
			continue
		}
		if c.kind != "" {
			return outcome.Fail("a map can hold only one control, but there are <<%s and <<%s", c.kind, word)
		}
		c.kind = word
	}
	if c.kind == "" {
		return outcome.Fail("no control for the options %s", c.words())
	}
	kind := controlKinds[c.kind]
	for _, word := range words {
		if word != c.kind && !contains(kind.options, word) {
			return outcome.Fail("unknown option <<%s of control <<%s", word, c.kind)
		}
	}
	if !kind.fields && len(c.names) > 0 {
		return outcome.Fail("control <<%s cannot have regular fields such as %q", c.kind, c.names[0])
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func (c *control) words() string {
	var words []string
	for _, k := range c.Raw.Keys {
		if _, ok := controlWord(k); ok {
			words = append(words, k)
		}
	}
	return strings.Join(words, ", ")
}

func (c *control) collect(m *value.Map) {
	if m == nil {
		return
	}
	for i, k := range m.Keys {
		if m == c.Raw && k == c.Key && c.Key != "" {
			continue
		}
		if word, ok := controlWord(k); ok {
			c.options[word] = m.Items[i]
			continue
		}
		if c.fields[k] == nil {
			c.names = append(c.names, k)
		}
		c.fields[k] = m.Items[i]
	}
}

// scopeFields places the regular fields, so that they see each other.
func (c *control) scopeFields() *value.Map {
	b := value.NewBuilder(len(c.names))
	for _, k := range c.names {
		c.fields[k] = c.branch(c.fields[k])
		b.Set(k, c.fields[k])
	}
	return b.Map()
}

// branch places content that may become the result: at the path of the map.
func (c *control) branch(raw *value.Node) *value.Node { return c.Place(raw, c.Level) }

// settleBranch evaluates a branch completely. A branch without value is what
// the report shows.
func (c *control) settleBranch(n *value.Node) (value.Value, error) {
	if n == nil {
		return value.Undefined{}, nil
	}
	v, err := c.Deep(n)
	if err != nil {
		if !outcome.Again(err) {
			c.Task.Inserts = append(c.Task.Inserts, n)
			if err := c.SettleAll(n); err != nil {
				return nil, err
			}
		}
		return nil, outcome.Dependent(err, "'%s' not complete", c.Shown(c.Task.Path))
	}
	return v, nil
}

// operand evaluates the value of a control key.
func (c *control) operand(word string) (value.Value, error) {
	s := c.Level
	s.Path = s.Path.Field("<<" + word)
	return c.settleBranch(c.Place(c.options[word], s))
}

func (c *control) option(word string) (*value.Node, bool) {
	raw, ok := c.options[word]
	if !ok {
		return nil, false
	}
	return c.branch(raw), true
}

func (c *control) ifElse() (value.Value, error) {
	cond, err := c.operand("if")
	if err != nil {
		return nil, err
	}
	word := "else"
	switch v := cond.(type) {
	case value.Bool:
		if v {
			word = "then"
		}
	case value.Null, value.Undefined:
	default:
		return nil, outcome.Fail("<<if needs a bool, not %s", value.A(cond))
	}
	branch, _ := c.option(word)
	return c.settleBranch(branch)
}

func (c *control) switchCase() (value.Value, error) {
	v, err := c.operand("switch")
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	if _, ok := c.options["cases"]; ok {
		return c.caseList(v)
	}
	switch s := v.(type) {
	case value.Null:
		return c.selectField("", v)
	case value.String:
		return c.selectField(s.Text, v)
	}
	return nil, outcome.Fail("<<switch with fields needs a string, not %s", value.A(v))
}

func (c *control) typeCase() (value.Value, error) {
	v, err := c.operand("type")
	if err != nil {
		return nil, err
	}
	return c.selectField(value.TypeName(v), v)
}

// selectField evaluates the field of a case, or the default.
func (c *control) selectField(name string, v value.Value) (value.Value, error) {
	if n := c.fields[name]; n != nil && !value.IsNull(v) {
		return c.settleBranch(n)
	}
	return c.fallback(v)
}

func (c *control) fallback(v value.Value) (value.Value, error) {
	branch, ok := c.option("default")
	if !ok {
		return nil, outcome.Fail("no case for %s, and no default", c.Show(v))
	}
	return c.settleBranch(branch)
}

// mergeFields lets maps override the regular fields.
func (c *control) mergeFields() (value.Value, error) {
	v, err := c.operand("merge")
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder(len(c.names))
	for _, k := range c.names {
		s := c.Level
		s.Path = s.Path.Field(k)
		b.Set(k, c.Place(c.fields[k], s))
	}
	list := []*value.Node{value.New(v)}
	if l, ok := v.(*value.List); ok {
		list = l.Items
	}
	for _, n := range list {
		switch m := n.Value.(type) {
		case value.Null, value.Undefined:
		case *value.Map:
			b.AddAll(m)
		default:
			return nil, outcome.Fail("<<merge needs a map or a list of maps, not %s", value.A(n.Value))
		}
	}
	return c.settleBranch(&value.Node{Value: b.Map()})
}
