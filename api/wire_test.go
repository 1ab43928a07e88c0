package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	container "go.landscaper.dev/api/container/v1alpha1"
	helm "go.landscaper.dev/api/helm/v1alpha1"
	kustomize "go.landscaper.dev/api/kustomize/v1alpha1"
	manifestv1 "go.landscaper.dev/api/manifest/v1alpha1"
	manifest "go.landscaper.dev/api/manifest/v1alpha2"
	mock "go.landscaper.dev/api/mock/v1alpha1"
)

// What several kinds have in common, with all of its fields.
const (
	process = `identity: one
targetSelector: [{targets: [{name: t, namespace: ns}], annotations: [{key: a, operator: exists, operation: exists, values: [b]}], labels: [{key: l, operator: in, operation: in, values: [b]}]}]
hpa: {maxReplicas: 3}
controller: {workers: 5, cacheSyncTimeout: 2m0s}
`
	oci    = "oci: {configFiles: [/etc/c.json], allowPlainHttp: true, insecureSkipVerify: true, cache: {useInMemoryOverlay: true, path: /tmp}}\n"
	deploy = `updateStrategy: patch
readinessChecks:
  disableDefault: true
  mode: kstatus
  custom: [{name: c, disabled: true, targetName: t, timeout: 1m0s, resourceSelector: [{apiVersion: v1, kind: Pod, name: p, namespace: ns}], labelSelector: {apiVersion: v1, kind: Pod, namespace: ns, matchLabels: {a: b}}, requirements: [{jsonPath: .status, operator: in, values: [{value: {a: [1, null, "x"]}}]}], expressions: {current: a, inProgress: b, failed: c}}]
exports: {defaultTimeout: 1m0s, watch: true, exports: [` + export + `]}
deletionGroups: [{predefinedResourceGroup: {type: crds, forceDelete: true}, customResourceGroup: {resources: [{apiVersion: v1, kind: pods, names: [a], namespaces: [b]}], forceDelete: true, deleteAllResources: true, targetName: t}}]
deletionGroupsDuringUpdate: [{predefinedResourceGroup: {type: empty, forceDelete: true}, customResourceGroup: {resources: [{apiVersion: v1, kind: pods, names: [a], namespaces: [b]}], forceDelete: true, deleteAllResources: true, targetName: t}}]
`
	export  = `{key: k, jsonPath: .a, fromResource: {apiVersion: v1, kind: Secret, name: s, namespace: ns}, fromObjectRef: {apiVersion: v1, kind: Secret, jsonPath: .b}, targetName: t, timeout: 1m0s}`
	again   = "continuousReconcile: {cron: '@daily', every: 1h0m0s, drift: correct}\n"
	managed = entries + "\n"
	entries = "managedResources: [{policy: keep, annotateBeforeDelete: {a: b}, patchBeforeDelete: {metadata: {labels: {a: b}}}, resource: {apiVersion: v1, kind: Secret, name: s, namespace: ns, uid: u, resourceVersion: '1', fieldPath: f}}]"
	// clusters is what other implementations of the statuses do not have.
	clusters = "cluster: {id: u, address: a, server: 'https://api.example', target: t}\nearlierClusters: [{id: v, address: b, server: 'https://old.example', target: t, release: {name: r, namespace: ns}, " + entries + "}]\n"
	version  = "{ref: {repositoryContext: {type: OCIRegistry, baseUrl: r.example}, componentName: c, version: v1}, inline: {a: 1}}"
)

