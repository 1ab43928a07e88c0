package lint

import (
	"strings"
	"testing"
	"testing/fstest"
)

const placed = `# comment
imports:
- name: a
  schema: {type: string}
- name: b
localTypes:
  a.b:
    type: string
  "c": &c
    x: 1
  d: *c
text: |
  imports:
  - name: inner
`

func TestPlaces(t *testing.T) {
	files := fstest.MapFS{"blueprint.yaml": {Data: []byte(placed)}, "broken.yaml": {Data: []byte("a: [")}, "empty.yaml": {}}
	tests := []struct {
		reason string
		at     place
		field  string
		line   int
	}{
		{"the file", inFile(files, "blueprint.yaml"), "", 2},
		{"an absolute name", inFile(files, "/./blueprint.yaml").child("imports"), "imports", 2},
		{"an entry", inFile(files, "blueprint.yaml").child("imports").index(1), "imports[1]", 5},
		{"a field of an entry", inFile(files, "blueprint.yaml").child("imports").index(0).child("schema", "type"), "imports[0].schema.type", 4},
		{"a field that is missing: its entry", inFile(files, "blueprint.yaml").child("imports").index(1).child("schema"), "imports[1].schema", 5},
		{"an entry that is missing: the list", inFile(files, "blueprint.yaml").child("imports").index(7).child("name"), "imports[7].name", 2},
		{"a key with a dot", inFile(files, "blueprint.yaml").child("localTypes").key("a.b").child("type"), "localTypes[a.b].type", 8},
		{"through an alias", inFile(files, "blueprint.yaml").child("localTypes").key("d").child("x"), "localTypes[d].x", 10},
		{"a text is not looked into", inFile(files, "blueprint.yaml").child("text", "imports").index(0), "text.imports[0]", 12},
		{"a path from elsewhere", inFile(files, "blueprint.yaml").within("imports[0].schema"), "imports[0].schema", 4},
		{"a path with a key", inFile(files, "blueprint.yaml").within("localTypes[a.b].type"), "localTypes[a.b].type", 8},
		{"a path below a place", inFile(files, "blueprint.yaml").child("imports").within("[1].name"), "imports[1].name", 5},
		{"a bracket is no beginning", inFile(files, "blueprint.yaml").within("[0].imports"), "imports", 2},
		{"an empty path", inFile(files, "blueprint.yaml").child("imports").within(""), "imports", 2},
		{"a file that is no YAML", inFile(files, "broken.yaml").child("a"), "a", 0},
		{"an empty file", inFile(files, "empty.yaml").child("a"), "a", 0},
		{"a file that is not there", inFile(files, "none.yaml").child("a"), "a", 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if field, line := test.at.field(), test.at.line(); field != test.field || line != test.line {
				t.Errorf("%s in line %d, want %s in line %d", field, line, test.field, test.line)
			}
		})
	}
	if base := inFile(files, "blueprint.yaml").child("imports"); base.index(0).field() != "imports[0]" || base.index(1).field() != "imports[1]" || base.field() != "imports" {
		t.Error("places that are derived from one share it")
	}
}

func TestFindings(t *testing.T) {
	tests := []struct {
		reason  string
		finding Finding
		want    string
	}{
		{"all that is known", Finding{Error, "a.yaml", 3, "b[0]", "no"}, "a.yaml:3: error: b[0]: no"},
		{"no line", Finding{Warning, "a.yaml", 0, "b", "no"}, "a.yaml: warning: b: no"},
		{"no field", Finding{Note, "a.yaml", 3, "", "no"}, "a.yaml:3: note: no"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.finding.String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// nestedIn puts a blueprint into others, level by level.
func nestedIn(levels int, inner string) string {
	const sub = "subinstallations:\n- name: s\n  blueprint:\n    filesystem:\n      blueprint.yaml: |\n"
	text := header + inner
	for range levels {
		text = header + sub + "        " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n        ") + "\n"
	}
	return text
}

func TestNesting(t *testing.T) {
	tests := []struct {
		reason string
		text   string
		want   string
	}{
		{"nothing is wrong deep inside", nestedIn(5, ""), ""},
		{"a mistake deep inside is told where the outermost text stands", nestedIn(3, "imports:\n- name: a\n"),
			"blueprint.yaml:7: error: subinstallations[0].blueprint.filesystem[blueprint.yaml].subinstallations[0].blueprint.filesystem[blueprint.yaml].subinstallations[0].blueprint.filesystem[blueprint.yaml].imports[0]: "},
		{"an execution deep inside", nestedIn(2, "deployExecutions:\n- {name: a, type: GoTemplate, template: '{{ nope }}'}\n"), "function \"nope\" not defined"},
		{"hostile: deeper than anybody writes", nestedIn(maxDepth+1, ""), "blueprints are nested more than 32 levels deep"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := check(t, map[string]string{"blueprint.yaml": test.text})
			if (test.want == "") != (len(got) == 0) || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], test.want) {
				t.Errorf("got %.900q", got)
			}
		})
	}
}
