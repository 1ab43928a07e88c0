package gotemplate

import (
	"fmt"
	"reflect"
	"strings"

	"go.landscaper.dev/internal/render/memory"
)

// portion is what a rendering takes from the budget of the process at once.
const portion = 1 << 20

// spend books memory for one text or list that a function makes.
func (r *renderer) spend(bytes int64) error {
	if bytes > r.Limits.Text {
		return &refusal{reason: fmt.Sprintf("the result would be longer than %d bytes", r.Limits.Text)}
	}
	return r.keep(bytes)
}

// keep books memory.
func (r *renderer) keep(bytes int64) error {
	if r.produced += bytes; r.produced > r.Limits.Produced {
		return &refusal{reason: fmt.Sprintf("the template makes more than %d bytes of texts and lists", r.Limits.Produced)}
	}
	if missing := r.produced - r.reserved; missing > 0 && r.Memory != nil {
		wanted := (missing + portion - 1) / portion * portion
		if err := r.Memory.Take(r.ctx, wanted); err != nil {
			return &refusal{reason: err.Error(), cause: err}
		}
		r.reserved += wanted
	}
	return nil
}

// free gives back what was booked for something that is gone. The budget of the
// process keeps it reserved for this rendering.
func (r *renderer) free(bytes int64) { r.produced -= bytes }

// deep is the memory of a value that did not exist before. It is counted up to a
// little more than may be booked.
func (r *renderer) deep(value any) int64 { return memory.Deep(value, r.Limits.Produced) }

// while books memory during a call, and then what the call has made.
func (r *renderer) while(estimate int64, call func() (any, error)) (any, error) {
	if err := r.keep(estimate); err != nil {
		return nil, err
	}
	result, err := call()
	r.free(estimate)
	if err != nil {
		return nil, err
	}
	return result, r.keep(r.deep(result))
}

// fresh are functions whose result has nothing in it that existed before. What the
// others return is new by itself only: its elements were booked when they were made.
var fresh = set("regexFindAll mustRegexFindAll regexSplit mustRegexSplit split splitList splitn toStrings sortAlpha urlParse readDir deepCopy mustDeepCopy")

// merging are functions that put what is in the other arguments into the first.
var merging = set("merge mergeOverwrite mustMerge mustMergeOverwrite")

// booked are functions that book what they make by themselves.
var booked = set("fromJson mustFromJson fromYaml")

// account books what a call has made.
func (r *renderer) account(name string, args []any, result any) error {
	switch {
	case name == "set":
		return r.keep(memory.Place)
	case merging[name]:
		w, err := r.measure(args[1:]...)
		if err != nil {
			return err
		}
		return r.keep(w.nodes * memory.Place)
	case passes[name], booked[name]:
		return nil
	case fresh[name]:
		return r.keep(r.deep(result))
	}
	return r.spend(shallow(result))
}

// shallow is the memory of a result without its elements.
func shallow(result any) int64 {
	switch result := result.(type) {
	case nil, bool, int, int64, float64:
		return 0
	case string:
		return memory.Text(len(result))
	case []any:
		return memory.List(cap(result))
	case map[string]any:
		return memory.Map(len(result))
	}
	switch value := reflect.ValueOf(result); value.Kind() {
	case reflect.Slice:
		return int64(value.Type().Elem().Size()) * int64(value.Cap())
	case reflect.Map:
		return memory.Map(value.Len())
	}
	return 64
}

// What a parsed template takes: a node for each action, and more nodes for what is
// in it, measured with actions of one letter and with lists of numbers.
const (
	action      = 1 << 10
	actionBytes = 64
)

// parsedSize estimates the memory of a parsed template.
func parsedSize(text string) int64 {
	size := int64(len(text)) + action
	for {
		_, after, found := strings.Cut(text, "{{")
		if !found {
			return size
		}
		inside, rest, _ := strings.Cut(after, "}}")
		size += action + actionBytes*int64(len(inside))
		text = rest
	}
}

// What a value of a text takes while it is read. Braces in texts count, too: it is
// an upper bound.
const (
	readValue = 64
	readMap   = 370
	readNode  = 250
)

// jsonSize estimates the memory for reading a text as JSON.
func jsonSize(text string) int64 {
	return 2*int64(len(text)) + readMap*int64(strings.Count(text, "{")) +
		readValue*int64(strings.Count(text, ",")+strings.Count(text, ":")+strings.Count(text, "["))
}

// yamlSize is the same for YAML, which is read into nodes first.
func yamlSize(text string) int64 {
	return jsonSize(text) + readNode*int64(strings.Count(text, "\n")+strings.Count(text, ",")+strings.Count(text, ":")+strings.Count(text, "[")+strings.Count(text, "{"))
}
