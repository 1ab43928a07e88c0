package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestSlug(t *testing.T) {
	for _, test := range []struct{ reason, heading, want string }{
		{"words", "See what there is", "see-what-there-is"},
		{"marks are left out, and each space counts", "Helm & kustomize: both", "helm--kustomize-both"},
		{"a hyphen and an underscore stay", "shoot-flux `spec_x`", "shoot-flux-spec_x"},
		{"letters of all languages", "Größe Über", "größe-über"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := slug(test.heading); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// project is a small one whose pages are whole.
func project() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"docs/site.yaml":          file("sections:\n- {title: Start, pages: [README.md, 'docs/guide.md#steps']}\n- {title: Use, pages: [docs/guide.md, docs/reference/*.md]}\n"),
		"README.md":               file("# Top\n\n[guide](docs/guide.md#steps-1), [file](examples/a.yaml), [folder](examples), [elsewhere](https://example.org/x)\n"),
		"docs/guide.md":           file("# Guide\n\n## Steps\n\ntext with `code`\n\n```yaml\nkey: <value>\n```\n\n## Steps\n\n![picture](pictures/p.svg) [own](#steps) [back](../README.md)\n"),
		"docs/reference/b.md":     file("# B <!-- hidden -->\n\n| `a` | b |\n|---|---|\n| c | d |\n"),
		"docs/reference/a.md":     file("# A\n\n[guide](../guide.md), [security](../../SECURITY.md)\n"),
		"docs/pictures/p.svg":     file("<svg xmlns='http://www.w3.org/2000/svg'/>"),
		"examples/a.yaml":         file("a: 1\n"),
		"examples/deep/README.md": file("# Deep\n"),
		"SECURITY.md":             file("# Security\n"),
	}
}

func load(t *testing.T, tree fstest.MapFS) (*site, error) {
	t.Helper()
	var files []string
	for name := range tree {
		files = append(files, name)
	}
	s := newSite(tree, files)
	return s, s.load()
}

// TestWrong: what leads nowhere is found.
func TestWrong(t *testing.T) {
	for _, test := range []struct{ reason, file, text, want string }{
		{"a whole project", "docs/guide.md", string(project()["docs/guide.md"].Data), ""},
		{"a page that does not exist", "docs/reference/a.md", "# A\n[x](missing.md)\n", "docs/reference/a.md: missing.md: there is no file docs/reference/missing.md"},
		{"an anchor that does not exist", "docs/reference/a.md", "# A\n[x](../guide.md#nothing)\n", "docs/reference/a.md: ../guide.md#nothing: docs/guide.md has no such heading"},
		{"an anchor of the page itself", "docs/reference/a.md", "# A\n[x](#nothing)\n", "docs/reference/a.md: #nothing: docs/reference/a.md has no such heading"},
		{"a picture that does not exist", "docs/reference/a.md", "# A\n![x](p.png)\n", "docs/reference/a.md: p.png: there is no file docs/reference/p.png"},
		{"a file outside of the project", "docs/reference/a.md", "# A\n[x](../../../x.md)\n", "docs/reference/a.md: ../../../x.md: there is no file ../x.md"},
		{"a link in a table", "docs/reference/a.md", "# A\n\n| a |\n|---|\n| [x](no.md) |\n", "docs/reference/a.md: no.md: there is no file docs/reference/no.md"},
		{"an anchor in the order of pages", "docs/guide.md", "# Guide\n## Steps-1\n", "docs/site.yaml: docs/guide.md#steps: docs/guide.md has no such heading"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := project()
			tree[test.file] = &fstest.MapFile{Data: []byte(test.text)}
			s, err := load(t, tree)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(append(s.wrong, ""), test.want) || test.want == "" && len(s.wrong) > 0 {
				t.Errorf("wrong is %q, want %q", s.wrong, test.want)
			}
		})
	}
}

