package moves

import (
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// filesItem is an item of a kustomization that has one manifest as its only file.
func filesItem(t *testing.T, name, manifest string) string {
	t.Helper()
	files := map[string]string{"a.yaml": manifest, "kustomization.yaml": "resources: [a.yaml]"}
	return "- " + textOf(t, map[string]any{"name": name, "type": "landscaper.gardener.cloud/kustomize", "target": map[string]any{"import": "cluster"}, "config": map[string]any{
		"apiVersion": "kustomize.deployer.landscaper.gardener.cloud/v1alpha1", "kind": "ProviderConfiguration", "updateStrategy": "update", "source": map[string]any{"files": files},
	}}) + "\n"
}

// chartItem is an item of a chart that is given as files.
func chartItem(t *testing.T, name, release, namespace string, files map[string]string, more ...map[string]any) string {
	t.Helper()
	archive, err := landscape.Chart("web", "1.0.0", "", files)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{
		"apiVersion": "helm.deployer.landscaper.gardener.cloud/v1alpha1", "kind": "ProviderConfiguration", "name": release, "namespace": namespace,
		"chart": map[string]any{"archive": map[string]any{"raw": archive}},
	}
	for _, fields := range more {
		maps.Copy(config, fields)
	}
	return "- " + textOf(t, map[string]any{"name": name, "type": "landscaper.gardener.cloud/helm", "target": map[string]any{"import": "cluster"}, "config": config}) + "\n"
}

// named is an object by its kind and name.
type named struct{ apiVersion, kind, namespace, name string }

// live reads an object from the cluster of the Target; nil if it does not exist.
func (n named) live(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.FromAPIVersionAndKind(n.apiVersion, n.kind))
	err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: n.namespace, Name: n.name}, object)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// uidsOf are the identities of objects.
func uidsOf(t *testing.T, objects []named) map[named]string {
	t.Helper()
	uids := map[named]string{}
	for _, object := range objects {
		live := object.live(t)
		if live == nil {
			t.Fatalf("%s %s does not exist at first", object.kind, object.name)
		}
		uids[object] = string(live.GetUID())
	}
	return uids
}

// wantStays checks that objects still exist with their identities.
func wantStays(t *testing.T, uids map[named]string) {
	t.Helper()
	for object, uid := range uids {
		switch live := object.live(t); {
		case live == nil:
			t.Errorf("%s %s is lost", object.kind, object.name)
		case string(live.GetUID()) != uid:
			t.Errorf("%s %s was created anew", object.kind, object.name)
		case live.GetDeletionTimestamp() != nil:
			t.Errorf("%s %s is being deleted", object.kind, object.name)
		}
	}
}

// scene is what the tests of one namespace deploy: a Namespace beside it with an object inside, and
// a kind with a resource of it.
type scene struct{ space string }

func (s scene) settings(name string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, namespace: ` + s.space + `}, data: {text: a}}`
}

func (s scene) beside() string { return s.space + "-x" }

func (s scene) namespace() string {
	return `{apiVersion: v1, kind: Namespace, metadata: {name: ` + s.beside() + `}}`
}

func (s scene) inside() string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: ` + s.beside() + `}, data: {text: a}}`
}

func (s scene) group() string { return s.space + ".example.org" }

