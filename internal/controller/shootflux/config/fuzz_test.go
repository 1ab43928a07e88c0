package config

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// FuzzProviderConfig reads anything, over nothing and over a ConfigMap. What is read
// has a checksum, is complete, and is the same when it is read again.
func FuzzProviderConfig(f *testing.F) {
	const head = `{"apiVersion":"flux.extensions.gardener.cloud/v1alpha1","kind":"FluxConfig",`
	for _, text := range []string{
		head + `"source":{"template":{"spec":{"url":"https://git.example.org/a","ref":{"branch":"main"}}}},"kustomization":{"template":{"spec":{"path":"./"}}}}`,
		head + `"source":{"template":{"kind":"OCIRepository","metadata":null,"spec":{"url":"oci://a.b/c","ref":{"tag":"v1"}}},"secretResourceName":"x"},"kustomization":{"template":{"spec":{"path":"./","sourceRef":[]}}}}`,
		head + `"source":{"template":{"spec":{"secretRef":1,"ref":"x","url":{}}},"generateSSHKey":true,"knownHosts":"x"},"kustomization":{"template":{"metadata":{"labels":1},"spec":null}}}`,
		head + `"flux":{"version":"v2.4.0","components":["source-controller"],"options":{"tolerationKeys":[""]}},"additionalSecretResources":[null,{"name":"a"}],"configMapRef":{}}`,
		`null`, `[]`, `{"kind":1}`,
	} {
		f.Add([]byte(text))
	}
	base, err := FromConfigMap(projectConfig(private))
	if err != nil {
		f.Fatal(err)
	}
	before := base.Checksum()
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = RefersTo(raw)
		_ = UnknownFields(raw)
		for _, under := range []*Config{nil, base} {
			c, err := FromProviderConfig(raw, under)
			if err != nil {
				continue
			}
			complete(t, c)
			again, err := FromProviderConfig(raw, under)
			if err != nil || again.Checksum() != c.Checksum() {
				t.Fatalf("read again it is another one: %v", err)
			}
		}
		if base.Checksum() != before {
			t.Fatal("the base has changed")
		}
	})
}

// FuzzConfigMap reads anything from a JSON object of texts.
func FuzzConfigMap(f *testing.F) {
	for _, data := range []map[string]string{public, private, with(private, "repositoryTag", "v1", "interval", "1h", "fluxComponents", "a,,b")} {
		text, err := json.Marshal(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		data := map[string]string{}
		if json.Unmarshal(text, &data) != nil {
			return
		}
		cm := &corev1.ConfigMap{Data: data}
		_ = UnknownKeys(cm)
		if c, err := FromConfigMap(cm); err == nil {
			complete(t, c)
		}
	})
}

// complete demands what those behind it rely on.
func complete(t *testing.T, c *Config) {
	t.Helper()
	if c.Flux.Registry == "" || c.Flux.Namespace == "" || len(c.Flux.Components) < 2 || c.SyncMode == "" || c.DeletionPolicy == "" {
		t.Fatalf("%+v lacks something", c)
	}
	if (c.Source == nil) != (c.Kustomization == nil) {
		t.Fatal("source and kustomization need each other")
	}
	resolved, err := c.Resolve(Surroundings{DefaultVersion: "v2.9.5"})
	if err != nil || c.Source == nil {
		return
	}
	for _, object := range []interface {
		GetName() string
		GetNamespace() string
		GetAPIVersion() string
		GetKind() string
	}{resolved.Source.Object, resolved.Kustomization} {
		if object.GetName() == "" || object.GetNamespace() == "" || object.GetAPIVersion() == "" || object.GetKind() == "" {
			t.Fatalf("%+v lacks something", object)
		}
	}
	if source := resolved.Source; source.URL == "" || source.Private != (source.SecretName != "") || (source.SecretName == "") != (source.SecretNamespace == "") {
		t.Fatalf("%+v does not fit together", source)
	}
	_ = resolved.Copy().Checksum()
}
