package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func manifests(t *testing.T, o Options) []*unstructured.Unstructured {
	t.Helper()
	objects, err := library(t).Manifests(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func library(t *testing.T) *Library {
	t.Helper()
	l, err := NewLibrary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func byName(objects []*unstructured.Unstructured) map[string]any {
	named := map[string]any{}
	for _, object := range objects {
		named[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object.Object
	}
	return named
}

// TestSameAsFlux compares with what Flux's own command line makes of the same manifests.
func TestSameAsFlux(t *testing.T) {
	everything := append(DefaultComponents(), ExtraComponents()...)
	other := Options{
		Namespace: "gitops", Registry: "registry.example.org:5000/mirror", ImagePullSecret: "pull", Components: everything,
		ClusterDomain: "cluster.example", LogLevel: "debug", TolerationKeys: []string{"dedicated", "example.org/flux"},
	}
	quiet := Defaults()
	quiet.Components = []string{SourceController, KustomizeController}
	for file, options := range map[string]Options{"usual": Defaults(), "other": other, "quiet": quiet} {
		t.Run(file, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", file+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			namespace := options.withDefaults().Namespace
			// Flux writes the variable, whose value is the namespace.
			want, err := decode([]byte(strings.ReplaceAll(string(content), "http://notification-controller.$(RUNTIME_NAMESPACE).", "http://notification-controller."+namespace+".")))
			if err != nil {
				t.Fatal(err)
			}
			got := manifests(t, options)
			got = slices.DeleteFunc(got, func(object *unstructured.Unstructured) bool { return object.GetKind() == "CustomResourceDefinition" })
			if difference := cmp.Diff(byName(want), byName(got)); difference != "" {
				t.Errorf("Flux makes (-), we make (+):\n%s", difference)
			}
		})
	}
}

func TestKindsFollowComponents(t *testing.T) {
	kinds := func(components ...string) []string {
		var names []string
		for _, object := range manifests(t, Options{Components: components}) {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			names = append(names, object.GetName())
			if object.GetNamespace() != "" || object.GetLabels()[labelVersion] != DefaultVersion() || object.GetLabels()[labelInstance] != DefaultNamespace {
				t.Errorf("%s: namespace %q, labels %v", object.GetName(), object.GetNamespace(), object.GetLabels())
			}
		}
		slices.Sort(names)
		return names
	}
	small := []string{
		"buckets.source.toolkit.fluxcd.io", "externalartifacts.source.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io", "helmcharts.source.toolkit.fluxcd.io",
		"helmrepositories.source.toolkit.fluxcd.io", "kustomizations.kustomize.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io",
	}
	if got := kinds(SourceController, KustomizeController); !slices.Equal(got, small) {
		t.Errorf("two controllers have kinds %v", got)
	}
	if got := kinds(append(DefaultComponents(), ExtraComponents()...)...); len(got) != 15 {
		t.Errorf("all controllers have kinds %v", got)
	}
}

// TestOrder shows that nothing comes before what it needs.
func TestOrder(t *testing.T) {
	var kinds []string
	for _, object := range manifests(t, Defaults()) {
		if len(kinds) == 0 || kinds[len(kinds)-1] != object.GetKind() {
			kinds = append(kinds, object.GetKind())
		}
	}
	want := []string{"Namespace", "ResourceQuota", "NetworkPolicy", "ServiceAccount", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Service", "Deployment"}
	if !slices.Equal(kinds, want) {
		t.Errorf("order %v", kinds)
	}
}

func TestLockdown(t *testing.T) {
	options := Defaults()
	options.Multitenant, options.Components = true, append(DefaultComponents(), ExtraComponents()...)
	own, bases, account := "--no-cross-namespace-refs=true", "--no-remote-bases=true", "--default-service-account=default"
	want := map[string][]string{
		KustomizeController: {own, bases, account}, HelmController: {own, account}, NotificationController: {own},
		"image-reflector-controller": {own}, "image-automation-controller": {own}, SourceController: nil, sourceWatcher: nil,
	}
	for _, object := range manifests(t, options) {
		if object.GetKind() != "Deployment" {
			continue
		}
		text, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{own, bases, account} {
			if has, wanted := strings.Contains(string(text), flag), slices.Contains(want[object.GetName()], flag); has != wanted {
				t.Errorf("%s has %s: %t, want %t", object.GetName(), flag, has, wanted)
			}
		}
		delete(want, object.GetName())
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", slices.Collect(maps.Keys(want)))
	}
}

// TestObjectsBelongToTheCaller changes what it was given.
func TestObjectsBelongToTheCaller(t *testing.T) {
	for _, object := range manifests(t, Defaults()) {
		clear(object.Object)
	}
	for _, object := range manifests(t, Defaults()) {
		if object.GetName() == "" {
			t.Fatal("changes of another caller are visible")
		}
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		reason string
		change func(*Options)
		// wants are parts of the error; empty means no error.
		wants []string
	}{
		{"nothing said is the usual installation", func(o *Options) { *o = Options{} }, nil},
		{"latest is the default", func(o *Options) { o.Version = "latest" }, nil},
		{"the default by its name", func(o *Options) { o.Version = DefaultVersion() }, nil},
		{"a version without a mirror", func(o *Options) { o.Version = "v2.3.0" }, []string{`version "v2.3.0"`, "cannot be installed", "use " + DefaultVersion(), "configures a mirror"}},
		{"a namespace that is not valid", func(o *Options) { o.Namespace = "Flux_System" }, []string{`namespace "Flux_System"`, "lower case"}},
		{"a registry with a port and a path", func(o *Options) { o.Registry = "registry.example.org:5000/a/b-c/" }, nil},
		{"a registry with a scheme", func(o *Options) { o.Registry = "https://registry.example.org" }, []string{"registry", "without scheme"}},
		{"a registry with an image", func(o *Options) { o.Registry = "registry.example.org/a@sha256:0" }, []string{"registry"}},
		{"an unknown component", func(o *Options) { o.Components = append(DefaultComponents(), "web") }, []string{`components "web"`, "source-watcher"}},
		{"a component twice", func(o *Options) { o.Components = append(DefaultComponents(), HelmController) }, []string{"helm-controller is there twice"}},
		{"no source-controller", func(o *Options) { o.Components = []string{KustomizeController} }, []string{"source-controller is missing"}},
		{"no kustomize-controller", func(o *Options) { o.Components = []string{SourceController} }, []string{"kustomize-controller is missing"}},
		{"a domain that is not valid", func(o *Options) { o.ClusterDomain = "a b" }, []string{"clusterDomain"}},
		{"an unknown level", func(o *Options) { o.LogLevel = "verbose" }, []string{`logLevel "verbose"`, "use debug, info or error"}},
		{"a name that is not valid", func(o *Options) { o.ImagePullSecret = "A" }, []string{"imagePullSecret"}},
		{"a key that is not valid", func(o *Options) { o.TolerationKeys = []string{"ok", "a b"} }, []string{`tolerationKeys "a b"`}},
		{"all that is wrong is told", func(o *Options) { o.LogLevel, o.Namespace = "x", "Y" }, []string{"logLevel", "namespace"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			options := Defaults()
			test.change(&options)
			err := library(t).Check(options)
			if (err != nil) != (len(test.wants) > 0) {
				t.Fatalf("error %v", err)
			}
			for _, want := range test.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if _, err := library(t).Manifests(t.Context(), options); (err != nil) != (len(test.wants) > 0) {
				t.Errorf("Manifests: %v", err)
			}
		})
	}
}
