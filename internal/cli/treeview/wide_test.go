package treeview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
)

func managed(by string) metav1.ManagedFieldsEntry { return metav1.ManagedFieldsEntry{Manager: by} }

func TestWideTree(t *testing.T) {
	l := rootOnly("Failed")
	installation := l.snapshot.Installations[0]
	installation.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{
		Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.com/shop", Version: "v1.2.0"},
	}
	installation.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}
	installation.Status.LastError = &v1alpha1.Error{Message: "broken"}
	l.lastItem().Spec = v1alpha1.DeployItemSpec{Type: v1alpha1.HelmDeployItemType, Configuration: config(`{"chart":{"ref":"example.com/charts/web:1.0.0"}}`)}
	want := `[❌ Failed] Installation a
    Component Descriptor: example.com/shop:v1.2.0
    Blueprint: blueprint
    ----------
    Last error: broken
    └── [❌ Failed] Execution a
        └── [❌ Failed] DeployItem a-item-x
            Type: landscaper.gardener.cloud/helm
            Chart: example.com/charts/web:1.0.0

`
	if diff := cmp.Diff(want, render(t, inspect.Forest(l.snapshot), treeview.Options{Wide: true})); diff != "" {
		t.Error(diff)
	}
}

func TestWideInlineInstallation(t *testing.T) {
	l := newLandscape()
	installation := l.installation("a", "", "Succeeded")
	installation.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: &v1alpha1.AnyJSON{}}
	installation.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{}
	want := "[✅ Succeeded] Installation a\n    Component Descriptor: inline\n    Blueprint: inline\n\n"
	if diff := cmp.Diff(want, render(t, inspect.Forest(l.snapshot), treeview.Options{Wide: true})); diff != "" {
		t.Error(diff)
	}
}

