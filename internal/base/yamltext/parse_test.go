package yamltext

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestMistakes makes the library say all that is recognised: where a new release says
// it in other words, its row fails.
func TestMistakes(t *testing.T) {
	tests := []struct {
		reason, text, says string
		line               int
	}{
		{"a colon in a plain text", "a: 1\nb: x: hunter2", "mapping values are not allowed in this context", 2},
		{"an entry of a list behind a key", "hunter2: - b", "block sequence entries are not allowed in this context", 0},
		{"a key to the left of the others", "a:\n  b: hunter2\n c: 2", "did not find expected key", 2},
		{"a key between the entries of a list", "- |\n  hunter2\n b: c", "did not find expected '-' indicator", 2},
		{"a list that does not end", "[a, hunter2", "did not find expected ',' or ']'", 1},
		{"a map that does not end", "{a: hunter2", "did not find expected ',' or '}'", 1},
		{"nothing between commas", "[a, , hunter2]", "did not find expected node content", 0},
		{"a version without a document", "%YAML 1.1\nhunter2", "did not find expected <document start>", 1},
		{"a text on the line where a block begins", "a: | hunter2\n b", "did not find expected comment or line break", 0},
		{"a wildcard, which begins an alias", "a: *.hunter2.example", "did not find expected alphabetic or numeric character", 0},
		{"a line without a colon", "a: 1\nhunter2", "could not find expected ':'", 2},
		{"a character that is reserved", "a: @hunter2", "found character that cannot start any token", 0},
		{"a tab in front of an entry", "a:\n  - hunter2\n\t- c", "found a tab character that violates indentation", 2},
		{"a tab in front of a block", "a: |\n\t hunter2", "found a tab character where an indentation space is expected", 2},
		{"a quote that does not end", "a: \"hunter2", "found unexpected end of stream", 0},
		{"a document that begins in a quote", "a: \"hunter2\n---\n\"", "found unexpected document indicator", 2},
		{"a path of Windows in quotes", `"C:\hunter2"`, "found unknown escape character", 0},
		{"a control character", "a: \x01hunter2", "control characters are not allowed", 0},
		{"deeper than the library goes, before our limits count", strings.Repeat("[", 10_001) + "hunter2", "exceeded max depth of 10000", 0},
		{"a name of an anchor is a word of the text", "a: 1\nb: *hunter2", "an alias refers to an anchor that does not exist", 0},
		{"bytes that are not UTF-8", "a: hunter2\xff", "the text is not UTF-8", 0},
		{"bytes that are not UTF-8 behind another mistake", "a: b: hunter2\xc3", "the text is not UTF-8", 0},
		{"what else the library knows has no words of its own", "!hunter2!a b", notYAML, 0},
		{"directives neither", "%hunter2\n---\na", notYAML, 0},
	}
	untested := maps.Clone(mistakes)
	for _, test := range tests {
		delete(untested, test.says)
		t.Run(test.reason, func(t *testing.T) {
			_, single := Decode([]byte(test.text), DefaultLimits())
			_, several := Nodes([]byte(test.text))
			for _, err := range []error{single, several} {
				var problem *Error
				if !errors.As(err, &problem) || problem.Reason != test.says || problem.Line != test.line {
					t.Errorf("got %v; want line %d: %s", err, test.line, test.says)
				}
				if err != nil && strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%q repeats the text", err)
				}
			}
		})
	}
	if len(untested) > 0 {
		t.Errorf("no text shows that the library says %s", slices.Collect(maps.Keys(untested)))
	}
}

// FuzzErrors shows that no error repeats a word of its text.
func FuzzErrors(f *testing.F) {
	for _, seed := range []string{"a: %s: b", "[%s", "{%s: *%s", "!%s!x y", "\"\\%s", "&%s &%s", "%%%s\n---", "? %s\n- %s", "!<%s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, form string) {
		const secret = "qxzvhunter2"
		text := strings.ReplaceAll(form, "%s", secret)
		if _, err := Decode([]byte(text), DefaultLimits()); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := Nodes([]byte(text)); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
