package gotemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// Limits bound one rendering.
type Limits struct {
	// Duration is the time after which it ends.
	Duration time.Duration
	// Steps are calls of functions, rounds of loops and prints.
	Steps int
	// Output is the length of what it prints.
	Output int
	// Text is the length of one text, Produced the memory of everything that
	// functions make. What is garbage later counts, too: nobody can tell.
	Text, Produced int64
	// List is the length of one list that a function makes.
	List int64
}

// DefaultLimits are generous for real blueprints: all that one execution prints
// ends up in objects of at most 1.5 MiB.
func DefaultLimits() Limits {
	return Limits{
		Duration: 30 * time.Second, Steps: 10_000_000,
		Output: 4 << 20, Text: 16 << 20, Produced: 256 << 20, List: 1_000_000,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Duration <= 0 {
		l.Duration = d.Duration
	}
	if l.Steps <= 0 {
		l.Steps = d.Steps
	}
	if l.Output <= 0 {
		l.Output = d.Output
	}
	if l.Text <= 0 {
		l.Text = d.Text
	}
	if l.Produced <= 0 {
		l.Produced = d.Produced
	}
	if l.List <= 0 {
		l.List = d.List
	}
	return l
}

// Limits of nesting, which cost stack.
const (
	// maxSameNesting is how often a file may be part of itself.
	maxSameNesting = 100
	maxNesting     = 500
	// maxCalls bounds named templates that call each other.
	maxCalls = 1000
	// maxSource and maxControls bound the template itself: the parser of
	// text/template calls itself for every control structure in another.
	maxSource   = 4 << 20
	maxControls = 10_000
	// maxDepth bounds values.
	maxDepth = 500
)

// refusal ends a rendering because of a limit.
type refusal struct {
	reason string
	cause  error
}

func (r *refusal) Error() string { return r.reason }

func (r *refusal) Unwrap() error { return r.cause }

var controls = regexp.MustCompile(`\{\{-?\s*(?:if|range|with|block|else)\b`)

func checkSource(text string) error {
	if len(text) > maxSource {
		return &refusal{reason: fmt.Sprintf("the template is longer than %d bytes", maxSource)}
	}
	if strings.Count(text, "{{") > maxControls && len(controls.FindAllStringIndex(text, maxControls+1)) > maxControls {
		return &refusal{reason: fmt.Sprintf("the template has more than %d control structures", maxControls)}
	}
	return nil
}

// step books one unit of work.
func (r *renderer) step() error {
	if r.steps++; r.steps > r.Limits.Steps {
		return &refusal{reason: fmt.Sprintf("the template takes more than %d steps", r.Limits.Steps)}
	}
	return r.checkTime()
}

// work books several units of work.
func (r *renderer) work(units int64) error {
	r.steps += int(min(units, int64(r.Limits.Steps)))
	return r.step()
}

// elements checks the length of a list before it is made.
func (r *renderer) elements(n int64) error {
	if n < 0 || n > r.Limits.List {
		return &refusal{reason: fmt.Sprintf("the list would be longer than %d entries", r.Limits.List)}
	}
	return nil
}

// weight is the size of a value with everything in it. Shared parts count as
// often as they occur, because whoever writes the value writes them so often.
type weight struct{ bytes, nodes, depth int64 }

var errDepth = errors.New("a value is nested too deeply or contains itself")

// measure returns the weight of values that a function follows to their leaves.
func (r *renderer) measure(values ...any) (weight, error) {
	m := measurement{most: r.Limits.Text}
	for _, value := range values {
		if err := m.add(value, 1); err != nil {
			return weight{}, &refusal{reason: err.Error()}
		}
	}
	return m.weight, nil
}

type measurement struct {
	weight
	most int64
}

func (m *measurement) add(value any, depth int64) error {
	m.nodes++
	m.depth = max(m.depth, depth)
	if m.bytes+m.nodes > m.most {
		return fmt.Errorf("a value is longer than %d bytes", m.most)
	}
	if depth > maxDepth {
		return errDepth
	}
	switch value := value.(type) {
	case nil, bool, int, int64, float64:
		m.bytes += 8
	case string:
		m.bytes += int64(len(value))
	case json.Number:
		m.bytes += int64(len(value))
	case map[string]any:
		for key, field := range value {
			m.bytes += int64(len(key))
			if err := m.add(field, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := m.add(element, depth+1); err != nil {
				return err
			}
		}
	default:
		return m.other(reflect.ValueOf(value), depth)
	}
	return nil
}

func (m *measurement) other(value reflect.Value, depth int64) error {
	m.bytes += 64
	switch value.Kind() {
	case reflect.String:
		m.bytes += int64(value.Len())
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			m.bytes += int64(value.Len())
			return nil
		}
		for i := range value.Len() {
			if err := m.add(value.Index(i).Interface(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for iter := value.MapRange(); iter.Next(); {
			if err := m.add(iter.Key().Interface(), depth+1); err != nil {
				return err
			}
			if err := m.add(iter.Value().Interface(), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
