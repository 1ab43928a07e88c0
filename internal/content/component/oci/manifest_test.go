package oci

import (
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// TestManifestsNameNoPaths has digests that would become parts of paths.
func TestManifestsNameNoPaths(t *testing.T) {
	const valid = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	for _, test := range []struct{ reason, manifest, want string }{
		{"all digests are some", `{"config":{"digest":"` + valid + `","size":2},"layers":[{"digest":"` + valid + `","size":2}]}`, ""},
		{"no config, as of an artifact without one", `{"layers":[]}`, ""},
		{"an empty manifest", `{}`, ""},
		{"a layer that is a path", `{"layers":[{"digest":"../../x","size":2}]}`, "digest"},
		{"a layer without a digest", `{"layers":[{"size":2}]}`, "digest"},
		{"a layer of less than nothing", `{"layers":[{"digest":"` + valid + `","size":-2}]}`, "has the size -2"},
		{"a config that is a path", `{"config":{"digest":"../../x","size":2}}`, "digest"},
		{"a config without an algorithm", `{"config":{"digest":"abc","size":2}}`, "digest"},
		{"a config of less than nothing", `{"config":{"digest":"` + valid + `","size":-2}}`, "has the size -2"},
		{"no JSON", `{`, "decode manifest"},
		{"a list", `[]`, "decode manifest"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m := memory{}
			_, err := ReadManifest(t.Context(), m, "r", m.put(ocispec.MediaTypeImageManifest, test.manifest))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
