// Command site makes the documentation site: HTML of the pages in docs, and of what they refer to. It keeps
// no text of its own. A link or an anchor that leads nowhere ends it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "folder of the project")
	out := flag.String("out", "bin/site", "folder to write; each version has a folder in it")
	version := flag.String("version", "main", "version of the pages")
	flag.Parse()
	if err := run(*root, *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out, version string) error {
	if version == "" || strings.ContainsAny(version, `/\`) || strings.HasPrefix(version, ".") {
		return fmt.Errorf("%q cannot be the name of a folder", version)
	}
	files, err := tracked(root)
	if err != nil {
		return err
	}
	s := newSite(os.DirFS(root), files)
	if err := s.load(); err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return errors.New("the pages are not whole:\n  " + strings.Join(s.wrong, "\n  "))
	}
	folder := filepath.Join(out, version)
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove the earlier site: %w", err)
	}
	if err := s.write(folder, version); err != nil {
		return err
	}
	if err := writeVersions(out); err != nil {
		return err
	}
	fmt.Printf("%d pages are in %s: open %s\n", len(s.pages), folder, filepath.Join(folder, "index.html"))
	return nil
}

// tracked are the files of the project, without what a build leaves behind.
func tracked(root string) ([]string, error) {
	command := exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard")
	command.Stderr = os.Stderr
	list, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of the project: %w", err)
	}
	var files []string
	for line := range strings.Lines(string(list)) {
		name := strings.TrimSpace(line)
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	return files, nil
}
