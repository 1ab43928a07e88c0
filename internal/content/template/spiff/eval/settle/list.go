package settle

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/control"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// settleList completes the entries of a list: insert entries, key field,
// injected entries.
func (r *Runner) settleList(n *value.Node, t *work.Task, raw *value.List) error {
	if t.Expression == "" && t.Expr == nil {
		t.Expression = "<list>"
	}
	l := &listing{Runner: r, node: n, task: t, raw: raw, level: t.Slot, key: raw.Key, positional: true}
	l.level.Inner = t.Inner
	l.keyTags()
	finished, err := l.collect()
	if err != nil || finished {
		return err
	}
	if hit := t.Stubs.First(); hit != nil {
		if _, ok := hit.Value.(*value.List); ok {
			n.Flags |= hit.Flags & (value.Temporary | value.State)
		}
	}
	items, err := l.entries()
	if err != nil {
		return err
	}
	list := value.NewList(items)
	list.Key = l.keyField()
	n.Value = list
	return nil
}

// listing is the completion of one list.
type listing struct {
	*Runner
	node  *value.Node
	task  *work.Task
	raw   *value.List
	level work.Slot

	parts      []part
	key        string // declared key field
	unkeyed    bool   // keyed handling is switched off
	positional bool   // entries without key are overridden by position
	merged     bool   // stub entries were inserted explicitly
	replaced   bool
}

// part is an own entry, or the entries of one insert.
type part struct {
	own      *value.Node
	inserted []*value.Node
}

func (l *listing) keyField() string {
	if l.unkeyed {
		return ""
	}
	return l.key
}

// keyName is the effective key field.
func (l *listing) keyName() string {
	if l.key == "" {
		return "name"
	}
	return l.key
}

// keyTags finds "key:field" tags and removes them from the entries.
func (l *listing) keyTags() {
	if !l.raw.Shape.Active {
		return
	}
	items := append([]*value.Node(nil), l.raw.Items...)
	for i, item := range items {
		m, ok := item.Value.(*value.Map)
		if !ok || m.Data || !m.Shape.Active {
			continue
		}
		if stripped := l.stripTags(m); stripped != nil {
			items[i] = &value.Node{Value: stripped, Source: item.Source, Line: item.Line, Flags: item.Flags}
		}
	}
	l.raw = &value.List{Items: items, Key: l.raw.Key, Shape: l.raw.Shape}
}

func (l *listing) stripTags(m *value.Map) *value.Map {
	found := 0
	b := value.NewBuilder(m.Len())
	for i, k := range m.Keys {
		field, off, ok := work.IsKeyTag(k)
		if !ok {
			b.Set(k, m.Items[i])
			continue
		}
		found++
		b.Set(field, m.Items[i])
		l.key, l.unkeyed = field, off || found > 1
	}
	if found == 0 {
		return nil
	}
	return b.Map()
}

// collect evaluates the insert entries. It returns true if the list became a
// template.
func (l *listing) collect() (finished bool, err error) {
	for i, item := range l.raw.Items {
		key, insert, err := work.InsertEntry(item)
		if err != nil {
			return false, err
		}
		if key == "" {
			if err := l.entry(i, item); err != nil {
				return false, err
			}
			continue
		}
		finished, err := l.insert(i, item, insert)
		if err != nil || finished {
			return finished, err
		}
	}
	return false, nil
}

// entry takes an own entry. A control structure is evaluated at once, because
// its result may be a list of entries or nothing.
func (l *listing) entry(i int, item *value.Node) error {
	m, ok := item.Value.(*value.Map)
	if !ok || item.Work != nil || m.Data || !l.Feature(work.Control) || !control.Has(m) {
		l.parts = append(l.parts, part{own: item})
		return nil
	}
	s := l.level
	s.Override, s.Inner, s.Host = false, false, nil
	s.Path = s.Path.Entry(i, "")
	n := l.Place(item, s)
	v, err := l.Deep(n)
	if err != nil {
		l.task.Inserts = append(l.task.Inserts, n)
		return outcome.Dependent(err, "'%s' not complete", l.Shown(l.level.Path))
	}
	switch v := v.(type) {
	case value.Undefined:
	case *value.List:
		l.parts = append(l.parts, part{inserted: v.Items})
	default:
		if !n.Flags.Any(value.Temporary | value.Local) {
			n = &value.Node{Value: v, Source: n.Source, Line: n.Line}
		}
		l.parts = append(l.parts, part{own: n})
	}
	return nil
}

