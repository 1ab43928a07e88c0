package safetext

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, row := range []struct{ reason, text, want string }{
		{"most texts are as they are", "the pod waits for a node: über, 日本", "the pod waits for a node: über, 日本"},
		{"a status has one line", "one\ntwo\r\n\tthree", "one two   three"},
		{"a terminal gets no orders", "\x1b[31mred\x07 \u202eleft\u2066", "[31mred left"},
		{"half a character is dropped", "a\xffb", "ab"},
		{"a long text is cut", strings.Repeat("x", 100000), strings.Repeat("x", most) + "..."},
		{"a long text is not cut inside of a character", strings.Repeat("x", most-1) + "ü", strings.Repeat("x", most-1) + "..."},
		{"what fits is not cut", strings.Repeat("x", most), strings.Repeat("x", most)},
		{"nothing is nothing", "", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if got := Text(row.text); got != row.want {
				t.Errorf("%q", got)
			}
		})
	}
}
