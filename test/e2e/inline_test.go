package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// inlineNested is a component descriptor for development: nothing of it is in a
// registry, and what it refers to comes with it.
const inlineNested = `
meta:
  schemaVersion: v2
component:
  name: github.com/my-comp
  version: v0.0.1
  provider: internal
  repositoryContexts:
  - type: ociRegistry
    baseUrl: "registry.example.org/test"
  sources: []
  componentReferences:
  - name: ingress
    componentName: github.com/my-comp/ingress
    version: v0.2.0
    labels:
    - name: landscaper.gardener.cloud/component-descriptor
      value:
        meta:
          schemaVersion: v2
        component:
          name: github.com/my-comp/ingress
          version: v0.2.0
          provider: internal
          componentReferences:
          - name: certificates
            componentName: github.com/my-comp/certificates
            version: v0.3.0
            labels:
            - name: landscaper.gardener.cloud/component-descriptor
              value:
                meta:
                  schemaVersion: v2
                component:
                  name: github.com/my-comp/certificates
                  version: v0.3.0
  resources:
  - type: ociImage
    name: echo-server-image
    version: v0.2.3
    relation: external
    access:
      type: ociRegistry
      imageReference: registry.example.org/hashicorp/http-echo:0.2.3
`

// oneConfigMapWith deploys a ConfigMap with data that a template computes.
func oneConfigMapWith(data string) string {
	return strings.Replace(oneConfigMap, "data: {greeting: hello}", "data: "+data, 1)
}

// TestInlineDescriptor uses a descriptor with nested ones, without any registry.
func TestInlineDescriptor(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	template := oneConfigMapWith(`
          image: {{ (getResource .cd "name" "echo-server-image").access.imageReference }}
          ingress: {{ $ingress := getComponent .cd "name" "ingress" }}{{ $ingress.component.version }}
          certificates: {{ (getComponent $ingress "name" "certificates").component.version }}
          components: "{{ len .components.components }}"`)
	inst := newInstallation(space, "inline", template)
	scenario.SetInline(t, inst, inlineNested)
	waitSucceeded(t, create(t, inst))
	deployed := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "inline"}, deployed); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"image": "registry.example.org/hashicorp/http-echo:0.2.3", "ingress": "v0.2.0", "certificates": "v0.3.0", "components": "3"} {
		if deployed.Data[key] != want {
			t.Errorf("%s is %q, want %q", key, deployed.Data[key], want)
		}
	}
}

// TestTenants: what one namespace may read is in the caches of the server, but
// another one gets nothing of it with credentials that the registry does not accept.
func TestTenants(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	const component = "example.org/shop"
	repository := openDelivery(t, "/delivery")
	layer := repository.manifest(component, "1.0.0").Layers[1]
	// The descriptor comes with the Installation, so that the registry is asked for
	// nothing but the blueprint, whose digest is known.
	inline := fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: example.org/shop
  version: 1.0.0
  provider: internal
  repositoryContexts: [{type: ociRegistry, baseUrl: %s}]
  componentReferences: [{name: base, componentName: example.org/base, version: 1.0.0}]
  resources:
  - {name: image, type: ociImage, version: 2.7.0, relation: external, access: {type: ociArtifact, imageReference: "registry.example.org/images/shop:2.7.0"}}
  - name: blueprint
    type: landscaper.gardener.cloud/blueprint
    version: 1.0.0
    relation: external
    access: {type: ociBlob, ref: %s/%s, mediaType: %s, digest: %s, size: %d}
`, env.Lab.Registry.Address+"/delivery", env.Lab.Registry.Address, repository.spec.Repository(component), layer.MediaType, layer.Digest, layer.Size)
	for _, test := range []struct {
		reason string
		inline bool
	}{{"a reference", false}, {"an inline descriptor", true}} {
		for _, tenant := range []struct{ who, password string }{{"a user with the right", env.Lab.Registry.Password}, {"a user without the right", "wrong-password"}} {
			t.Run(test.reason+" of one "+tenant.who, func(t *testing.T) {
				space := namespace(t)
				shopContext(t, space, "/delivery", tenant.password)
				shopImports(t, space, 3)
				inst := shopInstallation(space, "1.0.0")
				if test.inline {
					scenario.SetInline(t, inst, inline)
				}
				inst = create(t, inst)
				if tenant.password == env.Lab.Registry.Password {
					waitSucceeded(t, inst)
					return
				}
				checkFailed(t, inst, "", "check the credentials for this host")
			})
		}
	}
}

// TestOutageWhileRendering: a registry that does not answer is waited for, also where
// a schema or a function of a template needs it.
func TestOutageWhileRendering(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	// There is no listener.
	const silent = "127.0.0.1:1"
	descriptor := strings.Replace(inlineNested, "registry.example.org/test", "http://"+silent, 1)
	descriptor = descriptor[:strings.Index(descriptor, "    labels:")] + descriptor[strings.Index(descriptor, "  resources:"):]
	for _, test := range []struct {
		reason, template, schema string
	}{
		{"a function of a template", oneConfigMapWith(`{v: {{ (getComponent .cd "name" "ingress").component.version }}}`), ""},
		{"the binding of all components", oneConfigMapWith(`{v: "{{ len .components.components }}"}`), ""},
		{"a schema", oneConfigMap, "cd://componentReferences/ingress/resources/schema"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			space := namespace(t)
			inst := newInstallation(space, "outage", test.template)
			if test.schema != "" {
				text := strings.Replace(string(inst.Spec.Blueprint.Inline.Filesystem.RawMessage), `imports:\n`, `imports:\n- {name: value, schema: {$ref: \"`+test.schema+`\"}}\n`, 1)
				inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON([]byte(text))
				inst.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"value": v1alpha1.NewAnyJSON([]byte(`1`))}
			}
			scenario.SetInline(t, inst, descriptor)
			inst = create(t, inst)
			waiting := waitFor(t, client.ObjectKeyFromObject(inst), "tells that the registry does not answer", func(inst *v1alpha1.Installation) bool {
				return inst.Status.LastError != nil && strings.Contains(inst.Status.LastError.Message, silent)
			})
			if waiting.Status.InstallationPhase != v1alpha1.InstallationPhases.Init || waiting.Status.JobIDFinished == waiting.Status.JobID {
				t.Errorf("phase %s: %s", waiting.Status.InstallationPhase, waiting.Status.LastError.Message)
			}
			// The waiting Installation can be deleted.
			if err := env.Admin.Delete(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
		})
	}
}
