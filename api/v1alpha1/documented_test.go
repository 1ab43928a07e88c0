package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const top = "../.."

// documented are the folders whose pages together name all that is on the wire.
var documented = []string{"docs/spec", "docs/reference"}

// published is where the constants are that others see on the wire.
var published = []string{"api/v1alpha1", "api/deployer", "api/manifest", "api/helm", "api/kustomize", "api/container", "api/mock", "internal/runtime/job/published"}

// TestConstantsAreDocumented: a page of the docs has each value that an object may have.
func TestConstantsAreDocumented(t *testing.T) {
	pages := words(textOf(t, documented, ".md"))
	for name, value := range constants(t) {
		t.Run(name, func(t *testing.T) {
			if !mentions(pages, value) {
				t.Errorf("no page in %s names %s: add it to docs/spec/names.md", strings.Join(documented, " and "), value)
			}
		})
	}
}

// words are those of a text. Of a name with a prefix there is the last part as well: tables
// have the prefix once.
func words(text string) map[string]bool {
	found := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(char rune) bool {
		return !unicode.IsLetter(char) && !unicode.IsDigit(char) && !strings.ContainsRune("_-./:#", char)
	}) {
		word = strings.Trim(word, ".:")
		found[word], found[word[strings.LastIndex(word, "/")+1:]] = true, true
	}
	return found
}

// mentions reports whether a value is among the words of a text.
func mentions(words map[string]bool, value string) bool {
	value = strings.Trim(value, ".")
	return words[value] || words[value[strings.LastIndex(value, "/")+1:]]
}

func TestMentions(t *testing.T) {
	for _, test := range []struct {
		reason, text, word string
		want               bool
	}{
		{"the word itself", "it is `Ready`.", "Ready", true},
		{"a part of another word", "it is `NotReady` or `Ready-made`", "Ready", false},
		{"a name with its prefix", "`example.org/skip`", "example.org/skip", true},
		{"a name whose prefix stands before", "`example.org/ignore`, `skip`", "example.org/skip", true},
		{"what only begins so", "`example.org/skip-this`", "example.org/skip", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if mentions(words(test.text), test.word) != test.want {
				t.Error(test.text)
			}
		})
	}
}

// codeFont is what stands in code font, on one line.
var codeFont = regexp.MustCompile("`([^`\n]+)`")

// wire are the forms that a word in code font can have which must exist in the code.
var wire = []*regexp.Regexp{
	regexp.MustCompile(`^(ERR_[A-Z_]+)$`),
	regexp.MustCompile(`^([a-z.]*landscaper\.gardener\.cloud/[A-Za-z-]+)$`),
	regexp.MustCompile(`^operation: (.*)$`),
}

// named is a word for a phase, a condition, a reason or a kind.
var named = regexp.MustCompile(`^[A-Z][a-z]\w+$`)

// TestPagesNameWhatExists: a word of the wire on a page of docs/spec is one that the code
// has. Reasons belong to where they are reported, so any text of the code counts for a word.
func TestPagesNameWhatExists(t *testing.T) {
	values, code := map[string]bool{}, textOf(t, []string{"api", "internal", "deployer"}, ".go")
	for _, value := range constants(t) {
		values[value] = true
	}
	seen := map[string]bool{}
	for _, found := range codeFont.FindAllStringSubmatch(textOf(t, []string{"docs/spec"}, ".md"), -1) {
		word := found[1]
		if seen[word] {
			continue
		}
		exists, isWire := strings.Contains(code, strconv.Quote(word)) || strings.Contains(code, "\ntype "+word+" struct"), named.MatchString(word)
		for _, form := range wire {
			if match := form.FindStringSubmatch(word); match != nil {
				last := strconv.Quote(word[strings.LastIndex(word, "/")+1:])
				exists, isWire = exists || values[match[1]] || strings.Contains(code, `v1alpha1.GroupName + "/`+last[1:]), true
			}
		}
		if !isWire {
			continue
		}
		seen[word] = true
		t.Run(word, func(t *testing.T) {
			if !exists {
				t.Error("docs/spec has it, the code does not")
			}
		})
	}
	if len(seen) < 100 {
		t.Errorf("only %d words were found", len(seen))
	}
}

// textOf joins the files of some folders that have an ending, without tests.
func textOf(t *testing.T, folders []string, ending string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(top, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ending) || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(append(text, '\n'))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// constants returns the texts among the public constants, by their names.
func constants(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range published {
		err := filepath.WalkDir(filepath.Join(top, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, declaration := range file.Decls {
				if group, ok := declaration.(*ast.GenDecl); ok && group.Tok == token.CONST {
					collect(found, file.Name.Name+".", group)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 150 {
		t.Fatalf("only %d constants were found", len(found))
	}
	return found
}

func collect(into map[string]string, prefix string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		one := spec.(*ast.ValueSpec)
		for i, name := range one.Names {
			if name.IsExported() && i < len(one.Values) {
				if text := textIn(one.Values[i]); text != "" {
					into[prefix+name.Name] = text
				}
			}
		}
	}
}

// textIn is the text of an expression, "" if it is not a string literal.
func textIn(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.Ident:
		if e.Name == "GroupName" {
			return "landscaper.gardener.cloud"
		}
	case *ast.BinaryExpr:
		return textIn(e.X) + textIn(e.Y)
	}
	return ""
}
