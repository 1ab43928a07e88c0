package config

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const githubKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

func projectConfig(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-lab", Name: "flux-config"}, Data: data}
}

// public and private are what most people write.
var (
	public  = map[string]string{"repositoryUrl": "https://git.example.org/app.git", "repositoryBranch": "main", "repositoryType": "public"}
	private = map[string]string{"repositoryUrl": "ssh://git@git.example.org/app.git", "repositoryBranch": "main", "repositoryType": "private"}
)

// with returns data with some keys changed; "" takes one away.
func with(data map[string]string, changes ...string) map[string]string {
	data = maps.Clone(data)
	for i := 0; i < len(changes); i += 2 {
		data[changes[i]] = changes[i+1]
		if changes[i+1] == "" {
			delete(data, changes[i])
		}
	}
	return data
}

func TestConfigMap(t *testing.T) {
	for _, test := range []struct {
		reason, file string
		data         map[string]string
	}{
		{"the example of the first implementation", "seed.yaml", map[string]string{
			"fluxVersion": "v0.29.5", "repositoryUrl": "https://github.com/23technologies/shootflux.git", "repositoryBranch": "main", "repositoryType": "public"}},
		{"an empty ConfigMap is Flux alone", "configmap-empty.yaml", nil},
		{"a private repository", "configmap-private.yaml", private},
		{"everything is written, with the line breaks of files", "configmap-full.yaml", map[string]string{
			"fluxVersion": "v2.4.0\n", "fluxRegistry": "registry.example.org/fluxcd\n", "fluxComponents": "kustomize-controller, source-controller,\n",
			"repositoryUrl": "git@git.example.org:lab/clusters.git\n", "repositoryBranch": "main\n", "repositoryType": "private\n",
			"repositoryTag": "v1.2.0\n", "repositoryPath": "clusters/lab\n", "interval": "1m30s\n", "kustomizationInterval": "10m\n", "targetNamespace": "apps\n",
			"prune": "false\n", "suspend": "True\n", "knownHosts": "git.example.org " + githubKey + "\n", "syncMode": "once\n", "deletionPolicy": "orphan\n"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, err := FromConfigMap(projectConfig(test.data))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, c)
			if err := UnknownKeys(projectConfig(test.data)); err != nil {
				t.Errorf("known keys are refused: %v", err)
			}
		})
	}
}

// goodValues are rows of single values, each with the path and the text that it has in
// the effective configuration.
var goodValues = []struct {
	reason, key, value, path, want string
	base                           map[string]string
}{
	{"a release", "fluxVersion", "v2.9.5", "flux.version", "v2.9.5", public},
	{"a release candidate", "fluxVersion", "v2.0.0-rc.1", "flux.version", "v2.0.0-rc.1", public},
	{"the oldest", "fluxVersion", "v0.28.0", "flux.version", "v0.28.0", public},
	{"the last before v2", "fluxVersion", "v0.41.2", "flux.version", "v0.41.2", public},
	{"the default by a word", "fluxVersion", "latest", "flux.version", "", public},
	{"a registry with a port", "fluxRegistry", "127.0.0.1:5000/mirror/fluxcd", "flux.registry", "127.0.0.1:5000/mirror/fluxcd", public},
	{"all components", "fluxComponents", "source-controller,kustomize-controller,helm-controller,notification-controller,image-reflector-controller,image-automation-controller,source-watcher", "flux.components", "source-controller kustomize-controller helm-controller notification-controller image-reflector-controller image-automation-controller source-watcher", public},
	{"in any order, twice", "fluxComponents", "kustomize-controller,source-controller,kustomize-controller", "flux.components", "source-controller kustomize-controller", public},
	{"as hosts show it", "repositoryUrl", "git@git.example.org:a/b.git", "source.url", "ssh://git@git.example.org/a/b.git", private},
	{"with a port", "repositoryUrl", "ssh://git@git.example.org:2222/a/b.git", "source.object.spec.url", "ssh://git@git.example.org:2222/a/b.git", private},
	{"private with a password", "repositoryUrl", "https://git.example.org/a", "source.generateSSHKey", "", private},
	{"private with a key", "repositoryUrl", "ssh://git.example.org/a", "source.generateSSHKey", "true", private},
	{"a branch with a slash", "repositoryBranch", "feature/a.b", "source.object.spec.ref.branch", "feature/a.b", public},
	{"private", "repositoryType", "private", "source.object.spec.secretRef.name", "flux-source", private},
	{"public", "repositoryType", "public", "source.object.spec.secretRef.name", "", public},
	{"public without a word", "repositoryType", "", "source.private", "", public},
	{"a tag goes before the branch", "repositoryTag", "v1.2.0", "source.object.spec.ref", "map[tag:v1.2.0]", public},
	{"a range goes before the branch", "repositorySemver", ">=1.2.0 <2.0.0", "source.object.spec.ref", "map[semver:>=1.2.0 <2.0.0]", public},
	{"a commit goes before the branch", "repositoryCommit", "0123456789abcdef0123456789abcdef01234567", "source.object.spec.ref", "map[commit:0123456789abcdef0123456789abcdef01234567]", public},
	{"a tag without a branch", "repositoryTag", "v1", "source.object.spec.ref.tag", "v1", with(public, "repositoryBranch", "")},
	{"a directory", "repositoryPath", "clusters/..data/lab", "kustomization.spec.path", "clusters/..data/lab", public},
	{"of the source", "interval", "90s", "source.object.spec.interval", "90s", public},
	{"of the kustomization", "kustomizationInterval", "1h30m", "kustomization.spec.interval", "1h30m", public},
	{"another namespace", "targetNamespace", "apps", "kustomization.spec.targetNamespace", "apps", public},
	{"objects keep their namespaces", "targetNamespace", "-", "kustomization.spec.targetNamespace", "", public},
	{"the namespace of the first implementation", "targetNamespace", "", "kustomization.spec.targetNamespace", "default", public},
	{"prune is the default", "prune", "", "kustomization.spec.prune", "true", public},
	{"nothing is removed", "prune", "FALSE", "kustomization.spec.prune", "false", public},
	{"nothing is applied", "suspend", "true", "kustomization.spec.suspend", "true", public},
	{"a kustomization that is applied", "suspend", "false", "kustomization.spec.suspend", "", public},
	{"of the repository", "knownHosts", "git.example.org " + githubKey, "source.knownHosts", "git.example.org " + githubKey, private},
	{"the default", "syncMode", "", "syncMode", "ManifestsOnly", public},
	{"in any case", "syncMode", "ALWAYS", "syncMode", "Always", public},
	{"who is left alone is waited for", "syncMode", "once", "waitForReady", "true", public},
	{"who is not, is not", "syncMode", "manifestsOnly", "waitForReady", "false", public},
	{"the default", "deletionPolicy", "", "deletionPolicy", "Delete", public},
	{"in any case", "deletionPolicy", "orphan", "deletionPolicy", "Orphan", public},
}

