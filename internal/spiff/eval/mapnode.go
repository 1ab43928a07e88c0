package eval

import (
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// insertKeys are the two spellings of the insert key.
var insertKeys = []string{"<<", "<<<"}

// insertOf returns the insert key of a map, if it has one.
func insertOf(m *value.Map) (key string, n *value.Node, err error) {
	if m.Data {
		return "", nil, nil
	}
	for _, k := range insertKeys {
		found := m.Get(k)
		if found == nil {
			continue
		}
		if n != nil {
			return "", nil, fail("multiple merge keys not allowed")
		}
		key, n = k, found
	}
	return key, n, nil
}

// settleMap completes the fields of a map: insert key, own fields, injected
// fields, control structures.
func (r *run) settleMap(n *value.Node, t *task, raw *value.Map) error {
	if err := r.elements(raw.Len()); err != nil {
		return err
	}
	if t.inDefault || n.Flags.Has(value.Default) {
		t.inDefault = true
	}
	m := &mapping{run: r, node: n, task: t, raw: raw, level: t.slot}
	m.level.override = t.inner
	m.level.scope = &scope{parent: t.scope, owner: n, raw: raw}
	if n == t.doc.root {
		t.doc.rootLevel = m.level.scope
	}
	if t.expression == "" && t.expr == nil {
		t.expression = "<map>"
	}
	key, insert, err := insertOf(raw)
	if err != nil {
		return err
	}
	if insert != nil {
		finished, err := m.insert(key, insert)
		if err != nil || finished {
			return err
		}
	}
	if hit := t.stubs.first(); hit != nil {
		if _, ok := hit.Value.(*value.Map); ok {
			n.Flags |= hit.Flags & (value.Temporary | value.State)
		}
	}
	if r.feature(Control) && !raw.Data && hasControl(raw) {
		return m.control()
	}
	fields := m.fields()
	m.level.scope.fields = fields
	n.Value = fields
	return nil
}

// mapping is the completion of one map.
type mapping struct {
	*run
	node     *value.Node
	task     *task
	raw      *value.Map
	key      string // the insert key, if there is one
	inserted *value.Map
	merged   bool
	replaced bool
	level    slot // for the fields
}

// insert evaluates the insert key. It returns true if the node is finished.
func (m *mapping) insert(key string, raw *value.Node) (bool, error) {
	m.key = key
	v, in, err := m.run.insertValue(m.node, m.task, raw, m.level)
	if err != nil {
		return false, err
	}
	m.node.Flags |= in.flags
	if in.flags.Has(value.Default) {
		m.level.inDefault = true
	}
	if in.template != nil {
		content := m.templateContent(in.template)
		t := &template{content: content, printed: m.raw, place: m.task.slot}
		return true, m.finishTemplate(t)
	}
	if in.redirect != nil {
		m.level.stubPath, m.level.stubs = in.redirect.path, in.redirect.stubs
		m.level.override, m.level.inner = true, true
	}
	if in.none {
		m.level.stubs, m.level.override, m.level.inner = nil, false, false
	}
	m.replaced, m.merged = in.replace, in.merged
	switch v := v.(type) {
	case value.Null:
	case value.Undefined:
		m.node.Value = v
		return true, nil
	case *value.Map:
		m.inserted = v
	default:
		return false, m.task.insertFailed("a map can only insert a map, but the value of %s is %s", key, value.A(v))
	}
	return false, nil
}

// finishTemplate stores a template, or what a stub puts in its place.
func (m *mapping) finishTemplate(t *template) error {
	if m.task.inner || m.task.override {
		if hit := m.task.stubs.override(); hit != nil {
			return m.replaceByStub(m.node, m.task, hit)
		}
	}
	m.task.info = &info{}
	inner := *m.task
	inner.override = false
	m.task.slot = inner.slot
	return m.adopt(m.node, m.task, t)
}

// templateContent is the map without the template marker.
func (m *mapping) templateContent(marker *templateMarker) value.Value {
	b := value.NewBuilder(m.raw.Len())
	b.AddAll(m.raw)
	b.Delete(m.key)
	if marker.body != nil {
		b.Set(m.key, value.New(value.Text("(( "+marker.source+" ))")))
	}
	return b.Map()
}

// fields places own, inserted and injected fields. Own fields win.
func (m *mapping) fields() *value.Map {
	b := value.NewBuilder(m.raw.Len())
	b.Data = m.raw.Data
	if m.inserted != nil {
		for i, k := range m.inserted.Keys {
			b.Set(k, m.field(k, m.inserted.Items[i], m.inserted.Data))
		}
		b.Data = b.Data && m.inserted.Data
	}
	if !m.replaced {
		for i, k := range m.raw.Keys {
			if k != m.key || m.key == "" {
				b.Set(k, m.field(k, m.raw.Items[i], m.raw.Data))
			}
		}
	}
	if !m.merged && m.level.inner {
		for k, n := range m.level.stubs.injectedFields(b) {
			b.Set(k, m.injected(k, n))
		}
	}
	return b.Map()
}

func (m *mapping) slotOf(key string, secret bool) slot {
	s := m.level
	s.path = s.path.field(key)
	s.path.secret = secret
	s.stubPath = s.stubPath.field(key)
	s.stubs = s.stubs.field(key)
	s.host = nil
	return s
}

func (m *mapping) field(key string, raw *value.Node, secret bool) *value.Node {
	return m.place(raw, m.slotOf(key, secret))
}

func (m *mapping) injected(key string, n *value.Node) *value.Node {
	added := &value.Node{Value: n.Value, Source: n.Source, Line: n.Line, Flags: n.Flags}
	m.instantiatesHere(added, m.slotOf(key, false))
	return added
}

// insertValue evaluates an insert key at the place of its host.
func (r *run) insertValue(host *value.Node, t *task, raw *value.Node, level slot) (value.Value, *info, error) {
	if _, ok := raw.Value.(*value.Map); ok {
		// A map written in place: its fields become fields of the host.
		return raw.Value, &info{}, nil
	}
	level.override, level.inner = false, false
	level.host = host
	level.path = level.path.field("<<")
	n := r.place(raw, level)
	work, _ := n.Work.(*task)
	if work == nil {
		return n.Value, &info{}, nil
	}
	t.inserts, t.insert = append(t.inserts, n), work
	v, err := r.deep(n)
	if failure(err) != nil && r.optionalMerge(work) {
		t.inserts = t.inserts[:len(t.inserts)-1]
		return value.Null{}, work.info, nil
	}
	if err != nil {
		return nil, nil, waiting(err, "'%s' not complete", r.shown(level.path.parent))
	}
	if work.info == nil {
		work.info = &info{}
	}
	if work.info.flags == 0 {
		work.info.flags = n.Flags
	}
	return v, work.info, nil
}

// optionalMerge tells whether the expression is a plain merge, whose missing
// value means nothing in an insert.
func (r *run) optionalMerge(t *task) bool {
	s, ok := t.raw.(value.String)
	if !ok {
		return false
	}
	expr, err := r.parseText(s.Text)
	m, ok := expr.(*syntax.Merge)
	return err == nil && ok && !m.Redirect && !m.Required
}

// insertFailed makes the insert key the failing node.
func (t *task) insertFailed(format string, args ...any) error {
	err := fail(format, args...)
	work := t.insert
	if work == nil {
		work = &task{slot: t.slot, expression: "<map>"}
		work.path = work.path.field(insertKeys[0])
	}
	work.state, work.err = blocked, err
	t.inserts = append(t.inserts, &value.Node{Work: work})
	return waiting(err, "map not complete")
}

// isKeyTag splits "key:field" and "key:!field".
func isKeyTag(key string) (field string, off, ok bool) {
	rest, ok := strings.CutPrefix(key, value.KeyTag)
	if !ok || rest == "" {
		return "", false, false
	}
	if name, excluded := strings.CutPrefix(rest, "!"); excluded {
		return name, true, name != ""
	}
	return rest, false, true
}
