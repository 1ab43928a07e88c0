package publish

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestChart stores a chart as the artifact that a registry would have.
func TestChart(t *testing.T) {
	base := t.TempDir()
	for name, content := range map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.2.3+x\n", "chart/templates/a.yaml": "a: 1\n"} {
		at := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p := &publication{options: Options{Directory: base}, descriptor: &descriptor.Descriptor{Name: "example.org/web"}}
	got, err := p.content(t.Context(), &Input{Type: "helm", Path: "chart"})
	if err != nil || got.mediaType != "application/vnd.oci.image.manifest.v1+tar+gzip" || got.name != "shop:1.2.3_x" {
		t.Fatalf("%s %s, %v", got.mediaType, got.name, err)
	}
	set, err := oci.ReadSet(bytes.NewReader(dataOf(t, got)), archive.DefaultLimits())
	if err != nil || set.Main.Digest.String() != got.artifact {
		t.Fatalf("%+v, %v", set, err)
	}
	manifest, err := oci.ReadManifest(t.Context(), set, "", set.Main)
	if err != nil || manifest.Config.MediaType != chartConfig || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != chartLayer {
		t.Fatalf("%+v, %v", manifest, err)
	}
	packed, err := oci.Read(t.Context(), set, "", manifest.Layers[0], 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := archive.Walk(bytes.NewReader(packed), archive.DefaultLimits(), func(entry archive.Entry) error {
		names = append(names, entry.Path)
		return nil
	}); err != nil || strings.Join(names, " ") != "shop/Chart.yaml shop/templates/a.yaml" {
		t.Errorf("%v, %v", names, err)
	}
	for _, test := range []struct{ reason, path, want string }{
		{"a directory without a chart", ".", "is not a chart"},
		{"an invalid file", "chart/Chart.yaml", "it is not a chart"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := p.content(t.Context(), &Input{Type: "helm/v1", Path: test.path}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestChartFiles: a signature beside the archive goes along, and the version may be
// said.
func TestChartFiles(t *testing.T) {
	base := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(base, "chart"), 0o755), os.WriteFile(filepath.Join(base, "chart/Chart.yaml"), []byte("name: shop\nversion: 1.2.3\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	packed, err := packChartDirectory(filepath.Join(base, "chart"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"signed.tgz": packed, "signed.tgz.prov": []byte("signature"), "plain.tgz": packed, "ca.pem": []byte("the authority")} {
		if err := os.WriteFile(filepath.Join(base, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var asked string
	p := &publication{descriptor: &descriptor.Descriptor{Name: "example.org/web"}, options: Options{Directory: base, Open: func(_ context.Context, access descriptor.Typed) (*repository.Blob, error) {
		asked = access.String()
		return &repository.Blob{ReadCloser: io.NopCloser(bytes.NewReader(packed))}, nil
	}}}
	for _, test := range []struct {
		reason string
		input  Input
		layers int
		name   string
	}{
		{"an archive", Input{Type: "helm", Path: "plain.tgz"}, 1, "shop:1.2.3"},
		{"an archive with a signature", Input{Type: "helm", Path: "signed.tgz"}, 2, "shop:1.2.3"},
		{"a version of one's own", Input{Type: "helm", Path: "plain.tgz", Version: "2.0.0+b"}, 1, "shop:2.0.0_b"},
		{"a name below the component's", Input{Type: "helm", Path: "plain.tgz", Repository: "charts/shop"}, 1, "example.org/web/charts/shop:1.2.3"},
		{"a name of its own", Input{Type: "helm", Path: "plain.tgz", Repository: "/charts/shop"}, 1, "charts/shop:1.2.3"},
		{"a chart of a repository", Input{Type: "helm", Path: "shop", HelmRepository: "https://charts.example.org", Version: "1.2.3", CACertFile: "ca.pem"}, 1, "shop:1.2.3"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := p.content(t.Context(), &test.input)
			if err != nil || got.name != test.name {
				t.Errorf("%q, %v", got.name, err)
				return
			}
			set, err := oci.ReadSet(bytes.NewReader(dataOf(t, got)), archive.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if manifest, err := oci.ReadManifest(t.Context(), set, "", set.Main); err != nil || len(manifest.Layers) != test.layers {
				t.Errorf("%+v, %v", manifest, err)
			}
		})
	}
	if !strings.Contains(asked, `"caCert":"the authority"`) || !strings.Contains(asked, `"helmChart":"shop"`) {
		t.Errorf("asked for %s", asked)
	}
}
