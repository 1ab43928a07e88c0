package settle

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/control"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// settleMap completes the fields of a map: insert key, own fields, injected
// fields, control structures.
func (r *Runner) settleMap(n *value.Node, t *work.Task, raw *value.Map) error {
	if t.InDefault || n.Flags.Has(value.Default) {
		t.InDefault = true
	}
	m := &mapping{Runner: r, node: n, task: t, raw: raw, level: t.Slot}
	m.level.Override = t.Inner
	m.level.Scope = &scope.Level{Parent: t.Scope, Owner: n, Raw: raw}
	if n == t.Doc.Root {
		t.Doc.RootLevel = m.level.Scope
	}
	if t.Expression == "" && t.Expr == nil {
		t.Expression = "<map>"
	}
	key, insert, err := work.InsertOf(raw)
	if err != nil {
		return err
	}
	if insert != nil {
		finished, err := m.insert(key, insert)
		if err != nil || finished {
			return err
		}
	}
	if hit := t.Stubs.First(); hit != nil {
		if _, ok := hit.Value.(*value.Map); ok {
			n.Flags |= hit.Flags & (value.Temporary | value.State)
		}
	}
	if r.Feature(work.Control) && !raw.Data && control.Has(raw) {
		return m.control()
	}
	fields := m.fields()
	m.level.Scope.Fields = fields
	n.Value = fields
	return nil
}

// mapping is the completion of one map.
type mapping struct {
	*Runner
	node     *value.Node
	task     *work.Task
	raw      *value.Map
	key      string // the insert key, if there is one
	inserted *value.Map
	merged   bool
	replaced bool
	level    work.Slot // for the fields
}

// insert evaluates the insert key. It returns true if the node is finished.
func (m *mapping) insert(key string, raw *value.Node) (bool, error) {
	m.key = key
	v, in, err := m.insertValue(m.node, m.task, raw, m.level)
	if err != nil {
		return false, err
	}
	m.node.Flags |= in.Flags
	if in.Flags.Has(value.Default) {
		m.level.InDefault = true
	}
	if in.Template != nil {
		content := m.templateContent(in.Template)
		t := &scope.Template{Content: content, Printed: m.raw, Place: m.task.Scope}
		return true, m.finishTemplate(t)
	}
	if in.Redirect != nil {
		m.level.StubPath, m.level.Stubs = in.Redirect.Path, in.Redirect.Stubs
		m.level.Override, m.level.Inner = true, true
	}
	if in.None {
		m.level.Stubs, m.level.Override, m.level.Inner = nil, false, false
	}
	m.replaced, m.merged = in.Replace, in.Merged
	switch v := v.(type) {
	case value.Null:
	case value.Undefined:
		m.node.Value = v
		return true, nil
	case *value.Map:
		m.inserted = v
	default:
		return false, insertFailed(m.task, "a map can only insert a map, but the value of %s is %s", key, value.A(v))
	}
	return false, nil
}

// finishTemplate stores a template, or what a stub puts in its place.
func (m *mapping) finishTemplate(t *scope.Template) error {
	if m.task.Inner || m.task.Override {
		if hit := m.task.Stubs.Override(); hit != nil {
			return m.replaceByStub(m.node, m.task, hit)
		}
	}
	m.task.Info = &work.Info{}
	inner := *m.task
	inner.Override = false
	m.task.Slot = inner.Slot
	return m.adopt(m.node, m.task, t)
}