// TestOrder: each page of docs has one place.
func TestOrder(t *testing.T) {
	for _, test := range []struct{ reason, order, want string }{
		{"a page without a place", "sections:\n- {title: A, pages: [README.md, docs/guide.md, docs/reference/a.md]}\n", "docs/site.yaml: add docs/reference/b.md"},
		{"a page with two places", "sections:\n- {title: A, pages: [docs/guide.md, docs/*.md, docs/reference/*.md]}\n", "docs/site.yaml: docs/guide.md stands there twice"},
		{"a place without a page", "sections:\n- {title: A, pages: [docs/other.md]}\n", "docs/site.yaml: there is no page docs/other.md"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := project()
			tree["docs/site.yaml"] = &fstest.MapFile{Data: []byte(test.order)}
			if _, err := load(t, tree); err == nil || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// TestPages: where the pages are, and what stands in them.
func TestPages(t *testing.T) {
	s, err := load(t, project())
	if err != nil || len(s.wrong) > 0 {
		t.Fatalf("%v %q", err, s.wrong)
	}
	out := t.TempDir()
	for _, version := range []string{"main", "v0.9.0", "v0.10.0"} {
		if err := s.write(filepath.Join(out, version), version); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeVersions(out); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, file, want string }{
		{"the top leads to the latest release", "index.html", `url=v0.10.0/index.html`},
		{"releases in their order, before what is not a release", "versions.js", `window.siteVersions = [{"name":"v0.10.0"`},
		{"a page leads to the second heading of a name", "main/index.html", `<a href="guide.html#steps-1">guide</a>`},
		{"a file has a page", "main/index.html", `<a href="source/examples/a.yaml.html">file</a>`},
		{"a folder has a page", "main/index.html", `<a href="source/examples/index.html">folder</a>`},
		{"another place stays as it is", "main/index.html", `<a href="https://example.org/x">elsewhere</a>`},
		{"an entry of the menu leads to a part of a page", "main/index.html", `<a href="guide.html#steps">Steps</a>`},
		{"the menu shows the page", "main/guide.html", `<a href="guide.html" aria-current="page">Guide</a>`},
		{"a picture", "main/guide.html", `<img src="files/docs/pictures/p.svg" alt="picture">`},
		{"code has colours, and is text", "main/guide.html", `&lt;value&gt;`},
		{"a heading leads to itself", "main/guide.html", `<h2 id="steps-1">Steps <a class="anchor" href="#steps-1"`},
		{"links of a page that is deeper", "main/reference/a.html", `<a href="../guide.html">guide</a>, <a href="../project/security.html">security</a>`},
		{"the next page", "main/reference/a.html", `<a class="next" href="../reference/b.html">B →</a>`},
		{"a folder leads on", "main/source/examples/index.html", `<a href="../../examples/deep/index.html">deep/</a>`},
		{"the search has sections", "main/search-index.js", `{"p":"Guide","h":"Steps","u":"guide.html#steps","x":"text with code key: \u003cvalue\u003e","s":"Use"}`},
		{"the colours of both themes", "main/site.css", "html[data-theme=dark] .chroma"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(out, test.file))
			if err != nil || !strings.Contains(string(text), test.want) {
				t.Errorf("%v: %s lacks %s:\n%.3000s", err, test.file, test.want, text)
			}
		})
	}
}

// TestProject: the pages of the project are whole.
func TestProject(t *testing.T) {
	files, err := tracked("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(os.DirFS("../.."), files)
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	for _, text := range s.wrong {
		t.Error(text)
	}
	if len(s.links) < 100 || len(s.pages) < 100 {
		t.Errorf("only %d pages with %d links to headings were read", len(s.pages), len(s.links))
	}
}

// TestVersion: a version is the name of one folder.
func TestVersion(t *testing.T) {
	for _, version := range []string{"", "..", ".hidden", "a/b", `a\b`} {
		if err := run("../..", t.TempDir(), version); err == nil {
			t.Errorf("version %q is accepted", version)
		}
	}
}
