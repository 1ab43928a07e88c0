package exportwatch

import (
	"strings"
	"testing"
	"time"
)

func TestChangedValues(t *testing.T) {
	tests := []struct{ reason, before, now, want string }{
		{"nothing has changed", `{"a":"1","b":{"c":[1]}}`, `{"b":{"c":[1]},"a":"1"}`, ""},
		{"a changed value", `{"a":"secret","b":"1"}`, `{"a":"other","b":"1"}`, "a"},
		{"names with dots", `{"shop":{"host":"a","port":1}}`, `{"shop":{"host":"b","port":1}}`, "shop"},
		{"the keys of a value are a part of it", `{"users":{"a":"1"}}`, `{"users":{"a":"1","hunter2":"1"}}`, "users"},
		{"a new value and a removed one", `{"a":"1"}`, `{"b":"1"}`, "a b"},
		{"a map becomes a text", `{"a":{"b":"1"}}`, `{"a":"1"}`, "a"},
		{"large numbers that differ in the last digit", `{"id":9007199254740993}`, `{"id":9007199254740992}`, "id"},
		{"large numbers deep in a value", `{"a":[{"id":9223372036854775807}]}`, `{"a":[{"id":9223372036854775806}]}`, "a"},
		{"a number becomes a text", `{"a":1}`, `{"a":"1"}`, "a"},
		{"nothing and an empty map are two values", `{"a":null}`, `{"a":{}}`, "a"},
		{"the stored content is not a map", `["a"]`, `{"a":"1"}`, "a"},
		{"the stored content is broken", `{"a":`, `{"a":"1"}`, "a"},
		{"nothing is left", `{"b":"1","a":"1"}`, `{}`, "a b"},
		{"nothing was stored", ``, `{"a":"1"}`, "a"},
		{"only a few are named", `{}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`, "a b c d e …"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := strings.Join(ChangedNames([]byte(test.before), []byte(test.now)), " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestChangingValue: a value that changes again because it was propagated is propagated more and
// more slowly, a value after a quiet time at once.
func TestChangingValue(t *testing.T) {
	state, now := ChangeBackoff{}, time.Unix(1000, 0)
	var pauses []string
	for range 5 {
		if left := state.Left(now); left != 0 {
			t.Fatalf("it has to wait for %s", left)
		}
		state = ParseChangeBackoff(state.After(now).String())
		pause := state.Pause()
		pauses = append(pauses, pause.String())
		if left := state.Left(now.Add(time.Second)); left != pause-time.Second {
			t.Errorf("after a second %s are left of %s", left, pause)
		}
		now = now.Add(pause)
	}
	if got := strings.Join(pauses, " "); got != "10s 20s 40s 1m20s 2m40s" {
		t.Errorf("pauses %s", got)
	}
	if pause := state.After(now.Add(maxBackoff)).Pause(); pause != PropagationInterval {
		t.Errorf("after a quiet time the pause is %s", pause)
	}
	if pause := (ChangeBackoff{streak: 50}).Pause(); pause != maxBackoff {
		t.Errorf("the longest pause is %s", pause)
	}
	for _, text := range []string{"", "yesterday/3", "2030-01-02T12:00:00Z", "2030-01-02T12:00:00Z/many"} {
		t.Run(text, func(t *testing.T) {
			if state := ParseChangeBackoff(text); state != (ChangeBackoff{}) {
				t.Errorf("%q means %v", text, state)
			}
		})
	}
}
