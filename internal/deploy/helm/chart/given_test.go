package chart

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/given"
	"go.landscaper.dev/internal/runtime/job"
)

// planner makes the items of an Installation in its own process: another one than that of the
// deployer, with a cache of its own.
type planner struct {
	local fstest.MapFS
	// key verifies the signature release; nil without one.
	key []byte
}

func (p planner) session(t *testing.T) (*component.Session, *plan.Component) {
	t.Helper()
	credentials := &credential.Store{}
	for _, kind := range []string{credential.TypeOCIRegistry, credential.TypeHelmRepository} {
		credentials.AddConsumer(map[string]string{"type": kind, "hostname": "127.0.0.1"}, credential.Properties{credential.Username: "reader", credential.Password: password})
	}
	session := component.NewSession(component.NewSharedWith(egress.Policy{AllowLoopback: true}), component.Options{Tenant: "team-a", Local: p.local, Default: descriptor.Typed(`{"type":"local","filePath":"team-a"}`), Registry: registry.Options{AllowPlainHTTP: true, Credentials: credentials}})
	t.Cleanup(func() { _ = session.Close() })
	opened, err := plan.OpenComponent(t.Context(), session, &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.0.0"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.key != nil {
		if err := session.Verify(t.Context(), opened.Version, "release", signature.Trust{PublicKey: p.key}); err != nil {
			t.Fatal(err)
		}
	}
	return session, opened
}

// item is the DeployItem that an Installation makes for a chart.
func (p planner) item(t *testing.T, source *helmv1alpha1.Chart) (*v1alpha1.DeployItem, error) {
	t.Helper()
	_, opened := p.session(t)
	config, err := json.Marshal(map[string]any{"apiVersion": helmv1alpha1.GroupVersion.String(), "kind": "ProviderConfiguration", "name": "web", "namespace": "web", "chart": source})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("deployExecutions: [{name: d, type: GoTemplate, template: %q}]", "deployItems: [{name: web, type: landscaper.gardener.cloud/helm, config: "+string(config)+"}]")
	files, err := blueprint.Inline(v1alpha1.NewAnyJSON(fmt.Appendf(nil, `{"blueprint.yaml": %q}`, text)))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := blueprint.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
	planned, err := plan.New(t.Context(), plan.Input{Installation: inst, Blueprint: loaded, Component: opened})
	if err != nil {
		t.Fatal(err)
	}
	made, err := planned.Children(t.Context())
	if err != nil {
		return nil, err
	}
	item := item("team-a", "vendor")
	item.Annotations = map[string]string{}
	given.Set(item.Annotations, made.DeployItems[0].Given)
	return item, nil
}

// signedShop puts a signature into the component of a shop.
func signedShop(t *testing.T, local fstest.MapFS) (fstest.MapFS, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	session, opened := planner{local: local}.session(t)
	if _, err := session.Sign(t.Context(), opened.Version, signature.Signing{
		Name: "release", Algorithm: signature.AlgorithmPSS, Hash: "SHA-256", Normalisation: signature.JSONv3,
		Key: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	}); err != nil {
		t.Fatal(err)
	}
	text, err := opened.Version.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"team-a/shop.yaml": {Data: text}, "team-a/blobs/web.tgz": local["team-a/blobs/web.tgz"]}, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

