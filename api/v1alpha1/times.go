package v1alpha1

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// A watch delivers whole lists, so one time that cannot be decoded would stop the
// work on all objects of the kind. Any client that may write a status can write such
// a time: the format "date-time" of a schema admits "2020-01-01t00:00:00z" and any
// text behind a second "t", which metav1.Time does not read. Our schemas have a
// pattern for this reason, but a time that was stored under an older definition
// remains. Therefore every type with times reads any text for them.

// unreadableTime stands for a time that cannot be read. It is not the zero time,
// which is written as null and refused by the schema: the next write of the object
// heals it.
var unreadableTime = metav1.NewTime(time.Unix(0, 0))

// decodeTimes reads an object into a struct, with any text for the times in it. The
// struct must be of a type without this method, and so must be all that are in it: each
// method of that kind goes over its text once more, for each version of each object.
func decodeTimes(data []byte, into any) error {
	// As clients do, and other than encoding/json: names of fields are sensitive to
	// case.
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, into)
	if err == nil && writableTimes(reflect.ValueOf(into).Elem()) {
		return nil
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(repairTimes(data, reflect.TypeOf(into).Elem()), into); err != nil {
		return fmt.Errorf("decode fields: %w", err)
	}
	return nil
}

// repairTimes returns the text of a value of a type with times that can be read. Any other
// text stays as it is, for the decoder to refuse.
func repairTimes(data json.RawMessage, of reflect.Type) json.RawMessage {
	switch {
	case of == timeType:
		var text string
		if json.Unmarshal(data, &text) != nil {
			return data
		}
		return encoded(readTime(text), data)
	case of.Kind() == reflect.Pointer && string(data) != "null":
		return repairTimes(data, of.Elem())
	case of.Kind() == reflect.Slice && mayHoldTimes(of.Elem()):
		var elements []json.RawMessage
		if json.Unmarshal(data, &elements) != nil || elements == nil {
			return data
		}
		for i := range elements {
			elements[i] = repairTimes(elements[i], of.Elem())
		}
		return encoded(elements, data)
	case of.Kind() == reflect.Struct && mayHoldTimes(of):
		return repairFields(data, of)
	}
	return data
}

// repairFields does so for the fields of a struct.
func repairFields(data json.RawMessage, of reflect.Type) json.RawMessage {
	var fields map[string]json.RawMessage
	if kjson.UnmarshalCaseSensitivePreserveInts(data, &fields) != nil || fields == nil {
		return data
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, there := fields[name]; there {
			fields[name] = repairTimes(value, field.Type)
		}
	}
	return encoded(fields, data)
}

// encoded is the text of a value, or what it was made from.
func encoded(value any, from json.RawMessage) json.RawMessage {
	if text, err := json.Marshal(value); err == nil {
		return text
	}
	return from
}

// readTime returns the time that a text most likely means.
func readTime(text string) metav1.Time {
	parsed, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if read := metav1.NewTime(parsed); err == nil && writable(&read) {
		return read
	}
	return unreadableTime
}

// writable reports whether a time is written as the schema demands: not as null,
// and with four digits for the year, also in UTC.
func writable(t *metav1.Time) bool {
	year := t.UTC().Year()
	return !t.IsZero() && year >= 0 && year <= 9999
}

var (
	timeType = reflect.TypeFor[metav1.Time]()
	ours     = reflect.TypeFor[InstallationStatus]().PkgPath()
)

// mayHoldTimes reports whether a type is a time or a struct of ours: those of others have
// none that are read here, and raw texts are long.
func mayHoldTimes(of reflect.Type) bool {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of == timeType || of.Kind() == reflect.Struct && of.PkgPath() == ours
}

// writableTimes reports whether the times in a value can be written back.
func writableTimes(value reflect.Value) bool {
	switch {
	case value.Kind() == reflect.Pointer:
		return value.IsNil() || writableTimes(value.Elem())
	case value.Kind() == reflect.Slice && mayHoldTimes(value.Type().Elem()):
		for i := range value.Len() {
			if !writableTimes(value.Index(i)) {
				return false
			}
		}
	case value.Type() == timeType:
		// A pointer needs no copy, and this is done for each version of each object.
		return writable(value.Addr().Interface().(*metav1.Time)) // its type was compared
	case value.Kind() == reflect.Struct && mayHoldTimes(value.Type()):
		for i := range value.NumField() {
			if !writableTimes(value.Field(i)) {
				return false
			}
		}
	}
	return true
}

// UnmarshalJSON reads a DeployItemStatus, with any text for its times.
func (s *DeployItemStatus) UnmarshalJSON(data []byte) error {
	type plain DeployItemStatus
	return decodeTimes(data, (*plain)(s))
}

// UnmarshalJSON reads an ExecutionStatus, with any text for its times.
func (s *ExecutionStatus) UnmarshalJSON(data []byte) error {
	type plain ExecutionStatus
	return decodeTimes(data, (*plain)(s))
}

// UnmarshalJSON reads an InstallationStatus, with any text for its times.
func (s *InstallationStatus) UnmarshalJSON(data []byte) error {
	type plain InstallationStatus
	return decodeTimes(data, (*plain)(s))
}

// UnmarshalJSON reads an LsHealthCheck, with any text for its times.
func (c *LsHealthCheck) UnmarshalJSON(data []byte) error {
	type plain LsHealthCheck
	return decodeTimes(data, (*plain)(c))
}

// UnmarshalJSON reads a CriticalProblem, with any text for its times.
func (p *CriticalProblem) UnmarshalJSON(data []byte) error {
	type plain CriticalProblem
	return decodeTimes(data, (*plain)(p))
}

// UnmarshalJSON reads a SyncObjectSpec, with any text for its times.
func (s *SyncObjectSpec) UnmarshalJSON(data []byte) error {
	type plain SyncObjectSpec
	return decodeTimes(data, (*plain)(s))
}

// UnmarshalJSON reads a TargetSyncStatus, with any text for its times.
func (s *TargetSyncStatus) UnmarshalJSON(data []byte) error {
	type plain TargetSyncStatus
	return decodeTimes(data, (*plain)(s))
}
