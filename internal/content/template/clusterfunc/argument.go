package clusterfunc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// maxExpiration is above what any cluster grants, and far from what overflows.
const maxExpiration = math.MaxUint32

// parameter is what a function takes at one position.
type parameter struct {
	name string
	kind kind
}

type kind string

const (
	aString   kind = "a string"
	anInteger kind = "an integer"
	aTarget   kind = "a target object"
)

// arguments are the values that a function was called with.
type arguments struct {
	texts      []string
	expiration time.Duration
	target     *v1alpha1.Target
}

// read checks the number and the kinds of the arguments.
func (f function) read(args []any) (arguments, error) {
	if len(args) != len(f.parameters) {
		names := make([]string, len(f.parameters))
		for i, parameter := range f.parameters {
			names[i] = parameter.name
		}
		return arguments{}, fmt.Errorf("templating function %s expects %d arguments: %s; it got %d", f.shown, len(f.parameters), strings.Join(names, ", "), len(args))
	}
	var read arguments
	for i, parameter := range f.parameters {
		if problem := read.add(parameter.kind, args[i]); problem != "" {
			return arguments{}, fmt.Errorf("templating function %s expects %s as %s argument, namely the %s%s", f.shown, parameter.kind, ordinal(i), parameter.name, problem)
		}
	}
	return read, nil
}

func ordinal(i int) string { return []string{"1st", "2nd", "3rd", "4th"}[i] }

// add takes one argument; it returns what is wrong with it, to be appended to a
// message.
func (a *arguments) add(kind kind, arg any) (problem string) {
	switch kind {
	case aString:
		text, ok := arg.(string)
		if !ok {
			return "; it is something else"
		}
		if text == "" {
			return ", which must not be empty"
		}
		a.texts = append(a.texts, text)
	case anInteger:
		seconds, ok := integer(arg)
		if !ok {
			return "; it is something else"
		}
		if seconds < 1 || seconds > maxExpiration {
			return fmt.Sprintf(", from 1 to %d", maxExpiration)
		}
		a.expiration = time.Duration(seconds) * time.Second
	case aTarget:
		a.target, problem = targetOf(arg)
	}
	return problem
}

// integer accepts all kinds of numbers; fractions are cut off, as templates that
// compute with floats need it.
func integer(arg any) (int64, bool) {
	if literal, ok := arg.(json.Number); ok {
		number, err := literal.Float64()
		if err != nil {
			return 0, false
		}
		arg = number
	}
	switch value := reflect.ValueOf(arg); {
	case value.CanInt():
		return value.Int(), true
	case value.CanUint():
		return int64(min(value.Uint(), math.MaxInt64)), true // it fits
	case value.CanFloat():
		// NaN fails the comparison, too.
		if number := value.Float(); math.Abs(number) <= maxExpiration {
			return int64(number), true
		}
		return math.MaxInt64, true
	}
	return 0, false
}

// targetOf reads a Target as it is in the binding imports.
func targetOf(arg any) (target *v1alpha1.Target, problem string) {
	object, ok := arg.(map[string]any)
	if !ok {
		return nil, "; it is something else"
	}
	if kind, named := object["kind"]; named && kind != "Target" {
		return nil, "; it is an object of another kind"
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, "; it cannot be encoded"
	}
	target = &v1alpha1.Target{}
	// The reason is dropped on purpose: it may show a part of the credentials.
	if err := json.Unmarshal(raw, target); err != nil {
		return nil, "; one of its fields has the wrong type"
	}
	if target.Name == "" || target.Spec.Type == "" {
		return nil, "; it has no metadata.name or no spec.type: pass the whole object from .imports"
	}
	return target, ""
}
