package schema

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormats asks each format that is checked for texts that have it, and for texts
// that only look so.
func TestFormats(t *testing.T) {
	label := strings.Repeat("a", 63)
	tests := []struct {
		format    string
		good, bad []string
	}{
		{"date", []string{"2031-05-06", "2024-02-29"}, []string{"2031-5-6", "2023-02-29", "06.05.2031", ""}},
		{"time", []string{"12:30:45", "12:30:45Z", "12:30:45+02:00", "12:30:45.5Z"}, []string{"24:00:00", "12:30", "noon"}},
		{"date-time", []string{"2031-05-06T12:30:45Z", "2031-05-06T12:30:45.123+02:00", "2024-02-29"}, []string{"2031-13-06T12:30:45Z", "2031-05-06 12:30:45"}},
		{"email", []string{"a@b", "A B <a.b+c@example.org>"}, []string{"a", "@b", "a@"}},
		{"ipv4", []string{"10.0.0.1"}, []string{"10.0.0", "10.0.0.256", "10.0.0.01", "::1", "10.0.0.1/8"}},
		{"ipv6", []string{"::1", "2001:db8::", "::ffff:10.0.0.1"}, []string{"10.0.0.1", ":::", "fe80::1%eth0"}},
		{"uri", []string{"https://h/p?q#f", "urn:a:b", "mailto:a@b"}, []string{"/p", "h", `https:\\h`, "://"}},
		{"uri-reference", []string{"/p?q", "", "https://h"}, []string{`a\b`, "%zz"}},
		{"uri-template", []string{"https://h/{a}/{b}", "/p"}, []string{"https://h/{a"}},
		{"uuid", []string{"123e4567-e89b-12d3-a456-426614174000"}, []string{"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", ""}},
		{"regex", []string{"^a+$", ""}, []string{"(", "(?=a)", "a{1,100000}"}},
		{"hostname", []string{"a", "a.b-c", "1.2", label}, []string{"-a", "a-", "a..b", "a_b", label + "a", strings.Repeat("a.", 128) + "a", ""}},
		{"json-pointer", []string{"", "/a/b", "/~0~1"}, []string{"a", "/~2", "/~"}},
		{"relative-json-pointer", []string{"0", "1/a", "2#"}, []string{"", "01/a", "-1", "a"}},
		{"idn-email", []string{"ä@example.org"}, []string{"@"}},
		{"iri", []string{"https://example.org/ä"}, []string{`https://example.org/\`, "/a"}},
		{"iri-reference", []string{"ä", "../a"}, []string{`\`}},
		{"duration", []string{"", "not looked at"}, nil},
		{"semver", []string{"not looked at"}, nil},
		{"unknown", []string{"", "anything"}, nil},
	}
	for _, test := range tests {
		for _, want := range []bool{true, false} {
			texts := map[bool][]string{true: test.good, false: test.bad}[want]
			for _, text := range texts {
				t.Run(fmt.Sprintf("%s: %q is %t", test.format, text, want), func(t *testing.T) {
					err := check(t, &Compiler{}, fmt.Sprintf(`{"format": %q}`, test.format), fmt.Sprintf("%q", text))
					if want {
						expect(t, "it has the format", err, "")
					} else {
						expect(t, "it has not", err, "(root): Must have the format "+test.format)
					}
				})
			}
		}
		t.Run(test.format+": a value that is not a string has no format", func(t *testing.T) {
			if err := check(t, &Compiler{}, fmt.Sprintf(`{"format": %q}`, test.format), "[1, {a: null}]"); err != nil {
				t.Error(err)
			}
		})
	}
}
