package main

import (
	"bytes"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a page of the site.
type page struct {
	// file is what it is made from, and url where it is on the site.
	file, url string
	title     string
	headings  []heading
	html      string
	// texts are what a search finds, by the places of headings; the first is before any heading.
	texts []string
	// listed says that the search has the page, and that it has a table of contents.
	listed bool

	source   []byte
	document ast.Node
}

// heading is a heading of a page.
type heading struct {
	Level    int
	ID, Text string
}

// has reports whether the page has an anchor.
func (p *page) has(anchor string) bool {
	for _, h := range p.headings {
		if h.ID == anchor {
			return true
		}
	}
	return false
}

// markdown is how pages are read and written: as forges do.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	// The pages are those of the project: their comments are HTML.
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)

// parse reads a page.
func parse(file string, source []byte) *page {
	p := &page{file: file, url: urlOf(file), source: source, listed: true}
	p.document = markdown.Parser().Parse(text.NewReader(source))
	p.texts = []string{""}
	anchors := newSlugs()
	for node := p.document.FirstChild(); node != nil; node = node.NextSibling() {
		if found, ok := node.(*ast.Heading); ok {
			said := plain(found, source)
			h := heading{Level: found.Level, ID: anchors.of(said), Text: said}
			found.SetAttributeString("id", h.ID)
			if h.Level == 1 && p.title == "" {
				p.title = h.Text
			}
			p.headings = append(p.headings, h)
			p.texts = append(p.texts, "")
			continue
		}
		p.texts[len(p.texts)-1] += " " + plain(node, source)
	}
	return p
}

// plain is the text of a node without marks.
func plain(node ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				segment := n.Lines().At(i)
				out.Write(segment.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(out.String()), " ")
}

// render writes the HTML of a page, whose links lead to pages of the site by now.
func (p *page) render() error {
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, p.source, p.document); err != nil {
		return err
	}
	// A column without a title has no header for those who hear the page.
	p.html = strings.ReplaceAll(out.String(), "<th></th>", "<td></td>")
	return nil
}

// urlOf is where the page of a file is.
func urlOf(file string) string {
	switch {
	case file == "README.md":
		return "index.html"
	case strings.HasPrefix(file, "docs/"):
		file = strings.TrimPrefix(file, "docs/")
	case !strings.Contains(file, "/"):
		// SECURITY.md and docs/security.md are two pages.
		file = "project/" + strings.ToLower(file)
	}
	if path.Base(file) == "README.md" {
		return path.Join(path.Dir(file), "index.html")
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}
