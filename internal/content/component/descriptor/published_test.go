package descriptor

import (
	"strings"
	"testing"
)

// TestViolations: what readers here take and others refuse.
func TestViolations(t *testing.T) {
	element := func(fields string) string {
		return `{meta: {schemaVersion: v2}, component: {name: example.org/a, version: 1.0.0, provider: p, resources: [{type: t, access: {type: none}, ` + fields + `}]}}`
	}
	reference := func(fields string) string {
		return `{meta: {schemaVersion: v2}, component: {name: example.org/a, version: 1.0.0, provider: p, componentReferences: [{` + fields + `}]}}`
	}
	for _, test := range []struct{ reason, text, want string }{
		{"a good name", element("name: r1-x_y+z, version: v1.2"), ""},
		{"a short name", element("name: r, version: 1.0.0"), `resources[0].name: "r"`},
		{"upper case and a blank", element("name: 'R_1 x', version: 1.0.0"), `resources[0].name: "R_1 x"`},
		{"a hyphen at the end", element("name: ab-, version: 1.0.0"), `resources[0].name`},
		{"a short key", element("name: rr, version: 1.0.0, extraIdentity: {a: x}"), `resources[0].extraIdentity.a: the key "a"`},
		{"a key in upper case", element("name: rr, version: 1.0.0, extraIdentity: {A_B: x}"), `extraIdentity.A_B`},
		{"a key with a slash", element("name: rr, version: 1.0.0, extraIdentity: {os/arch: x}"), `extraIdentity.os/arch`},
		{"a good key", element("name: rr, version: 1.0.0, extraIdentity: {os: x}"), ""},
		{"a word as version", element("name: rr, version: foo"), `resources[0].version: "foo" is not a semantic version`},
		{"two words as version", element("name: rr, version: foo bar"), `"foo bar"`},
		{"a reference in upper case", reference("name: R_x, componentName: example.org/b, version: 1.0.0"), `references[0].name: "R_x"`},
		{"a reference to no component", reference("name: rx, componentName: xy, version: 1.0.0"), `references[0].componentName: the component name "xy"`},
		{"a reference to no version", reference("name: rx, componentName: example.org/b, version: foo"), `references[0].version`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			d, err := Decode([]byte(test.text))
			if err != nil {
				t.Fatalf("readers take it: %v", err)
			}
			got := strings.Join(d.Warnings(), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	many, err := Decode([]byte(element("name: r, version: foo, extraIdentity: {a: x, b: x, c: x}")))
	if err != nil {
		t.Fatal(err)
	}
	if got := many.Warnings(); len(got) != 1 || !strings.Contains(got[0], "(and 2 more)") {
		t.Errorf("%q", got)
	}
}