func (l *listing) insert(i int, entry, raw *value.Node) (finished bool, err error) {
	if m, ok := raw.Value.(*value.Map); ok && !m.Shape.Active {
		l.parts = append(l.parts, part{own: entry})
		return false, nil
	}
	level := l.level
	level.Path = level.Path.Entry(i, "")
	v, in, err := l.insertValue(l.node, l.task, raw, level)
	if err != nil {
		return false, err
	}
	l.node.Flags |= in.Flags
	if in.Template != nil {
		return true, l.template(i, in.Template)
	}
	if in.Redirect != nil {
		l.level.StubPath, l.level.Stubs = in.Redirect.Path, in.Redirect.Stubs
		l.level.Inner = true
	}
	if in.None {
		l.level.Stubs, l.level.Inner = nil, false
	}
	if in.Key != "" {
		l.key = in.Key
	}
	if in.Merged && in.Redirect == nil {
		l.positional, l.merged = false, true
	}
	l.replaced = l.replaced || in.Replace
	switch v := v.(type) {
	case *value.List:
		l.parts = append(l.parts, part{inserted: v.Items})
	case *value.Map:
		l.parts = append(l.parts, part{inserted: []*value.Node{value.New(v)}})
	}
	return false, nil
}

// template makes the list without its marker entry a template.
func (l *listing) template(at int, marker *work.TemplateMarker) error {
	var items []*value.Node
	for i, item := range l.raw.Items {
		if i != at {
			items = append(items, item)
		} else if marker.Body != nil {
			insert := value.MapOf("<<", value.Text("(( "+marker.Source+" ))"))
			items = append(items, value.New(insert))
		}
	}
	m := &mapping{Runner: l.Runner, node: l.node, task: l.task}
	return m.finishTemplate(&scope.Template{Content: value.NewList(items), Printed: l.raw, Place: l.task.Scope})
}

// entries places all entries, with their steps in the stubs.
func (l *listing) entries() ([]*value.Node, error) {
	keys, keyed, err := l.keys()
	if err != nil {
		return nil, err
	}
	var items []*value.Node
	if !l.merged && l.level.Inner {
		items = append(items, l.level.Stubs.InjectedEntries()...)
	}
	own := map[string]bool{}
	for _, k := range keys {
		own[k] = true
	}
	next := 0
	for _, p := range l.parts {
		if p.own != nil {
			if !l.replaced {
				items = append(items, l.Place(p.own, l.entrySlot(len(items), keys[next], keyed)))
			}
			next++
			continue
		}
		for _, item := range p.inserted {
			if k := l.plainKey(item); k == "" || !own[k] || l.replaced {
				s := l.entrySlot(len(items), k, keyed && k != "")
				s.Inner, s.Stubs = false, nil
				items = append(items, l.Place(item, s))
			}
		}
	}
	return items, nil
}

// entrySlot is the place of an entry. Scalar entries are never overridden.
func (l *listing) entrySlot(index int, key string, keyed bool) work.Slot {
	s := l.level
	s.Host = nil
	s.Override = false
	field := l.keyName()
	if keyed {
		step := field + ":" + key
		s.Path = s.Path.Entry(index, step)
		s.StubPath = s.StubPath.Entry(index, step)
		s.Stubs = s.Stubs.Entry(index, field, key)
		return s
	}
	s.Path = s.Path.Entry(index, "")
	s.StubPath = s.StubPath.Entry(index, "")
	if l.positional {
		s.Stubs = s.Stubs.Entry(index, "", "")
	} else {
		s.Stubs, s.Inner = nil, false
	}
	return s
}

// keys returns the key value of every own entry, and whether the list is
// keyed: all entries are maps with distinct texts in the key field.
func (l *listing) keys() (keys []string, keyed bool, err error) {
	keyed = !l.unkeyed
	seen := map[string]bool{}
	for _, p := range l.parts {
		if p.own == nil {
			continue
		}
		key := ""
		if !l.unkeyed {
			if key, err = l.ownKey(p.own); err != nil {
				return nil, false, err
			}
		}
		keyed = keyed && key != "" && !seen[key]
		seen[key] = true
		keys = append(keys, key)
	}
	return keys, keyed, nil
}

// ownKey is the key value of an own entry. It may be an expression.
func (l *listing) ownKey(item *value.Node) (string, error) {
	if item.Work != nil {
		return l.plainKey(item), nil
	}
	m, ok := item.Value.(*value.Map)
	if !ok {
		return "", nil
	}
	field := m.Get(l.keyName())
	if field == nil {
		return "", nil
	}
	s, ok := field.Value.(value.String)
	if !ok || s.Data || !l.Evaluates(s.Text) {
		return l.plainKey(item), nil
	}
	if l.level.Stubs == nil && l.key == "" {
		return "", nil // nothing depends on it
	}
	inner := l.level
	inner.Override = false
	inner.Scope = &scope.Level{Parent: l.level.Scope, Owner: item, Raw: m}
	inner.Path = inner.Path.Field(l.keyName())
	n := l.Place(field, inner)
	v, err := l.Deep(n)
	if err != nil {
		return "", outcome.Dependent(err, "'%s' not complete", l.Shown(l.level.Path))
	}
	if text, ok := v.(value.String); ok {
		return text.Text, nil
	}
	return "", nil
}

// plainKey is the key value of an entry that needs no evaluation.
func (l *listing) plainKey(item *value.Node) string {
	m, ok := item.Value.(*value.Map)
	if !ok {
		return ""
	}
	if s, ok := m.Field(l.keyName()).(value.String); ok {
		return s.Text
	}
	return ""
}
