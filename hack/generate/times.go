package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// timePattern is what all readers of a time understand. The format "date-time"
// alone also admits lower case and any text behind a second "t".
const timePattern = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([.]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`

// writeTimePatterns adds the pattern to each time of the CRDs. The generator of the
// CRDs would need a marker at each field, which the next one would not have.
func writeTimePatterns(root string) error {
	files, err := filepath.Glob(filepath.Join(root, "api", "crds", "*.yaml"))
	if err != nil {
		return fmt.Errorf("list CRDs: %w", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read CRD: %w", err)
		}
		if err := os.WriteFile(file, []byte(withTimePatterns(string(content))), 0o644); err != nil {
			return fmt.Errorf("write CRD: %w", err)
		}
	}
	return nil
}

func withTimePatterns(crd string) string {
	var out strings.Builder
	lines := strings.SplitAfter(crd, "\n")
	for i, line := range lines {
		out.WriteString(line)
		indent, isTime := strings.CutSuffix(line, "format: date-time\n")
		if isTime && !strings.Contains(lines[i+1], "pattern:") {
			fmt.Fprintf(&out, "%spattern: %s\n", indent, timePattern)
		}
	}
	return out.String()
}
