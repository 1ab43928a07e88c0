package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeRevision counts the state of the manifests up if their content changed.
func writeRevision(root string) error {
	digest := sha256.New()
	for _, folder := range []string{"crds", "policies", "delivery/crds", "delivery/policies"} {
		files, err := filepath.Glob(filepath.Join(root, "api", folder, "*.yaml"))
		if err != nil {
			return fmt.Errorf("list manifests: %w", err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read manifest: %w", err)
			}
			fmt.Fprintf(digest, "%s %d\n", filepath.Base(file), len(content))
			digest.Write(content)
		}
	}
	sum := "sha256:" + hex.EncodeToString(digest.Sum(nil))

	path := filepath.Join(root, "api", "revision.txt")
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read revision: %w", err)
	}
	var number int
	var recorded string
	if _, err := fmt.Sscan(string(content), &number, &recorded); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if strings.TrimSpace(recorded) == sum {
		return nil
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%d %s\n", number+1, sum), 0o644)
}
