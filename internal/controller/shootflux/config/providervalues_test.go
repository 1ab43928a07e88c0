package config

import (
	"reflect"
	"strings"
	"testing"

	api "go.landscaper.dev/api/shootflux/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
)

// Texts that rows are made of.
const (
	gitSource  = "source: {template: {spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n"
	allOfIt    = "kustomization: {template: {spec: {path: ./}}}\n"
	sshSource  = "source: {template: {spec: {url: 'ssh://git@git.example.org/app.git', ref: {branch: main}}}, "
	ociSource  = "source: {template: {kind: OCIRepository, spec: {url: 'oci://registry.example.org/app', ref: {tag: v1}}}, "
	gitOf      = "source: {template: {spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}, "
	inTemplate = "source: {template: {spec: {url: 'https://git.example.org/app.git', ref: {branch: main}"
)

var goodFields = []struct{ reason, field, text, path, want string }{
	{"the usual ConfigMap", "configMapRef.name", "configMapRef: {}", "origin", "ProviderConfig"},
	{"a release", "flux.version", "flux: {version: v2.4.0}", "flux.version", "v2.4.0"},
	{"the default by a word", "flux.version", "flux: {version: latest}", "flux.version", ""},
	{"a mirror", "flux.registry", "flux: {registry: 'registry.example.org:5000/fluxcd'}", "flux.registry", "registry.example.org:5000/fluxcd"},
	{"another namespace of Flux for the source", "flux.namespace", "flux: {namespace: fleet}\n" + gitSource + allOfIt, "source.object.metadata.namespace", "fleet"},
	{"another namespace for the kustomization", "flux.namespace", "flux: {namespace: fleet}\n" + gitSource + allOfIt, "kustomization.spec.sourceRef.namespace", "fleet"},
	{"a shorter list", "flux.components", "flux: {components: [kustomize-controller, source-controller]}", "flux.components", "source-controller kustomize-controller"},
	{"two lists of components are merged", "flux.components", "flux: {components: [source-controller], componentsExtra: [kustomize-controller]}", "flux.components", "source-controller kustomize-controller"},
	{"in addition to the usual ones", "flux.componentsExtra", "flux: {componentsExtra: [source-watcher]}", "flux.components", "source-controller kustomize-controller helm-controller notification-controller source-watcher"},
	{"a Secret for images", "flux.imagePullSecretResourceName", "flux: {imagePullSecretResourceName: pull}", "flux.imagePullSecretResource", "pull"},
	{"only the namespace of Flux is watched", "flux.options.watchAllNamespaces", "flux: {options: {watchAllNamespaces: false}}\n" + gitSource + allOfIt, "flux.options.watchAllNamespaces", "false"},
	{"without policies", "flux.options.networkPolicy", "flux: {options: {networkPolicy: false}}", "flux.options.networkPolicy", "false"},
	{"a domain", "flux.options.clusterDomain", "flux: {options: {clusterDomain: example.local}}", "flux.options.clusterDomain", "example.local"},
	{"talkative", "flux.options.logLevel", "flux: {options: {logLevel: debug}}", "flux.options.logLevel", "debug"},
	{"taints", "flux.options.tolerationKeys", "flux: {options: {tolerationKeys: [dedicated, example.org/flux]}}", "flux.options.tolerationKeys", "dedicated example.org/flux"},
	{"tenants", "flux.options.multitenant", "flux: {options: {multitenant: true}}", "flux.options.multitenant", "true"},
	{"options that are not written keep their defaults", "flux.options.multitenant", "flux: {options: {multitenant: true}}", "flux.options.watchAllNamespaces", "true"},
	{"no kind is a GitRepository", "source.template", gitSource + allOfIt, "source.object.kind", "GitRepository"},
	{"a kind of its own is what the kustomization refers to", "source.template", ociSource + "}\n" + allOfIt, "kustomization.spec.sourceRef.kind", "OCIRepository"},
	{"a digest", "source.template", "source: {template: {kind: OCIRepository, spec: {url: 'oci://registry.example.org:5000/a/b', ref: {digest: 'sha256:x'}}}}\n" + allOfIt, "source.url", "oci://registry.example.org:5000/a/b"},
	{"the kustomization follows the name of the source", "source.template", "source: {template: {metadata: {name: app, namespace: team-a}, spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n" + allOfIt, "kustomization.spec.sourceRef", "map[kind:GitRepository name:app namespace:team-a]"},
	{"other fields of Flux are kept in the source", "source.template", inTemplate + ", ignore: a, timeout: 1m}}}\n" + allOfIt, "source.object.spec.timeout", "1m"},
	{"a Secret of the Shoot", "source.secretResourceName", sshSource + "secretResourceName: deploy}\n" + allOfIt, "source.object.spec.secretRef.name", "flux-system"},
	{"a Secret with a name of its own", "source.secretResourceName", inTemplate + ", secretRef: {name: login}}}, secretResourceName: deploy}\n" + allOfIt, "source.secretName", "login"},
	{"the Secret follows the source", "source.secretResourceName", "source: {template: {metadata: {namespace: team-a}, spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}, secretResourceName: deploy}\n" + allOfIt, "source.secretNamespace", "team-a"},
	{"an artifact with credentials", "source.secretResourceName", ociSource + "secretResourceName: deploy}\n" + allOfIt, "source.secretResource", "deploy"},
	{"a generated key", "source.generateSSHKey", sshSource + "generateSSHKey: true}\n" + allOfIt, "source.secretName", "flux-source"},
	{"a key is not requested", "source.generateSSHKey", gitOf + "generateSSHKey: false}\n" + allOfIt, "source.private", ""},
	{"of the repository", "source.knownHosts", sshSource + "generateSSHKey: true, knownHosts: 'git.example.org " + githubKey + "'}\n" + allOfIt, "source.knownHosts", "git.example.org " + githubKey},
	{"Flux demands to know whether it prunes", "kustomization.template", gitSource + allOfIt, "kustomization.spec.prune", "false"},
	{"another source", "kustomization.template", gitSource + "kustomization: {template: {spec: {path: ./, sourceRef: {kind: GitRepository, name: other, namespace: x}}}}", "kustomization.spec.sourceRef.name", "other"},
	{"other fields of Flux are kept in the kustomization", "kustomization.template", gitSource + "kustomization: {template: {spec: {path: ./, wait: true}}}", "kustomization.spec.wait", "true"},
	{"labels and annotations", "kustomization.template", gitSource + "kustomization: {template: {metadata: {labels: {a: b}, annotations: {c: d}, uid: x}, spec: {path: ./}}}", "kustomization.metadata", "map[annotations:map[c:d] labels:map[a:b] name:flux-system namespace:flux-system]"},
	{"a Secret of the Shoot", "additionalSecretResources.name", "additionalSecretResources: [{name: a}]", "additionalSecrets", "map[resource:a targetName: targetNamespace:flux-system]"},
	{"under another name", "additionalSecretResources.targetName", "additionalSecretResources: [{name: a, targetName: b.c}]", "additionalSecrets", "map[resource:a targetName:b.c targetNamespace:flux-system]"},
	{"in another namespace", "additionalSecretResources.targetNamespace", "additionalSecretResources: [{name: a, targetNamespace: b}]", "additionalSecrets", "map[resource:a targetName: targetNamespace:b]"},
	{"in any case", "syncMode", "syncMode: manifestsOnly", "syncMode", "ManifestsOnly"},
	{"who is not left alone is not waited for", "syncMode", "syncMode: always", "waitForReady", "false"},
	{"everything goes", "deletionPolicy", "deletionPolicy: Delete", "deletionPolicy", "Delete"},
	{"a Shoot does not wait", "waitForReady", "waitForReady: false", "waitForReady", "false"},
	{"a Shoot waits", "waitForReady", "{waitForReady: true, syncMode: Always}", "waitForReady", "true"},
}

