package components

import (
	"strings"
	"testing"
)

func TestDefaultFile(t *testing.T) {
	for _, test := range []struct{ resource, mediaType, want string }{
		{"web", "application/vnd.oci.image.manifest.v1+tar+gzip", "web.tgz"},
		{"web.tgz", "application/x-tgz", "web.tgz"},
		{"web", "application/x-tar", "web.tar"},
		{"web", "text/plain; charset=utf-8", "web.txt"},
		{"web", "application/vnd.gardener.landscaper.jsonschema.layer.v1.json", "web.json"},
		{"web", "application/octet-stream", "web"},
		{"../../etc/passwd", "", "_.._etc_passwd"},
		{"/etc/passwd", "", "_etc_passwd"},
		{".bashrc", "", "bashrc"},
		{"a\x1b[2Jb", "", "a__2Jb"},
	} {
		t.Run(test.resource, func(t *testing.T) {
			if got, err := defaultFile(test.resource, test.mediaType, false); got != test.want || err != nil {
				t.Errorf("%q: %q, %v", test.resource, got, err)
			}
		})
	}
	if _, err := defaultFile("..", "", false); err == nil || !strings.Contains(err.Error(), "--output-file") {
		t.Errorf("an invalid name: %v", err)
	}
}