// wireKinds are the kinds of deployers, each with all the fields that it has.
var wireKinds = []struct {
	kind   string
	empty  runtime.Object
	full   string
	little string
}{
	{"helm configuration", &helm.Configuration{}, process + oci + "export: {defaultTimeout: 5m0s}", `{}`},
	{"helm item", &helm.ProviderConfiguration{}, deploy + again + `chart: {ref: r, fromResource: {ref: {repositoryContext: {type: OCIRegistry, baseUrl: r.example}, componentName: c, version: v1}, inline: {a: 1}, resourceName: web}, archive: {raw: AAAA, remote: {url: u}}, helmChartRepo: {helmChartRepoUrl: u, helmChartName: web, helmChartVersion: v}, resourceRef: k}
name: web
namespace: ns
createNamespace: true
values: {a: {b: [1, 2.5, null, true, "x"]}, big: 9007199254740993}
exportsFromManifests: [` + export + `]
helmDeployment: false
helmDeploymentConfig: {install: {atomic: true, timeout: 5m}, upgrade: {force: null, wait: 1}, uninstall: {keepHistory: "yes"}}`, `{"chart":{},"name":"","namespace":""}`},
	{"helm status", &helm.ProviderStatus{}, managed + clusters + "release: {name: r, namespace: ns}\nearlierReleases: [{name: q, namespace: ns}]\n" +
		"definitions: [{apiVersion: v1, kind: K, name: d}]", `{}`},
	{"kustomize item", &kustomize.ProviderConfiguration{}, deploy + again + `source: {files: {a.yaml: "x: y"}, resourceRef: k, git: {url: u, ref: {branch: b, tag: t, commit: c}}, oci: {ref: r}}
path: p
namePrefix: a-
nameSuffix: -b
targetNamespace: ns
commonMetadata: {labels: {a: b}, annotations: {c: d}}
patches: [{patch: p, target: {group: g, version: v, kind: k, name: web, namespace: ns, labelSelector: a=b, annotationSelector: c=d}}]
images: [{name: a, newName: b, newTag: c, digest: d}]
components: [c]`, `{"source":{}}`},
	{"kustomize status", &kustomize.ProviderStatus{}, managed + clusters, `{}`},
	{"manifest configuration", &manifest.Configuration{}, process + "export: {defaultTimeout: 5m0s}", `{}`},
	{"manifest item", &manifest.ProviderConfiguration{}, deploy + again + "manifests: [{policy: manage, manifest: {apiVersion: v1, kind: ConfigMap}, annotateBeforeCreate: {a: b}, annotateBeforeDelete: {c: d}, patchAfterDeployment: {e: f}, patchBeforeDelete: {g: h}, onImmutableChange: recreate, conflicts: fail, ignoreDifferences: [.spec]}]", `{}`},
	{"manifest status", &manifest.ProviderStatus{}, managed + clusters, `{}`},
	{"older manifest configuration", &manifestv1.Configuration{}, process + "export: {defaultTimeout: 5m0s}", `{}`},
	{"older manifest item", &manifestv1.ProviderConfiguration{}, deploy + "manifests: [{apiVersion: v1, kind: ConfigMap}]", `{}`},
	{"older manifest status", &manifestv1.ProviderStatus{}, "managedResources: [{apiVersion: v1, kind: Secret, name: s, namespace: ns}]", `{}`},
	{"mock configuration", &mock.Configuration{}, process, `{}`},
	{"mock item", &mock.ProviderConfiguration{}, again + "initialPhase: Progressing\nphase: Succeeded\nproviderStatus: {a: b}\nexport: {c: [1, null]}", `{}`},
	{"container configuration", &container.Configuration{}, process + oci + `namespace: ns
defaultImage: {image: i, command: [c], args: [a], imagePullPolicy: Always}
initContainer: {image: i, command: [c], args: [a], imagePullPolicy: Never}
waitContainer: {image: i, command: [c], args: [a], imagePullPolicy: IfNotPresent}
garbageCollection: {disable: true, worker: 3, requeueTimeSeconds: 60}
debug: {keepPod: true}`, `{}`},
	{"container item", &container.ProviderConfiguration{}, again + `image: i
command: [c]
args: [a]
importValues: {a: {b: null}}
componentDescriptor: ` + version + `
blueprint: {ref: {resourceName: r}, inline: {filesystem: {blueprint.yaml: x}}}
registryPullSecrets: [{name: s, namespace: ns}]`, `{}`},
	{"container status", &container.ProviderStatus{}, `lastOperation: RECONCILE
podStatus:
  podName: p
  lastRun: "2026-11-23T05:00:00Z"
  lastSuccessfulJobID: j
  containerStatus: {message: m, reason: r, state: {waiting: {reason: w}}, image: i, imageID: d, exitCode: 0}
  initContainerStatus: {message: m, reason: r, state: {running: {startedAt: "2026-11-23T05:00:00Z"}}, image: i, imageID: d, exitCode: 1}
  waitContainerStatus: {message: m, reason: r, state: {terminated: {exitCode: 2, startedAt: null, finishedAt: null}}, image: i, imageID: d, exitCode: 2}`, `{}`},
}

