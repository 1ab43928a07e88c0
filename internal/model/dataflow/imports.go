package dataflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
)

// Imports are the values that an Installation imports, by logical name.
type Imports struct {
	// Data are values of any kind.
	Data map[string]DataImport
	// Targets are the single Targets.
	Targets map[string]*v1alpha1.Target
	// TargetLists are lists in the order of their elements.
	TargetLists map[string][]*v1alpha1.Target
	// TargetMaps are maps by the keys of their elements.
	TargetMaps map[string]map[string]*v1alpha1.Target
}

// AllTargets returns all imported Targets, in no order.
func (i Imports) AllTargets() []*v1alpha1.Target {
	all := slices.Collect(maps.Values(i.Targets))
	for _, list := range i.TargetLists {
		all = append(all, list...)
	}
	for _, byKey := range i.TargetMaps {
		all = slices.AppendSeq(all, maps.Values(byKey))
	}
	return slices.DeleteFunc(all, func(target *v1alpha1.Target) bool { return target == nil })
}

// DataImport is an imported value of any kind.
type DataImport struct {
	// Value is the value as it was read: its numbers have the digits that they
	// were given.
	Value v1alpha1.AnyJSON
	// Salt is set for the values of Secrets: the UID of the Secret. A digest without a salt would
	// confirm guesses to every reader. A user who may not read the Secret does not know the salt,
	// and the salt stays as long as the Secret does.
	Salt string
}

// plain returns the value for templates.
func (d DataImport) plain() (any, error) {
	if len(d.Value.RawMessage) == 0 {
		return nil, nil
	}
	value, err := jsonvalue.FromJSON(d.Value.RawMessage)
	if err != nil {
		// The cause is left out: it may quote the value.
		return nil, errors.New("the value is not JSON")
	}
	return value, nil
}

// FromSecret returns the value of a Secret: that of one key, or with an empty key
// a map from all keys to their values. The values are YAML.
func FromSecret(data map[string][]byte, key string) (DataImport, error) {
	return fromEntries(data, key)
}

// FromConfigMap returns the value of a ConfigMap in the way of FromSecret. Its
// binary data are entries like the others.
func FromConfigMap(data map[string]string, binary map[string][]byte, key string) (DataImport, error) {
	entries := make(map[string][]byte, len(data)+len(binary))
	for name, text := range data {
		entries[name] = []byte(text)
	}
	maps.Copy(entries, binary)
	return fromEntries(entries, key)
}

func fromEntries(entries map[string][]byte, key string) (DataImport, error) {
	if key != "" {
		content, ok := entries[key]
		if !ok {
			return DataImport{}, fmt.Errorf("key %q is missing (keys: %s): add it, or correct the reference", key, suggest.Enumerate(slices.Sorted(maps.Keys(entries))))
		}
		raw, err := jsonOf(key, content)
		return DataImport{Value: v1alpha1.NewAnyJSON(raw)}, err
	}
	all := make(map[string]json.RawMessage, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		content := entries[name]
		raw, err := jsonOf(name, content)
		if err != nil {
			return DataImport{}, err
		}
		all[name] = raw
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return DataImport{}, fmt.Errorf("encode as JSON: %w", err)
	}
	return DataImport{Value: v1alpha1.NewAnyJSON(raw)}, nil
}

// jsonOf returns a YAML text as JSON. JSON stays as it is, with the digits of its numbers.
func jsonOf(key string, content []byte) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(content); json.Valid(trimmed) {
		return bytes.Clone(trimmed), nil
	}
	raw, err := yamltext.ToJSON(content, yamltext.Lenient())
	if err != nil {
		return nil, fmt.Errorf("the content of key %q is not YAML: %w", key, err)
	}
	return raw, nil
}

// OrderList sorts the elements of a list, as they are found by labels, by the order in their
// labels. Those without a position come last, by name.
//
// Copies have the order in their labels, since names of copies are hashes and a list of an
// API server is sorted by names.
func OrderList(elements []*v1alpha1.Target) []*v1alpha1.Target {
	ordered := slices.Clone(elements)
	place := func(target *v1alpha1.Target) int {
		index, err := strconv.Atoi(target.Labels[v1alpha1.DataObjectIndexLabel])
		if err != nil {
			return math.MaxInt
		}
		return index
	}
	slices.SortStableFunc(ordered, func(a, b *v1alpha1.Target) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name))
	})
	return ordered
}

// KeyMap makes a map of its elements, as they are found by labels.
func KeyMap(elements []*v1alpha1.Target) (map[string]*v1alpha1.Target, error) {
	keyed := make(map[string]*v1alpha1.Target, len(elements))
	for _, target := range OrderList(elements) {
		key, ok := target.Labels[v1alpha1.DataObjectTargetMapKeyLabel]
		if !ok {
			return nil, fmt.Errorf("label %s of Target %s is missing, which tells its key in the map", v1alpha1.DataObjectTargetMapKeyLabel, target.Name)
		}
		if other, taken := keyed[key]; taken {
			return nil, fmt.Errorf("key %q of the map belongs to Target %s and to Target %s", key, other.Name, target.Name)
		}
		keyed[key] = target
	}
	return keyed, nil
}
