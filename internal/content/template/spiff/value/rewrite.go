package value

// DropFlagged removes all nodes below v that have one of the flags.
func DropFlagged(v Value, flags Flags) Value {
	if !ShapeOf(v).Marked || flags == 0 {
		return v
	}
	return Rewrite(v, func(n *Node) (Value, bool) {
		return DropFlagged(n.Value, flags), !n.Flags.Any(flags)
	}, nil)
}

// Rewrite copies a list or map; change gives the new value of a child and
// whether it stays, rename the new name of a key.
func Rewrite(v Value, change func(*Node) (Value, bool), rename func(string) string) Value {
	switch v := v.(type) {
	case *List:
		items := make([]*Node, 0, len(v.Items))
		for _, n := range v.Items {
			if child, keep := change(n); keep {
				items = append(items, copied(n, child))
			}
		}
		list := NewList(items)
		list.Key = v.Key
		return list
	case *Map:
		b := NewBuilder(v.Len())
		b.Data = v.Data
		for i, k := range v.Keys {
			if rename != nil && !v.Data {
				k = rename(k)
			}
			if child, keep := change(v.Items[i]); keep {
				b.Set(k, copied(v.Items[i], child))
			}
		}
		return b.Map()
	}
	return v
}

func copied(n *Node, v Value) *Node {
	return &Node{Value: v, Source: n.Source, Line: n.Line, Flags: n.Flags}
}
