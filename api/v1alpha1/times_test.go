package v1alpha1

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// stamp is a time as our types write it.
var stamp = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// stampTimes sets all times in a value, wherever they are, and returns how many these are.
// Within is what the value is part of: a type that holds itself ends somewhere.
func stampTimes(value reflect.Value, within []reflect.Type) (count int) {
	of := value.Type()
	switch {
	case of == timeType:
		value.Set(reflect.ValueOf(stamp))
		return 1
	case of.Kind() == reflect.Pointer:
		made := reflect.New(of.Elem())
		if count = stampTimes(made.Elem(), within); count > 0 {
			value.Set(made)
		}
	case of.Kind() == reflect.Slice:
		made := reflect.MakeSlice(of, 2, 2)
		for i := range 2 {
			count += stampTimes(made.Index(i), within)
		}
		if count > 0 {
			value.Set(made)
		}
	case of.Kind() == reflect.Map:
		made := reflect.New(of.Elem()).Elem()
		if count = stampTimes(made, within); count > 0 {
			value.Set(reflect.MakeMap(of))
			value.SetMapIndex(reflect.New(of.Key()).Elem(), made)
		}
	case of.Kind() == reflect.Struct && of.PkgPath() == ours && !slices.Contains(within, of):
		for i := range of.NumField() {
			if of.Field(i).IsExported() {
				count += stampTimes(value.Field(i), append(slices.Clip(within), of))
			}
		}
	}
	return count
}

// TestTimesOfAllKinds: no time that is stored anywhere stops those who read it, and each can
// be written back.
func TestTimesOfAllKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	written := []byte(stamp.Format(time.RFC3339))
	all := 0
	for kind, of := range scheme.KnownTypes(GroupVersion) {
		if of.PkgPath() != ours || strings.HasSuffix(kind, "List") {
			continue
		}
		value := reflect.New(of)
		count := stampTimes(value.Elem(), nil)
		all += count
		text, err := json.Marshal(value.Interface())
		if err != nil || bytes.Count(text, written) != count {
			t.Fatalf("%s with %d times is written as %s (%v)", kind, count, text, err)
		}
		for reason, stored := range map[string]string{
			"no time at all":         "2020-01-01T00:00:00Zt and any text",
			"small letters":          "2020-01-01t00:00:00z",
			"a year with a sign":     "0000-01-01T00:00:00+23:59",
			"the first of all times": "0001-01-01T00:00:00Z",
		} {
			t.Run(kind+"/"+reason, func(t *testing.T) {
				read := reflect.New(of)
				if err := json.Unmarshal(bytes.ReplaceAll(text, written, []byte(stored)), read.Interface()); err != nil {
					t.Fatal(err)
				}
				// With one time for all of them they can be counted.
				again, err := json.Marshal(read.Interface())
				if err != nil {
					t.Fatal(err)
				}
				now := readTime(stored)
				if got := bytes.Count(again, []byte(now.UTC().Format(time.RFC3339))); got != count {
					t.Errorf("%d of %d times are written back in %s", got, count, again)
				}
			})
		}
	}
	if all < 20 {
		t.Errorf("only %d times were found", all)
	}
}