func TestProviderConfigFields(t *testing.T) {
	for _, test := range goodFields {
		t.Run(test.field+"/"+test.reason, func(t *testing.T) {
			raw := provider(t, inBlock(test.text))
			c, err := FromProviderConfig(raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := valueAt(t, c, test.path); got != test.want {
				t.Errorf("%s is %q, want %q", test.path, got, test.want)
			}
			if err := UnknownFields(raw); err != nil {
				t.Errorf("known fields are refused: %v", err)
			}
		})
	}
}

// inBlock makes lines of an object in one line.
func inBlock(text string) string {
	if inner, found := strings.CutPrefix(text, "{"); found {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "}"), ", ", "\n")
	}
	return text
}

var badFields = []struct{ reason, field, text, say string }{
	{"a source alone", "kustomization", gitSource, "a source needs one"},
	{"a kustomization alone", "source", allOfIt, "a kustomization needs one"},
	{"a number", "flux.version", "flux: {version: 2.4}", "must be a text"},
	{"no release", "flux.version", "flux: {version: canary}", "v2.4.0"},
	{"without v", "flux.version", "flux: {version: 2.4.0}", "v2.4.0"},
	{"too old", "flux.version", "flux: {version: v0.27.0}", "not supported"},
	{"a scheme", "flux.registry", "flux: {registry: 'https://canary'}", "without scheme"},
	{"no name", "flux.namespace", "flux: {namespace: Canary}", "is not a name of a namespace"},
	{"a namespace of the cluster", "flux.namespace", "flux: {namespace: kube-system}", "could not be removed with it"},
	{"the one of everybody", "flux.namespace", "flux: {namespace: default}", "choose another one"},
	{"a missing one", "flux.components", "flux: {components: [source-controller]}", "lacks the component kustomize-controller"},
	{"a text", "flux.components", "flux: {components: canary}", "must be a list"},
	{"an unknown one", "flux.components", "flux: {componentsExtra: [sourcewatcher]}", "did you mean source-watcher?"},
	{"a list", "flux.imagePullSecretResourceName", "flux: {imagePullSecretResourceName: [canary]}", "must be a text"},
	{"a text", "flux.options.watchAllNamespaces", "flux: {options: {watchAllNamespaces: 'canary'}}", "must be true or false"},
	{"the source is elsewhere", "flux.options.watchAllNamespaces", "flux: {options: {watchAllNamespaces: false}}\nsource: {template: {metadata: {namespace: canary}, spec: {url: 'https://git.example.org/app.git', ref: {branch: main}}}}\n" + allOfIt, "put source and kustomization there"},
	{"a text", "flux.options.networkPolicy", "flux: {options: {networkPolicy: 'canary'}}", "must be true or false"},
	{"no domain", "flux.options.clusterDomain", "flux: {options: {clusterDomain: 'canary!'}}", "cluster.local"},
	{"a word", "flux.options.logLevel", "flux: {options: {logLevel: canary}}", "debug, info, error"},
	{"no key", "flux.options.tolerationKeys[1]", "flux: {options: {tolerationKeys: [a, 'canary canary']}}", "is not a key of a taint"},
	{"the source is elsewhere", "flux.options.multitenant", "flux: {options: {multitenant: true}}\n" + gitSource + "kustomization: {template: {metadata: {namespace: canary}, spec: {path: ./}}}", "put both into one"},
	{"a missing template of the source", "source.template", "source: {}\n" + allOfIt, "is missing"},
	{"a text", "source.template", "source: {template: canary}\n" + allOfIt, "must be an object"},
	{"nothing", "source.template", "source: {template: null}\n" + allOfIt, "is missing"},
	{"a source of another kind", "source.template.kind", "source: {template: {kind: Bucket, spec: {url: 'https://git.example.org/canary', ref: {branch: main}}}}\n" + allOfIt, "GitRepository or OCIRepository"},
	{"a number for a kind", "source.template.kind", "source: {template: {kind: 1, spec: {url: 'https://git.example.org/canary', ref: {branch: main}}}}\n" + allOfIt, "must be a text"},
	{"a source of another API", "source.template.apiVersion", "source: {template: {apiVersion: source.toolkit.fluxcd.io/v2, spec: {url: 'https://git.example.org/canary', ref: {branch: main}}}}\n" + allOfIt, "source.toolkit.fluxcd.io/v1"},
	{"a text for the specification", "source.template.spec", "source: {template: {spec: canary}}\n" + allOfIt, "must be an object"},
	{"a text for metadata", "source.template.metadata", "source: {template: {metadata: canary}}\n" + allOfIt, "must be an object"},
	{"no name", "source.template.metadata.name", "source: {template: {metadata: {name: Canary}, spec: {url: 'https://git.example.org/a', ref: {branch: main}}}}\n" + allOfIt, "is not a name of an object"},
	{"no namespace", "source.template.metadata.namespace", "source: {template: {metadata: {namespace: a.canary}, spec: {url: 'https://git.example.org/a', ref: {branch: main}}}}\n" + allOfIt, "is not a name of a namespace"},
	{"labels of numbers", "source.template.metadata.labels", "source: {template: {metadata: {labels: {a: 1}}, spec: {url: 'https://git.example.org/a', ref: {branch: main}}}}\n" + allOfIt, "an object of texts"},
	{"no address", "source.template.spec.url", "source: {template: {spec: {ref: {branch: main}}}}\n" + allOfIt, "is missing"},
	{"credentials", "source.template.spec.url", "source: {template: {spec: {url: 'https://me:canary@git.example.org/a', ref: {branch: main}}}}\n" + allOfIt, "put them into a Secret"},
	{"no revision", "source.template.spec.ref", "source: {template: {spec: {url: 'https://git.example.org/a'}}}\n" + allOfIt, "branch, tag, semver, name, commit"},
	{"an empty revision", "source.template.spec.ref", "source: {template: {spec: {url: 'https://git.example.org/a', ref: {branch: ''}}}}\n" + allOfIt, "is missing"},
	{"a range of words", "source.template.spec.ref.semver", "source: {template: {spec: {url: 'https://git.example.org/a', ref: {semver: canary}}}}\n" + allOfIt, "write it like"},
	{"no interval", "source.template.spec.interval", inTemplate + ", interval: canary}}}\n" + allOfIt, "write it like 30s"},
	{"a number for an interval", "source.template.spec.interval", inTemplate + ", interval: 30}}}\n" + allOfIt, "must be a text"},
	{"an artifact from elsewhere", "source.template.spec.url", "source: {template: {kind: OCIRepository, spec: {url: 'https://canary', ref: {tag: v1}}}}\n" + allOfIt, "oci://"},
	{"an artifact with credentials in the address", "source.template.spec.url", "source: {template: {kind: OCIRepository, spec: {url: 'oci://me:canary@registry.example.org/a', ref: {tag: v1}}}}\n" + allOfIt, "without tag and credentials"},
	{"an artifact with a branch", "source.template.spec.ref", "source: {template: {kind: OCIRepository, spec: {url: 'oci://registry.example.org/a', ref: {branch: canary}}}}\n" + allOfIt, "tag, semver, digest"},
	{"a Secret that is not named", "source.secretResourceName", inTemplate + ", secretRef: {name: canary}}}}\n" + allOfIt, "is missing"},
	{"no name of a Secret", "source.template.spec.secretRef.name", inTemplate + ", secretRef: {name: 'canary!'}}}, secretResourceName: deploy}\n" + allOfIt, "is not a name of an object"},
	{"a key that is not there", "source.secretResourceName", sshSource + "}\n" + allOfIt, "needs a key"},
	{"a generated key and a Secret", "source.generateSSHKey", sshSource + "generateSSHKey: true, secretResourceName: canary}\n" + allOfIt, "choose one"},
	{"for https", "source.generateSSHKey", gitOf + "generateSSHKey: true}\n" + allOfIt, "ssh:// address"},
	{"for an artifact", "source.generateSSHKey", ociSource + "generateSSHKey: true}\n" + allOfIt, "ssh:// address"},
	{"without a generated key", "source.knownHosts", sshSource + "secretResourceName: deploy, knownHosts: canary}\n" + allOfIt, "into the Secret"},
	{"of another host", "source.knownHosts", sshSource + "generateSSHKey: true, knownHosts: 'github.com " + githubKey + "'}\n" + allOfIt, "no key of git.example.org"},
	{"a missing template of the kustomization", "kustomization.template", gitSource + "kustomization: {}", "is missing"},
	{"a kustomization of another kind", "kustomization.template.kind", gitSource + "kustomization: {template: {kind: HelmRelease, spec: {path: canary}}}", "must be Kustomization"},
	{"a kustomization of another API", "kustomization.template.apiVersion", gitSource + "kustomization: {template: {apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, spec: {path: canary}}}", "kustomize.toolkit.fluxcd.io/v1"},
	{"no directory", "kustomization.template.spec.path", gitSource + "kustomization: {template: {spec: {}}}", "is missing"},
	{"outside of the source", "kustomization.template.spec.path", gitSource + "kustomization: {template: {spec: {path: ../canary}}}", "without '..'"},
	{"no interval", "kustomization.template.spec.interval", gitSource + "kustomization: {template: {spec: {path: ./, interval: canary}}}", "write it like"},
	{"a text for prune", "kustomization.template.spec.prune", gitSource + "kustomization: {template: {spec: {path: ./, prune: 'canary'}}}", "must be true or false"},
	{"a text for suspend", "kustomization.template.spec.suspend", gitSource + "kustomization: {template: {spec: {path: ./, suspend: 'canary'}}}", "must be true or false"},
	{"no target", "kustomization.template.spec.targetNamespace", gitSource + "kustomization: {template: {spec: {path: ./, targetNamespace: Canary}}}", "is not a name of a namespace"},
	{"a text for the source", "kustomization.template.spec.sourceRef", gitSource + "kustomization: {template: {spec: {path: ./, sourceRef: canary}}}", "must be an object"},
	{"a missing name of a resource", "additionalSecretResources[1].name", "additionalSecretResources: [{name: a}, {}]", "is missing"},
	{"no name", "additionalSecretResources[0].targetName", "additionalSecretResources: [{name: a, targetName: Canary}]", "is not a name of an object"},
	{"no namespace", "additionalSecretResources[0].targetNamespace", "additionalSecretResources: [{name: a, targetNamespace: a.canary}]", "is not a name of a namespace"},
	{"a word", "syncMode", "syncMode: canary", "Once, ManifestsOnly, Always"},
	{"a word", "deletionPolicy", "deletionPolicy: canary", "Orphan, Delete"},
	{"a text", "waitForReady", "waitForReady: 'canary'", "must be true or false"},
	{"a text for an object", "flux", "flux: canary", "must be an object"},
	{"a text for an object", "configMapRef", "configMapRef: canary", "must be an object"},
}

