package template

import (
	"errors"
	"fmt"
	"reflect"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
)

// loadState returns the state that an execution stored; nil without one.
func loadState(s source, in Input) (any, error) {
	if in.Phase == ImportExecution || len(in.State) == 0 {
		return nil, nil
	}
	state, err := jsonvalue.FromYAML(in.State)
	if err != nil {
		return nil, fmt.Errorf("%s: unable to load state: the stored state is not YAML: %w", s.what(), err)
	}
	return state, nil
}

// newState returns the state to be stored as YAML; nil if nothing is to be stored
// because it is empty or what is stored already.
//
// Nothing to store is the usual answer: a state that is as it was costs no write in a job
// that changes nothing.
func newState(stored, state any) ([]byte, error) {
	if isEmpty(state) {
		return nil, nil
	}
	text, err := yamltext.Encode(state)
	if err != nil {
		return nil, errors.New("the state cannot be written as YAML")
	}
	// The value as it will be read again: 1.0 and 1 are the same then.
	next, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(stored, next) {
		return nil, nil
	}
	return []byte(text), nil
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}
