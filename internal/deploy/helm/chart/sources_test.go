package chart

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

func ref(text string) *helmv1alpha1.Chart { return &helmv1alpha1.Chart{Ref: text} }

func remote(url string) *helmv1alpha1.Chart {
	return &helmv1alpha1.Chart{Archive: &helmv1alpha1.ArchiveAccess{Remote: &helmv1alpha1.RemoteArchiveAccess{URL: url}}}
}

func inRepository(url, name, version string) *helmv1alpha1.Chart {
	return &helmv1alpha1.Chart{HelmChartRepo: &helmv1alpha1.HelmChartRepo{HelmChartRepoURL: url, HelmChartName: name, HelmChartVersion: version}}
}

func byKey(text string) *helmv1alpha1.Chart { return &helmv1alpha1.Chart{ResourceRef: encoded(text)} }

func fromInline(descriptor, name string) *helmv1alpha1.Chart {
	wanted := &helmv1alpha1.RemoteChartReference{ResourceName: name}
	wanted.Inline = &v1alpha1.AnyJSON{RawMessage: []byte(descriptor)}
	return &helmv1alpha1.Chart{FromResource: wanted}
}

func fromComponent(name, version, resource string) *helmv1alpha1.Chart {
	wanted := &helmv1alpha1.RemoteChartReference{ResourceName: resource}
	wanted.Reference = &v1alpha1.ComponentDescriptorReference{ComponentName: name, Version: version}
	return &helmv1alpha1.Chart{FromResource: wanted}
}

// component is a component version of a local repository with charts of all kinds.
func componentIn(s *shop, packed []byte) fstest.MapFS {
	described := fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: example.org/shop
  version: 1.0.0
  provider: p
  repositoryContexts: []
  sources: []
  componentReferences: []
  resources:
  - {name: blob, type: helmChart, version: 1.0.0, relation: local, access: {type: localBlob, localReference: web.tgz, mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip}}
  - {name: artifact, type: helm.io/chart, version: 1.0.0, relation: external, access: {type: ociArtifact, imageReference: "http://%[1]s/oci/web:1.0.0"}}
  - {name: repository, type: helm, version: 1.0.0, relation: external, access: {type: helm, helmRepository: "http://%[1]s/charts", helmChart: "web:1.0.0"}}
  - {name: checked, type: helmChart, version: 1.0.0, relation: local, access: {type: localBlob, localReference: web.tgz}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: "00"}}
  - {name: twice, type: helmChart, version: 1.0.0, relation: local, extraIdentity: {size: small}, access: {type: localBlob, localReference: web.tgz}}
  - {name: twice, type: helmChart, version: 1.0.0, relation: local, extraIdentity: {size: large}, access: {type: localBlob, localReference: none.tgz}}
`, s.host())
	return fstest.MapFS{"team-a/shop.yaml": {Data: []byte(described)}, "team-a/blobs/web.tgz": {Data: packed}, "team-b/shop.yaml": {Data: []byte(described)}, "team-b/blobs/web.tgz": {Data: packed}}
}

func index(entries ...string) []byte {
	return []byte("apiVersion: v1\nentries: {web: [" + strings.Join(entries, ", ") + "]}\n")
}

// stocked is a shop with a chart in all forms.
func stocked(t testing.TB) (*shop, []byte, digest.Digest) {
	t.Helper()
	s, packed := newShop(t), simple(t, "web", file{name: "web/values.yaml", text: "a: 1"})
	pinned := s.chart("oci/web:1.0.0", packed)
	s.chart("oci/web:1.0.0_build.1", packed)
	s.artifact("oci/old:1.0.0", "application/vnd.unknown.config.v1+json", oldLayerType, packed)
	s.artifact("oci/odd:1.0.0", configType, "application/octet-stream", packed)
	s.page("/charts/index.yaml", index("{version: 1.0.0, urls: [web-1.0.0.tgz], digest: "+digest.FromBytes(packed).Encoded()+"}",
		"{version: 0.9.0, urls: ['oci://"+s.host()+"/oci/web:1.0.0']}"))
	s.page("/charts/web-1.0.0.tgz", packed)
	return s, packed, pinned
}

func TestSources(t *testing.T) {
	s, packed, pinned := stocked(t)
	public := newShop(t)
	public.open = true
	public.page("/web.tgz", packed)
	index := s.put(ocispec.MediaTypeImageIndex, fmt.Appendf(nil, `{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, pinned, len(s.blobs[pinned])))
	s.tags["oci/index:1.0.0"] = index.Digest
	w := usual(t, s, componentIn(s, packed))
	w.options.Sources.Base.Registry.AllowPlainHTTP = true
	at := "http://" + s.host()
	for _, test := range []struct {
		reason string
		source *helmv1alpha1.Chart
		origin string
	}{
		{"in the item", raw(packed), "the archive in the item"},
		{"at an address", remote(" " + public.URL + "/web.tgz?sig=" + password + "\n"), public.URL + "/web.tgz"},
		{"a tag", ref(at + "/oci/web:1.0.0"), "registry reference " + at + "/oci/web:1.0.0"},
		{"a tag, and a registry without encryption where that is allowed", ref(s.host() + "/oci/web:1.0.0"), ""},
		{"a tag as Helm writes references", ref("oci://" + s.host() + "/oci/web:1.0.0"), ""},
		{"a version that tags cannot have", ref(at + "/oci/web:1.0.0+build.1"), ""},
		{"a digest, whatever the tag says", ref(at + "/oci/web:latest@" + pinned.String()), ""},
		{"a digest alone", ref(at + "/oci/web@" + pinned.String()), ""},
		{"the first media type of charts", ref(at + "/oci/old:1.0.0"), ""},
		{"a single layer of any type and the config of a chart", ref(at + "/oci/odd:1.0.0"), ""},
		{"an index of one chart", ref(at + "/oci/index:1.0.0"), ""},
		{"a chart repository", inRepository(" "+s.URL+"/charts/ ", "web", "1.0.0"), "chart web 1.0.0 of chart repository " + s.URL + "/charts"},
		{"a range of versions", inRepository(s.URL+"/charts", "web", "^1.0.0"), ""},
		{"a chart repository that leads to a registry", inRepository(s.URL+"/charts", "web", "0.9.0"), ""},
		{"a resource of a component", byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: blob}\n"), "resource blob of component version example.org/shop:1.0.0"},
		{"a resource that is distinguished from another one", byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: twice, size: small}\n"), ""},
		{"a resource in a registry", byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: artifact}\n"), ""},
		{"a resource in a chart repository", byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: repository}\n"), ""},
		{"a resource of a component that the item names", fromComponent("example.org/shop", "1.0.0", "blob"), ""},
		{"a resource of a component that the item brings along", fromInline(`{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/own","version":"1.0.0","provider":"p","repositoryContexts":[],"sources":[],"componentReferences":[],"resources":[{"name":"chart","type":"helmChart","version":"1.0.0","relation":"external","access":{"type":"ociArtifact","imageReference":"`+at+`/oci/web:1.0.0"}}]}}`, "chart"), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := w.Load(t.Context(), item("team-a", "vendor"), test.source)
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			if got.Chart.Name() != "web" || got.Digest != digest.FromBytes(packed).String() || strings.Contains(got.Origin, password) ||
				(test.origin != "" && got.Origin != strings.TrimSpace(test.origin)) || len(got.Warnings) > 0 {
				t.Errorf("got %s from %q, %q", got.Digest, got.Origin, got.Warnings)
			}
		})
	}
	if len(public.leaks) > 0 {
		t.Errorf("an address that needs no credentials saw some: %s", public.leaks)
	}
}
