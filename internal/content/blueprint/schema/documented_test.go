package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// block is an example of the reference page. What is behind the language in its
// first line says what it is: the name of a file, or
//
//	schema             a schema for the values that follow
//	accepted, refused  a value; a text with the message follows a refused one
//	wrong              a schema that does not compile; the message follows
//	imports accepted   values for the imports of the blueprint, and so on
type block struct{ role, text string }

func blocks(t testing.TB) []block {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/reference/json-schema.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for i, part := range strings.Split("\n"+string(page), "\n```") {
		if i%2 == 0 {
			continue
		}
		first, text, _ := strings.Cut(part, "\n")
		language, role, _ := strings.Cut(first, " ")
		if role == "" {
			role = language
		}
		all = append(all, block{role, text})
	}
	return all
}

// TestReferencePage compiles and checks the examples of the reference page.
func TestReferencePage(t *testing.T) {
	all := blocks(t)
	files := fstest.MapFS{}
	for _, b := range all {
		if strings.Contains(b.role, ".") {
			files[b.role] = &fstest.MapFile{Data: []byte(b.text)}
		}
	}
	c := published(t, string(files["components.yaml"].Data), t.TempDir(), "example.org/shop/web")
	var blueprint v1alpha1.Blueprint
	if err := yaml.UnmarshalStrict(files["blueprint.yaml"].Data, &blueprint); err != nil {
		t.Fatal(err)
	}
	c.Files, c.Local, c.Default = files, blueprint.LocalTypes, blueprint.JSONSchemaVersion
	page := page{compiler: c, imports: blueprint.Imports}
	seen := map[string]int{}
	for i, b := range all {
		seen[b.role]++
		err := page.run(t.Context(), b)
		if errors.Is(err, errPage) {
			t.Errorf("block %d (%s): %v\n%s", i, b.role, err, b.text)
			continue
		}
		want := ""
		if i+1 < len(all) && all[i+1].role == "text" {
			want = strings.TrimSpace(all[i+1].text)
		}
		if (err == nil) != (want == "") || (err != nil && err.Error() != want) {
			t.Errorf("block %d (%s):\n got %v\nwant %s", i, b.role, err, want)
		}
	}
	for role, least := range map[string]int{"schema": 3, "accepted": 2, "refused": 4, "wrong": 3, "imports accepted": 1, "imports refused": 1} {
		t.Run(role, func(t *testing.T) {
			if seen[role] < least {
				t.Errorf("the page has %d examples of the form %q", seen[role], role)
			}
		})
	}
}

// page is the reference page while its examples are run.
type page struct {
	compiler *Compiler
	imports  v1alpha1.ImportDefinitionList
	schema   *Schema
}

var errPage = errors.New("the page is wrong")

// run returns the error that the page must show behind an example.
func (p *page) run(ctx context.Context, b block) error {
	fail := func(err error) error { return fmt.Errorf("%w: %w", errPage, err) }
	switch b.role {
	case "schema":
		var err error
		if p.schema, err = p.compiler.Compile(ctx, []byte(b.text)); err != nil {
			return fail(err)
		}
	case "wrong":
		_, err := p.compiler.Compile(ctx, []byte(b.text))
		return err
	case "accepted", "refused":
		value, err := jsonvalue.FromYAML([]byte(b.text))
		if err != nil {
			return fail(err)
		}
		return p.schema.Validate(value)
	case "imports accepted", "imports refused":
		return p.check(ctx, b.text)
	case "text":
	default:
		if !strings.Contains(b.role, ".") {
			return fail(errors.New("the kind of this block is unknown"))
		}
	}
	return nil
}

// check validates the values of imports.
func (p *page) check(ctx context.Context, text string) error {
	decoded, err := jsonvalue.FromYAML([]byte(text))
	values, ok := decoded.(map[string]any)
	if !ok || len(values) != len(p.imports) {
		return fmt.Errorf("%w: not all imports have a value: %w", errPage, err)
	}
	var found []string
	for _, definition := range p.imports {
		compiled, err := p.compiler.Compile(ctx, definition.Schema.RawMessage)
		if err != nil {
			return fmt.Errorf("%w: %w", errPage, err)
		}
		if err := compiled.Validate(values[definition.Name]); err != nil {
			found = append(found, definition.Name+": "+err.Error())
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return errors.New(strings.Join(found, "\n"))
}
