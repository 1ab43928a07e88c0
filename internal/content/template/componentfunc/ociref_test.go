package componentfunc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOCIRef(t *testing.T) {
	const digest = "sha256:4c8e4f4bbd0a1a5a2bd0e4dd1bc2bbd8e8e2b8e3c2d4e4b5f6a7b8c9d0e1f2a3"
	tests := []struct{ reason, text, repository, version, err string }{
		{"a registry, a path and a tag", "host:5000/a/b:1", "host:5000/a/b", "1", ""},
		{"a registry without a port", "registry.example.org/images/web:1.4.2", "registry.example.org/images/web", "1.4.2", ""},
		{"an official image", "redis:7", "redis", "7", ""},
		{"another image of the default registry", "acme/tool:2", "acme/tool", "2", ""},
		{"the default registry by its name", "docker.io/library/redis:7", "redis", "7", ""},
		{"the default registry by its other name", "index.docker.io/acme/tool:2", "acme/tool", "2", ""},
		{"a scheme is cut off", "https://registry.example.org/a:1", "registry.example.org/a", "1", ""},
		{"any scheme is cut off", "oci://registry.example.org/a:1", "registry.example.org/a", "1", ""},
		{"a digest", "registry.example.org/a@" + digest, "registry.example.org/a", digest, ""},
		{"a digest goes before a tag", "registry.example.org/a:1@" + digest, "registry.example.org/a", digest, ""},
		{"the colon may be that of the port", "host:5000/x", "host:5000/x", "latest", ""},
		{"the colon may be that of the scheme", "oci://registry.example.org/x", "registry.example.org/x", "latest", ""},
		{"no colon", "redis", "", "", "invalid reference"},
		{"no colon after a registry", "registry.example.org/a", "", "", "invalid reference"},
		{"nothing", "", "", "", "invalid reference"},
		{"capital letters", "registry.example.org/Secret-Word:1", "", "", "invalid reference"},
		{"an empty tag", "redis:", "", "", "invalid reference"},
		{"a short digest", "redis@sha256:12", "", "", "invalid reference"},
		{"an unknown digest", "redis@Secret-Word:" + strings.Repeat("0", 64), "", "", "invalid reference"},
		{"only hexadecimal digits", strings.Repeat("0", 64) + ":1", strings.Repeat("0", 64), "1", ""},
		{"a text", "this is a Secret-Word: yes", "", "", "invalid reference"},
	}
	functions := Pure()
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := functions["parseOCIRef"](t.Context(), []any{test.text})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "Secret-Word") {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if diff := cmp.Diff(any([]any{test.repository, test.version}), got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
			for name, want := range map[string]string{"ociRefRepo": test.repository, "ociRefVersion": test.version} {
				if got, err := functions[name](t.Context(), []any{test.text}); got != want || err != nil {
					t.Errorf("%s returns %v, %v", name, got, err)
				}
			}
		})
	}
}

func TestOCIArguments(t *testing.T) {
	tests := []struct {
		reason string
		args   []any
		want   string
	}{
		{"none", nil, "Too few arguments for parseOCIReference. Expected 1 reference."},
		{"two", []any{"redis:7", "x"}, "Too many arguments for parseOCIReference. Expected 1 reference."},
		{"no text", []any{int64(7)}, "Invalid argument: string expected"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			for name, function := range Pure() {
				if _, err := function(t.Context(), test.args); err == nil || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	}
}
