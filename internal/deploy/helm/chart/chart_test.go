package chart

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

func raw(packed []byte) *helmv1alpha1.Chart {
	return &helmv1alpha1.Chart{Archive: &helmv1alpha1.ArchiveAccess{Raw: base64.StdEncoding.EncodeToString(packed)}}
}

func TestRaw(t *testing.T) {
	packed := simple(t, "web", file{name: "web/values.yaml", text: "a: 1"})
	lines := raw(packed)
	lines.Archive.Raw = lines.Archive.Raw[:40] + "\n  " + lines.Archive.Raw[40:] + "\n"
	for _, source := range []*helmv1alpha1.Chart{raw(packed), lines} {
		got, err := New(Options{}).Load(t.Context(), &v1alpha1.DeployItem{}, source)
		if err != nil {
			t.Fatal(err)
		}
		if got.Chart.Name() != "web" || got.Digest != digest.FromBytes(packed).String() || got.Origin == "" || len(got.Warnings) > 0 {
			t.Errorf("got %+v", got)
		}
	}
}

// TestChartsAreNotShared checks that the caller may change a loaded chart: Helm does.
func TestChartsAreNotShared(t *testing.T) {
	loader, source := New(Options{}), raw(simple(t, "web", file{name: "web/values.yaml", text: "a: 1"}))
	first, err := loader.Load(t.Context(), &v1alpha1.DeployItem{}, source)
	if err != nil {
		t.Fatal(err)
	}
	first.Chart.Values["a"], first.Chart.Metadata.Name = 2, "changed"
	second, err := loader.Load(t.Context(), &v1alpha1.DeployItem{}, source)
	if err != nil || second.Chart.Name() != "web" || second.Chart.Values["a"] == 2 {
		t.Errorf("got %+v, %v", second, err)
	}
}

func TestOneSource(t *testing.T) {
	for _, test := range []struct {
		reason string
		source *helmv1alpha1.Chart
		want   string
	}{
		{"none", &helmv1alpha1.Chart{}, "chart: nothing says where the chart is"},
		{"no chart at all", nil, "chart: nothing says where the chart is"},
		{"an empty archive", &helmv1alpha1.Chart{Archive: &helmv1alpha1.ArchiveAccess{}}, "chart: nothing says"},
		{"no base64", &helmv1alpha1.Chart{Archive: &helmv1alpha1.ArchiveAccess{Raw: "s3cr3t!"}}, "chart.archive.raw: the archive is not base64"},
		{"no chart", raw([]byte("s3cr3t")), "chart.archive.raw: the chart from the archive in the item cannot be used"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := New(Options{}).Load(t.Context(), &v1alpha1.DeployItem{}, test.source)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cr3t") || deployer.OutcomeOf(err) != deployer.OutcomeFinal {
				t.Errorf("got %v (%s), want %q", err, deployer.OutcomeOf(err), test.want)
			}
		})
	}
}
