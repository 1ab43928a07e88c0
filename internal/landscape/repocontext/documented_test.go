package repocontext

import (
	"os"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/model/validation"
)

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// documented returns the objects in the examples of a page.
func documented(t *testing.T) []client.Object {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/contexts.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() client.Object{
		"Context":                    func() client.Object { return &v1alpha1.Context{} },
		"ComponentVersionOverwrites": func() client.Object { return &v1alpha1.ComponentVersionOverwrites{} },
		"Installation":               func() client.Object { return &v1alpha1.Installation{} },
		"Secret":                     func() client.Object { return &corev1.Secret{} },
		"ConfigMap":                  func() client.Object { return &corev1.ConfigMap{} },
	}
	var objects []client.Object
	for _, match := range example.FindAllStringSubmatch(string(page), -1) {
		var kind struct{ Kind string }
		if err := yaml.Unmarshal([]byte(match[1]), &kind); err != nil || kinds[kind.Kind] == nil {
			t.Fatalf("kind %q, %v:\n%s", kind.Kind, err, match[1])
		}
		object := kinds[kind.Kind]()
		if err := yaml.UnmarshalStrict([]byte(match[1]), object); err != nil {
			t.Fatalf("%v:\n%s", err, match[1])
		}
		if secret, ok := object.(*corev1.Secret); ok {
			// The API server does this.
			secret.Data = map[string][]byte{}
			for key, text := range secret.StringData {
				secret.Data[key] = []byte(text)
			}
		}
		objects = append(objects, object)
	}
	return objects
}

// TestDocumented reads the Context of the page with all that it refers to.
func TestDocumented(t *testing.T) {
	objects := documented(t)
	r := reader(t, interceptor.Funcs{}, objects...)
	seen := 0
	for _, object := range objects {
		switch object := object.(type) {
		case *v1alpha1.Installation:
			seen++
			if errs := validation.Installation(object, nil); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		case *v1alpha1.Context:
			seen++
			checkDocumented(t, r, object)
		}
	}
	if seen != 2 || len(objects) != 6 {
		t.Errorf("%d objects, %d of them are a Context or an Installation", len(objects), seen)
	}
}

func checkDocumented(t *testing.T, r *Reader, landscape *v1alpha1.Context) {
	t.Helper()
	got, err := r.Read(t.Context(), landscape)
	if err != nil || len(got.Warnings) > 0 {
		t.Fatalf("warnings %v, %v", got, err)
	}
	for host, path := range map[string]string{"registry.example.org": "delivery/component-descriptors", "mirror.example.org": "shop/component-descriptors"} {
		found := got.Options.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: host, Path: path})
		if found[credential.Username] != "reader" {
			t.Errorf("no credentials for %s", host)
		}
	}
	if repositories := got.Options.Config.Repositories("example.org/shop/web"); len(repositories) != 1 {
		t.Errorf("repositories %v", repositories)
	}
	after, overwritten := component.Apply(got.Options.Overwrites, component.Reference{Name: "example.org/shop/db", Version: "3.1.0"})
	if !overwritten || after.Version != "3.1.1-hotfix" {
		t.Errorf("got %+v", after)
	}
	for name := range landscape.VerificationSignatures {
		trust, err := got.Trust(t.Context(), name)
		if err != nil || !strings.Contains(string(trust.PublicKey)+string(trust.Authorities), "-----BEGIN") {
			t.Errorf("signature %s: %v", name, err)
		}
	}
}
