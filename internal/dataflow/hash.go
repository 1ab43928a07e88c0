package dataflow

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"go.landscaper.dev/api/v1alpha1"
)

// EncodeData returns a value in the form in which it is stored: sorted keys,
// indented by two blanks.
func EncodeData(value any) ([]byte, error) {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode data: %w", err)
	}
	return raw, nil
}

// DataHash identifies the value of a DataObject. An annotation is trusted only if
// it belongs to the value: somebody may have edited the object by hand.
func DataHash(object *v1alpha1.DataObject) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(object.Data.RawMessage))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("decode DataObject %s: %w", object.Name, err)
	}
	raw, err := EncodeData(value)
	if err != nil {
		return "", err
	}
	return Hash(raw), nil
}

// TargetHash identifies the content of a Target.
func TargetHash(spec *v1alpha1.TargetSpec) string {
	switch {
	case spec.Configuration != nil:
		return Hash(spec.Configuration.RawMessage)
	case spec.SecretRef != nil:
		raw, err := json.Marshal(map[string]any{"secretRef": spec.SecretRef})
		if err == nil {
			return Hash(raw)
		}
	}
	return Hash(nil)
}

// Hash returns the digest that annotations and the status show.
func Hash(raw []byte) string {
	sum := sha1.Sum(raw)
	return hex.EncodeToString(sum[:])
}

// ImportsHash identifies all values that an Installation imports.
func ImportsHash(imports Imports) (string, error) {
	versions := struct {
		DataObjects, Targets, TargetLists, TargetMaps map[string]string
	}{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for name, target := range imports.Targets {
		versions.Targets[name] = strconv.FormatInt(target.Generation, 10)
	}
	raw, err := json.Marshal(versions)
	if err != nil {
		return "", fmt.Errorf("encode the versions of the imports: %w", err)
	}
	return Hash(raw), nil
}
