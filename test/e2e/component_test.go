package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// shop is a component with a blueprint that uses what a blueprint can use: all
// kinds of imports, a schema in another component, both engines, import executions,
// functions for components, and state.
var shop = map[string]string{
	"constructor.yaml": `
components:
- name: example.org/base
  version: 1.0.0
  provider: {name: vendor}
  resources:
  - name: limits
    type: landscaper.gardener.cloud/jsonschema
    input: {type: file, path: limits.json, mediaType: application/vnd.gardener.landscaper.jsonschema.layer.v1.json}
- name: example.org/shop
  version: 1.0.0
  provider: {name: vendor}
  resources:
  - name: blueprint
    type: landscaper.gardener.cloud/blueprint
    input: {type: dir, path: blueprint, compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}
  - name: image
    type: ociImage
    version: 2.7.0
    access: {type: ociArtifact, imageReference: "registry.example.org/images/shop:2.7.0"}
  componentReferences:
  - {name: base, componentName: example.org/base, version: 1.0.0}
`,
	"limits.json": `{"type": "object", "required": ["replicas"], "properties": {"replicas": {"type": "integer", "maximum": 5}}}`,
	"blueprint/blueprint.yaml": `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, targetType: kubernetes-cluster}
- {name: limits, schema: {$ref: "cd://componentReferences/base/resources/limits"}}
- {name: password, schema: {type: string}}
- {name: host, schema: {type: string}}
- {name: namespace, schema: {type: string}}
- {name: color, required: false, default: {value: blue}, schema: {type: string}}
importExecutions:
- name: derive
  type: Spiff
  template: {bindings: {url: (( "https://" imports.host "/" imports.color ))}}
deployExecutions:
- {name: deploy, type: GoTemplate, file: /deploy.yaml}
`,
	"blueprint/deploy.yaml": `
{{- $token := dig "token" (randAlphaNum 16) .state }}
state: {token: {{ $token }}}
deployItems:
- name: one
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - policy: manage
      manifest:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: shop, namespace: {{ .imports.namespace }}}
        data:
          image: {{ (getResource .cd "name" "image").access.imageReference | ociRefVersion | quote }}
          replicas: "{{ .imports.limits.replicas }}"
          url: {{ .imports.url }}
          password: {{ .imports.password | sha256sum }}
          token: {{ $token }}
`,
}

// publish pushes the shop into the registry of the lab.
func publish(t *testing.T, path string) {
	t.Helper()
	publishFiles(t, path, shop)
}

// publishFiles pushes components into the registry of the lab with the command line.
func publishFiles(t *testing.T, path string, files map[string]string) {
	t.Helper()
	directory := t.TempDir()
	scenario.WriteFiles(t, directory, files)
	program, err := filepath.Abs("../../bin/landscaper-cli")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(directory, "docker.json")
	if err := os.WriteFile(config, dockerConfig(env.Lab.Registry.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	push := exec.CommandContext(t.Context(), program, "components", "push", "constructor.yaml", env.Lab.Registry.Address+path,
		"--skip-digests", "--overwrite", "--registry-config", config, "--ca-file", env.Lab.Registry.CAFile)
	push.Dir = directory
	if output, err := push.CombinedOutput(); err != nil {
		t.Fatalf("push: %v\n%s", err, output)
	}
}

func dockerConfig(password string) []byte {
	return env.RegistryLogin(env.Lab.Registry.Address, password)
}

// shopContext is a Context with the registry and credentials for it.
func shopContext(t *testing.T, space, path, password string) {
	t.Helper()
	createAll(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(password)}},
		&v1alpha1.Context{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "vendor"},
			ContextConfiguration: v1alpha1.ContextConfiguration{
				RepositoryContext:                   repositoryContext(t, env.Lab.Registry.Address+path),
				RegistryPullSecrets:                 []v1alpha1.LocalPullSecret{{Name: "pull"}},
				ComponentVersionOverwritesReference: "hotfix",
			},
		},
		&v1alpha1.ComponentVersionOverwrites{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "hotfix"},
			Overwrites: v1alpha1.ComponentVersionOverwriteList{{
				Source:       v1alpha1.ComponentVersionOverwriteReference{ComponentName: "example.org/shop", Version: "0.9.0"},
				Substitution: v1alpha1.ComponentVersionOverwriteReference{Version: "1.0.0"},
			}},
		},
	)
}

// shopImports are the objects that the Installation imports.
func shopImports(t *testing.T, space string, replicas int) {
	t.Helper()
	createAll(t,
		&v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "limits"}, Data: v1alpha1.NewAnyJSON(fmt.Appendf(nil, `{"replicas": %d}`, replicas))},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "access"}, Data: map[string][]byte{"password": []byte("hunter2hunter2")}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "site"}, Data: map[string]string{"domain": "example.org"}},
	)
}

func shopInstallation(space, version string) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: space, Name: "shop", Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
	}}
	inst.Spec.Context = "vendor"
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: version}}
	inst.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}
	inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}
	inst.Spec.Imports.Data = []v1alpha1.DataImport{
		{Name: "limits", DataRef: "limits"},
		{Name: "password", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "access", Key: "password"}}},
		{Name: "site", ConfigMapRef: &v1alpha1.ImportConfigMapReference{LocalConfigMapReference: v1alpha1.LocalConfigMapReference{Name: "site"}}},
	}
	inst.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{
		"host":      v1alpha1.NewAnyJSON([]byte(`"(( \"shop.\" site.domain ))"`)),
		"namespace": v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", space)),
	}
	return inst
}

