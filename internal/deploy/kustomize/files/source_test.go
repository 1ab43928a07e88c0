package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"sigs.k8s.io/yaml"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestWrongSources shows what is found without a request.
func TestWrongSources(t *testing.T) {
	for _, test := range []struct{ reason, source, want string }{
		{"nothing", "{}", "nothing says where the files are"},
		{"two sources", "{resourceRef: a, files: {a.yaml: ''}}", "source.files and source.resourceRef are set"},
		{"three sources", "{git: {url: a}, oci: {ref: a}, files: {a.yaml: ''}}", "source.files and source.git and source.oci are set"},
		{"a repository without an address", "{git: {url: ' '}}", "source.git.url is missing"},
		{"a branch and a tag", "{git: {url: a, ref: {branch: a, tag: b}}}", "both branch and tag"},
		{"a part of a commit", "{git: {url: a, ref: {commit: abc}}}", "no complete commit hash"},
		{"a file above the source", "{files: {../a.yaml: ''}}", "invalid argument"},
		{"an absolute path", "{files: {/a.yaml: ''}}", "invalid argument"},
		{"a file that is a directory, too", "{files: {a: '', a/b: ''}}", "not a directory"},
		{"a key that is not valid", "{resourceRef: hello}", "it is not a key of a resource"},
		{"a reference that is not valid", "{oci: {ref: 'a b'}}", "is not a reference to an artifact"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			source := &api.Source{}
			if err := yaml.UnmarshalStrict([]byte(test.source), source); err != nil {
				t.Fatal(err)
			}
			_, err := (&Loader{}).Load(t.Context(), &v1alpha1.DeployItem{}, source)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if job.OutcomeOf(err) != job.Terminal {
				t.Error("another attempt would only repeat it")
			}
		})
	}
}

// TestArchives shows which contents are taken, and which are refused.
func TestArchives(t *testing.T) {
	pack := func(headers ...*tar.Header) []byte {
		t.Helper()
		var packed bytes.Buffer
		writer := tar.NewWriter(&packed)
		for _, header := range headers {
			header.Mode = 0o644
			if err := errors.Join(writer.WriteHeader(header), func() error { _, err := writer.Write(make([]byte, header.Size)); return err }()); err != nil {
				t.Fatal(err)
			}
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		return packed.Bytes()
	}
	var many []*tar.Header
	for i := range limits().Files + 1 {
		many = append(many, &tar.Header{Name: fmt.Sprintf("f%d", i)})
	}
	for _, test := range []struct {
		reason string
		packed []byte
		want   string
	}{
		{"files", pack(&tar.Header{Name: "./a.yaml", Size: 3}), ""},
		{"no archive", []byte("hello"), "unpack the files"},
		{"a file above", pack(&tar.Header{Name: "../a.yaml"}), "leads out of it"},
		{"a link that leads out", pack(&tar.Header{Name: "a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "leads out of the tree"},
		{"many files", pack(many...), "number of files"},
		{"a large file", pack(&tar.Header{Name: "a", Size: limits().Bytes + 1}), "number of bytes"},
		{"a device", pack(&tar.Header{Name: "a", Typeflag: tar.TypeChar}), "device"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, err := unset(t.Context(), test.packed, "application/x-tar")
			switch {
			case test.want == "" && (err != nil || found.Entries() == 0):
				t.Errorf("error %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestLayers shows which layer of an artifact has the files.
func TestLayers(t *testing.T) {
	layer := func(mediaType string) ocispec.Descriptor {
		return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(mediaType)}
	}
	for _, test := range []struct {
		reason string
		layers []ocispec.Descriptor
		want   int
	}{
		{"a single layer", []ocispec.Descriptor{layer("application/x-tar")}, 0},
		{"the layer of Flux beside another layer", []ocispec.Descriptor{layer("other"), layer(fluxLayer)}, 1},
		{"several layers of other types", []ocispec.Descriptor{layer("a"), layer("b")}, -1},
		{"none", nil, -1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			chosen, err := filesLayer(test.layers)
			if test.want < 0 {
				if err == nil || !strings.Contains(err.Error(), fluxLayer) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || chosen.Digest != test.layers[test.want].Digest {
				t.Errorf("layer %v, error %v", chosen, err)
			}
		})
	}
}