// TestVerifiedIsDeployed: an Installation has verified a component, and then the registry, the chart
// repository or the repository of components delivers something else to the deployer.
func TestVerifiedIsDeployed(t *testing.T) {
	const key = "component: {name: example.org/shop, version: 1.0.0}\nresource: {name: NAME}\n"
	byName := func(name string) func(*shop) *helmv1alpha1.Chart {
		return func(*shop) *helmv1alpha1.Chart { return byKey(strings.Replace(key, "NAME", name, 1)) }
	}
	// What the second reader gets: all contents are other ones.
	replaced := func(t *testing.T, s *shop, local fstest.MapFS) fstest.MapFS {
		evil := simple(t, "web", file{name: "web/values.yaml", text: "a: evil"})
		s.chart("oci/web:1.0.0", evil)
		s.page("/charts/index.yaml", index("{version: 1.0.0, urls: [web-1.0.0.tgz]}"))
		s.page("/charts/web-1.0.0.tgz", evil)
		return fstest.MapFS{"team-a/shop.yaml": local["team-a/shop.yaml"], "team-a/blobs/web.tgz": {Data: evil}}
	}
	// A repository of components that is not what it was adapts its descriptor, too.
	adapted := func(t *testing.T, s *shop, local fstest.MapFS) fstest.MapFS {
		local = replaced(t, s, local)
		local["team-a/shop.yaml"] = &fstest.MapFile{Data: []byte(withoutWrong(string(componentIn(s, nil)["team-a/shop.yaml"].Data)))}
		return local
	}
	other := func(t *testing.T, s *shop, local fstest.MapFS) fstest.MapFS {
		local = fstest.MapFS{"team-a/shop.yaml": local["team-a/shop.yaml"], "team-a/blobs/web.tgz": local["team-a/blobs/web.tgz"]}
		text := withoutWrong(string(componentIn(s, nil)["team-a/shop.yaml"].Data))
		local["team-a/shop.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(text, "provider: p", "provider: another-vendor", 1))}
		return local
	}
	ways := []struct {
		reason, resource string
		source           func(*shop) *helmv1alpha1.Chart
		// descriptor says that the deployer reads the component version again.
		descriptor bool
	}{
		{"a key of a content of the component", "blob", byName("blob"), true},
		{"a key of an artifact", "artifact", byName("artifact"), true},
		{"a key of a chart in a chart repository", "repository", byName("repository"), true},
		{"a component and a resource", "artifact", func(*shop) *helmv1alpha1.Chart { return fromComponent("example.org/shop", "1.0.0", "artifact") }, true},
		{"the reference of an artifact, as templates take it from a resource", "artifact", func(s *shop) *helmv1alpha1.Chart { return ref("http://" + s.host() + "/oci/web:1.0.0") }, false},
		{"the chart repository of a resource", "repository", func(s *shop) *helmv1alpha1.Chart { return inRepository(s.URL+"/charts", "web", "1.0.0") }, false},
	}
	changes := []struct {
		reason     string
		change     func(*testing.T, *shop, fstest.MapFS) fstest.MapFS
		descriptor bool
		want       string
	}{
		{"nothing has changed", nil, false, ""},
		{"another content", replaced, false, "mismatches existing digest"},
		{"another content, and a descriptor without digests", adapted, false, "mismatches existing digest"},
		{"another component version of the same name", other, true, "says something else than when its Installation has read it"},
	}
	for _, way := range ways {
		for _, change := range changes {
			if change.descriptor && !way.descriptor {
				continue
			}
			t.Run(way.reason+"/"+change.reason, func(t *testing.T) {
				s, packed, _ := stocked(t)
				local := componentIn(s, packed)
				text := string(local["team-a/shop.yaml"].Data)
				local["team-a/shop.yaml"] = &fstest.MapFile{Data: []byte(withoutWrong(text))}
				local, key := signedShop(t, local)
				item, err := planner{local, key}.item(t, way.source(s))
				if err != nil {
					t.Fatal(err)
				}
				w := usual(t, s, local)
				w.options.Sources.Base.Registry.AllowPlainHTTP = true
				if change.change != nil {
					w.options.Sources.Base.Local = change.change(t, s, local)
				}
				found, err := w.Load(t.Context(), item, way.source(s))
				if change.want == "" {
					if err != nil || found.Chart.Values["a"] != float64(1) && fmt.Sprint(found.Chart.Values["a"]) != "1" {
						t.Fatalf("%v", err)
					}
					return
				}
				if err == nil {
					t.Fatalf("the Installation has verified another chart than the deployer takes: a is %v", found.Chart.Values["a"])
				}
				for _, want := range []string{change.want, "DeployItem team-a/web", "example.org/shop:1.0.0", way.resource} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is not in %v", want, err)
					}
				}
				if job.OutcomeOf(err) != job.Terminal {
					t.Error("another attempt would find the same")
				}
			})
		}
	}
}

// withoutWrong removes the resources of which other tests want to see errors.
func withoutWrong(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "name: checked") && !strings.Contains(line, "none.tgz") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
