package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// navFile says in which order the pages come, by reader and task.
const navFile = "docs/site.yaml"

// nav is the content of that file.
type nav struct {
	Sections []section `yaml:"sections"`
}

// section are the pages of a reader. A page is a path, a pattern of paths, or a path with an anchor.
type section struct {
	Title string   `yaml:"title"`
	Pages []string `yaml:"pages"`
}

// readNav reads the order of pages, with patterns replaced by the files that they mean. Each page of docs has
// its place, and only one.
func readNav(tree fs.FS, files []string) (*nav, error) {
	text, err := fs.ReadFile(tree, navFile)
	if err != nil {
		return nil, fmt.Errorf("read the order of pages: %w", err)
	}
	n := &nav{}
	if err := yaml.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("read the order of pages: %w", err)
	}
	placed := map[string]bool{}
	for i := range n.Sections {
		var pages []string
		for _, entry := range n.Sections[i].Pages {
			found, err := entryFiles(entry, files)
			if err != nil {
				return nil, err
			}
			for _, page := range found {
				if placed[page] {
					return nil, fmt.Errorf("%s: %s stands there twice", navFile, page)
				}
				placed[page] = true
			}
			pages = append(pages, found...)
		}
		n.Sections[i].Pages = pages
	}
	var missing []string
	for _, file := range files {
		if strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".md") && !placed[file] {
			missing = append(missing, file)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: add %s", navFile, strings.Join(missing, ", "))
	}
	return n, nil
}

func entryFiles(entry string, files []string) (found []string, err error) {
	if strings.Contains(entry, "#") {
		return []string{entry}, nil
	}
	for _, file := range files {
		match, err := path.Match(entry, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", navFile, entry, err)
		}
		if match && strings.HasSuffix(file, ".md") {
			found = append(found, file)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: there is no page %s", navFile, entry)
	}
	slices.Sort(found)
	return found, nil
}
