package eval

import (
	"strings"

	"go.landscaper.dev/internal/spiff/value"
)

// settleList completes the entries of a list: insert entries, key field,
// injected entries.
func (r *run) settleList(n *value.Node, t *task, raw *value.List) error {
	if err := r.elements(len(raw.Items)); err != nil {
		return err
	}
	if t.expression == "" && t.expr == nil {
		t.expression = "<list>"
	}
	l := &listing{run: r, node: n, task: t, raw: raw, level: t.slot, key: raw.Key, positional: true}
	l.level.inner = t.inner
	l.keyTags()
	finished, err := l.collect()
	if err != nil || finished {
		return err
	}
	if hit := t.stubs.first(); hit != nil {
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
	*run
	node  *value.Node
	task  *task
	raw   *value.List
	level slot

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
		field, off, ok := isKeyTag(k)
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
		key, insert, err := insertEntry(item)
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
	if !ok || item.Work != nil || m.Data || !l.feature(Control) || !hasControl(m) {
		l.parts = append(l.parts, part{own: item})
		return nil
	}
	s := l.level
	s.override, s.inner, s.host = false, false, nil
	s.path = s.path.entry(i, "")
	n := l.place(item, s)
	v, err := l.run.deep(n)
	if err != nil {
		l.task.inserts = append(l.task.inserts, n)
		return waiting(err, "'%s' not complete", l.shown(l.level.path))
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

// insertEntry returns the insert key of an entry that has no other key.
func insertEntry(item *value.Node) (string, *value.Node, error) {
	m, ok := item.Value.(*value.Map)
	if !ok || item.Work != nil || m.Len() != 1 {
		return "", nil, nil
	}
	return insertOf(m)
}

func (l *listing) insert(i int, entry, raw *value.Node) (finished bool, err error) {
	if m, ok := raw.Value.(*value.Map); ok && !m.Shape.Active {
		l.parts = append(l.parts, part{own: entry})
		return false, nil
	}
	level := l.level
	level.path = level.path.entry(i, "")
	v, in, err := l.run.insertValue(l.node, l.task, raw, level)
	if err != nil {
		return false, err
	}
	l.node.Flags |= in.flags
	if in.template != nil {
		return true, l.template(i, in.template)
	}
	if in.redirect != nil {
		l.level.stubPath, l.level.stubs = in.redirect.path, in.redirect.stubs
		l.level.inner = true
	}
	if in.none {
		l.level.stubs, l.level.inner = nil, false
	}
	if in.key != "" {
		l.key = in.key
	}
	if in.merged && in.redirect == nil {
		l.positional, l.merged = false, true
	}
	l.replaced = l.replaced || in.replace
	switch v := v.(type) {
	case *value.List:
		l.parts = append(l.parts, part{inserted: v.Items})
	case *value.Map:
		l.parts = append(l.parts, part{inserted: []*value.Node{value.New(v)}})
	}
	return false, nil
}

// template makes the list without its marker entry a template.
func (l *listing) template(at int, marker *templateMarker) error {
	var items []*value.Node
	for i, item := range l.raw.Items {
		if i != at {
			items = append(items, item)
		} else if marker.body != nil {
			insert := value.MapOf("<<", value.Text("(( "+marker.source+" ))"))
			items = append(items, value.New(insert))
		}
	}
	m := &mapping{run: l.run, node: l.node, task: l.task}
	return m.finishTemplate(&template{content: value.NewList(items), printed: l.raw, place: l.task.slot})
}

// entries places all entries, with their steps in the stubs.
func (l *listing) entries() ([]*value.Node, error) {
	keys, keyed, err := l.keys()
	if err != nil {
		return nil, err
	}
	var items []*value.Node
	if !l.merged && l.level.inner {
		items = append(items, l.level.stubs.injectedEntries()...)
	}
	own := map[string]bool{}
	for _, k := range keys {
		own[k] = true
	}
	next := 0
	for _, p := range l.parts {
		if p.own != nil {
			if !l.replaced {
				items = append(items, l.place(p.own, l.entrySlot(len(items), keys[next], keyed)))
			}
			next++
			continue
		}
		for _, item := range p.inserted {
			if k := l.plainKey(item); k == "" || !own[k] || l.replaced {
				s := l.entrySlot(len(items), k, keyed && k != "")
				s.inner, s.stubs = false, nil
				items = append(items, l.place(item, s))
			}
		}
	}
	return items, nil
}

// entrySlot is the place of an entry. Scalar entries are never overridden.
func (l *listing) entrySlot(index int, key string, keyed bool) slot {
	s := l.level
	s.host = nil
	s.override = false
	field := l.keyName()
	if keyed {
		step := field + ":" + key
		s.path = s.path.entry(index, step)
		s.stubPath = s.stubPath.entry(index, step)
		s.stubs = s.stubs.entry(index, field, key)
		return s
	}
	s.path = s.path.entry(index, "")
	s.stubPath = s.stubPath.entry(index, "")
	if l.positional {
		s.stubs = s.stubs.entry(index, "", "")
	} else {
		s.stubs, s.inner = nil, false
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
	if !ok || s.Data || !l.evaluates(s.Text) {
		return l.plainKey(item), nil
	}
	if l.level.stubs == nil && l.key == "" {
		return "", nil // nothing depends on it
	}
	inner := l.level
	inner.override = false
	inner.scope = &scope{parent: l.level.scope, owner: item, raw: m}
	inner.path = inner.path.field(l.keyName())
	n := l.place(field, inner)
	v, err := l.run.deep(n)
	if err != nil {
		return "", waiting(err, "'%s' not complete", l.shown(l.level.path))
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

// keyStep splits a name step of a list into key field and value.
func keyStep(step, declared string) (field, want string) {
	if field, want, ok := strings.Cut(step, ":"); ok {
		return field, want
	}
	if declared == "" {
		declared = "name"
	}
	return declared, step
}

// listIndex resolves a position that may count from the end; -1 is outside.
func listIndex(length, index int) int {
	if index < 0 {
		index += length
	}
	if index < 0 || index >= length {
		return -1
	}
	return index
}
