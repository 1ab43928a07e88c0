package plan

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+) (\\S+)\n(.*?)^```$")

// page is the state of the reading: a blueprint with its files, and what is given
// to it.
type page struct {
	files map[string]string
	given blueprintCase
}

// TestReferencePage works out the examples of the reference page. A block
// "blueprint" begins an example, "file=" adds files, "given" has the fields of a
// case; every other block is a result.
func TestReferencePage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/blueprints.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{}
	results := 0
	for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
		language, kind, content := block[1], block[2], block[3]
		name, isFile := strings.CutPrefix(kind, "file=")
		switch {
		case kind == "blueprint":
			*p = page{files: map[string]string{v1alpha1.BlueprintFileName: content}}
		case isFile:
			p.files[name] = content
		case kind == "given":
			p.give(t, content)
		default:
			results++
			t.Run(kind, func(t *testing.T) { p.check(t, kind, content) })
		}
		if language == "text" && kind != "error" {
			t.Errorf("%s should say its language", kind)
		}
	}
	if all := regexp.MustCompile("(?m)^```[a-z]+").FindAllString(string(text), -1); len(all) != len(fence.FindAllString(string(text), -1)) || results < 10 {
		t.Errorf("%d results; an example says not what it is, so that nothing checks it", results)
	}
}

// give reads what is given to the blueprint.
func (p *page) give(t *testing.T, content string) {
	t.Helper()
	p.given = blueprintCase{}
	if err := yaml.UnmarshalStrict([]byte(content), &p.given); err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal(p.files)
	if err != nil {
		t.Fatal(err)
	}
	p.given.Files = v1alpha1.NewAnyJSON(mustJSON(t, string(raw)))
}

func (p *page) check(t *testing.T, kind, content string) {
	c := p.given
	if kind == "error" {
		c.Error = strings.TrimSpace(content)
		c.run(t)
		return
	}
	fields := map[string]*exact{"items": &c.Items, "seen": &c.Imports, "below": &c.Below, "exports": &c.Exports, "subinstallations": &c.Subinstallations}
	field := fields[kind]
	if field == nil {
		t.Fatalf("what is a block of %s?\n%s", kind, content)
	}
	if err := field.UnmarshalJSON(mustJSON(t, content)); err != nil {
		t.Fatal(err)
	}
	c.run(t)
}
