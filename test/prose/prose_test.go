// Package prose holds the words of this project to those of the field: docs/glossary.md has the
// words of our own, and this test refuses the ones that a Kubernetes engineer has to translate.
package prose

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const (
	root = "../.."
	// upstreamTexts has results of spiff, whose texts equal those of upstream.
	upstreamTexts = "internal/content/template/spiff/builtin/checks/checks.go"
)

// refused are the words that this project does not use, with what it says instead.
var refused = []struct{ pattern, instead string }{
	{`who(m|so)?ever`, "the caller, the user, or the passive"},
	{`somebody|nobody`, "another client, a user, or the passive"},
	{`(tell|tells|told|telling) (of|about)`, "report"},
	{`hand(s|ed|ing)? (it |them |that |this |what [a-z]+ )?(on|over|down)`, "pass, propagate, dispatch"},
	{`desks?`, "dispatcher"},
	{`woken|wakes|woke|waking`, "enqueue, trigger a reconcile"},
	{`circles?`, "cycle"},
	{`(take|takes|taken|taking|took) (it |them )?up`, "pick up"},
	{`(is|are|was|were) gone`, "is deleted, does not exist any more"},
	{`(goes|go|went) away`, "is deleted"},
	{`condemned`, "being deleted"},
	{`(break|breaks|broke|broken|breaking) down`, "panic"},
	{`fares?`, "health"},
	{`(is|are|was|were) none`, "is not …, or a minimum"},
	{`(is|are) no (URL|name|number|list|map|text|address|path|version|digest|reference|template|object|regular|valid|key|kubeconfig|certificate|template)s?`, "is not a …"},
	{`public system`, "upstream"},
	{`rooms?`, "package"},
	{`house rules?`, "lint rules"},
	{`doors?`, "import rules"},
}

// identifiers are words that no name in the code has.
var identifiers = []string{"Whoever", "Somebody", "Nobody", "Told", "Woken", "Desk", "Circle", "Condemned", "Fares", "Kin", "Wish", "Farewell", "Restlessness", "Lookout", "Holdings", "Patience"}

var words = compile()

func compile() *regexp.Regexp {
	patterns := make([]string, len(refused))
	for i, word := range refused {
		patterns[i] = `(` + strings.ReplaceAll(word.pattern, `(`, `(?:`) + `)`
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`)
}

// skipped are files whose words are not ours, or that are about words.
func skipped(path string) bool {
	return strings.Contains(path, "/testdata/") || strings.Contains(path, "zz_generated") ||
		strings.HasPrefix(path, "test/prose/") || path == upstreamTexts || path == "docs/glossary.md" || path == "LICENSE" || strings.HasPrefix(path, "examples/") && strings.HasSuffix(path, ".yaml")
}

// TestRefusedWords: comments, messages, pages, the chart and names use the words of the field.
func TestRefusedWords(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for path := range strings.Lines(string(list)) {
		path = strings.TrimSpace(path)
		if skipped(path) {
			continue
		}
		switch ext := filepath.Ext(path); {
		case ext == ".go":
			checkGo(t, path)
		case ext == ".md", ext == ".sh", ext == ".mk", ext == ".tpl", filepath.Base(path) == "Makefile", path == ".golangci.yml", strings.HasPrefix(path, "charts/"):
			checkText(t, path)
		default:
			continue
		}
		read++
	}
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}

func checkText(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(content), "\n") {
		check(t, fmt.Sprintf("%s:%d", path, i+1), line)
	}
}

func checkGo(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	at := func(pos token.Pos) string { return fmt.Sprintf("%s:%d", path, files.Position(pos).Line) }
	for _, group := range file.Comments {
		// A sentence goes on in the next line: both are read together.
		check(t, at(group.Pos()), strings.Join(strings.Fields(group.Text()), " "))
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				check(t, at(node.Pos()), node.Value)
			}
		case *ast.Ident:
			for _, word := range identifiers {
				if node.Name != "NoBody" && hasWord(node.Name, word) { // http.NoBody
					t.Errorf("%s: the name %s has the word %q", at(node.Pos()), node.Name, word)
				}
			}
		}
		return true
	})
}

func check(t *testing.T, at, text string) {
	t.Helper()
	for _, found := range words.FindAllStringSubmatch(text, -1) {
		for i, part := range found[1:] {
			if part != "" {
				t.Errorf("%s: %q: say %q", at, found[0], refused[i].instead)
			}
		}
	}
}

// hasWord reports whether a name in camel case contains a word.
func hasWord(name, word string) bool {
	for at := strings.Index(name, word); at >= 0; {
		end := at + len(word)
		if end == len(name) || !unicode.IsLower(rune(name[end])) {
			return true
		}
		next := strings.Index(name[end:], word)
		if next < 0 {
			break
		}
		at = end + next
	}
	return strings.EqualFold(name, word)
}
