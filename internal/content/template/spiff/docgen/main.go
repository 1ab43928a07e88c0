// Command docgen writes the function reference of the spiff language, or
// checks with -check that the file is current.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"go.landscaper.dev/internal/content/template/spiff/builtin"
)

func main() {
	file := flag.String("file", "docs/spiff/functions.md", "file to write")
	check := flag.Bool("check", false, "fail if the file is not current, and write nothing")
	flag.Parse()
	if err := run(*file, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, check bool) error {
	var b bytes.Buffer
	if err := builtin.WriteReference(&b); err != nil {
		return err
	}
	if !check {
		return os.WriteFile(file, b.Bytes(), 0o644)
	}
	current, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(current, b.Bytes()) {
		return fmt.Errorf("%s is not current, run make spiff-docs", file)
	}
	return nil
}
