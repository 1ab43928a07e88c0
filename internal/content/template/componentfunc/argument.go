package componentfunc

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// kind names the kind of an argument without its value.
func kind(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int, int64, float64, json.Number:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "of another kind"
}

// selector reads pairs of keys and values that describe an identity. The first of
// them is the argument at the given position, counted from 1.
func selector(args []any, position int) (descriptor.Identity, error) {
	if len(args) < 2 {
		return nil, errors.New(`at least 2 arguments are expected: pairs of keys and values, such as "name" "web"`)
	}
	if len(args)%2 != 0 {
		return nil, errors.New("odd number of key value pairs")
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			return nil, fmt.Errorf("expect argument %d to be a string, but it is %s", position+i, kind(arg))
		}
		texts[i] = text
	}
	identity := descriptor.Identity{}
	for i := 0; i < len(texts); i += 2 {
		identity[texts[i]] = texts[i+1]
	}
	return identity, nil
}
