// Command docgen writes the reference of the command line. It is no part of the
// generator of policies: the commands embed those.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.landscaper.dev/internal/cli"
)

func main() {
	if err := write(filepath.Join("docs", "reference", "commands.md")); err != nil {
		fmt.Fprintln(os.Stderr, "write the reference of commands:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	var page bytes.Buffer
	if err := cli.Reference(&page); err != nil {
		return err
	}
	return os.WriteFile(path, page.Bytes(), 0o644)
}
