package extract

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/oci"
)

// pack writes headers as a tar; the content of a file is its name.
func pack(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, header := range headers {
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(header.Name))
		}
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := writer.Write([]byte(header.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name string, mode int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}
}

func link(name, target string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}
}

func TestExtract(t *testing.T) {
	for _, test := range []struct {
		reason string
		have   map[string]string
		tar    []tar.Header
		want   map[string]fs.FileMode
		err    error
	}{
		{"files, executable ones and a link inside", nil, []tar.Header{file("a/run.sh", 0o755), file("b", 0o600), link("a/c", "../b")},
			map[string]fs.FileMode{"a/run.sh": 0o755, "b": 0o644, "a/c": fs.ModeSymlink}, nil},
		{"others are left alone", map[string]string{"out/mine": "mine", "out/b": "old"}, []tar.Header{file("b", 0o644)}, map[string]fs.FileMode{"mine": 0o644, "b": 0o644}, nil},
		{"an empty directory gives way", map[string]string{"out/": ""}, []tar.Header{file("b", 0o644)}, map[string]fs.FileMode{"b": 0o644}, nil},
		{"a path that leads out", nil, []tar.Header{file("../b", 0o644)}, nil, archive.ErrUnsafe},
		{"a link that leads out", nil, []tar.Header{link("a", "../b")}, nil, archive.ErrUnsafe},
		{"a link that leads out by another one", nil, []tar.Header{link("a/up", ".."), link("b", "a/up/../x")}, nil, archive.ErrUnsafe},
		{"a device", nil, []tar.Header{{Typeflag: tar.TypeChar, Name: "a"}}, nil, archive.ErrUnsafe},
		{"a file below a link", nil, []tar.Header{link("a", "."), file("a/b", 0o644)}, nil, archive.ErrUnsafe},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, map[string]string{"content": string(pack(t, test.tar...))})
			for name, text := range test.have {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if text != "" {
					if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			count, err := Archive(t.Context(), "content", "application/x-tar", "out")
			if !errors.Is(err, test.err) || err == nil && count != len(test.tar) {
				t.Errorf("%d files, %v", count, err)
			}
			if hidden, _ := filepath.Glob(".*"); len(hidden) > 0 {
				t.Errorf("left %v", hidden)
			}
			if _, err := os.Lstat("out"); test.err != nil && err == nil {
				t.Error("a directory was left")
			}
			for name, mode := range test.want {
				info, err := os.Lstat(filepath.Join("out", name))
				if err != nil || mode != fs.ModeSymlink && info.Mode() != mode || mode == fs.ModeSymlink && info.Mode().Type() != mode {
					t.Errorf("%s is %v, %v", name, info, err)
				}
			}
		})
	}
}

func TestStaysInside(t *testing.T) {
	for _, test := range []struct {
		name, target string
		want         bool
	}{
		{"a", "b", true}, {"a/b", "../c", true}, {"a/b", "./c/d", true}, {"a", "..", false}, {"a", "/b", false}, {"a/b/c", "../../../x", false}, {"a/b/c", "d/../e", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := staysInside(test.name, test.target); got != test.want {
				t.Errorf("%s -> %s: %t", test.name, test.target, got)
			}
		})
	}
}

// TestArtifactsAreUnpackedToWhatTheyAreFor downloads a blueprint, a chart with
// provenance and an image, which are all artifacts of a registry.
func TestArtifactsAreUnpackedToWhatTheyAreFor(t *testing.T) {
	tree := string(pack(t, file("chart/Chart.yaml", 0o644)))
	directory := t.TempDir()
	target, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close() //nolint:errcheck // a directory
	push := func(mediaType, text string) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(text), Size: int64(len(text))}
		if err := target.Push(t.Context(), "x", d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, test := range []struct {
		reason, config string
		layers         []string
		want           string
	}{
		{"a blueprint", "application/vnd.gardener.landscaper.blueprint.config.v1", []string{"application/vnd.gardener.landscaper.blueprint.layer.v1.tar+gzip"}, "chart/Chart.yaml"},
		{"a chart with provenance", "application/vnd.cncf.helm.config.v1+json", []string{"application/vnd.cncf.helm.chart.provenance.v1.prov", chartLayer}, "chart/Chart.yaml"},
		{"an image stays an archive", ocispec.MediaTypeImageConfig, []string{ocispec.MediaTypeImageLayer}, "artifact-descriptor.json"},
		{"several layers stay an archive", "application/x", []string{"application/x", "application/y"}, "artifact-descriptor.json"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := push(test.config, "{}")
			layers := make([]ocispec.Descriptor, 0, len(test.layers))
			for _, mediaType := range test.layers {
				layers = append(layers, push(mediaType, tree))
			}
			manifest := push(ocispec.MediaTypeImageManifest, manifestText(config, layers...))
			var set bytes.Buffer
			if err := oci.WriteSet(t.Context(), &set, target, "x", manifest, "1"); err != nil {
				t.Fatal(err)
			}
			terminaltest.WriteFiles(t, map[string]string{"content": set.String()})
			if _, err := Archive(t.Context(), "content", oci.SetMediaType(manifest.MediaType), "out"); err != nil {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join("out", test.want)); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func manifestText(config ocispec.Descriptor, layers ...ocispec.Descriptor) string {
	text, err := json.Marshal(ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, Config: config, Layers: layers})
	if err != nil {
		panic(err)
	}
	return string(text)
}
