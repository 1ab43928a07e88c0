package files

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opencontainers/go-digest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/given"
	"go.landscaper.dev/internal/runtime/job"
)

const shop = `
meta: {schemaVersion: v2}
component:
  name: example.org/shop
  version: 1.0.0
  provider: me
  resources:
  - {name: files, version: 1.0.0, type: directory, relation: local, access: {type: localFilesystemBlob, fileName: files.tgz, mediaType: application/gzip}}
`

// TestGivenFiles: the repository of components delivers something else to the deployer than to the
// Installation.
func TestGivenFiles(t *testing.T) {
	good, evil := packed(t, "a.yaml", "good: true"), packed(t, "a.yaml", "evil: true")
	says := func(text string) string {
		decoded, err := descriptor.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := signature.Statement(decoded)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	// lying is what a registry writes that knows the new content.
	lying := strings.TrimSuffix(strings.TrimSpace(shop), "}") + ", digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: " + digest.FromBytes(evil).Encoded() + "}}\n"
	limits := func(content []byte, text string) *v1alpha1.Given {
		return &v1alpha1.Given{Resource: &v1alpha1.GivenResource{
			ComponentName: "example.org/shop", Version: "1.0.0", ComponentDigest: says(text), ResourceName: "files",
			HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: digest.FromBytes(content).Encoded(),
		}}
	}
	named := "DeployItem team-a/web"
	for _, test := range []struct {
		reason     string
		given      *v1alpha1.Given
		descriptor string
		content    []byte
		want       []string
	}{
		{"nothing is known of it", nil, shop, evil, nil},
		{"it is what it was", limits(good, shop), shop, good, nil},
		{"another content", limits(good, shop), shop, evil, []string{named, `resource "files" of component version example.org/shop:1.0.0`, digest.FromBytes(good).Encoded(), digest.FromBytes(evil).Encoded()}},
		{"another content, and a descriptor that has its digest", limits(good, shop), lying, evil, []string{named, digest.FromBytes(good).Encoded(), digest.FromBytes(evil).Encoded()}},
		{"a descriptor that says something else", limits(good, shop), strings.Replace(shop, "provider: me", "provider: you", 1), good, []string{named, says(shop), says(strings.Replace(shop, "provider: me", "provider: you", 1))}},
		{"the digests were added by a signer", limits(good, lying), shop, good, nil},
		{"a digest of a kind that is not known", func() *v1alpha1.Given { g := limits(good, shop); g.Resource.NormalisationAlgorithm = "x"; return g }(), shop, good, []string{named, "unknown normalisation"}},
		{"another component version", func() *v1alpha1.Given { g := limits(good, shop); g.Resource.Version = "0.9.0"; return g }(), shop, good, []string{named, "example.org/shop:1.0.0"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			landscape := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}}
			landscape.RepositoryContext = &v1alpha1.UnstructuredTypedObject{}
			landscape.RepositoryContext.Raw = []byte(`{"type":"local","filePath":"."}`)
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(landscape).Build()
			loader := &Loader{itemcontext.Origins{
				Contexts: reader, Components: component.NewShared(),
				Sources: &repocontext.Reader{Client: reader, Base: component.Options{Local: fstest.MapFS{"shop.yaml": {Data: []byte(test.descriptor)}, "blobs/files.tgz": {Data: test.content}}}},
			}}
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Annotations: map[string]string{}}}
			given.Set(item.Annotations, test.given)
			key := base64.StdEncoding.EncodeToString([]byte("{component: {name: example.org/shop, version: 1.0.0}, resource: {name: files}}"))
			_, err := loader.Load(t.Context(), item, &api.Source{ResourceRef: key})
			if len(test.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, want := range test.want {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
			if err != nil && job.OutcomeOf(err) != job.Terminal {
				t.Error("another attempt would find the same")
			}
		})
	}
}

// TestGivenArtifact: an artifact that a tag names is compared before it is read.
func TestGivenArtifact(t *testing.T) {
	first, second := digest.FromString("first"), digest.FromString("second")
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Annotations: map[string]string{}}}
	if err := itemcontext.CheckManifest(item, second); err != nil {
		t.Errorf("nothing is known: %v", err)
	}
	given.Set(item.Annotations, &v1alpha1.Given{Resource: &v1alpha1.GivenResource{
		ComponentName: "c", Version: "1", ResourceName: "files", HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationArtifact, Value: first.Encoded(),
	}})
	if err := itemcontext.CheckManifest(item, first); err != nil {
		t.Error(err)
	}
	if err := itemcontext.CheckManifest(item, second); err == nil || !strings.Contains(err.Error(), first.Encoded()) || !strings.Contains(err.Error(), second.Encoded()) {
		t.Errorf("got %v", err)
	}
}
