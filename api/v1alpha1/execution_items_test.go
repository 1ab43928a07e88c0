package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"strings"
	"testing"
)

func compressedText(t *testing.T, text string) []byte {
	t.Helper()
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return compressed.Bytes()
}

// TestHostileItems: a few KB are unpacked to what no API server stores, and take no memory that counts.
func TestHostileItems(t *testing.T) {
	tests := []struct {
		reason, text, want string
	}{
		{"deploy items without content, which take a hundred times their text", "[" + strings.Repeat("{},", 4<<20) + "{}]", "more than 10000 deploy items"},
		{"spaces", "[" + strings.Repeat(" ", 12<<20) + "]", "more than 8388608 bytes"},
		{"one deploy item that no API server stores", `[{"name":"` + strings.Repeat("x", 5<<20) + `"}]`, "deploy item 0 is longer than 4194304 bytes"},
		{"another list after the first", `[] []`, "something follows"},
		{"an object", `{}`, "not a list"},
		{"a list that does not end", `[{}`, "decode deploy items"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			spec := ExecutionSpec{DeployItemsCompressed: compressedText(t, test.text)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := spec.Items()
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d bytes make %d MiB of allocations", len(spec.DeployItemsCompressed), allocated)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if allocated > 64 {
				t.Errorf("%d MiB are allocated", allocated)
			}
		})
	}
}

// TestLargeItems: what a template renders can be stored and read.
func TestLargeItems(t *testing.T) {
	var items DeployItemTemplateList
	for range 200 {
		// Twenty times as long as compressed, like YAML.
		items = append(items, DeployItemTemplate{Name: strings.Repeat(strings.Repeat("abcdefgh", 8)+"\n", 600)})
	}
	spec := ExecutionSpec{}
	if err := spec.SetItems(items); err != nil {
		t.Fatal(err)
	}
	got, err := spec.Items()
	if err != nil || len(got) != len(items) {
		t.Errorf("%d of %d deploy items, %v", len(got), len(items), err)
	}
	if err := spec.SetItems(make(DeployItemTemplateList, maxItems+1)); err == nil {
		t.Error("more is stored than can be read")
	}
}
