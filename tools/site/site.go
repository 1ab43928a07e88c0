package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// site is what is made of a tree of files.
type site struct {
	tree  fs.FS
	files map[string]bool
	// folders are those that have files.
	folders map[string]bool
	nav     *nav
	pages   map[string]*page
	queue   []*page
	// assets are pictures, by their files.
	assets map[string]string
	// links are those to check when all pages are there.
	links []link
	// wrong is what is wrong with the pages.
	wrong []string
}

// link leads from a page to an anchor of a page.
type link struct{ from, written, to, anchor string }

func newSite(tree fs.FS, files []string) *site {
	s := &site{tree: tree, files: map[string]bool{}, folders: map[string]bool{".": true}, pages: map[string]*page{}, assets: map[string]string{}}
	for _, file := range files {
		s.files[file] = true
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			s.folders[folder] = true
		}
	}
	return s
}

// load reads the pages in their order, and then all that they refer to.
func (s *site) load() error {
	var files []string
	for file := range s.files {
		files = append(files, file)
	}
	slices.Sort(files)
	var err error
	if s.nav, err = readNav(s.tree, files); err != nil {
		return err
	}
	for _, section := range s.nav.Sections {
		for _, entry := range section.Pages {
			file, anchor, _ := strings.Cut(entry, "#")
			if _, err := s.add(file); err != nil {
				return err
			}
			if anchor != "" {
				s.links = append(s.links, link{navFile, entry, file, anchor})
			}
		}
	}
	// Pages add those that they refer to.
	for i := 0; i < len(s.queue); i++ {
		if err := s.follow(s.queue[i]); err != nil {
			return err
		}
	}
	for _, l := range s.links {
		if !s.pages[l.to].has(l.anchor) {
			s.wrong = append(s.wrong, fmt.Sprintf("%s: %s: %s has no such heading", l.from, l.written, l.to))
		}
	}
	return nil
}

// add makes the page of a file or of a folder.
func (s *site) add(file string) (*page, error) {
	if known := s.pages[file]; known != nil {
		return known, nil
	}
	p, err := s.make(file)
	if err != nil {
		return nil, err
	}
	s.pages[file], s.queue = p, append(s.queue, p)
	return p, nil
}

func (s *site) make(file string) (*page, error) {
	if s.folders[file] {
		return s.listing(file), nil
	}
	text, err := fs.ReadFile(s.tree, file)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if !strings.HasSuffix(file, ".md") {
		return sourcePage(file, text), nil
	}
	p := parse(file, text)
	if p.title == "" {
		p.title = path.Base(file)
	}
	return p, nil
}

// follow gives the links of a page their places on the site.
func (s *site) follow(p *page) error {
	if p.document == nil {
		return nil
	}
	return ast.Walk(p.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch node := node.(type) {
		case *ast.Link:
			node.Destination, err = s.place(p, node.Destination, false)
		case *ast.Image:
			node.Destination, err = s.place(p, node.Destination, true)
		}
		return ast.WalkContinue, err
	})
}

// place returns where a link of a page leads.
func (s *site) place(from *page, destination []byte, picture bool) ([]byte, error) {
	written := string(destination)
	target, err := url.Parse(written)
	if err != nil {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: %s: %v", from.file, written, err))
		return destination, nil
	}
	if target.Scheme != "" || target.Host != "" {
		return destination, nil
	}
	file := from.file
	if target.Path != "" {
		file = path.Join(path.Dir(from.file), target.Path)
	}
	if s.folders[file] && s.files[path.Join(file, "README.md")] {
		file = path.Join(file, "README.md")
	}
	if !s.files[file] && !s.folders[file] {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: %s: there is no file %s", from.file, written, file))
		return destination, nil
	}
	if picture || isPicture(file) {
		s.assets[file] = "files/" + file
		return []byte(relative(from.url, s.assets[file])), nil
	}
	to, err := s.add(file)
	if err != nil {
		return nil, err
	}
	if target.Fragment != "" {
		s.links = append(s.links, link{from.file, written, file, target.Fragment})
		return []byte(relative(from.url, to.url) + "#" + target.Fragment), nil
	}
	return []byte(relative(from.url, to.url)), nil
}

func isPicture(file string) bool {
	return slices.Contains([]string{".png", ".svg", ".jpg"}, path.Ext(file))
}

// relative is the way from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
