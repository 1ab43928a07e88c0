package descriptor

import (
	"encoding/json"
	"fmt"
)

// maxNested bounds the number of descriptors in a tree of inline descriptors.
const maxNested = 1000

// DecodeInline reads a descriptor that is written into another object.
func DecodeInline(data []byte) (*Descriptor, error) {
	d, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("inline component descriptor: %w", err)
	}
	return d, nil
}

// Nested returns the descriptors that labels of references carry, at any depth,
// the given one first. Each inherits the effective repository context of the
// given one if it has none. Of two with the same name and version the first one
// wins.
func (d *Descriptor) Nested() ([]*Descriptor, error) {
	tree := nestedTree{context: d.EffectiveContext(), seen: map[string]bool{}}
	if err := tree.add(d); err != nil {
		return nil, err
	}
	return tree.all, nil
}

type nestedTree struct {
	context Typed
	seen    map[string]bool
	all     []*Descriptor
}

func (t *nestedTree) add(d *Descriptor) error {
	key := d.Name + ":" + d.Version
	if t.seen[key] {
		return nil
	}
	if len(t.all) == maxNested {
		return fmt.Errorf("more than %d nested component descriptors", maxNested)
	}
	if len(d.RepositoryContexts) == 0 && !t.context.IsZero() {
		copied := *d
		copied.RepositoryContexts = []Typed{t.context}
		d = &copied
	}
	t.seen[key] = true
	t.all = append(t.all, d)
	for _, reference := range d.References {
		value := reference.Label(NestedLabel)
		if value == nil {
			continue
		}
		nested, err := decodeNested(value)
		if err != nil {
			return fmt.Errorf("label %s of component reference %q of %s: %w", NestedLabel, reference.Name, key, err)
		}
		if nested.Name != reference.ComponentName || nested.Version != reference.Version {
			return fmt.Errorf("label %s of component reference %q of %s describes %s:%s, the reference names %s:%s",
				NestedLabel, reference.Name, key, nested.Name, nested.Version, reference.ComponentName, reference.Version)
		}
		if err := t.add(nested); err != nil {
			return err
		}
	}
	return nil
}

// decodeNested reads a descriptor, or the text of one.
func decodeNested(value json.RawMessage) (*Descriptor, error) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return DecodeInline([]byte(text))
	}
	return DecodeInline(value)
}
