package components

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestWhatOthersWrite reads an archive that was made and signed by hand, with other
// programs, as the published layouts and normal forms say: an older descriptor as YAML
// in a tar, the third schema as JSON, an image by value as an artifact set and in the
// layout of OCI, signatures as hexadecimal text and as PEM.
func TestWhatOthersWrite(t *testing.T) {
	published, err := filepath.Abs(filepath.Join("testdata", "published"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := filepath.Abs(filepath.Join("testdata", "release.pub"))
	if err != nil {
		t.Fatal(err)
	}
	terminaltest.WriteFiles(t, nil)
	const component = "example.org/shop/web 1.4.2+rc7"
	steps := []struct{ reason, args, out string }{
		{"both component versions", "list " + published, "example.org/shop/db:3.1.0\nexample.org/shop/web:1.4.2+rc7\n"},
		{"a tag stands for a version with a plus sign", "get " + published + " " + component + " -o tree", "example.org/shop/web:1.4.2+rc7\n└── db example.org/shop/db:3.1.0\n"},
		{"all contents have their digests", "download " + published + " " + component + " --all -R -O all -q", "Wrote " + filepath.Join("all", "example.org_shop_db-3.1.0", "schema.json") + " (17 B, "},
		{"an artifact set becomes a layout", "download " + published + " " + component + " image --oci-layout -q", "Wrote image.tar"},
		{"a layout stays a layout", "download " + published + " " + component + " layout --oci-layout -q", "Wrote layout.tar"},
		{"a copy", "copy " + published + " " + component + " copied.tgz -R --create -q", "Copied example.org/shop/web:1.4.2+rc7"},
	}
	for _, where := range []string{published, "copied.tgz"} {
		for _, name := range []string{"hex", "pss", "pem"} {
			steps = append(steps, struct{ reason, args, out string }{"the signature " + name + " in " + filepath.Base(where), "verify " + where + " " + component + " -s " + name + " -k " + key, "Verified signature " + name})
		}
	}
	for _, step := range steps {
		if got := execute(t, strings.Fields(step.args)...); got.code != 0 || !strings.Contains(got.out, step.out) {
			t.Errorf("%s: %+v", step.reason, got)
		}
	}
	if content, err := os.ReadFile(filepath.Join("all", "example.org_shop_db-3.1.0", "schema.json")); err != nil || string(content) != `{"type":"string"}` {
		t.Errorf("the schema is %q, %v", content, err)
	}
	for _, name := range []string{"image.tar", "layout.tar"} {
		t.Run(name, func(t *testing.T) {
			// The mark, the index, and an index with two images of a config and a layer.
			if files := tarFiles(t, name); len(files) != 2+7 {
				t.Errorf("%s has %d files", name, len(files))
			}
		})
	}
}
