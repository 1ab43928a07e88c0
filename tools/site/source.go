package main

import (
	"fmt"
	"html"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSource bounds a file that is shown.
const maxSource = 1 << 20

// sourcePage shows a file that a page refers to.
func sourcePage(file string, text []byte) *page {
	p := &page{file: file, url: "source/" + file + ".html", title: file}
	body := "<p>This file has no text.</p>"
	if utf8.Valid(text) && len(text) < maxSource {
		body = highlight(languageOf(file), string(text))
	}
	p.html = "<h1>" + html.EscapeString(file) + "</h1>\n" + body
	return p
}

func languageOf(file string) string {
	switch ext := path.Ext(file); ext {
	case ".yaml", ".yml":
		return "yaml"
	case ".go", ".sh", ".json", ".tsx", ".ts":
		return ext[1:]
	}
	return ""
}

// open are the folders whose files have pages of their own where a page refers to the folder.
var open = []string{"docs", "examples", "charts"}

// listing shows a folder that a page refers to and that has no README.md.
func (s *site) listing(folder string) *page {
	p := &page{file: folder, url: path.Join("source", folder, "index.html"), title: folder}
	names := map[string]bool{}
	prefix := folder + "/"
	if folder == "." {
		prefix, p.title = "", "Files"
	}
	for file := range s.files {
		if rest, below := strings.CutPrefix(file, prefix); below {
			name, _, deeper := strings.Cut(rest, "/")
			names[name] = deeper
		}
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var out strings.Builder
	fmt.Fprintf(&out, "<h1>%s</h1>\n<ul>\n", html.EscapeString(p.title))
	first, _, _ := strings.Cut(folder, "/")
	for _, name := range sorted {
		shown := html.EscapeString(name)
		if names[name] {
			shown += "/"
		}
		if !slices.Contains(open, first) {
			fmt.Fprintf(&out, "<li>%s</li>\n", shown)
			continue
		}
		destination, err := s.place(p, []byte(relativeFile(folder, name)), false)
		if err != nil {
			s.wrong = append(s.wrong, fmt.Sprintf("%s: %v", folder, err))
		}
		fmt.Fprintf(&out, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(string(destination)), shown)
	}
	p.html = out.String() + "</ul>\n"
	return p
}

// relativeFile is a link from a folder to what it has: links lead on from the folder above a page.
func relativeFile(folder, name string) string { return path.Join(path.Base(folder), name) }
