package v1alpha1

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		reason, json string
		want         time.Duration
		written      string
		invalid      bool
	}{
		{"Go's notation", `"1h30m"`, 90 * time.Minute, `"1h30m0s"`, false},
		{"no limit", `"none"`, 0, `"none"`, false},
		{"zero is no limit, too", `"0s"`, 0, `"none"`, false},
		{"negative values are legal", `"-5m"`, -5 * time.Minute, `"-5m0s"`, false},
		{"a wrong text survives reading and writing, so that one object cannot stop a watch", `"soon"`, 0, `"soon"`, true},
		{"a number has no unit", `10`, 0, `"10"`, true},
		{"an empty text is no duration", `""`, 0, `"\"\""`, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var duration Duration
			if err := json.Unmarshal([]byte(test.json), &duration); err != nil {
				t.Fatalf("%v", err)
			}
			got, err := duration.Parsed()
			if (err != nil) != test.invalid || got != test.want {
				t.Errorf("Parsed() = %v, %v", got, err)
			}
			if written, err := json.Marshal(duration); err != nil || string(written) != test.written {
				t.Errorf("written as %s, want %s (%v)", written, test.written, err)
			}
		})
	}
}

func TestAnyJSON(t *testing.T) {
	for _, value := range []string{`{"b":1,"a":[true,null]}`, `"text"`, `12345678901234567890`, `null`} {
		t.Run(value, func(t *testing.T) {
			var got AnyJSON
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(got)
			if err != nil || string(written) != value {
				t.Errorf("%s becomes %s (%v)", value, written, err)
			}
		})
	}
	var null AnyJSON
	if err := json.Unmarshal([]byte("null"), &null); err != nil || len(null.RawMessage) != 0 {
		t.Errorf("null must become empty, got %q (%v)", null.RawMessage, err)
	}
}

func TestUnstructuredTypedObject(t *testing.T) {
	parse := func(text string) *UnstructuredTypedObject {
		object := &UnstructuredTypedObject{}
		if err := json.Unmarshal([]byte(text), object); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return object
	}
	a := parse(`{"type":"ociRegistry","baseUrl":"x","n":12345678901234567890}`)
	b := parse(`{"n":12345678901234567890, "baseUrl":"x", "type":"ociRegistry"}`)
	if !a.Equal(b) {
		t.Error("the order of keys must not matter")
	}
	if a.Equal(parse(`{"type":"ociRegistry","baseUrl":"y"}`)) || a.Equal(nil) || !(*UnstructuredTypedObject)(nil).Equal(nil) {
		t.Error("different objects must differ")
	}
	written, err := json.Marshal(a)
	if want := `{"baseUrl":"x","n":12345678901234567890,"type":"ociRegistry"}`; err != nil || string(written) != want {
		t.Errorf("written as %s, want %s (%v)", written, want, err)
	}
	var access struct{ BaseURL string }
	if err := a.Decode(&access); err != nil || access.BaseURL != "x" {
		t.Errorf("Decode gives %+v, %v", access, err)
	}
	for _, text := range []string{`"text"`, `{"type":1}`, `{}`} {
		t.Run(text, func(t *testing.T) {
			object := parse(text)
			if err := object.Decode(&access); object.Type() != "" || err == nil {
				t.Errorf("%s has no type, but Decode says %v", text, err)
			}
		})
	}
	made, err := NewUnstructuredTypedObject("ociRegistry", map[string]any{"baseUrl": "z"})
	if err != nil || made.Type() != "ociRegistry" {
		t.Errorf("NewUnstructuredTypedObject gives %s, %v", made.Raw, err)
	}
}
