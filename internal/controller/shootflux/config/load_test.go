package config

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMaps  = schema.GroupResource{Resource: "configmaps"}
	errNotThere = apierrors.NewNotFound(configMaps, "x")
	errNotOurs  = apierrors.NewForbidden(configMaps, "x", nil)
	errNoAnswer = errors.New("the garden does not answer")
)

// maps answers by name. What it does not have is not there; a nil map is no garden.
type answers struct {
	copied, ofProject map[string]*corev1.ConfigMap
	err               error
}

func (a answers) Copied(_ context.Context, name string) (*corev1.ConfigMap, error) {
	if cm := a.copied[name]; cm != nil {
		return cm, nil
	}
	return nil, errNotThere
}

func (a answers) OfProject(_ context.Context, name string) (*corev1.ConfigMap, error) {
	switch {
	case a.err != nil:
		return nil, a.err
	case a.ofProject == nil:
		return nil, ErrNoGarden
	case a.ofProject[name] == nil:
		return nil, errNotThere
	}
	return a.ofProject[name], nil
}

func TestLoad(t *testing.T) {
	cm := func(branch string) *corev1.ConfigMap { return projectConfig(with(public, "repositoryBranch", branch)) }
	usual := []Resource{{Name: "flux-config", APIVersion: "v1", Kind: "ConfigMap", Object: "bench-flux"}}
	project := answers{ofProject: map[string]*corev1.ConfigMap{"flux-config": cm("project"), "other": cm("other")}}
	both := answers{copied: map[string]*corev1.ConfigMap{"bench-flux": cm("shoot")}, ofProject: project.ofProject}
	empty := answers{ofProject: map[string]*corev1.ConfigMap{}}
	own, refers := provider(t, gitSource+allOfIt), provider(t, "configMapRef: {}")
	for _, test := range []struct {
		reason  string
		request Request
		from    answers
		origin  Origin
		branch  string
		fail    string
	}{
		{"the Shoot says it", Request{ProviderConfig: own, Resources: usual}, both, ProviderConfig, "main", ""},
		{"the Shoot refers to a ConfigMap", Request{Resources: usual}, both, ShootResource, "shoot", ""},
		{"nothing said is nothing", Request{ProviderConfig: []byte(" null\n"), Resources: usual}, both, ShootResource, "shoot", ""},
		{"the project says it", Request{}, both, ProjectConfigMap, "project", ""},
		{"a resource of another kind does not count", Request{Resources: []Resource{{Name: "flux-config", APIVersion: "v1", Kind: "Secret", Object: "bench-flux"}}}, both, ProjectConfigMap, "project", ""},
		{"a resource of another name does not count", Request{Resources: []Resource{{Name: "x", APIVersion: "v1", Kind: "ConfigMap", Object: "bench-flux"}}}, both, ProjectConfigMap, "project", ""},
		{"no configuration: the default", Request{}, empty, BuiltIn, "", ""},
		{"no garden: the default", Request{}, answers{}, BuiltIn, "", ""},
		{"no configuration where one is required", Request{RequireConfig: true}, empty, "", "", "there is no configuration"},
		{"a configuration of the project where one is required", Request{RequireConfig: true}, project, ProjectConfigMap, "project", ""},
		{"a garden that is not ours is not empty", Request{}, answers{err: errNotOurs}, "", "", "read ConfigMap flux-config of the project: "},
		{"a garden that does not answer is not empty", Request{}, answers{err: errNoAnswer}, "", "", "does not answer"},
		{"what the Shoot refers to must come", Request{Resources: usual}, project, "", "", "read ConfigMap bench-flux of the Shoot's spec.resources: "},
		{"what is wrong is not passed over", Request{ProviderConfig: provider(t, "syncMode: x")}, project, "", "", "invalid providerConfig: syncMode"},
		{"nor in a ConfigMap", Request{}, answers{ofProject: map[string]*corev1.ConfigMap{"flux-config": projectConfig(map[string]string{"syncMode": "x"})}}, "", "", "invalid ConfigMap garden-lab/flux-config: syncMode"},

		{"the Shoot wants what the project says", Request{ProviderConfig: refers}, project, ProviderConfig, "project", ""},
		{"by another name", Request{ProviderConfig: provider(t, "configMapRef: {name: other}")}, project, ProviderConfig, "other", ""},
		{"what the Shoot refers to goes first", Request{ProviderConfig: refers, Resources: usual}, both, ProviderConfig, "shoot", ""},
		{"the ConfigMap does not exist", Request{ProviderConfig: refers}, empty, "", "", "configMapRef.name: names flux-config"},
		{"the ConfigMap is in a garden without access", Request{ProviderConfig: refers}, answers{}, "", "", "configMapRef.name: names flux-config"},
		{"no name", Request{ProviderConfig: provider(t, "configMapRef: {name: Canary}")}, project, "", "", "configMapRef.name: is not a name"},
		{"the ConfigMap cannot be read", Request{ProviderConfig: refers}, answers{err: errNotOurs}, "", "", "read ConfigMap flux-config of the project: "},
		{"the ConfigMap is not valid", Request{ProviderConfig: refers}, answers{ofProject: map[string]*corev1.ConfigMap{"flux-config": projectConfig(map[string]string{"syncMode": "x"})}}, "", "", "invalid ConfigMap garden-lab/flux-config: syncMode"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, err := Load(t.Context(), test.request, test.from)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Origin != test.origin {
				t.Errorf("it comes from %s", c.Origin)
			}
			if branch := valueAt(t, c, "source.object.spec.ref.branch"); branch != test.branch {
				t.Errorf("the branch is %q, want %q", branch, test.branch)
			}
		})
	}
}

