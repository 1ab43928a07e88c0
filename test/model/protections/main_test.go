package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTable: each protection is where the table says, so that none is taken out in name only.
func TestTable(t *testing.T) {
	named := map[string]bool{}
	for _, p := range protections {
		source, err := os.ReadFile(filepath.Join("../../..", p.file))
		if err != nil {
			t.Fatal(err)
		}
		if without, err := p.without(string(source)); err != nil || without == string(source) {
			t.Errorf("%s: %v", p.name, err)
		}
		if named[p.name] {
			t.Errorf("%s stands there twice", p.name)
		}
		named[p.name] = true
	}
}
