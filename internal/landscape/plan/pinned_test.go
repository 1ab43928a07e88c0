package plan

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/signature"
)

// vendorDescriptor is a component version with contents in many places. Digests are those that its
// vendor has written into it.
const vendorDescriptor = `
meta: {schemaVersion: v2}
component:
  name: example.org/vendor
  version: 1.0.0
  provider: me
  resources:
  - {name: plain, version: 1.0.0, type: helmChart, relation: local, access: {type: localFilesystemBlob, fileName: chart.tgz, mediaType: application/gzip}}
  - {name: dated, version: 1.0.0, type: helmChart, relation: local, access: {type: localFilesystemBlob, fileName: chart.tgz, mediaType: application/gzip}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: CHART}}
  - {name: left-out, version: 1.0.0, type: helmChart, relation: local, access: {type: localFilesystemBlob, fileName: chart.tgz, mediaType: application/gzip}, digest: {hashAlgorithm: NO-DIGEST, normalisationAlgorithm: EXCLUDE-FROM-SIGNATURE, value: NO-DIGEST}}
`

// outside has accesses that a test need not read.
const outside = `
  - {name: image, version: 1.0.0, type: helmChart, access: {type: ociArtifact, imageReference: "registry.example.org/charts/web:1.0.0_b"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: ociArtifactDigest/v1, value: aa}}
  - {name: repository, version: 1.0.0, type: helmChart, access: {type: helm, helmRepository: "https://charts.example.org/x/", helmChart: "web:1.0.0"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: bb}}
  - {name: page, version: 1.0.0, type: helmChart, access: {type: wget, url: "https://example.org/web.tgz"}, digest: {hashAlgorithm: SHA-512, normalisationAlgorithm: genericBlobDigest/v1, value: cc}}
  - {name: commit, version: 1.0.0, type: directory, access: {type: git, repository: "https://example.org/r", commit: 0123456789012345678901234567890123456789}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: dd}}
  - {name: strange, version: 1.0.0, type: directory, access: {type: wget, url: "https://example.org/strange"}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: unknown/v1, value: ee}}
`

// vendorSession has found the component version, and perhaps verified it.
func vendorSession(t *testing.T, resources string, verified bool) *Component {
	t.Helper()
	files := fstest.MapFS{"vendor.yaml": {Data: []byte(strings.Replace(vendorDescriptor, "CHART", chartDigest, 1) + resources)}, "blobs/chart.tgz": {Data: []byte("chart")}}
	open := func() *Component {
		session := component.NewSession(component.NewShared(), component.Options{Local: files, Default: descriptor.Typed(`{"type":"local","filePath":"."}`)})
		t.Cleanup(func() { _ = session.Close() })
		definition := reference("1.0.0")
		definition.Reference.ComponentName = "example.org/vendor"
		opened, err := OpenComponent(t.Context(), session, definition)
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	opened := open()
	if !verified {
		return opened
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer := open()
	if _, err := signer.Session.(*component.Session).Sign(t.Context(), signer.Version, signature.Signing{
		Name: "s", Algorithm: signature.AlgorithmPSS, Hash: "SHA-256", Normalisation: signature.JSONv3,
		Key: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	}); err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	// As some signers do, the digests are not in the descriptor that is stored.
	opened.Version.Signatures = signer.Version.Signatures
	if err := opened.Session.(*component.Session).Verify(t.Context(), opened.Version, "s", signature.Trust{PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})}); err != nil {
		t.Fatal(err)
	}
	return opened
}

const chartDigest = "cc57fc1903e444cf6a726490b43b27ee9f87facc037f86872201847c565b45fb"

