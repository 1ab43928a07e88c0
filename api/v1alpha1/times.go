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
// work on all objects of the kind. Whoever may write a status can write one: the
// format "date-time" of a schema admits "2020-01-01t00:00:00z" and any text behind
// a second "t", which metav1.Time does not read. Our schemas have a pattern for
// this reason, but what was stored under an older definition remains. Therefore
// every type with times reads any text for them.

// unreadableTime stands for a time that cannot be read. It is not the zero time,
// which is written as null and refused by the schema: the next write of the object
// heals it.
var unreadableTime = metav1.NewTime(time.Unix(0, 0))

// decodeTimes reads an object into a struct, with any text for its times. The
// struct must be of a type without this method.
func decodeTimes(data []byte, into any) error {
	// As clients do, and other than encoding/json: names of fields are sensitive to
	// case.
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, into)
	if err == nil && writableTimes(reflect.ValueOf(into).Elem()) {
		return nil
	}
	var fields map[string]json.RawMessage
	if kjson.UnmarshalCaseSensitivePreserveInts(data, &fields) != nil {
		return fmt.Errorf("decode fields: %w", err)
	}
	for _, name := range timeFields(reflect.TypeOf(into).Elem()) {
		var text string
		if json.Unmarshal(fields[name], &text) != nil {
			continue
		}
		if fields[name], err = json.Marshal(readTime(text)); err != nil {
			return fmt.Errorf("encode time: %w", err)
		}
	}
	repaired, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encode fields: %w", err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(repaired, into); err != nil {
		return fmt.Errorf("decode fields: %w", err)
	}
	return nil
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

var timeType = reflect.TypeFor[metav1.Time]()

// writableTimes reports whether the times of a struct can be written back.
func writableTimes(fields reflect.Value) bool {
	for i := range fields.NumField() {
		field := reflect.Indirect(fields.Field(i))
		// A pointer needs no copy, and this is done for each version of each object.
		if field.IsValid() && field.Type() == timeType && !writable(field.Addr().Interface().(*metav1.Time)) { // its type was compared
			return false
		}
	}
	return true
}

// timeFields returns the names of the times of a struct on the wire.
func timeFields(fields reflect.Type) []string {
	var names []string
	for i := range fields.NumField() {
		field := fields.Field(i)
		if field.Type == timeType || field.Type == reflect.PointerTo(timeType) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// UnmarshalJSON reads a Condition, with any text for its times.
func (c *Condition) UnmarshalJSON(data []byte) error {
	type plain Condition
	return decodeTimes(data, (*plain)(c))
}

// UnmarshalJSON reads an Error, with any text for its times.
func (e *Error) UnmarshalJSON(data []byte) error {
	type plain Error
	return decodeTimes(data, (*plain)(e))
}

// UnmarshalJSON reads TransitionTimes, with any text for them.
func (t *TransitionTimes) UnmarshalJSON(data []byte) error {
	type plain TransitionTimes
	return decodeTimes(data, (*plain)(t))
}

// UnmarshalJSON reads a JobRecord, with any text for its times.
func (r *JobRecord) UnmarshalJSON(data []byte) error {
	type plain JobRecord
	return decodeTimes(data, (*plain)(r))
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

// UnmarshalJSON reads an AutomaticReconcileStatus, with any text for its times.
func (s *AutomaticReconcileStatus) UnmarshalJSON(data []byte) error {
	type plain AutomaticReconcileStatus
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