// templateContent is the map without the template marker.
func (m *mapping) templateContent(marker *work.TemplateMarker) value.Value {
	b := value.NewBuilder(m.raw.Len())
	b.AddAll(m.raw)
	b.Delete(m.key)
	if marker.Body != nil {
		b.Set(m.key, value.New(value.Text("(( "+marker.Source+" ))")))
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
	if !m.merged && m.level.Inner {
		for k, n := range m.level.Stubs.InjectedFields(b) {
			b.Set(k, m.injected(k, n))
		}
	}
	return b.Map()
}

func (m *mapping) slotOf(key string, secret bool) work.Slot {
	s := m.level
	s.Path = s.Path.Field(key)
	s.Path.Secret = secret
	s.StubPath = s.StubPath.Field(key)
	s.Stubs = s.Stubs.Field(key)
	s.Host = nil
	return s
}

func (m *mapping) field(key string, raw *value.Node, secret bool) *value.Node {
	return m.Place(raw, m.slotOf(key, secret))
}

func (m *mapping) injected(key string, n *value.Node) *value.Node {
	added := &value.Node{Value: n.Value, Source: n.Source, Line: n.Line, Flags: n.Flags}
	m.instantiatesHere(added, m.slotOf(key, false))
	return added
}

// insertValue evaluates an insert key at the place of its host.
func (r *Runner) insertValue(host *value.Node, t *work.Task, raw *value.Node, level work.Slot) (value.Value, *work.Info, error) {
	if _, ok := raw.Value.(*value.Map); ok {
		// A map written in place: its fields become fields of the host.
		return raw.Value, &work.Info{}, nil
	}
	level.Override, level.Inner = false, false
	level.Host = host
	level.Path = level.Path.Field("<<")
	n := r.Place(raw, level)
	todo, _ := n.Work.(*work.Task)
	if todo == nil {
		return n.Value, &work.Info{}, nil
	}
	t.Inserts, t.Insert = append(t.Inserts, n), todo
	v, err := r.Deep(n)
	if outcome.AsFailure(err) != nil && r.optionalMerge(todo) {
		t.Inserts = t.Inserts[:len(t.Inserts)-1]
		return value.Null{}, todo.Info, nil
	}
	if err != nil {
		return nil, nil, outcome.Dependent(err, "'%s' not complete", r.Shown(level.Path.Parent))
	}
	if todo.Info == nil {
		todo.Info = &work.Info{}
	}
	if todo.Info.Flags == 0 {
		todo.Info.Flags = n.Flags
	}
	return v, todo.Info, nil
}

// optionalMerge reports whether the expression is a plain merge, whose missing value means nothing
// in an insert.
func (r *Runner) optionalMerge(t *work.Task) bool {
	s, ok := t.Raw.(value.String)
	if !ok {
		return false
	}
	expr, err := r.ParseText(s.Text)
	m, ok := expr.(*syntax.Merge)
	return err == nil && ok && !m.Redirect && !m.Required
}

// insertFailed makes the insert key the failing node.
func insertFailed(t *work.Task, format string, args ...any) error {
	err := outcome.Fail(format, args...)
	todo := t.Insert
	if todo == nil {
		todo = &work.Task{Slot: t.Slot, Expression: "<map>"}
		todo.Path = todo.Path.Field(work.InsertKeys[0])
	}
	todo.State, todo.Err = work.Blocked, err
	t.Inserts = append(t.Inserts, &value.Node{Work: todo})
	return outcome.Dependent(err, "map not complete")
}

// control evaluates a map that is a control structure and stores its result.
func (m *mapping) control() error {
	v, err := control.Evaluate(m.Run, control.Structure{
		Node: m.node, Task: m.task, Raw: m.raw, Inserted: m.inserted, Key: m.key, Level: m.level,
		Apply: m.env(m.level.Scope, m.node, m.task).Apply,
	})
	if err != nil {
		return err
	}
	return m.controlResult(v)
}

// controlResult stores the result, open to the stubs like a literal.
func (m *mapping) controlResult(v value.Value) error {
	m.task.Info = &work.Info{}
	result, isMap := v.(*value.Map)
	if !isMap {
		if m.task.Override {
			if hit := m.task.Stubs.Override(); hit != nil {
				return m.replaceByStub(m.node, m.task, hit)
			}
		}
		m.node.Value = v
		return nil
	}
	if m.task.Stubs == nil && !result.Shape.Active {
		m.node.Value = v
		return nil
	}
	m.task.Raw = result
	return m.settleMap(m.node, m.task, result)
}
