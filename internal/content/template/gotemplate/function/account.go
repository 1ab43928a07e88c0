package function

import (
	"reflect"

	"go.landscaper.dev/internal/content/template/memlimit"
)

// fresh are functions whose result has nothing in it that existed before. The other functions
// return a new list or map with existing elements, which were booked when they were made.
var fresh = set("regexFindAll mustRegexFindAll regexSplit mustRegexSplit split splitList splitn toStrings sortAlpha urlParse readDir deepCopy mustDeepCopy")

// merging are functions that put what is in the other arguments into the first.
var merging = set("merge mergeOverwrite mustMerge mustMergeOverwrite")

// booked are functions that book what they make by themselves.
var booked = set("fromJson mustFromJson fromYaml")

// account books what a call has made.
func (l *Library) account(name string, args []any, result any) error {
	switch {
	case name == "set":
		return l.Keep(memlimit.Place)
	case merging[name]:
		w, err := l.Measure(args[1:]...)
		if err != nil {
			return err
		}
		return l.Keep(w.Nodes * memlimit.Place)
	case passes[name], booked[name]:
		return nil
	case fresh[name]:
		return l.Keep(l.Deep(result))
	}
	return l.Spend(shallow(result))
}

// shallow is the memory of a result without its elements.
func shallow(result any) int64 {
	switch result := result.(type) {
	case nil, bool, int, int64, float64:
		return 0
	case string:
		return memlimit.Text(len(result))
	case []any:
		return memlimit.List(cap(result))
	case map[string]any:
		return memlimit.Map(len(result))
	}
	switch value := reflect.ValueOf(result); value.Kind() {
	case reflect.Slice:
		return int64(value.Type().Elem().Size()) * int64(value.Cap()) //nolint:gosec // the size of a type is small
	case reflect.Map:
		return memlimit.Map(value.Len())
	}
	return 64
}
