package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"
)

// FuzzItems reads compressed deploy items. What was read can be stored again and is
// the same.
func FuzzItems(f *testing.F) {
	packed := func(text string) []byte {
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		if _, err := writer.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			f.Fatal(err)
		}
		return out.Bytes()
	}
	f.Add(packed(`[{"name":"a","type":"t","config":{"apiVersion":"v1","kind":"Any"},"timeout":"soon"}]`))
	f.Add(packed(`[null,{"config":7}]`))
	f.Add(packed(`{}`)[:12])
	f.Fuzz(func(t *testing.T, stored []byte) {
		items, err := (&ExecutionSpec{DeployItemsCompressed: stored}).Items()
		if err != nil {
			return
		}
		spec := &ExecutionSpec{}
		if err := spec.SetItems(items); err != nil {
			return // a configuration that is not JSON is reported
		}
		again, err := spec.Items()
		if err != nil {
			t.Fatalf("what was stored cannot be read: %v", err)
		}
		first, second := encodeItems(t, items), encodeItems(t, again)
		if !bytes.Equal(first, second) {
			t.Fatalf("got\n%s\nthe second time\n%s", first, second)
		}
	})
}

func encodeItems(t *testing.T, items DeployItemTemplateList) []byte {
	text, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) == "[]" {
		return []byte("null")
	}
	return text
}

// FuzzTimes: any text where a condition has a time is read, and can be written so that
// it reads the same.
func FuzzTimes(f *testing.F) {
	for _, seed := range []string{"2020-01-01t00:00:00z", "2026-01-02T03:04:05.678+01:00", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		condition := map[string]string{"lastTransitionTime": text, "lastUpdateTime": "2026-01-02T03:04:05Z"}
		sent, err := json.Marshal(map[string]any{"conditions": []any{condition}})
		if err != nil {
			t.Fatal(err)
		}
		var read, again InstallationStatus
		if err := json.Unmarshal(sent, &read); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		written, err := json.Marshal(read)
		if err != nil || bytes.Contains(written, []byte("null")) {
			t.Fatalf("written as %s (%v)", written, err)
		}
		// Fractions of a second are not written.
		if err := json.Unmarshal(written, &again); err != nil || again.Conditions[0].LastTransitionTime.Unix() != read.Conditions[0].LastTransitionTime.Unix() {
			t.Fatalf("%s reads as %v (%v)", written, again, err)
		}
	})
}
