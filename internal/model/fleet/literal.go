package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// errKey is about keys that are operations of spiff. Only the author of a Fleet can write them: labels
// and annotations are texts.
var errKey = errors.New(`a key of the value has "((" or "<<" in it, which mean something in data mappings: import a DataObject with the value`)

// opening begins a text that is an expression; with an exclamation mark behind it, the text is data, and
// the mark is taken away.
const opening = "(("

// Literal returns the data mapping that yields a value as it is. Mappings are spiff documents, in which a
// text can be an expression, also one that an expression yields. Who may label a Target must not be able to
// write expressions.
func Literal(raw []byte) (v1alpha1.AnyJSON, error) {
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return v1alpha1.AnyJSON{}, fmt.Errorf("read the value: %w", err)
	}
	quoted, err := quote(value)
	if err != nil {
		return v1alpha1.AnyJSON{}, err
	}
	canonical, err := json.Marshal(quoted)
	if err != nil {
		return v1alpha1.AnyJSON{}, fmt.Errorf("encode the value: %w", err)
	}
	return v1alpha1.NewAnyJSON(canonical), nil
}

// textLiteral is Literal of a text.
func textLiteral(text string) (v1alpha1.AnyJSON, error) {
	raw, err := json.Marshal(text)
	if err != nil {
		return v1alpha1.AnyJSON{}, fmt.Errorf("encode the value: %w", err)
	}
	return Literal(raw)
}

// quote replaces the texts in which spiff might see more than data.
func quote(value any) (any, error) {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, opening) && strings.HasSuffix(value, "))") {
			return opening + "!" + strings.TrimPrefix(value, opening), nil
		}
	case []any:
		quoted := make([]any, len(value))
		for i, element := range value {
			var err error
			if quoted[i], err = quote(element); err != nil {
				return nil, err
			}
		}
		return quoted, nil
	case map[string]any:
		quoted := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if special(key) {
				return nil, errKey
			}
			var err error
			if quoted[key], err = quote(value[key]); err != nil {
				return nil, err
			}
		}
		return quoted, nil
	}
	return value, nil
}

func special(text string) bool { return strings.Contains(text, "((") || strings.Contains(text, "<<") }
