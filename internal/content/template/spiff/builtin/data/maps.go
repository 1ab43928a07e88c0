package data

import (
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func listToMap(c *call.Call) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	field, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder(len(l.Items))
	for i, n := range l.Items {
		m, ok := n.Value.(*value.Map)
		if !ok {
			return nil, c.Failf("entry %d must be a map, not %s", i, value.A(n.Value))
		}
		key, ok := m.Field(field).(value.String)
		if !ok {
			return nil, c.Failf("entry %d has no string in its key field %q", i, field)
		}
		entry := value.NewBuilder(m.Len())
		entry.AddAll(m)
		entry.Delete(field)
		b.Data = b.Data || key.Data
		b.SetValue(key.Text, entry.Map())
	}
	return b.Map(), nil
}

func makeMap(c *call.Call) (value.Value, error) {
	b := value.NewBuilder(len(c.Args))
	if c.Len() == 1 {
		return makeMapOfList(c, b)
	}
	if c.Len()%2 != 0 {
		return nil, c.Failf("keys and values must come in pairs")
	}
	for i := 0; i < c.Len(); i += 2 {
		if err := setField(c, b, c.Args[i], c.Args[i+1]); err != nil {
			return nil, err
		}
	}
	return b.Map(), nil
}

func makeMapOfList(c *call.Call, b *value.Builder) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	for i, n := range l.Items {
		m, ok := n.Value.(*value.Map)
		if !ok || m.Get("key") == nil || m.Get("value") == nil {
			return nil, c.Failf("entry %d must be a map with the fields key and value", i)
		}
		if err := setField(c, b, m.Field("key"), m.Field("value")); err != nil {
			return nil, err
		}
	}
	return b.Map(), nil
}

func setField(c *call.Call, b *value.Builder, key, v value.Value) error {
	text, ok := value.SimpleText(key)
	if !ok {
		return c.Failf("keys must be simple values, not %s", value.A(key))
	}
	if s, ok := key.(value.String); ok && s.Data {
		b.Data = true
	}
	b.SetValue(text, v)
	return nil
}

func deepMerge(c *call.Call) (value.Value, error) {
	args := c.Args
	if l, ok := args[0].(*value.List); ok && len(args) == 1 {
		args = nil
		for _, n := range l.Items {
			args = append(args, n.Value)
		}
	}
	var result *value.Map
	for i, a := range args {
		m, ok := a.(*value.Map)
		if !ok {
			return nil, c.Failf("argument %d must be a map, not %s", i+1, value.A(a))
		}
		if result == nil {
			result = m
			continue
		}
		result = unite(result, m)
	}
	if result == nil {
		return value.NewBuilder(0).Map(), nil
	}
	return result, nil
}

func unite(a, b *value.Map) *value.Map {
	merged := value.NewBuilder(a.Len() + b.Len())
	merged.AddAll(a)
	merged.Data = a.Data || b.Data
	for i, k := range b.Keys {
		n := b.Items[i]
		if old := merged.Get(k); old != nil {
			x, isMap := old.Value.(*value.Map)
			y, isMap2 := n.Value.(*value.Map)
			if isMap && isMap2 {
				n = value.New(unite(x, y))
			}
		}
		merged.Set(k, n)
	}
	return merged.Map()
}
