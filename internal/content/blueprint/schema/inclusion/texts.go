package inclusion

import (
	"strings"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// samples are texts of many forms. One that only the first schema admits proves that a pattern or a
// format refuses something.
var samples = []string{
	"", "a", "A", "z", "0", "7", "-", "_", ".", "/", " ", "ä", "\n", "abc", "ABC", "aB3", "a b", "a-b", "a_b", "a.b", "a/b", "a:b", "a@b", "42", "-1", "1.5", "v1.2.3", "1.2.3",
	"example.org", "a.example.org", "user@example.org", "https://example.org/a", "192.0.2.1", "2001:db8::1", "10s", "5m", "1h", "100Mi", "1Gi",
	"2024-01-31", "12:30:00Z", "2024-01-31T12:30:00Z", "123e4567-e89b-12d3-a456-426614174000", strings.Repeat("a", 64), strings.Repeat("A", 300),
}

// texts compares patterns and formats.
func (c *comparison) texts(at []string, f *facts, to node) {
	if f.types&text == 0 {
		return
	}
	for _, rule := range []string{"pattern", "format"} {
		wanted, exists := to.rules()[rule].(string)
		if !exists {
			continue
		}
		own, same := f.textRule(rule, wanted)
		if same {
			continue
		}
		d := Difference{Kind: Undecided, Rule: rule, From: strings.TrimPrefix(own, link.FormatPrefix), To: strings.TrimPrefix(wanted, link.FormatPrefix)}
		if sample, found := f.onlyOf(to); found {
			d.Kind, d.Values = Refused, listText([]any{sample})
		}
		c.report(at, d)
	}
}

// textRule returns what the first schema says, and whether that is the same.
func (f *facts) textRule(rule, wanted string) (own string, same bool) {
	for _, n := range f.nodes {
		text, exists := n.rules()[rule].(string)
		if exists && text == wanted {
			return text, true
		}
		if exists {
			own = text
		}
	}
	return own, false
}

// onlyOf returns a text that the first schema admits and the second one does not.
func (f *facts) onlyOf(to node) (string, bool) {
	for _, sample := range samples {
		if f.admit(sample) && !to.admits(sample) {
			return sample, true
		}
	}
	return "", false
}
