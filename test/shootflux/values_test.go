package shootflux

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/gardener"
)

// typed is in each value that is wrong: no status repeats a wrong value, since it may be a
// password.
const typed = "hunter2"

// good is the rest of a ConfigMap around a value that is wrong.
func good(key, value string) map[string]string {
	data := map[string]string{"repositoryUrl": "ssh://git@git.example.org/app.git", "repositoryBranch": "main", "repositoryType": "private"}
	data[key] = value
	return data
}

var badKeys = []struct{ key, value, reason string }{
	{"fluxVersion", "hunter2", "no release"},
	{"fluxVersion", "v1.0.0", "Flux never had it"},
	{"fluxRegistry", "https://hunter2.example.org/fluxcd", "images have no scheme"},
	{"fluxComponents", "source-controller,hunter2", "no controller of Flux"},
	{"fluxComponents", "source-controller", "nothing is deployed"},
	{"repositoryUrl", "https://me:hunter2@git.example.org/app.git", "a URL must not have a password"},
	{"repositoryUrl", "ftp://hunter2.example.org/app.git", "Git does not go there"},
	{"repositoryUrl", "", "the branch alone says nothing"},
	{"repositoryBranch", "hunter2..main", "Git does not take it"},
	{"repositoryBranch", "", "nothing says what to check out"},
	{"repositoryType", "hunter2", "it is not taken for public"},
	{"repositoryType", "public", "ssh needs a key"},
	{"repositoryTag", "hunter2 v1", "Git does not take it"},
	{"repositorySemver", "hunter2", "no range"},
	{"repositoryCommit", "hunter2", "no hash"},
	{"repositoryPath", "../hunter2", "outside of the repository"},
	{"interval", "hunter2", "no time"},
	{"kustomizationInterval", "-5m", "time goes on"},
	{"targetNamespace", "Hunter2", "no namespace"},
	{"prune", "hunter2", "yes or no"},
	{"suspend", "hunter2", "yes or no"},
	{"knownHosts", "hunter2", "no host key"},
	{"knownHosts", "other.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "that of another host"},
	{"syncMode", "hunter2", "no mode"},
	{"deletionPolicy", "hunter2", "nothing is deleted by mistake"},
}

// TestBadKeys shows the error about each key of the ConfigMap of a project. Only the ConfigMap is
// changed, without a reconcile by gardenlet.
func TestBadKeys(t *testing.T) {
	shoot := asleep(t, "keys", "one")
	extension(t)
	configure(t, shoot, map[string]string{"syncMode": typed})
	must(t, shoot.Enable(limited(t), nil))
	for _, row := range badKeys {
		t.Run(row.key+"/"+row.reason, func(t *testing.T) {
			configure(t, shoot, good(row.key, row.value))
			wantRefused(t, shoot, row.key, "ERR_RETRYABLE_CONFIGURATION_PROBLEM")
			// The next row is another error.
			configure(t, shoot, map[string]string{"fluxComponents": "none"})
			failed(t, shoot, "fluxComponents", "source-controller")
		})
	}
	notInstalled(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// wantRefused waits for an error about a field, which shows no value.
func wantRefused(t *testing.T, shoot *gardener.Shoot, field, code string) {
	t.Helper()
	seen := failed(t, shoot, field+": ")
	wantCode(t, seen, code)
	message, _, _ := unstructured.NestedString(seen.Object, "status", "lastError", "description")
	if strings.Contains(strings.ToLower(message), typed) {
		t.Errorf("a value is shown: %s", message)
	}
}

// Texts around values that are wrong.
const (
	aSource        = "source: {template: {spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n"
	aKustomization = "kustomization: {template: {spec: {path: ./}}}\n"
	anSSHSource    = "source: {template: {spec: {url: 'ssh://git@git.example.org/app.git', ref: {branch: main}}}, "
)

var badFields = []struct{ field, text, reason string }{
	{"apiVersion, kind", "kind: Hunter2", "another kind"},
	{"configMapRef.name", "configMapRef: {name: Hunter2_}", "no name"},
	{"flux.version", "flux: {version: hunter2}", "no release"},
	{"flux.registry", "flux: {registry: 'https://hunter2'}", "images have no scheme"},
	{"flux.namespace", "flux: {namespace: Hunter2}", "no namespace"},
	{"flux.namespace", "flux: {namespace: kube-system}", "it belongs to the cluster"},
	{"flux.components", "flux: {components: [hunter2]}", "no controller of Flux"},
	{"flux.components", "flux: {componentsExtra: [hunter2]}", "no controller of Flux"},
	{"flux.imagePullSecretResourceName", "flux: {imagePullSecretResourceName: unknown}", "the Shoot does not refer to it"},
	{"flux.options.watchAllNamespaces", "flux: {options: {watchAllNamespaces: hunter2}}", "yes or no"},
	{"flux.options.watchAllNamespaces", "flux: {options: {watchAllNamespaces: false}}\nsource: {template: {metadata: {namespace: elsewhere}, spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n" + aKustomization, "Flux would not see its source"},
	{"flux.options.networkPolicy", "flux: {options: {networkPolicy: hunter2}}", "yes or no"},
	{"flux.options.clusterDomain", "flux: {options: {clusterDomain: 'Hunter2!'}}", "no domain"},
	{"flux.options.logLevel", "flux: {options: {logLevel: hunter2}}", "no level"},
	{"flux.options.tolerationKeys[0]", "flux: {options: {tolerationKeys: ['hunter2 ']}}", "no key"},
	{"flux.options.multitenant", "flux: {options: {multitenant: hunter2}}", "yes or no"},
	{"kustomization", aSource, "a source and a Kustomization need each other"},
	{"source", aKustomization, "a source and a Kustomization need each other"},
	{"source.template", "source: {}\n" + aKustomization, "the template is missing"},
	{"source.template.kind", "source: {template: {kind: Hunter2, spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n" + aKustomization, "Flux does not have it"},
	{"source.template.spec.url", "source: {template: {spec: {url: 'https://me:hunter2@git.example.org/app.git', ref: {branch: main}}}}\n" + aKustomization, "a URL must not have a password"},
	{"source.template.spec.url", "source: {template: {kind: OCIRepository, spec: {url: 'https://hunter2.example.org/app', ref: {tag: v1}}}}\n" + aKustomization, "artifacts are elsewhere"},
	{"source.template.spec.ref", "source: {template: {spec: {url: 'https://git.example.org/app.git'}}}\n" + aKustomization, "nothing says what to check out"},
	{"source.secretResourceName", anSSHSource + "secretResourceName: unknown}\n" + aKustomization, "the Shoot does not refer to it"},
	{"source.secretResourceName", anSSHSource + "generateSSHKey: false}\n" + aKustomization, "ssh needs a key"},
	{"source.generateSSHKey", anSSHSource + "generateSSHKey: true, secretResourceName: unknown}\n" + aKustomization, "a generated key excludes a Secret with a key"},
	{"source.knownHosts", anSSHSource + "generateSSHKey: true, knownHosts: hunter2}\n" + aKustomization, "no host key"},
	{"kustomization.template", aSource + "kustomization: {}\n", "the template is missing"},
	{"kustomization.template.spec.path", aSource + "kustomization: {template: {spec: {path: ../hunter2}}}\n", "outside of the source"},
	{"kustomization.template.spec.prune", aSource + "kustomization: {template: {spec: {path: ./, prune: hunter2}}}\n", "yes or no"},
	{"additionalSecretResources[0].name", "additionalSecretResources: [{name: unknown}]", "the Shoot does not refer to it"},
	{"additionalSecretResources[0].targetName", "additionalSecretResources: [{name: unknown, targetName: Hunter2_}]", "no name"},
	{"additionalSecretResources[0].targetNamespace", "additionalSecretResources: [{name: unknown, targetNamespace: Hunter2_}]", "no namespace"},
	{"syncMode", "syncMode: hunter2", "no mode"},
	{"deletionPolicy", "deletionPolicy: hunter2", "nothing is deleted by mistake"},
	{"waitForReady", "waitForReady: hunter2", "yes or no"},
}

// TestBadFields shows the error about each field to the owner of a shoot.
func TestBadFields(t *testing.T) {
	shoot := asleep(t, "fields", "one")
	extension(t)
	for _, row := range badFields {
		t.Run(row.field+"/"+row.reason, func(t *testing.T) {
			config := map[string]any{"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxConfig"}
			must(t, yaml.Unmarshal([]byte(row.text), &config))
			must(t, shoot.Enable(limited(t), config))
			wantRefused(t, shoot, row.field, "ERR_CONFIGURATION_PROBLEM")
			must(t, shoot.Enable(limited(t), map[string]any{"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "Nothing"}))
			failed(t, shoot, "apiVersion, kind", "FluxConfig")
		})
	}
	notInstalled(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}
