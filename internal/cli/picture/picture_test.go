package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/dataflow"
)

// shop is a landscape with everything that looks different.
func shop() *flowview.Scope {
	return &flowview.Scope{
		Units: []*flowview.Unit{
			{Name: "dataflow-secret", Title: "dataflow-secret", Phase: "Succeeded", State: inspect.Ready},
			{Name: "dataflow-gitrepository", Title: "dataflow-gitrepository", Phase: "Failed", State: inspect.Failed, Why: "no such\nbranch"},
			{Name: "dataflow-root", Title: "dataflow-root", Phase: "Init", State: inspect.Waiting, Why: "gitrepository-name is not there", Inside: &flowview.Scope{
				Units: []*flowview.Unit{
					{Name: "root-p-tw4h5", Title: "tokenprovider", Phase: "Progressing", State: inspect.Running},
					{Name: "root-c-778g7", Title: `token<consumer> & "friends"`, State: inspect.Waiting},
				},
				Values: []*flowview.Value{
					{Kind: dataflow.KindTarget, Name: "cluster2", Importers: []string{"root-p-tw4h5", "root-c-778g7"}},
					{Kind: dataflow.KindDataObject, Name: "token", Exporters: []string{"root-p-tw4h5"}, Importers: []string{"root-c-778g7"}},
				},
			}},
		},
		Values: []*flowview.Value{
			{Kind: dataflow.KindTarget, Name: "cluster", Importers: []string{"dataflow-secret", "dataflow-gitrepository", "dataflow-root"}},
			{Kind: dataflow.KindDataObject, Name: "secret-name", Exporters: []string{"dataflow-secret"}, Importers: []string{"dataflow-root"}},
			{Kind: dataflow.KindDataObject, Name: "gitrepository-name", Exporters: []string{"dataflow-gitrepository"}, Importers: []string{"dataflow-root"}},
			{Kind: dataflow.KindSecret, Name: "settings", Importers: []string{"dataflow-root"}},
			{Kind: dataflow.KindDataObject, Name: "address", Exporters: []string{"dataflow-root"}},
		},
	}
}

func drawn(t *testing.T, draw func(io.Writer, *flowview.Scope) error, scope *flowview.Scope) string {
	t.Helper()
	var text strings.Builder
	if err := draw(&text, scope); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestForms compares all forms with reviewed files. With the variable UPDATE they are
// written again.
func TestForms(t *testing.T) {
	for name, draw := range map[string]func(io.Writer, *flowview.Scope) error{
		"shop.dot": DOT, "shop.mmd": Mermaid, "shop.svg": SVG,
		"shop.txt":       func(out io.Writer, scope *flowview.Scope) error { return Text(out, scope, false) },
		"shop-ascii.txt": func(out io.Writer, scope *flowview.Scope) error { return Text(out, scope, true) },
	} {
		t.Run(name, func(t *testing.T) {
			got := drawn(t, draw, shop())
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile("testdata/"+name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSVGStandsAlone: it is XML, and loads nothing from anywhere.
func TestSVGStandsAlone(t *testing.T) {
	text := drawn(t, SVG, shop())
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if element.Name.Local == "script" || element.Name.Local == "image" || element.Name.Local == "foreignObject" {
			t.Errorf("there is a %s", element.Name.Local)
		}
		for _, attribute := range element.Attr {
			if attribute.Name.Local == "href" || strings.Contains(attribute.Value, "http") && attribute.Name.Local != "xmlns" {
				t.Errorf("%s refers to %s", element.Name.Local, attribute.Value)
			}
		}
	}
	if strings.Contains(text, "@import") || strings.Contains(text, "token<consumer>") {
		t.Error("something is not escaped, or imported")
	}
}

// TestArrangement: nothing stands on anything else, everything is in the frame, and
// values flow from left to right.
func TestArrangement(t *testing.T) {
	many := &flowview.Scope{}
	for i := range 40 {
		name := fmt.Sprint("unit", i)
		many.Units = append(many.Units, &flowview.Unit{Name: name, Title: name, State: inspect.Ready})
		many.Values = append(many.Values, &flowview.Value{Kind: dataflow.KindDataObject, Name: name, Exporters: []string{name}, Importers: []string{fmt.Sprint("unit", min(39, i+1+i%3))}})
	}
	many.Values = many.Values[:39]
	for name, scope := range map[string]*flowview.Scope{"shop": shop(), "many": many, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			a := arrange(scope)
			for i, one := range a.blocks {
				if one.x < 0 || one.y < -0.001 || one.x+one.w > a.w+0.001 || one.y+one.h > a.h+0.001 {
					t.Errorf("%s: block %d is outside of the frame", name, i)
				}
				for _, other := range a.blocks[i+1:] {
					if one.x < other.x+other.w && other.x < one.x+one.w && one.y < other.y+other.h && other.y < one.y+one.h {
						t.Errorf("%s: block %d stands on another one", name, i)
					}
				}
			}
			for _, edge := range a.edges {
				if edge.from().x+edge.from().w > edge.to().x {
					t.Errorf("%s: a value flows backwards", name)
				}
			}
		})
	}
}

// TestCycle: a cycle, which cannot work, can be drawn nevertheless.
func TestCycle(t *testing.T) {
	scope := &flowview.Scope{
		Units: []*flowview.Unit{{Name: "a", Title: "a"}, {Name: "b", Title: "b"}},
		Values: []*flowview.Value{
			{Kind: dataflow.KindDataObject, Name: "x", Exporters: []string{"a"}, Importers: []string{"b"}},
			{Kind: dataflow.KindDataObject, Name: "y", Exporters: []string{"b"}, Importers: []string{"a"}},
		},
	}
	if text := drawn(t, SVG, scope); strings.Count(text, `class="edge`) != 4 {
		t.Errorf("%s", text)
	}
}
