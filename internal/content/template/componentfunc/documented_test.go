package componentfunc

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/template/spiff"
)

const documentation = "../../../../docs/reference/template-functions.md"

// block is a fenced block of the documentation.
type block struct{ kind, text string }

func documented(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for _, match := range regexp.MustCompile("(?ms)^```([a-z ]+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{match[1], match[2]})
	}
	return blocks
}

// documentedComponent is the component that the examples are about.
func documentedComponent(t *testing.T, blocks []block) *Component {
	t.Helper()
	files := fstest.MapFS{}
	for i, block := range blocks {
		switch block.kind {
		case "yaml component":
			files[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{Data: []byte(block.text)}
		case "yaml content":
			files["blobs/sha256."+digest.FromString(block.text).Encoded()] = &fstest.MapFile{Data: []byte(block.text)}
		}
	}
	session := component.NewSession(component.NewShared(), component.Options{Default: descriptor.Typed(`{"type":"local"}`), Local: files})
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	version, err := session.Resolve(t.Context(), component.Reference{Name: "example.org/shop/web", Version: "1.4.2"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Session: session, Version: version})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDocumentation renders the examples of the documentation. What they yield
// follows them.
func TestDocumentation(t *testing.T) {
	blocks := documented(t)
	c := documentedComponent(t, blocks)
	all, err := c.Components(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bindings := map[string]any{"cd": own(t, c), "components": all}
	rendered := map[string]int{}
	for i, block := range blocks {
		var got string
		switch block.kind {
		case "gotemplate":
			got = goTemplate(t, c, block.text, bindings)
		case "yaml spiff":
			got = spiffTemplate(t, c, block.text, bindings)
		case "yaml key":
			if want := "resourceRef: " + base64.StdEncoding.EncodeToString([]byte(block.text)); !strings.Contains(blocks[i-1].text, want) {
				t.Errorf("the documented key is not the one before it: %s", want)
			}
			continue
		default:
			continue
		}
		rendered[block.kind]++
		want := blocks[i+1]
		if want.kind != "yaml" {
			t.Fatalf("no result behind\n%s", block.text)
		}
		if diff := cmp.Diff(value(t, want.text), value(t, got)); diff != "" {
			t.Errorf("%s\n%s", block.text, diff)
		}
	}
	if rendered["gotemplate"] < 8 || rendered["yaml spiff"] < 5 {
		t.Errorf("the examples are not found: %v", rendered)
	}
}

func value(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return value
}

func goTemplate(t *testing.T, c *Component, text string, bindings map[string]any) string {
	t.Helper()
	functions := sprig.TxtFuncMap()
	functions["fromYaml"] = func(text string) (any, error) { return jsonvalue.FromYAML([]byte(text)) }
	for name, function := range c.GoTemplate() {
		functions[name] = func(args ...any) (any, error) { return function(t.Context(), args) }
	}
	parsed, err := template.New("execution").Funcs(functions).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, bindings); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func spiffTemplate(t *testing.T, c *Component, text string, bindings map[string]any) string {
	t.Helper()
	functions := map[string]spiff.Function{}
	for name, function := range c.Spiff() {
		functions[name] = function
	}
	engine, err := spiff.New(spiff.Config{Functions: functions})
	if err != nil {
		t.Fatal(err)
	}
	document, err := spiff.ParseOne([]byte(text), "template")
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Process(t.Context(), document, spiff.Input{Bindings: bindings}, spiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := result.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
