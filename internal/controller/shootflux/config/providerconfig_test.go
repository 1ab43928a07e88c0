package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// golden compares an effective configuration with a file. UPDATE=1 writes it.
func golden(t *testing.T, name string, c *Config) {
	t.Helper()
	got, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// provider returns a provider configuration with some fields, in YAML.
func provider(t *testing.T, fields string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("apiVersion: flux.extensions.gardener.cloud/v1alpha1\nkind: FluxConfig\n" + fields))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantProblem expects exactly one problem, of a field, that says something and does
// not repeat what may be a secret.
func wantProblem(t *testing.T, err error, field, say string) {
	t.Helper()
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want a problem of %s", err, field)
	}
	if len(invalid.Problems) != 1 || invalid.Problems[0].Field != field || !strings.Contains(invalid.Problems[0].Message, say) {
		t.Errorf("got %v, want one problem of %s with %q", err, field, say)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the message repeats a value: %v", err)
	}
}

func TestProviderConfig(t *testing.T) {
	for _, test := range []struct{ reason, file, fields string }{
		{"nothing but a kind is Flux alone", "flux-only.yaml", ""},
		{"what is not written has the names of the public documentation", "git.yaml", `
source: {template: {spec: {url: "https://git.example.org/app.git", ref: {branch: main}}}}
kustomization: {template: {spec: {path: ./}}}`},
		{"a private repository with a Secret of the Shoot, and further Secrets", "private.yaml", `
flux: {version: v2.4.0, componentsExtra: [image-reflector-controller]}
source:
  template:
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: GitRepository
    spec: {url: "ssh://git@git.example.test/lab/fleet.git", ref: {branch: release}}
  secretResourceName: fleet-deploy-key
kustomization: {template: {spec: {path: clusters/lab, prune: true}}}
additionalSecretResources: [{name: mirror-login, targetName: registry-login}]`},
		{"an artifact", "oci.yaml", `
source:
  template: {apiVersion: source.toolkit.fluxcd.io/v1beta2, kind: OCIRepository, metadata: {name: app}, spec: {url: "oci://registry.example.org/app", ref: {tag: v1}}}
kustomization: {template: {apiVersion: kustomize.toolkit.fluxcd.io/v1beta2, kind: Kustomization, spec: {path: ./}}}`},
		{"everything is written", "full.yaml", `
flux:
  version: v2.7.0
  registry: registry.example.org:5000/mirror/fluxcd
  namespace: fleet-system
  components: [kustomize-controller, source-controller]
  componentsExtra: [source-watcher]
  imagePullSecretResourceName: pull
  options: {watchAllNamespaces: true, networkPolicy: false, clusterDomain: example.local, logLevel: debug, tolerationKeys: [example.org/dedicated], multitenant: true}
source:
  template:
    metadata: {name: fleet, labels: {team: a}, creationTimestamp: null, uid: x}
    spec: {url: "git@git.example.org:lab/fleet.git", ref: {tag: v1}, interval: 2m, timeout: 1m}
    status: {}
  generateSSHKey: true
  knownHosts: git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl
kustomization:
  template:
    metadata: {name: main}
    spec: {path: clusters/lab, interval: 10m, postBuild: {substituteFrom: [{kind: ConfigMap, name: shoot-info}]}}
additionalSecretResources: [{name: age, targetNamespace: team-a}]
syncMode: manifestsonly
deletionPolicy: delete
waitForReady: true`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			raw := provider(t, test.fields)
			c, err := FromProviderConfig(raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, c)
			if err := UnknownFields(raw); err != nil {
				t.Errorf("known fields are refused: %v", err)
			}
		})
	}
}