// TestComponent brings up a component from a registry with authentication and TLS.
func TestComponent(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	done := waitSucceeded(t, create(t, shopInstallation(space, "0.9.0")))
	deployed := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: space, Name: "shop"}
	if err := env.Workload.Get(t.Context(), key, deployed); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"image": "2.7.0", "replicas": "3", "url": "https://shop.example.org/blue", "password": "76880d60191af3b3f803a656b7716f0179928357fc32421ced973ed265e15718"} {
		if deployed.Data[name] != want {
			t.Errorf("%s is %q, want %q", name, deployed.Data[name], want)
		}
	}
	checkOverwriteCondition(t, done)
	t.Run("the state is given back", func(t *testing.T) {
		request(t, done, v1alpha1.ReconcileOperation)
		waitFinished(t, done, done.Status.JobID)
		again := &corev1.ConfigMap{}
		if err := env.Workload.Get(t.Context(), key, again); err != nil || again.Data["token"] != deployed.Data["token"] || len(again.Data["token"]) != 16 {
			t.Errorf("token %q became %q (%v)", deployed.Data["token"], again.Data["token"], err)
		}
	})
	t.Run("copies of imports for children", func(t *testing.T) {
		copies := &v1alpha1.DataObjectList{}
		if err := env.Admin.List(t.Context(), copies, client.InNamespace(space), client.MatchingLabels{v1alpha1.DataObjectContextLabel: "Inst.shop"}); err != nil {
			t.Fatal(err)
		}
		if len(copies.Items) != 5 {
			t.Errorf("%d copies, want one for each of limits, password, host, namespace and color", len(copies.Items))
		}
	})
}

func checkOverwriteCondition(t *testing.T, inst *v1alpha1.Installation) {
	t.Helper()
	for _, condition := range inst.Status.Conditions {
		if condition.Type == v1alpha1.ComponentReferenceOverwriteCondition {
			if condition.Status != v1alpha1.ConditionTrue || !strings.Contains(condition.Message, "0.9.0 -> 1.0.0") {
				t.Errorf("condition %+v", condition)
			}
			return
		}
	}
	t.Errorf("no condition reports that the reference was overwritten: %+v", inst.Status.Conditions)
}

// TestComponentErrors shows what users see when a component cannot be used.
func TestComponentErrors(t *testing.T) {
	publish(t, "/delivery")
	registryServer(t)
	tests := []struct {
		reason, password string
		replicas         int
		change           func(*v1alpha1.Installation)
		wants            []string
	}{
		{"wrong credentials end the job at once", "wrong-password", 3, nil, []string{"check the credentials for this host", "example.org/shop:1.0.0"}},
		{"a version that does not exist", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.ComponentDescriptor.Reference.Version = "7.0.0"
		}, []string{`component version "example.org/shop:7.0.0" not found`}},
		{"a resource that does not exist", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.Blueprint.Reference.ResourceName = "ghost"
		}, []string{"spec.blueprint", "failed to get resource with name ghost"}},
		{"a signature that does not exist", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.Verification = &v1alpha1.Verification{SignatureName: "vendor"}
		}, []string{"spec.verification", `verificationSignatures does not contain a key for signature name "vendor"`}},
		{"a value that breaks the schema of another component", "", 9, nil, []string{"shop.limits", "replicas", "Must be less than or equal to 5"}},
		{"a Secret without the key", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.Imports.Data[1].SecretRef.Key = "ghost"
		}, []string{"spec.imports.data[1].secretRef", "import password", "ghost"}},
		{"imports that do not exist, all at once", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.Imports.Data[0].DataRef, inst.Spec.Imports.Targets[0].Target = "ghost", "phantom"
		}, []string{`there is no DataObject "ghost"`, `there is no Target "phantom"`}},
		{"a mapping with a misspelt name", "", 3, func(inst *v1alpha1.Installation) {
			inst.Spec.ImportDataMappings["host"] = v1alpha1.NewAnyJSON([]byte(`"(( password.ghost ))"`))
		}, []string{"spec.importDataMappings", "host"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			space := namespace(t)
			password := env.Lab.Registry.Password
			if test.password != "" {
				password = test.password
			}
			shopContext(t, space, "/delivery", password)
			shopImports(t, space, test.replicas)
			inst := shopInstallation(space, "0.9.0")
			if test.change != nil {
				test.change(inst)
			}
			inst = create(t, inst)
			failed := waitFinished(t, inst, "")
			if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || failed.Status.LastError == nil {
				t.Fatalf("phase %s, error %+v", failed.Status.InstallationPhase, failed.Status.LastError)
			}
			for _, want := range test.wants {
				if !strings.Contains(failed.Status.LastError.Message, want) {
					t.Errorf("%q is not in\n%s", want, failed.Status.LastError.Message)
				}
			}
			for _, secret := range []string{password, "hunter2"} {
				if strings.Contains(fmt.Sprintf("%+v", failed.Status), secret) {
					t.Errorf("the status shows %s", secret)
				}
			}
		})
	}
}

// TestRegistryDown shows that a job waits for a registry that does not answer.
func TestRegistryDown(t *testing.T) {
	publish(t, "/delivery")
	space := namespace(t)
	shopContext(t, space, "/delivery", env.Lab.Registry.Password)
	shopImports(t, space, 3)
	resume := stopRegistry(t)
	registryServer(t)
	inst := create(t, shopInstallation(space, "1.0.0"))
	waiting := waitFor(t, client.ObjectKeyFromObject(inst), "tells that the registry does not answer", func(inst *v1alpha1.Installation) bool {
		return inst.Status.LastError != nil
	})
	if waiting.Status.InstallationPhase != v1alpha1.InstallationPhases.Init || !strings.Contains(waiting.Status.LastError.Message, env.Lab.Registry.Address) {
		t.Errorf("phase %s: %s", waiting.Status.InstallationPhase, waiting.Status.LastError.Message)
	}
	resume()
	waitSucceeded(t, inst)
}
