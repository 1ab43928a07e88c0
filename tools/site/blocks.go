package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blocks writes code with colours, and headings with a link to themselves.
type blocks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (b blocks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, b.code)
	register.Register(ast.KindHeading, b.heading)
}

func (blocks) heading(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	h, ok := node.(*ast.Heading)
	if !ok {
		return ast.WalkContinue, nil
	}
	id, _ := h.AttributeString("id")
	if entering {
		_, err := fmt.Fprintf(out, "<h%d id=\"%s\">", h.Level, id)
		return ast.WalkContinue, err
	}
	_, err := fmt.Fprintf(out, " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this section\">#</a></h%d>\n", id, h.Level)
	return ast.WalkContinue, err
}

func (blocks) code(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := node.(*ast.FencedCodeBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	var text strings.Builder
	for i := range block.Lines().Len() {
		segment := block.Lines().At(i)
		text.Write(segment.Value(source))
	}
	_, err := out.WriteString(highlight(string(block.Language(source)), text.String()))
	return ast.WalkSkipChildren, err
}

// languages are those that a lexer knows by another name.
var languages = map[string]string{"gotemplate": "go-text-template", "spiff": "yaml", "mapping": "yaml", "shell": "bash", "sh": "bash"}

// formatter writes classes, whose colours the style sheet has for the light and the dark theme.
var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))

// highlight returns a block of code. What has no lexer, or is the screen of a terminal, has no colours.
func highlight(language, text string) string {
	inside := html.EscapeString(text)
	name := language
	if other := languages[language]; other != "" {
		name = other
	}
	if lexer := lexers.Get(name); lexer != nil && language != "" && language != "console" && language != "text" {
		var colored strings.Builder
		tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
		if err == nil && formatter.Format(&colored, styles.Fallback, tokens) == nil {
			inside = colored.String()
		}
	}
	return fmt.Sprintf("<div class=\"code\"><pre class=\"chroma\" tabindex=\"0\" data-language=\"%s\"><code>%s</code></pre></div>\n", html.EscapeString(language), inside)
}

// colors are the rules for highlighted code below a selector.
func colors(selector, style string) (string, error) {
	var out strings.Builder
	if err := formatter.WriteCSS(&out, styles.Get(style)); err != nil {
		return "", fmt.Errorf("write the colours of code: %w", err)
	}
	return strings.ReplaceAll(out.String(), ".chroma", selector+" .chroma"), nil
}
