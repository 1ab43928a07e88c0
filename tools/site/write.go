package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

//go:embed static
var static embed.FS

var layout = template.Must(template.ParseFS(static, "static/page.html"))

// view is what the layout shows.
type view struct {
	Title, Version, File, URL string
	// Base leads to the folder of the version.
	Base     string
	Content  template.HTML
	Nav      []navSection
	Contents []heading
	Previous *navEntry
	Next     *navEntry
}

// navSection is a section of the menu; it is open if it has the page.
type navSection struct {
	Title   string
	Entries []navEntry
	Open    bool
}

type navEntry struct {
	Title, URL string
	Current    bool
}

// write writes the site into a folder.
func (s *site) write(folder, version string) error {
	for _, p := range s.queue {
		if p.document != nil {
			if err := p.render(); err != nil {
				return fmt.Errorf("write %s: %w", p.file, err)
			}
		}
		var out bytes.Buffer
		if err := layout.ExecuteTemplate(&out, "page.html", s.view(p, version)); err != nil {
			return fmt.Errorf("write %s: %w", p.file, err)
		}
		if err := writeFile(filepath.Join(folder, p.url), out.Bytes()); err != nil {
			return err
		}
	}
	for file, to := range s.assets {
		content, err := fs.ReadFile(s.tree, file)
		if err != nil {
			return fmt.Errorf("read a picture: %w", err)
		}
		if err := writeFile(filepath.Join(folder, to), content); err != nil {
			return err
		}
	}
	return s.writeScripts(folder)
}

func (s *site) writeScripts(folder string) error {
	sections, listed, urls := map[string]string{}, []*page{}, []string{}
	for _, section := range s.nav.Sections {
		for _, entry := range section.Pages {
			if sections[entry] == "" && !strings.Contains(entry, "#") {
				sections[entry] = section.Title
			}
		}
	}
	for _, p := range s.queue {
		urls = append(urls, p.url)
		if p.listed {
			listed = append(listed, p)
		}
	}
	found, err := index(listed, sections)
	if err != nil {
		return err
	}
	style, err := styleSheet()
	if err != nil {
		return err
	}
	names, err := json.Marshal(urls)
	if err != nil {
		return err
	}
	files := map[string][]byte{"search-index.js": found, "site.css": style, "pages.json": names}
	for _, name := range []string{"site.js", "theme.js"} {
		if files[name], err = static.ReadFile("static/" + name); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(folder, name), content); err != nil {
			return err
		}
	}
	return nil
}

// styleSheet is the style of the pages with the colours of code in both themes.
func styleSheet() ([]byte, error) {
	style, err := static.ReadFile("static/site.css")
	if err != nil {
		return nil, err
	}
	light, err := colors("html[data-theme=light]", "github")
	if err != nil {
		return nil, err
	}
	dark, err := colors("html[data-theme=dark]", "github-dark")
	if err != nil {
		return nil, err
	}
	return []byte(string(style) + light + dark), nil
}

func (s *site) view(p *page, version string) view {
	v := view{Title: p.title, Version: version, File: p.file, URL: p.url, Base: relative(p.url, ""), Content: template.HTML(p.html)} //nolint:gosec // it is made from the pages of the project
	var all []navEntry
	for _, section := range s.nav.Sections {
		shown := navSection{Title: section.Title}
		for _, entry := range section.Pages {
			e := s.navEntry(p, entry)
			shown.Open = shown.Open || e.Current
			shown.Entries = append(shown.Entries, e)
			if !strings.Contains(entry, "#") {
				all = append(all, e)
			}
		}
		v.Nav = append(v.Nav, shown)
	}
	if at := slices.IndexFunc(all, func(e navEntry) bool { return e.Current }); at >= 0 {
		if at > 0 {
			v.Previous = &all[at-1]
		}
		if at+1 < len(all) {
			v.Next = &all[at+1]
		}
	}
	for _, h := range p.headings {
		if h.Level == 2 || h.Level == 3 && len(p.headings) < 40 {
			v.Contents = append(v.Contents, h)
		}
	}
	return v
}

func (s *site) navEntry(from *page, entry string) navEntry {
	file, anchor, _ := strings.Cut(entry, "#")
	to := s.pages[file]
	e := navEntry{Title: to.title, URL: relative(from.url, to.url), Current: to == from && anchor == ""}
	if anchor != "" {
		e.URL += "#" + anchor
		for _, h := range to.headings {
			if h.ID == anchor {
				e.Title = h.Text
			}
		}
	}
	return e
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make a folder of the site: %w", err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("write a file of the site: %w", err)
	}
	return nil
}

// versionPages are the pages of a version.
type versionPages struct {
	Name  string   `json:"name"`
	Pages []string `json:"pages"`
}

// writeVersions writes which versions there are, and lets the top lead to the latest release, or to the
// only version.
func writeVersions(out string) error {
	folders, err := filepath.Glob(filepath.Join(out, "*", "pages.json"))
	if err != nil {
		return err
	}
	var versions []versionPages
	for _, name := range folders {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		v := versionPages{Name: filepath.Base(filepath.Dir(name))}
		if err := json.Unmarshal(raw, &v.Pages); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		versions = append(versions, v)
	}
	// Releases come first, the latest of them before all; what is not a release is older than all.
	slices.SortFunc(versions, func(a, b versionPages) int {
		if order := semver.Compare(b.Name, a.Name); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	raw, err := json.Marshal(versions)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(out, "versions.js"), append(append([]byte("window.siteVersions = "), raw...), ";\n"...)); err != nil {
		return err
	}
	latest := template.HTMLEscapeString(versions[0].Name)
	return writeFile(filepath.Join(out, "index.html"), []byte(`<!doctype html><meta charset="utf-8"><title>Landscaper</title><meta http-equiv="refresh" content="0; url=`+latest+`/index.html"><a href="`+latest+`/index.html">Landscaper</a>`+"\n"))
}