func TestWideDeployItem(t *testing.T) {
	tests := []struct {
		reason   string
		itemType v1alpha1.DeployItemType
		config   *runtime.RawExtension
		want     []string
	}{
		{"an OCI chart", v1alpha1.HelmDeployItemType, config(`{"chart":{"ref":"r/c:1"}}`), []string{"Chart: r/c:1"}},
		{"a chart in the object", v1alpha1.HelmDeployItemType, config(`{"chart":{"archive":{"raw":"H4sI"}}}`), []string{"Chart: inline (archive)"}},
		{"a chart to download", v1alpha1.HelmDeployItemType, config(`{"chart":{"archive":{"remote":{"url":"https://example.com/c.tgz"}}}}`), []string{"Chart: https://example.com/c.tgz (archive)"}},
		{"an address may hold credentials, which no screen shows", v1alpha1.HelmDeployItemType, config(`{"chart":{"archive":{"remote":{"url":"https://u:secret@example.com/c.tgz?sig=secret"}}}}`), []string{"Chart: https://...@example.com/c.tgz?... (archive)"}},
		{"an invalid address may hold credentials as well", v1alpha1.HelmDeployItemType, config(`{"chart":{"archive":{"remote":{"url":"https://u:secret@%%zz/"}}}}`), []string{"Chart: an address that is not valid (archive)"}},
		{"a resource of a component", v1alpha1.HelmDeployItemType, config(`{"chart":{"fromResource":{"ref":{"componentName":"example.com/c","version":"v1"},"resourceName":"chart"}}}`), []string{`Chart: resource "chart" from example.com/c:v1`}},
		{"a resource of an inline component", v1alpha1.HelmDeployItemType, config(`{"chart":{"fromResource":{"inline":{},"resourceName":"chart"}}}`), []string{`Chart: resource "chart" from inline component descriptor`}},
		{"a kustomization in Git", v1alpha1.KustomizeDeployItemType, config(`{"source":{"git":{"url":"https://u:secret@example.com/shop"}}}`), []string{"Source: https://...@example.com/shop"}},
		{"a kustomization in a registry", v1alpha1.KustomizeDeployItemType, config(`{"source":{"oci":{"ref":"r/m:1"}}}`), []string{"Source: r/m:1"}},
		{"a kustomization in a component", v1alpha1.KustomizeDeployItemType, config(`{"source":{"resourceRef":"a2V5"}}`), []string{"Source: resource of a component"}},
		{"a kustomization in the object", v1alpha1.KustomizeDeployItemType, config(`{"source":{"files":{"a.yaml":"secret"}}}`), []string{"Source: inline (1 files)"}},
		{"an invalid kustomization", v1alpha1.KustomizeDeployItemType, config(`[]`), []string{"unable to parse kustomize config"}},
		{"a key of a resource says nothing to a reader", v1alpha1.HelmDeployItemType, config(`{"chart":{"resourceRef":"a2V5"}}`), []string{"Chart: unknown"}},
		{"not a configuration", v1alpha1.HelmDeployItemType, config(`{"chart":[]}`), []string{"unable to parse helm config"}},
		{"no configuration", v1alpha1.HelmDeployItemType, nil, []string{"unable to parse helm config"}},
		{"an image with a command", v1alpha1.ContainerDeployItemType, config(`{"image":"i:1","command":["/bin/sh","-c"],"args":["a b"]}`), []string{"Image: i:1", `Command: "/bin/sh" "-c"`, `Args: "a b"`}},
		{"an image alone", v1alpha1.ContainerDeployItemType, config(`{"image":"i:1"}`), []string{"Image: i:1"}},
		{"the configuration of a manifest is too long for a line", v1alpha1.ManifestDeployItemType, config(`{}`), nil},
		{"an item of another deployer", "example.com/own", config(`{}`), nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			l := rootOnly("Succeeded")
			l.lastItem().Spec = v1alpha1.DeployItemSpec{Type: test.itemType, Configuration: test.config}
			_, got, _ := strings.Cut(render(t, inspect.Forest(l.snapshot), treeview.Options{Wide: true}), "DeployItem a-item-x\n")
			want := ""
			for _, line := range append([]string{"Type: " + string(test.itemType)}, test.want...) {
				want += "            " + line + "\n"
			}
			if diff := cmp.Diff(want+"\n", got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("12345678 ", 20))
	tests := []struct {
		reason  string
		message string
		options treeview.Options
		want    []string
	}{
		{"a file takes 120 columns, cut between words", words, treeview.Options{}, []string{
			"    Last error: " + strings.TrimSpace(strings.Repeat("12345678 ", 12)),
			"    " + strings.TrimSpace(strings.Repeat("12345678 ", 8)),
		}},
		{"a terminal takes as much as it has", words[:44], treeview.Options{Columns: 50}, []string{
			"    Last error: 12345678 12345678 12345678", "    12345678 12345678",
		}},
		{"a narrow terminal still gets words", words[:26], treeview.Options{Columns: 5}, []string{
			"    Last error: 12345678 12345678", "    12345678",
		}},
		{"what has no blank is cut where the line ends, between characters", strings.Repeat("ü", 130), treeview.Options{}, []string{
			"    Last error:", "    " + strings.Repeat("ü", 120), "    " + strings.Repeat("ü", 10),
		}},
		{"a wide character takes two columns", strings.Repeat("漢", 70), treeview.Options{}, []string{
			"    Last error:", "    " + strings.Repeat("漢", 60), "    " + strings.Repeat("漢", 10),
		}},
		{"a command is whole, so that it can be copied", "12345678: landscaper-cli plans approve shop --digest sha256:0123", treeview.Options{Columns: 40}, []string{
			"    Last error: 12345678:", "    landscaper-cli plans approve shop --digest sha256:0123",
		}},
		{"a picture that is drawn again has no line that is too long", "12345678: landscaper-cli plans approve shop", treeview.Options{Columns: 40, Live: time.Unix(1e9, 0)}, []string{
			"    Last error: 12345678: landscaper-cli", "    plans approve shop",
		}},
		{"uncut for those who search", words, treeview.Options{NoWrap: true}, []string{"    Last error: " + words}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			l := newLandscape()
			l.installation("a", "", "Failed").Status.LastError = &v1alpha1.Error{Message: test.message}
			got := render(t, inspect.Forest(l.snapshot), test.options)
			want := "[❌ Failed] Installation a\n" + strings.Join(test.want, "\n") + "\n\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

func TestWrapIndentsWideData(t *testing.T) {
	l := rootOnly("Succeeded")
	ref := strings.Repeat("x", 150)
	l.lastItem().Spec = v1alpha1.DeployItemSpec{Type: v1alpha1.HelmDeployItemType, Configuration: config(`{"chart":{"ref":"%s"}}`, ref)}
	got := render(t, inspect.Forest(l.snapshot), treeview.Options{Wide: true})
	want := "            Chart:\n              " + ref[:118] + "\n              " + ref[118:] + "\n"
	if !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
}
