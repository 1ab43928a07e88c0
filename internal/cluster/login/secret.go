package login

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/base/yamltext"
)

// SecretText returns the value of a key, or the whole Secret as an object whose
// values are read as YAML.
func SecretText(secret *corev1.Secret, key string) ([]byte, error) {
	if key != "" {
		value, ok := secret.Data[key]
		if !ok {
			return nil, fmt.Errorf("it has no key %s: add it", key)
		}
		return value, nil
	}
	whole := make(map[string]json.RawMessage, len(secret.Data))
	// The limits are for the whole Secret, not for each key.
	limits := contentLimits()
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		decoded, err := yamltext.ToJSON(secret.Data[key], limits)
		if err != nil {
			return nil, fmt.Errorf("the value of its key %s cannot be read as YAML (%w): name the key that holds the access in spec.secretRef.key", key, err)
		}
		if limits.Bytes -= len(decoded); limits.Bytes <= 0 {
			return nil, errors.New("its values are too long together: name the key that holds the access in spec.secretRef.key")
		}
		whole[key] = json.RawMessage(decoded)
	}
	return json.Marshal(whole)
}