// read decodes strictly.
func read(t *testing.T, text []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// numbered decodes with numbers as they are written.
func numbered(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestWireShapesOfDeployers: these documents are written by people and by other releases. A
// field that is renamed, or that loses something on its way, is lost to them.
func TestWireShapesOfDeployers(t *testing.T) {
	for _, test := range wireKinds {
		t.Run(test.kind, func(t *testing.T) {
			full, err := yaml.YAMLToJSON([]byte(test.full))
			if err != nil {
				t.Fatal(err)
			}
			object := test.empty.DeepCopyObject()
			read(t, full, object)
			if diff := cmp.Diff(numbered(t, full), numbered(t, encode(t, object))); diff != "" {
				t.Errorf("it is written otherwise than it was read:\n%s", diff)
			}
			if unset := unsetFields(reflect.ValueOf(object).Elem(), ""); len(unset) > 0 {
				t.Errorf("no field of the document is for %s", strings.Join(unset, ", "))
			}
			copied := object.DeepCopyObject()
			if !reflect.DeepEqual(object, copied) {
				t.Errorf("a copy is another one:\n%s", cmp.Diff(encode(t, object), encode(t, copied)))
			}
			if shared := sharedParts(reflect.ValueOf(object), reflect.ValueOf(copied), ""); len(shared) > 0 {
				t.Errorf("a copy shares %s", strings.Join(shared, ", "))
			}
			if got := string(encode(t, test.empty)); got != test.little {
				t.Errorf("nothing is written as %s, want %s", got, test.little)
			}
		})
	}
}

// TestNullsOfDeployers: a template that has nothing to say for a field writes null, and no
// document may be lost because of that.
func TestNullsOfDeployers(t *testing.T) {
	for _, test := range wireKinds {
		t.Run(test.kind, func(t *testing.T) {
			full, err := yaml.YAMLToJSON([]byte(test.full))
			if err != nil {
				t.Fatal(err)
			}
			fields := numbered(t, full).(map[string]any)
			for field := range fields {
				fields[field] = nil
			}
			object := test.empty.DeepCopyObject()
			read(t, encode(t, fields), object)
			if got := string(encode(t, object)); got != test.little {
				t.Errorf("nulls are written as %s, want %s", got, test.little)
			}
		})
	}
}

// unsetFields returns the fields of our own types that are not set.
func unsetFields(value reflect.Value, path string) (unset []string) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			return unsetFields(value.Elem(), path)
		}
	case reflect.Slice:
		if value.Len() > 0 {
			return unsetFields(value.Index(0), path+"[]")
		}
	case reflect.Struct:
		if !strings.HasPrefix(value.Type().PkgPath(), "go.landscaper.dev/") {
			return nil
		}
		for i := range value.NumField() {
			field := value.Type().Field(i)
			at := path + "." + field.Name
			switch {
			case field.Name == "TypeMeta" || !field.IsExported():
			case value.Field(i).IsZero():
				unset = append(unset, at)
			default:
				unset = append(unset, unsetFields(value.Field(i), at)...)
			}
		}
	}
	return unset
}

// sharedParts returns the maps, lists and pointers that two values share.
func sharedParts(one, other reflect.Value, path string) (shared []string) {
	same := func() {
		if one.Pointer() != 0 && one.Pointer() == other.Pointer() && (one.Kind() != reflect.Slice || one.Cap() > 0) {
			shared = append(shared, path)
		}
	}
	switch one.Kind() {
	case reflect.Pointer:
		if same(); !one.IsNil() {
			shared = append(shared, sharedParts(one.Elem(), other.Elem(), path)...)
		}
	case reflect.Slice:
		same()
		for i := range one.Len() {
			shared = append(shared, sharedParts(one.Index(i), other.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Map:
		same()
		for _, key := range one.MapKeys() {
			shared = append(shared, sharedParts(one.MapIndex(key), other.MapIndex(key), path+"."+key.String())...)
		}
	case reflect.Struct:
		// A time has a pointer to its zone, which never changes.
		for i := 0; i < one.NumField() && one.Type().PkgPath() != "time"; i++ {
			shared = append(shared, sharedParts(one.Field(i), other.Field(i), path+"."+one.Type().Field(i).Name)...)
		}
	}
	return shared
}

// TestSchemesOfDeployers: each kind is found by the name that items give it.
func TestSchemesOfDeployers(t *testing.T) {
	for _, test := range []struct {
		group, version string
		add            func(*runtime.Scheme) error
		kinds          string
	}{
		{"helm.deployer.landscaper.gardener.cloud", "v1alpha1", helm.AddToScheme, "Configuration ProviderConfiguration ProviderStatus"},
		{"kustomize.deployer.landscaper.gardener.cloud", "v1alpha1", kustomize.AddToScheme, "ProviderConfiguration ProviderStatus"},
		{"manifest.deployer.landscaper.gardener.cloud", "v1alpha1", manifestv1.AddToScheme, "Configuration ProviderConfiguration ProviderStatus"},
		{"manifest.deployer.landscaper.gardener.cloud", "v1alpha2", manifest.AddToScheme, "Configuration ProviderConfiguration ProviderStatus"},
		{"mock.deployer.landscaper.gardener.cloud", "v1alpha1", mock.AddToScheme, "Configuration ProviderConfiguration"},
		{"container.deployer.landscaper.gardener.cloud", "v1alpha1", container.AddToScheme, "Configuration ProviderConfiguration ProviderStatus"},
	} {
		t.Run(test.group+"/"+test.version, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := test.add(scheme); err != nil {
				t.Fatal(err)
			}
			version := schema.GroupVersion{Group: test.group, Version: test.version}
			for kind := range strings.FieldsSeq(test.kinds) {
				if !scheme.Recognizes(version.WithKind(kind)) {
					t.Errorf("%s is not known", kind)
				}
			}
		})
	}
}
