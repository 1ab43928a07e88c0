package componentfunc

import (
	"strings"
	"testing"
)

// TestHugeTexts: a text of megabytes as YAML takes gigabytes of memory, so it is
// refused before it is read.
func TestHugeTexts(t *testing.T) {
	reference := "resource: {name: web-image}\nmore:\n" + strings.Repeat("- 1\n", 20_000)
	if _, err := textReference(reference); err == nil || !strings.Contains(err.Error(), "longer than 65536 bytes") {
		t.Errorf("a reference of %d bytes: %v", len(reference), err)
	}
	if _, err := textReference(reference[:60_000]); err != nil {
		t.Errorf("a long reference: %v", err)
	}
	if _, err := asNode(strings.Repeat("- 1\n", 1_000_000)); err == nil || !strings.Contains(err.Error(), "more than 750000 values") {
		t.Errorf("a content of many values: %.200v", err)
	}
}
