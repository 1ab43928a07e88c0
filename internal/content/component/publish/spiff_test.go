package publish

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestTemplate: a template is merged with libraries, and sees values and variables,
// but no file of this machine.
func TestTemplate(t *testing.T) {
	base := t.TempDir()
	for name, text := range map[string]string{
		"template.yaml": "name: (( inputvalues.name ))\nversion: (( values.VERSION ))\ncount: (( inputvalues.count + 1 ))\nlib: (( merge ))\n",
		"library.yaml":  "lib: from the library\n",
		"several.yaml":  "a: 1\n---\nb: 2\n",
		"reads.yaml":    "a: (( read(\"/etc/hostname\") ))\n",
		"wrong.yaml":    "a: (( nowhere.at.all ))\n",
	} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &publication{descriptor: &descriptor.Descriptor{Name: "example.org/web"}, options: Options{Directory: base, Variables: map[string]string{"VERSION": "1.10"}}}
	for _, test := range []struct {
		reason string
		input  Input
		want   string
		err    string
	}{
		{"values, variables and a library", Input{Path: "template.yaml", Values: []byte(`{"name":"shop","count":2}`), Libraries: []string{"library.yaml"}}, "count: 3\nlib: from the library\nname: shop\nversion: \"1.10\"\n", ""},
		{"several documents", Input{Path: "several.yaml"}, "a: 1\n---\nb: 2\n", ""},
		{"a file of this machine", Input{Path: "reads.yaml"}, "", "evaluate the template reads.yaml"},
		{"a template that does not work out", Input{Path: "wrong.yaml"}, "", "nowhere"},
		{"a library that is not there", Input{Path: "several.yaml", Libraries: []string{"none.yaml"}}, "", "library none.yaml"},
		{"no path", Input{}, "", "the path is missing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.input.Type = "spiff"
			got, err := p.content(t.Context(), &test.input)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), `input of type "spiff"`) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.mediaType != "application/octet-stream" || string(dataOf(t, got)) != test.want {
				t.Errorf("%s %q, %v", got.mediaType, dataOf(t, got), err)
			}
		})
	}
	compressed, err := p.content(t.Context(), &Input{Type: "spiff/v1", Path: "several.yaml", Compress: true, MediaType: "application/x-yaml+gzip"})
	if err != nil || compressed.mediaType != "application/x-yaml+gzip" || dataOf(t, compressed)[0] != 0x1f {
		t.Errorf("compressed: %s, %v", compressed.mediaType, err)
	}
}

// TestElsewhere: what an input downloads is asked for as an access would be.
func TestElsewhere(t *testing.T) {
	var asked string
	p := &publication{descriptor: &descriptor.Descriptor{}, options: Options{Open: func(_ context.Context, access descriptor.Typed) (*repository.Blob, error) {
		asked = access.String()
		return &repository.Blob{ReadCloser: io.NopCloser(strings.NewReader("content")), MediaType: "application/x-tgz"}, nil
	}}}
	got, err := p.content(t.Context(), &Input{Type: "git", Repository: "https://git.example.org/shop", Ref: "main", Commit: "c0ffee"})
	if err != nil || string(dataOf(t, got)) != "content" || got.mediaType != "application/x-tgz" || asked != `{"commit":"c0ffee","ref":"main","repository":"https://git.example.org/shop","type":"git"}` {
		t.Errorf("%s: %+v, %v", asked, got, err)
	}
	if err := errors.Join(got.Close()); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"git", "wget", "ociArtifact"} {
		t.Run(kind, func(t *testing.T) {
			if _, err := (&publication{descriptor: &descriptor.Descriptor{}}).content(t.Context(), &Input{Type: kind}); err == nil || !strings.Contains(err.Error(), "cannot be read here") {
				t.Errorf("%s without a network: %v", kind, err)
			}
		})
	}
}
