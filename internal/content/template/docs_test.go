package template

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// block is a fenced block of a page.
type block struct {
	line       int
	info, text string
}

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	for i, line := range strings.SplitAfter(string(content), "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, "```"):
			open = &block{line: i + 1, info: strings.TrimSpace(line[3:])}
		case open != nil && strings.HasPrefix(line, "```"):
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	return blocks
}

// example is a template with what belongs to it, up to its result.
type example struct {
	block
	files    map[string]string
	bindings map[string]any
	state    []byte
}

// TestReference renders the examples of the reference. An example begins with a
// block gotemplate, spiff or mapping and ends with a result or an error.
func TestReference(t *testing.T) {
	var current *example
	checked := 0
	for _, b := range blocksOf(t, "../../../docs/reference/templates.md") {
		kind, rest, _ := strings.Cut(b.info, " ")
		switch {
		case kind == "gotemplate" || kind == "spiff" || kind == "mapping":
			if current != nil {
				t.Errorf("line %d: the example has no result", current.line)
			}
			current = &example{block: b, files: map[string]string{}, bindings: map[string]any{}}
		case current == nil:
			t.Errorf("line %d: a block without a template", b.line)
		case rest == "bindings":
			current.bindings, _ = yamlOf(t, b).(map[string]any)
		case rest == "state":
			current.state = []byte(b.text)
		case strings.HasPrefix(rest, "file="):
			current.files[strings.TrimPrefix(rest, "file=")] = b.text
		case rest == "result":
			got, err := current.render(t)
			if err != nil || !reflect.DeepEqual(got, yamlOf(t, b)) {
				t.Errorf("line %d: got %v, %v", b.line, got, err)
			}
			current, checked = nil, checked+1
		case rest == "error":
			if _, err := current.render(t); err == nil || err.Error() != strings.TrimSuffix(b.text, "\n") {
				t.Errorf("line %d: got\n%v", b.line, err)
			}
			current, checked = nil, checked+1
		default:
			t.Errorf("line %d: unknown block %q", b.line, b.info)
		}
	}
	if current != nil || checked < 10 {
		t.Errorf("%d examples were checked, the last one complete: %v", checked, current == nil)
	}
}

func yamlOf(t *testing.T, b block) any {
	t.Helper()
	value, err := jsonvalue.FromYAML([]byte(b.text))
	if err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	return value
}

func (e *example) render(t *testing.T) (any, error) {
	t.Helper()
	if e.info == "mapping" {
		document, err := jsonvalue.FromYAML([]byte(e.text))
		if err != nil {
			return nil, err
		}
		raw := executor(t, v1alpha1.SpiffTemplateType, document).Template
		return Mapping(t.Context(), "import mapping template example", raw, e.bindings, nil)
	}
	executor := executor(t, v1alpha1.GOTemplateType, e.text)
	if executor.Name = "example"; e.info == "spiff" {
		executor.Type = v1alpha1.SpiffTemplateType
	}
	engine := &Engine{Files: fileTree(e.files)}
	out, err := engine.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor, Bindings: e.bindings, State: e.state})
	if err != nil {
		return nil, err
	}
	var result map[string]any
	err = out.Decode(&result)
	return any(result), err
}
