package chart

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/registry"

	"go.landscaper.dev/tools/release/registrytest"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func released(name string) Chart {
	return Chart{Folder: "../../../charts/" + name, Version: "v1.2.3", Image: "registry.example.org/" + name, Digest: digest, At: time.Unix(1_700_000_000, 0)}
}

var names = []string{"landscaper", "gardener-extension-shoot-flux"}

// TestPulled: Helm pulls the chart from the reference registry, and renders it with the image of
// the release, pinned by its digest, for each container.
func TestPulled(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			repository := registrytest.Start(t) + "/charts/" + name
			made, err := released(name).Artifact(t.Context(), repository)
			if err != nil {
				t.Fatal(err)
			}
			if err := made.Push(t.Context(), registrytest.Repository(t, repository)); err != nil {
				t.Fatal(err)
			}
			client, err := registry.NewClient(registry.ClientOptPlainHTTP())
			if err != nil {
				t.Fatal(err)
			}
			pulled, err := client.Pull(repository + ":1.2.3")
			if err != nil {
				t.Fatal(err)
			}
			if pulled.Manifest.Digest != made.Root.Digest.String() || pulled.Chart.Meta.Version != "1.2.3" || pulled.Chart.Meta.AppVersion != "v1.2.3" {
				t.Errorf("%+v, %+v", pulled.Manifest, pulled.Chart.Meta)
			}
			loaded, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
			if err != nil {
				t.Fatal(err)
			}
			values, err := util.ToRenderValues(loaded, nil, common.ReleaseOptions{Name: name, Namespace: "example", IsInstall: true}, common.DefaultCapabilities)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := engine.Render(loaded, values)
			if err != nil {
				t.Fatal(err)
			}
			images := 0
			for _, text := range rendered {
				for line := range strings.Lines(text) {
					if image, ok := strings.CutPrefix(strings.TrimSpace(line), "image: "); ok {
						if images++; image != `"registry.example.org/`+name+"@"+digest+`"` {
							t.Errorf("the image is %s", image)
						}
					}
				}
			}
			if images == 0 {
				t.Error("there is no image")
			}
		})
	}
}

// TestSameBytes: a chart that is packed again has the same bytes.
func TestSameBytes(t *testing.T) {
	for _, name := range names {
		first, err := released(name).Pack()
		if err != nil {
			t.Fatal(err)
		}
		second, err := released(name).Pack()
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: the bytes differ: %v", name, err)
		}
	}
}

// TestChangedChart: when a chart no longer has what a release changes, the release fails, instead of being
// published with another image.
func TestChangedChart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "landscaper")
	if err := os.CopyFS(folder, os.DirFS("../../../charts/landscaper")); err != nil {
		t.Fatal(err)
	}
	values := filepath.Join(folder, "values.yaml")
	content, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(values, bytes.Replace(content, []byte("  digest: "), []byte("  sum: "), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	chart := released("landscaper")
	chart.Folder = folder
	if _, err := chart.Pack(); err == nil || !strings.Contains(err.Error(), "values.yaml has 0 lines") {
		t.Errorf("%v", err)
	}
}