func TestConfigMapValues(t *testing.T) {
	for _, test := range goodValues {
		t.Run(test.key+"/"+test.reason, func(t *testing.T) {
			c, err := FromConfigMap(projectConfig(with(test.base, test.key, test.value)))
			if err != nil {
				t.Fatal(err)
			}
			if got := valueAt(t, c, test.path); got != test.want {
				t.Errorf("%s is %q, want %q", test.path, got, test.want)
			}
		})
	}
}

var badValues = []struct {
	reason, key, value, field, say string
	base                           map[string]string
}{
	{"a number without v", "fluxVersion", "2.4.0", "fluxVersion", "v2.4.0", public},
	{"a word", "fluxVersion", "canary", "fluxVersion", "leave it out", public},
	{"half a release", "fluxVersion", "v2.4", "fluxVersion", "no release", public},
	{"a build", "fluxVersion", "v2.4.0+canary", "fluxVersion", "no release", public},
	{"too old", "fluxVersion", "v0.27.4", "fluxVersion", "not supported", public},
	{"never released", "fluxVersion", "v0.42.0", "fluxVersion", "not supported", public},
	{"never released", "fluxVersion", "v1.0.0", "fluxVersion", "not supported", public},
	{"the future", "fluxVersion", "v3.0.0", "fluxVersion", "not supported", public},
	{"a scheme", "fluxRegistry", "https://canary.example.org", "fluxRegistry", "without scheme", public},
	{"a tag", "fluxRegistry", "registry.example.org/fluxcd:canary", "fluxRegistry", "tag", public},
	{"a slash at the end", "fluxRegistry", "registry.example.org/fluxcd/", "fluxRegistry", "closing slash", public},
	{"no host", "fluxRegistry", "fluxcd", "fluxRegistry", "is not a prefix of images", public},
	{"a misspelt component", "fluxComponents", "source-controller,kustomize-controller,helmcontroller", "fluxComponents", "did you mean helm-controller?", public},
	{"something else", "fluxComponents", "source-controller,kustomize-controller,canary", "fluxComponents", "choose from source-controller", public},
	{"a component that all others need", "fluxComponents", "source-controller", "fluxComponents", "lacks the component kustomize-controller", public},
	{"a missing address", "repositoryUrl", "", "repositoryUrl", "is missing", public},
	{"credentials", "repositoryUrl", "https://me:canary@git.example.org/a", "repositoryUrl", "put them into a Secret", public},
	{"a token", "repositoryUrl", "https://canary@git.example.org/a", "repositoryUrl", "put credentials into a Secret", public},
	{"a file", "repositoryUrl", "/canary", "repositoryUrl", "must begin with https://", public},
	{"a key, but public", "repositoryUrl", "ssh://git@git.example.org/canary", "repositoryType", "must be private", public},
	{"a missing branch", "repositoryBranch", "", "repositoryBranch", "is missing", public},
	{"no branch", "repositoryBranch", "a..canary", "repositoryBranch", "is not a name that Git allows", public},
	{"an option of git", "repositoryBranch", "--canary", "repositoryBranch", "is not a name that Git allows", public},
	{"a misspelt type", "repositoryType", "Private", "repositoryType", "must be private or public", public},
	{"no tag", "repositoryTag", "v1 canary", "repositoryTag", "is not a name that Git allows", public},
	{"no range", "repositorySemver", "canary", "repositorySemver", "write it like", public},
	{"a short commit", "repositoryCommit", "0123456", "repositoryCommit", "all 40 digits", public},
	{"two that are exact", "repositoryTag", "v1", "repositoryTag", "cannot be together with repositoryCommit", with(public, "repositoryCommit", "0123456789abcdef0123456789abcdef01234567")},
	{"outside of the source", "repositoryPath", "../canary", "repositoryPath", "without '..'", public},
	{"a line break", "repositoryPath", "a\ncanary", "repositoryPath", "line breaks", public},
	{"a number", "interval", "30", "interval", "write it like 30s", public},
	{"nothing", "interval", "0s", "interval", "is not an interval", public},
	{"backwards", "interval", "-30s", "interval", "is not an interval", public},
	{"finer than Flux", "interval", "5us", "interval", "is not an interval", public},
	{"a word", "kustomizationInterval", "canary", "kustomizationInterval", "write it like", public},
	{"no name", "targetNamespace", "Canary", "targetNamespace", "is not a name of a namespace", public},
	{"a word", "prune", "yes", "prune", "must be true or false", public},
	{"a word", "suspend", "canary", "suspend", "must be true or false", public},
	{"no host keys", "knownHosts", "canary", "knownHosts", "cannot be read", private},
	{"of another host", "knownHosts", "github.com " + githubKey, "knownHosts", "no key of git.example.org", private},
	{"for a public repository", "knownHosts", "git.example.org " + githubKey, "knownHosts", "remove it", public},
	{"a word", "syncMode", "canary", "syncMode", "Once, ManifestsOnly, Always", public},
	{"a word", "deletionPolicy", "canary", "deletionPolicy", "Orphan, Delete", public},
}

