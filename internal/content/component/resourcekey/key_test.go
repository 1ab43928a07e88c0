package resourcekey

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestParse: a key comes from a template, so that it may be anything.
func TestParse(t *testing.T) {
	const good = `{component: {name: acme.example/web, version: 1.0.0}, resource: {name: chart}}`
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	tests := []struct{ reason, text, want string }{
		{"a key as getResourceKey makes it", encoded(good), ""},
		{"a key with a line end, as a file has", encoded(good) + "\n", ""},
		{"a key in JSON", encoded(`{"component":{"name":"a","version":"1"},"resource":{"name":"b"}}`), ""},
		{"a key with more that identifies the resource", encoded(`{component: {name: a, version: "1"}, resource: {name: b, os: linux}}`), ""},
		{"a key with a field of a later version", encoded(`{component: {name: a, version: "1", later: x}, resource: {name: b}, more: y}`), ""},

		{"nothing", "", "must be set"},
		{"spaces", " \n", "must be set"},
		{"plain text", "acme.example/web:chart", "it is not base64"},
		{"for addresses, which is another alphabet", base64.URLEncoding.EncodeToString([]byte("{a: '???>>>'}")), "it is not base64"},
		{"without its end", encoded(good)[:41], "it is not base64"},
		{"no YAML", encoded("{component: [Tr0ubador"), "it is not a key of a resource"},
		{"null", encoded("null"), "must be set"},
		{"a list", encoded("[Tr0ubador]"), "it is not a key of a resource"},
		{"a text", encoded("Tr0ubador"), "it is not a key of a resource"},
		{"no component", encoded(`{resource: {name: b}}`), "must be set"},
		{"no version", encoded(`{component: {name: a}, resource: {name: b}}`), "must be set"},
		{"no name of the resource", encoded(`{component: {name: a, version: "1"}, resource: {os: linux}}`), "must be set"},
		{"an empty name", encoded(`{component: {name: a, version: "1"}, resource: {name: ""}}`), "must be set"},
		{"a resource that is a text", encoded(`{component: {name: a, version: "1"}, resource: Tr0ubador}`), "it is not a key of a resource"},
		{"bytes that are not UTF-8", encoded("\xff\xfe"), "it is not a key of a resource"},
		{"levels without end", encoded(strings.Repeat("[", 100_000)), "it is not a key of a resource"},
		{"what stands for more and more", encoded("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]"), "it is not a key of a resource"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			key, err := Parse(test.text)
			if test.want == "" {
				if err != nil || key.Component.Name == "" || key.Component.Version == "" || key.Resource["name"] == "" {
					t.Errorf("%+v, %v", key, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "use what the template function getResourceKey returns") {
				t.Fatalf("%+v, %.300v, want %q", key, err, test.want)
			}
			if strings.Contains(err.Error(), "Tr0ubador") || len(err.Error()) > 500 {
				t.Errorf("the key is repeated: %.300v", err)
			}
		})
	}
}