// TestGivenResources: which items get the digests of what they refer to.
func TestGivenResources(t *testing.T) {
	key := func(component, resource string) string {
		return base64.StdEncoding.EncodeToString([]byte("component: {name: " + component + ", version: 1.0.0}\nresource: {name: " + resource + "}\n"))
	}
	chart := func(source string) string {
		return "type: landscaper.gardener.cloud/helm, config: {chart: {" + source + "}}"
	}
	files := func(source string) string {
		return "type: landscaper.gardener.cloud/kustomize, config: {source: {" + source + "}}"
	}
	own := func(resource string) string { return "resourceRef: " + key("example.org/vendor", resource) }
	for _, test := range []struct {
		reason, item      string
		verified, outside bool
		// given is the resource and its digest.
		given, refused string
	}{
		{"a digest that the vendor has written", chart(own("dated")), false, false, "dated " + chartDigest, ""},
		{"no digest is known", chart(own("plain")), false, false, "", ""},
		{"a signature was verified, so the digest is known", chart(own("plain")), true, false, "plain " + chartDigest, ""},
		{"a content that is no part of the signature", chart(own("left-out")), true, false, "", ""},
		{"a component and a resource", chart("fromResource: {ref: {componentName: example.org/vendor, version: 1.0.0}, resourceName: dated}"), false, false, "dated " + chartDigest, ""},
		{"files of a kustomization", files(own("plain")), true, false, "plain " + chartDigest, ""},
		{"a resource that does not exist", chart(own("none")), false, false, "", ""},
		{"a component version that this job has not found", chart("resourceRef: " + key("example.org/other", "dated")), false, false, "", ""},
		{"another component than was verified", chart("resourceRef: " + key("example.org/other", "dated")), true, false, "", "config.chart.resourceRef: component version example.org/other:1.0.0: it is not part of the component version whose signature was verified"},
		{"files of another component than was verified", files("resourceRef: " + key("example.org/other", "dated")), true, false, "", "config.source.resourceRef"},

		{"the artifact of a resource, under another spelling", chart("ref: 'oci://registry.example.org/charts/web:1.0.0+b'"), false, true, "image aa", ""},
		{"another tag", chart("ref: 'registry.example.org/charts/web:1.0.1'"), false, true, "", ""},
		{"an artifact with files", files("oci: {ref: 'registry.example.org/charts/web:1.0.0_b'}"), false, true, "image aa", ""},
		{"the chart repository of a resource", chart("helmChartRepo: {helmChartRepoUrl: 'https://charts.example.org/x', helmChartName: web, helmChartVersion: 1.0.0}"), false, true, "repository bb", ""},
		{"another chart of that repository", chart("helmChartRepo: {helmChartRepoUrl: 'https://charts.example.org/x', helmChartName: db, helmChartVersion: 1.0.0}"), false, true, "", ""},
		{"the address of a resource", chart("archive: {remote: {url: 'https://example.org/web.tgz'}}"), false, true, "page cc", ""},
		{"a commit, of which another tool has packed the files in its own way", files(own("commit")), false, true, "", ""},
		{"a digest of a kind that is not known", chart("archive: {remote: {url: 'https://example.org/strange'}}"), false, true, "", ""},

		{"a chart in the item", chart("archive: {raw: AAAA}"), true, false, "", ""},
		{"a reference that is not valid", chart("ref: ' '"), true, false, "", ""},
		{"a key that is not valid", chart("resourceRef: hello"), true, false, "", ""},
		{"no configuration", "type: landscaper.gardener.cloud/helm", true, false, "", ""},
		{"an item of another type", strings.Replace(chart(own("dated")), "helm", "mock", 1), true, false, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := input(t, fmt.Sprintf("deployExecutions: [{name: d, type: GoTemplate, template: %q}]", "deployItems: [{name: x, "+test.item+"}]"))
			resources := ""
			if test.outside {
				resources = outside
			}
			in.Component = vendorSession(t, resources, test.verified)
			made, err := children(t, in)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if given := made.DeployItems[0].Given; given != nil && given.Resource != nil {
				got = given.Resource.ResourceName + " " + given.Resource.Value
				if given.Resource.ComponentName != "example.org/vendor" || given.Resource.Version != "1.0.0" || !strings.HasPrefix(given.Resource.ComponentDigest, "sha256:") {
					t.Errorf("%+v", given.Resource)
				}
			}
			if got != test.given {
				t.Errorf("given is %q, want %q", got, test.given)
			}
		})
	}
}