func TestProviderConfigRefuses(t *testing.T) {
	for _, test := range badFields {
		t.Run(test.field+"/"+test.reason, func(t *testing.T) {
			_, err := FromProviderConfig(provider(t, test.text), nil)
			wantProblem(t, err, test.field, test.say)
			if err != nil && !strings.HasPrefix(err.Error(), "invalid providerConfig: "+test.field+": ") {
				t.Errorf("the message does not name the object: %v", err)
			}
		})
	}
}

// TestProviderConfigRows demands a good and a bad row for each field.
func TestProviderConfigRows(t *testing.T) {
	good, bad := map[string]bool{}, map[string]bool{}
	for _, row := range goodFields {
		good[row.field] = true
	}
	for _, row := range badFields {
		field := strings.NewReplacer("[0]", "", "[1]", "").Replace(row.field)
		for _, template := range []string{"source.template", "kustomization.template"} {
			if strings.HasPrefix(field, template) {
				field = template
			}
		}
		bad[field] = true
	}
	// The two lists of components are judged as one, and a reference by RefersTo.
	bad["flux.componentsExtra"], bad["configMapRef.name"] = bad["flux.components"], true
	for _, field := range leaves(reflect.TypeFor[api.FluxConfig](), "") {
		if !good[field] || !bad[field] {
			t.Errorf("%s has no good or no bad row", field)
		}
	}
}