// TestOverrides is what a provider configuration changes of a ConfigMap.
func TestOverrides(t *testing.T) {
	tag := with(public, "repositoryTag", "v1", "targetNamespace", "-", "syncMode", "Always")
	for _, test := range []struct {
		reason string
		data   map[string]string
		text   string
		want   map[string]string
	}{
		{"nothing: the defaults are those of the ConfigMap", public, "", map[string]string{
			"syncMode": "ManifestsOnly", "deletionPolicy": "Delete", "waitForReady": "false", "source.object.metadata.name": "main-gitrepo", "kustomization.metadata.name": "main-ks",
			"kustomization.spec.sourceRef": "map[kind:GitRepository name:main-gitrepo namespace:flux-system]", "kustomization.spec.prune": "true"}},
		{"the directory of this shoot", tag, "kustomization: {template: {spec: {path: clusters/bench}}}", map[string]string{
			"kustomization.spec.path": "clusters/bench", "kustomization.spec.interval": "5m", "kustomization.metadata.name": "main-ks", "kustomization.spec.prune": "true",
			"source.object.spec.ref": "map[tag:v1]", "syncMode": "Always"}},
		{"a revision replaces that of the base", tag, "source: {template: {spec: {ref: {branch: next}}}}", map[string]string{
			"source.object.spec.ref": "map[branch:next]", "source.object.spec.interval": "30s", "source.url": "https://git.example.org/app.git", "kustomization.spec.path": "./"}},
		{"a name of the source is used in the kustomization", public, "source: {template: {metadata: {name: mine}}}", map[string]string{
			"kustomization.spec.sourceRef": "map[kind:GitRepository name:mine namespace:flux-system]"}},
		{"a namespace of Flux moves source and kustomization", private, "flux: {namespace: fleet}", map[string]string{
			"source.object.metadata.namespace": "fleet", "kustomization.metadata.namespace": "fleet", "source.secretNamespace": "fleet",
			"kustomization.spec.sourceRef": "map[kind:GitRepository name:main-gitrepo namespace:fleet]"}},
		{"a source of another kind takes nothing from the base", private, "source: {template: {kind: OCIRepository, spec: {url: 'oci://registry.example.org/a', ref: {tag: v1}}}, secretResourceName: login}", map[string]string{
			"source.object.spec": "map[interval:1m ref:map[tag:v1] secretRef:map[name:flux-system] url:oci://registry.example.org/a]", "source.generateSSHKey": "", "source.secretResource": "login",
			"kustomization.spec.sourceRef.kind": "OCIRepository"}},
		{"a public artifact instead of a private repository", private, "source: {template: {kind: OCIRepository, spec: {url: 'oci://registry.example.org/a', ref: {tag: v1}}}}", map[string]string{
			"source.private": "", "source.secretName": "", "source.object.spec.secretRef": ""}},
		{"a private repository stays private", private, "source: {template: {spec: {url: 'ssh://git@git.example.org/other.git'}}}", map[string]string{
			"source.private": "true", "source.generateSSHKey": "true", "source.object.spec.secretRef.name": "flux-source", "source.url": "ssh://git@git.example.org/other.git"}},
		{"a Secret of the Shoot instead of a key", private, "source: {template: {}, secretResourceName: deploy}", map[string]string{
			"source.generateSSHKey": "", "source.secretResource": "deploy", "source.secretName": "flux-source"}},
		{"modes", public, "{syncMode: Once, deletionPolicy: Orphan}", map[string]string{"syncMode": "Once", "deletionPolicy": "Orphan", "waitForReady": "true"}},
		{"Flux", with(public, "fluxVersion", "v2.4.0", "fluxComponents", "source-controller,kustomize-controller", "fluxRegistry", "registry.example.org/a"), "flux: {version: latest, componentsExtra: [helm-controller]}", map[string]string{
			"flux.version": "", "flux.components": "source-controller kustomize-controller helm-controller", "flux.registry": "registry.example.org/a"}},
		{"a source over a base without one", nil, gitSource + allOfIt, map[string]string{
			"source.object.metadata.name": "flux-system", "kustomization.metadata.name": "flux-system", "syncMode": "ManifestsOnly"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			base, err := FromConfigMap(projectConfig(test.data))
			if err != nil {
				t.Fatal(err)
			}
			before := base.Checksum()
			c, err := FromProviderConfig(provider(t, "configMapRef: {}\n"+inBlock(test.text)), base)
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range test.want {
				if got := valueAt(t, c, path); got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
			if base.Checksum() != before {
				t.Error("the base has changed")
			}
		})
	}
}

// TestOverridesRefuses what does not fit together.
func TestOverridesRefuses(t *testing.T) {
	base, err := FromConfigMap(projectConfig(private))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, text, field, say string }{
		{"a generated key has no place in an https address", "source: {template: {spec: {url: 'https://git.example.org/a'}}}", "source.generateSSHKey", "ssh:// address"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := FromProviderConfig(provider(t, "configMapRef: {}\n"+test.text), base)
			wantProblem(t, err, test.field, test.say)
		})
	}
}

// TestOfShoot tells what only a change of the Shoot mends from what a ConfigMap mends.
func TestOfShoot(t *testing.T) {
	project := func(data map[string]string) answers {
		return answers{ofProject: map[string]*corev1.ConfigMap{"flux-config": projectConfig(data)}}
	}
	for _, test := range []struct {
		reason  string
		request Request
		from    answers
		want    bool
	}{
		{"an error in the Shoot", Request{ProviderConfig: provider(t, "syncMode: canary")}, project(nil), true},
		{"what it refers to is missing", Request{ProviderConfig: provider(t, "configMapRef: {}")}, answers{}, false},
		{"an error in the Shoot with a ConfigMap as its base", Request{ProviderConfig: provider(t, "configMapRef: {}\nsyncMode: canary")}, project(nil), false},
		{"the project has it wrong", Request{}, project(map[string]string{"syncMode": "canary"}), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Load(t.Context(), test.request, test.from)
			var invalid *Invalid
			if !errors.As(err, &invalid) || invalid.OfShoot() != test.want {
				t.Errorf("%v, want of the Shoot: %v", err, test.want)
			}
		})
	}
}
