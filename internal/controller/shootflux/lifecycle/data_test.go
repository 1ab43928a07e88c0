package lifecycle

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

func object(kind, namespace, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

func names(objects []*unstructured.Unstructured) string {
	var list []string
	for _, object := range objects {
		list = append(list, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	return strings.Join(list, ", ")
}

func having(objects ...gardener.ManagedObject) managed.Standing {
	resource := &gardener.ManagedResource{}
	resource.Status.Resources = objects
	return managed.Judge(resource)
}

func TestNewcomersWait(t *testing.T) {
	a, b, info := object("Secret", "flux-system", "a"), object("Secret", "team", "b"), object("ConfigMap", "flux-system", "shoot-info")
	data := managed.Piece{Name: DataName, Objects: []*unstructured.Unstructured{a, b, info}}
	managedA := gardener.ManagedObject{APIVersion: "v1", Kind: "Secret", Namespace: "flux-system", Name: "a"}
	elsewhere := gardener.ManagedObject{APIVersion: "v1", Kind: "Secret", Namespace: "default", Name: "b"}
	const role = "gardener.cloud:extension:shoot-flux"
	for _, row := range []struct {
		reason      string
		standing    managed.Standing
		fresh, left string
	}{
		{
			"nothing is there yet", managed.Standing{}, "Secret flux-system/a, Secret team/b",
			"ConfigMap flux-system/shoot-info, Role flux-system/" + role + ", RoleBinding flux-system/" + role + ", Role team/" + role + ", RoleBinding team/" + role,
		},
		{
			"a Secret that is applied, and a Secret of the same name in another namespace", having(managedA, elsewhere), "Secret team/b",
			"Secret flux-system/a, ConfigMap flux-system/shoot-info, Role team/" + role + ", RoleBinding team/" + role,
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			fresh := newcomers(data, row.standing)
			if names(fresh) != row.fresh {
				t.Errorf("newcomers %s, want %s", names(fresh), row.fresh)
			}
			if left := names(withRights(data, fresh).Objects); left != row.left {
				t.Errorf("before: %s, want %s", left, row.left)
			}
		})
	}
	if len(data.Objects) != 3 {
		t.Error("the piece was changed")
	}
}

func TestMovedSecretsStay(t *testing.T) {
	data := managed.Piece{Objects: []*unstructured.Unstructured{object("Secret", "flux-system", "flux-source"), object("ConfigMap", "flux-system", "shoot-info")}}
	source := gardener.ManagedObject{APIVersion: "v1", Kind: "Secret", Namespace: "flux-system", Name: "flux-source"}
	unwanted := gardener.ManagedObject{APIVersion: "v1", Kind: "Secret", Namespace: "flux-system", Name: "other"}
	stay := moved(data, having(source, unwanted))
	if names(stay) != "Secret flux-system/flux-source" || stay[0].GetAnnotations()["resources.gardener.cloud/mode"] != "Ignore" || stay[0].Object["data"] != nil {
		t.Errorf("%v stay", stay)
	}
	if stay := moved(data, managed.Standing{}); stay != nil {
		t.Errorf("%s stay where nothing was", names(stay))
	}
}
