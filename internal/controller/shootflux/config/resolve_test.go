package config

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// fromProvider reads a provider configuration that is good.
func fromProvider(t *testing.T, text string) *Config {
	t.Helper()
	c, err := FromProviderConfig(provider(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestResolveVersions is which release gets which versions of the API.
func TestResolveVersions(t *testing.T) {
	git, oci := gitSource+allOfIt, ociSource+"}\n"+allOfIt
	for _, test := range []struct{ reason, text, version, standard, source, kustomization string }{
		{"the default", git, "", "v2.4.0", "source.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1"},
		{"a chosen release", git, "v2.0.0", "v2.4.0", "source.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1"},
		{"a candidate", git, "v2.0.0-rc.1", "v2.4.0", "source.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1"},
		{"the last before", git, "v0.41.2", "v2.4.0", "source.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1beta2"},
		{"the one of the public example", git, "v0.29.5", "v2.4.0", "source.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1beta2"},
		{"artifacts of today", oci, "v2.6.0", "v2.4.0", "source.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1"},
		{"artifacts have left their beta later", oci, "v2.5.1", "v2.4.0", "source.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1"},
		{"the first artifacts", oci, "v0.32.0", "v2.4.0", "source.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1beta2"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fromProvider(t, "flux: {version: '"+test.version+"'}\n"+test.text)
			resolved, err := c.Resolve(Surroundings{DefaultVersion: test.standard})
			if err != nil {
				t.Fatal(err)
			}
			if got := resolved.Source.Object.GetAPIVersion(); got != test.source {
				t.Errorf("the source has %s, want %s", got, test.source)
			}
			if got := resolved.Kustomization.GetAPIVersion(); got != test.kustomization {
				t.Errorf("the kustomization has %s, want %s", got, test.kustomization)
			}
			want := test.version
			if want == "" {
				want = test.standard
			}
			if resolved.Flux.Version != want || c.Flux.Version != test.version {
				t.Errorf("the version is %q, that of the original %q", resolved.Flux.Version, c.Flux.Version)
			}
		})
	}
}

// TestAsRead is a shoot whose Flux stays older or younger than it is configured.
func TestAsRead(t *testing.T) {
	resolved, err := fromProvider(t, "flux: {version: v2.4.0}\n"+gitSource+allOfIt).Resolve(Surroundings{DefaultVersion: "v2.9.5"})
	if err != nil {
		t.Fatal(err)
	}
	before := resolved.Checksum()
	for _, test := range []struct{ reason, release, want string }{
		{"the release in the shoot is the configured one", "v2.4.0", "source.toolkit.fluxcd.io/v1"},
		{"the release in the shoot is older", "v0.29.5", "source.toolkit.fluxcd.io/v1beta2"},
		{"the release in the shoot is unknown", "", "source.toolkit.fluxcd.io/v1"},
		{"the release in the shoot is not valid", "canary", "source.toolkit.fluxcd.io/v1"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			read, err := resolved.AsRead(test.release)
			if err != nil {
				t.Fatal(err)
			}
			if got := read.Source.Object.GetAPIVersion(); got != test.want || read.Flux.Version != "v2.4.0" {
				t.Errorf("%s: the source has %s, Flux is %s", test.reason, got, read.Flux.Version)
			}
		})
	}
	if resolved.Checksum() != before {
		t.Error("the original has changed")
	}
	artifact, err := fromProvider(t, "flux: {version: v2.6.0}\n"+ociSource+"}\n"+allOfIt).Resolve(Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = artifact.AsRead("v0.31.0")
	wantProblem(t, err, "source.template", "v0.32.0")
}

func TestResolveSecrets(t *testing.T) {
	resources := []Resource{
		{Name: "deploy", APIVersion: "v1", Kind: "Secret", Object: "fleet-ssh"},
		{Name: "pull", APIVersion: "v1", Kind: "Secret", Object: "registry-login"},
		{Name: "age", APIVersion: "v1", Kind: "Secret", Object: "sops-age"},
		{Name: "config", APIVersion: "v1", Kind: "ConfigMap", Object: "flux-config"},
	}
	c := fromProvider(t, "flux: {imagePullSecretResourceName: pull}\n"+sshSource+"secretResourceName: deploy}\n"+allOfIt+
		"additionalSecretResources: [{name: age}, {name: age, targetName: other}, {name: age, targetNamespace: team-a}]")
	resolved, err := c.Resolve(Surroundings{DefaultVersion: "v2.4.0", Resources: resources})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"source.secretObject": "fleet-ssh", "flux.imagePullSecretName": "registry-login",
		"additionalSecrets": "map[object:sops-age resource:age targetName:sops-age targetNamespace:flux-system] " +
			"map[object:sops-age resource:age targetName:other targetNamespace:flux-system] " +
			"map[object:sops-age resource:age targetName:sops-age targetNamespace:team-a]",
	} {
		t.Run(path, func(t *testing.T) {
			if got := valueAt(t, resolved, path); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	resources := []Resource{
		{Name: "deploy", APIVersion: "v1", Kind: "Secret", Object: "fleet-ssh"},
		{Name: "config", APIVersion: "v1", Kind: "ConfigMap", Object: "flux-config"},
		{Name: "identity", APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Object: "x"},
	}
	usual := Surroundings{DefaultVersion: "v2.4.0", Resources: resources}
	only23, err := semver.NewConstraint(">=2.3.0 <2.4.0")
	if err != nil {
		t.Fatal(err)
	}
	limited := Surroundings{DefaultVersion: "v2.3.0", Allowed: only23}
	for _, test := range []struct {
		reason, text, field, say string
		in                       Surroundings
	}{
		{"the operator has no default", "", "flux.version", "its operator must set one", Surroundings{DefaultVersion: "latest"}},
		{"the operator does not allow it", "flux: {version: v2.4.0}", "flux.version", "choose one of >=2.3.0 <2.4.0", limited},
		{"the watcher is younger", "flux: {version: v2.6.0, componentsExtra: [source-watcher]}", "flux.components", "v2.7.0", usual},
		{"artifacts are younger", "flux: {version: v0.31.0}\n" + ociSource + "}\n" + allOfIt, "source.template", "v0.32.0", usual},
		{"no such resource", sshSource + "secretResourceName: gone}\n" + allOfIt, "source.secretResourceName", "gone, which the Shoot's spec.resources does not have", usual},
		{"a resource of another kind", sshSource + "secretResourceName: config}\n" + allOfIt, "source.secretResourceName", "no Secret", usual},
		{"an identity is no Secret", sshSource + "secretResourceName: identity}\n" + allOfIt, "source.secretResourceName", "no Secret", usual},
		{"no such resource for images", "flux: {imagePullSecretResourceName: gone}", "flux.imagePullSecretResourceName", "add an entry", usual},
		{"no such resource for the shoot", "additionalSecretResources: [{name: deploy}, {name: gone}]", "additionalSecretResources[1].name", "add an entry", usual},
		{"two for one place", "additionalSecretResources: [{name: deploy}, {name: deploy}]", "additionalSecretResources[1].targetName", "as additionalSecretResources[0].targetName does", usual},
		{"in the place of the source's", sshSource + "secretResourceName: deploy}\n" + allOfIt + "additionalSecretResources: [{name: deploy, targetName: flux-system}]", "additionalSecretResources[0].targetName", "as source.secretResourceName does", usual},
		{"in the place of the images'", "flux: {imagePullSecretResourceName: deploy}\nadditionalSecretResources: [{name: deploy}]", "additionalSecretResources[0].targetName", "as flux.imagePullSecretResourceName does", usual},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := fromProvider(t, test.text).Resolve(test.in)
			wantProblem(t, err, test.field, test.say)
		})
	}
	c, err := FromConfigMap(projectConfig(with(public, "fluxVersion", "v2.4.0")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Resolve(limited)
	wantProblem(t, err, "fluxVersion", "does not allow")
	if resolved, err := fromProvider(t, "flux: {version: v2.3.1}").Resolve(limited); err != nil || resolved.Flux.Version != "v2.3.1" {
		t.Errorf("an allowed release: %v", err)
	}
}

func TestCheckBootstrapped(t *testing.T) {
	c := fromProvider(t, "flux: {namespace: fleet}")
	for _, test := range []struct {
		reason, namespace string
		fails             bool
	}{
		{"Flux does not run yet", "", false},
		{"Flux runs there", "fleet", false},
		{"Flux runs elsewhere", "flux-system", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := c.CheckBootstrapped(test.namespace)
			if (err != nil) != test.fails {
				t.Errorf("%s: got %v", test.reason, err)
			}
			if test.fails {
				wantProblem(t, err, "flux.namespace", "since Flux runs in flux-system")
			}
		})
	}
}

func TestChecksum(t *testing.T) {
	sum := func(text string) string { return fromProvider(t, text).Checksum() }
	const full = "flux: {components: [source-controller, kustomize-controller]}\n" + gitSource + allOfIt
	if again := sum(full); sum(full) != again || len(sum(full)) != 64 {
		t.Error("the same configuration has two checksums")
	}
	if sum(full) != sum(strings.ReplaceAll(full, "[source-controller, kustomize-controller]", "[kustomize-controller, source-controller]")) {
		t.Error("the order of components makes a difference")
	}
	seen := map[string]string{}
	for _, text := range []string{"", full, full + "syncMode: Always", full + "deletionPolicy: Delete", full + "waitForReady: false", strings.Replace(full, "main", "other", 1), strings.Replace(full, "./", "a", 1), full + "additionalSecretResources: [{name: a}]"} {
		if other, found := seen[sum(text)]; found {
			t.Errorf("two configurations have one checksum:\n%s\n%s", text, other)
		}
		seen[sum(text)] = text
	}
}

// TestCopy shares nothing.
func TestCopy(t *testing.T) {
	c := fromProvider(t, "flux: {options: {tolerationKeys: [a]}}\n"+gitSource+allOfIt+"additionalSecretResources: [{name: a}]")
	before := c.Checksum()
	copied := c.Copy()
	copied.Flux.Components[0], copied.Flux.Options.TolerationKeys[0], copied.AdditionalSecrets[0].Resource = "x", "x", "x"
	copied.Source.URL = "x"
	copied.Source.Object.SetName("x")
	copied.Kustomization.SetName("x")
	if c.Checksum() != before {
		t.Error("the original has changed")
	}
}