func (s scene) definition() string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.` + s.group() + `}, spec: {group: ` + s.group() +
		`, scope: Namespaced, names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`
}

func (s scene) thing() string {
	return `{apiVersion: ` + s.group() + `/v1, kind: Thing, metadata: {name: it, namespace: ` + s.space + `}}`
}

func (s scene) spec(t *testing.T, items string) v1alpha1.InstallationSpec {
	t.Helper()
	return rootOf(t, s.space, `imports: {targets: [{name: cluster, target: host}]}`, blueprintOf(t, singleImport, items))
}

func (s scene) liveSettings() named { return named{"v1", "ConfigMap", s.space, "a"} }

func (s scene) liveNamespace() named { return named{"v1", "Namespace", "", s.beside()} }

func (s scene) liveInside() named { return named{"v1", "ConfigMap", s.beside(), "inside"} }

func (s scene) liveDefinition() named {
	return named{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things." + s.group()}
}

func (s scene) liveThing() named { return named{s.group() + "/v1", "Thing", s.space, "it"} }

// change changes the root and returns its plan, before the job that follows.
func (s scene) change(t *testing.T, inst *v1alpha1.Installation, spec v1alpha1.InstallationSpec) (plan string, after *v1alpha1.Installation) {
	t.Helper()
	changed := getInstallation(t, inst)
	changed.Spec = spec
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	_, plan, complaints := cli(t, "inst", "plan", inst.Name, "-n", s.space)
	return plan + complaints, again(t, inst, spec, v1alpha1.InstallationPhases.Succeeded)
}

// TestExpectedObjects: an object that another item only expects to exist stays when its item does
// not want it any more.
func TestExpectedObjects(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	creates := map[string]any{"createNamespace": true}
	for _, test := range []struct {
		reason        string
		before, after func(t *testing.T, s scene) string
		stays         func(s scene) []named
		plan          string
	}{
		{"policy ignore in a renamed item",
			func(_ *testing.T, s scene) string { return yamlItem("one", "manage", s.settings("a")) },
			func(_ *testing.T, s scene) string { return yamlItem("renamed", "ignore", s.settings("a")) },
			func(s scene) []named { return []named{s.liveSettings()} },
			"ConfigMap NAMESPACE/a stays, because deploy item tree/renamed expects it"},
		{"policy ignore instead of the template of a release",
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"templates/a.yaml": s.settings("a"), "templates/b.yaml": s.settings("b")})
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"templates/b.yaml": s.settings("b")}) + yamlItem("one", "ignore", s.settings("a"))
			},
			func(s scene) []named { return []named{s.liveSettings()} },
			"ConfigMap NAMESPACE/a stays, because deploy item tree/one expects it"},
		{"a definition from manifests to the folder crds",
			func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.definition()) + yamlItem("two", "manage", s.thing())
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			"CustomResourceDefinition things.NAMESPACE.example.org stays, because deploy item tree/chart expects it"},
		{"a definition from a kustomization to the folder crds",
			func(t *testing.T, s scene) string {
				return filesItem(t, "one", s.definition()) + yamlItem("two", "manage", s.thing())
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			"CustomResourceDefinition things.NAMESPACE.example.org stays, because deploy item tree/chart expects it"},
		{"a definition from the templates to the folder crds of a chart",
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"templates/crd.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			"Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged"},
		{"a definition from the templates of one release to the folder crds of another one",
			func(t *testing.T, s scene) string {
				return chartItem(t, "one", "front", s.space, map[string]string{"templates/crd.yaml": s.definition(), "templates/b.yaml": s.settings("b")}) + yamlItem("two", "manage", s.thing())
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "one", "front", s.space, map[string]string{"templates/b.yaml": s.settings("b")}) +
					chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			"CustomResourceDefinition things.NAMESPACE.example.org stays, because deploy item tree/chart expects it"},
		{"a definition that a chart has had in its folder crds all along",
			func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.definition()) + chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")})
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")})
			},
			func(s scene) []named { return []named{s.liveDefinition()} },
			"CustomResourceDefinition things.NAMESPACE.example.org stays, because deploy item tree/chart expects it"},
		{"a definition from the templates of a release to the folder crds of the same release with another name",
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"templates/crd.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "shop", s.space, map[string]string{"crds/a.yaml": s.definition(), "templates/a.yaml": s.settings("a")}) + yamlItem("two", "manage", s.thing())
			},
			func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			"Plan: 0 to create, 1 to change, 0 to delete, 2 unchanged"},
		{"a Namespace from the templates of a release to createNamespace of the same release with another name",
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.space, map[string]string{"templates/a.yaml": s.namespace(), "templates/b.yaml": s.inside()})
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.beside(), map[string]string{"templates/b.yaml": s.inside()}, creates)
			},
			func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			"Plan: 0 to create, 1 to change, 0 to delete, 1 unchanged"},
		{"a Namespace from manifests to createNamespace",
			func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace()) + strings.Replace(chartItem(t, "chart", "web", s.beside(), map[string]string{"templates/a.yaml": s.inside()}), `- {`, `- {"dependsOn":["one"],`, 1)
			},
			func(t *testing.T, s scene) string {
				return chartItem(t, "chart", "web", s.beside(), map[string]string{"templates/a.yaml": s.inside()}, creates)
			},
			func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			"Namespace NAMESPACE-x stays, because deploy item tree/chart expects it"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			s := scene{namespace(t)}
			inst := waitSucceeded(t, create(t, installationOf(s.space, "tree", s.spec(t, test.before(t, s)))))
			uids := uidsOf(t, test.stays(s))
			plan, inst := s.change(t, inst, s.spec(t, test.after(t, s)))
			if want := strings.ReplaceAll(test.plan, "NAMESPACE", s.space); !strings.Contains(plan, want+"\n") {
				t.Errorf("the plan has no %q:\n%s", want, plan)
			}
			wantStays(t, uids)
			for object := range uids {
				if live := object.live(t); live != nil && !slices.Contains([]string{"Thing"}, object.kind) && object.name != "inside" {
					wantNoOwner(t, live)
				}
			}
			wantNothingPending(t, s.space)
			if err := env.Admin.Delete(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		})
	}
}

// wantNoOwner checks that an object has no marks of an item.
func wantNoOwner(t *testing.T, live *unstructured.Unstructured) {
	t.Helper()
	for key := range live.GetLabels() {
		if strings.HasSuffix(key, "deployer.landscaper.gardener.cloud/deployitem") || key == "app.kubernetes.io/managed-by" {
			t.Errorf("%s %s has the label %s", live.GetKind(), live.GetName(), key)
		}
	}
	for key := range live.GetAnnotations() {
		if strings.HasPrefix(key, "meta.helm.sh/") || key == v1alpha1.ReleasedByAnnotation {
			t.Errorf("%s %s has the annotation %s", live.GetKind(), live.GetName(), key)
		}
	}
}