func TestConfigMapRefuses(t *testing.T) {
	for _, test := range badValues {
		t.Run(test.key+"/"+test.reason, func(t *testing.T) {
			_, err := FromConfigMap(projectConfig(with(test.base, test.key, test.value)))
			wantProblem(t, err, test.field, test.say)
			if !strings.HasPrefix(err.Error(), "invalid ConfigMap garden-lab/flux-config: "+test.field+": ") {
				t.Errorf("the message does not name the object: %v", err)
			}
		})
	}
}

// TestConfigMapRows demands a good and a bad row for each key.
func TestConfigMapRows(t *testing.T) {
	good, bad := map[string]bool{}, map[string]bool{}
	for _, row := range goodValues {
		good[row.key] = true
	}
	for _, row := range badValues {
		bad[row.key] = true
	}
	for _, key := range keys {
		if !good[key] || !bad[key] {
			t.Errorf("%s has no good or no bad row", key)
		}
	}
}

// TestConfigMapSaysAll: all problems are reported at once, and a ConfigMap without its three keys
// of a repository has no source, whatever else it has.
func TestConfigMapSaysAll(t *testing.T) {
	_, err := FromConfigMap(projectConfig(map[string]string{"repositoryType": "private", "interval": "x", "syncMode": "x"}))
	for _, field := range []string{"syncMode: ", "repositoryUrl: ", "repositoryBranch: ", "interval: "} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("nothing about %s in %v", field, err)
		}
	}
	c, err := FromConfigMap(projectConfig(map[string]string{"repositoryPath": "a", "repositoryTag": "v1", "repositoryUrl": " "}))
	if err != nil || c.Source != nil || c.Kustomization != nil {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestUnknownKeys(t *testing.T) {
	cm := projectConfig(map[string]string{"fluxversion": "v2.4.0", "canary": "canary-value"})
	cm.BinaryData = map[string][]byte{"prune": {1}}
	err := UnknownKeys(cm)
	want := "invalid ConfigMap garden-lab/flux-config: canary: is unknown: remove it; fluxversion: is unknown: did you mean fluxVersion?; prune: is binary: put it into data"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := FromConfigMap(cm); err != nil {
		t.Errorf("the controller ignores them: %v", err)
	}
}

// valueAt returns what is in an effective configuration, "" if there is nothing.
func valueAt(t *testing.T, c *Config, path string) string {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(asMap(t, c), strings.Split(path, ".")...)
	if err != nil {
		t.Fatal(err)
	}
	return shown(value)
}
