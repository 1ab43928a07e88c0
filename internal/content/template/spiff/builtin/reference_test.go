package builtin_test

import (
	"bytes"
	"os"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/builtin"
)

// TestReferenceIsCurrent finds functions that changed without their
// documentation.
func TestReferenceIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := builtin.WriteReference(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../../../docs/spiff/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/spiff/functions.md is not current, run make spiff-docs")
	}
}