// leaves returns the paths of all fields that hold no further ones.
func leaves(of reflect.Type, path string) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.Name() == "RawExtension" {
		return []string{path}
	}
	var all []string
	for name, field := range yamltext.Fields(of) {
		if name != "apiVersion" && name != "kind" {
			all = append(all, leaves(field, strings.TrimPrefix(path+"."+name, "."))...)
		}
	}
	return all
}

func TestProviderConfigForm(t *testing.T) {
	for _, test := range []struct{ reason, raw, field string }{
		{"nothing", "", providerConfig},
		{"a text", `"canary"`, providerConfig},
		{"a list", `[]`, providerConfig},
		{"half an object", `{"canary`, providerConfig},
		{"no kind", `{"flux": {}}`, "apiVersion, kind"},
		{"another kind", `{"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "Canary"}`, "apiVersion, kind"},
		{"another version", `{"apiVersion": "flux.extensions.gardener.cloud/v1", "kind": "FluxConfig"}`, "apiVersion, kind"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := FromProviderConfig([]byte(test.raw), nil)
			wantProblem(t, err, test.field, "must be")
			_, err = RefersTo([]byte(test.raw))
			wantProblem(t, err, test.field, "must be")
		})
	}
}

// TestUnknownFields are ignored by one and refused by the other.
func TestUnknownFields(t *testing.T) {
	for _, test := range []struct{ text, field, say string }{
		{"fluxx: {}", "fluxx", "did you mean flux?"},
		{"flux: {versions: v2.4.0}", "versions", "did you mean version?"},
		{"source: {templates: {}, template: {spec: {url: 'https://git.example.org/a', ref: {branch: main}}}}\n" + allOfIt, "templates", "did you mean template?"},
		{"additionalSecretResources: [{name: a, canaries: canary}]", "canaries", "remove it"},
	} {
		t.Run(test.field, func(t *testing.T) {
			raw := provider(t, test.text)
			if _, err := FromProviderConfig(raw, nil); err != nil {
				t.Errorf("the controller ignores it: %v", err)
			}
			err := UnknownFields(raw)
			if test.field == "canaries" {
				if err == nil || strings.Contains(err.Error(), ": canary") {
					t.Errorf("got %v", err)
				}
				return
			}
			wantProblem(t, err, test.field, test.say)
		})
	}
	if err := UnknownFields([]byte("{")); err == nil {
		t.Error("half an object has no fields")
	}
}
