package helm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// known are owners whose answers are given: by name, whether they let their objects go.
type known map[string]bool

func (k known) yields(_ context.Context, item string, _ corev1.ObjectReference) (bool, error) {
	if item == "broken" {
		return false, errors.New("the API server is away")
	}
	return k[item], nil
}

func (k known) isTerminating(_ context.Context, item string) (bool, error) { return k[item], nil }

func (k known) invites(_ context.Context, item string, _ corev1.ObjectReference) (bool, error) {
	_, neighbor := k[item]
	return neighbor, nil
}

// asking is an item that asks.
func asking() *deployer.Item {
	item := withStatus("")
	item.Namespace, item.Name, item.UID = "ns", "me", "uid-me"
	return item
}

// recordedRelease stores a release of an item.
func recordedRelease(t *testing.T, cluster *fakecluster.Cluster, name, uid, owner string) {
	t.Helper()
	store := &storage.Store{Cluster: cluster, Namespace: "there", Now: func() time.Time { return noon }}
	err := store.Create(t.Context(), &helmrelease.Release{
		Name: name, Namespace: "there", Version: 1, Info: &helmrelease.Info{Status: common.StatusDeployed},
		Chart: &helmchart.Chart{Metadata: &helmchart.Metadata{Name: name, Version: "1"}},
	}, storage.Marks{Owner: uid, OwnerName: owner})
	if err != nil {
		t.Fatal(err)
	}
}

// TestYields: whose an object is, by its labels and the marks of its release, and whether that
// owner gives it up.
func TestYields(t *testing.T) {
	cluster := fakecluster.New()
	recordedRelease(t, cluster, "theirs", "uid-them", "ns/them")
	recordedRelease(t, cluster, "mine", "uid-me", "ns/me")
	recordedRelease(t, cluster, "afar", "uid-far", "elsewhere/far")
	recordedRelease(t, cluster, "nobodys", "", "")
	tests := []struct {
		reason         string
		label, release string
		released       string
		known          known
		forbidden      bool
		yields         bool
		holder, fails  string
	}{
		{reason: "no item has the object"},
		{reason: "an item releases the object", label: "them", known: known{"them": true}, yields: true},
		{reason: "an item wants the object", label: "them", known: known{}, holder: "DeployItem them"},
		{reason: "an item that has taken the object from a release releases it", label: "them", release: "afar", known: known{"them": true}, yields: true},
		{reason: "the item of a release is being deleted", release: "theirs", known: known{"them": true}, yields: true},
		{reason: "the item of a release stays", release: "theirs", known: known{}, holder: "DeployItem them (release there/theirs)"},
		{reason: "the object belongs to another release of the item itself", release: "mine", yields: true},
		{reason: "the object belongs to a release of an item elsewhere", release: "afar", known: known{"far": true}, holder: "DeployItem elsewhere/far (release there/afar)"},
		{reason: "the object belongs to a release of a person", release: "nobodys", holder: "release there/nobodys"},
		{reason: "the object belongs to a release without a record", release: "gone", holder: "release there/gone"},
		{reason: "the records of the release may not be read", release: "theirs", known: known{"them": true}, forbidden: true, holder: "release there/theirs"},
		{reason: "an item of the namespace has released the object", label: "them", released: "them", known: known{"them": false}, yields: true},
		{reason: "the item itself has released it", release: "theirs", released: "me", yields: true},
		{reason: "an item of another namespace has released it, or says so", label: "them", released: "far", known: known{"them": false}, holder: "DeployItem them"},
		{reason: "the item of a release that another namespace has released", release: "afar", released: "far", holder: "DeployItem elsewhere/far (release there/afar)"},
		{reason: "the item cannot be read", label: "broken", fails: "the API server is away"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			labels := map[string]string{}
			if test.label != "" {
				labels[ownership.ManifestLabel] = test.label
			}
			if test.release != "" {
				labels[ownership.HelmManagedByLabel] = ownership.HelmManagedBy
				live.SetAnnotations(map[string]string{ownership.HelmReleaseAnnotation: test.release, ownership.HelmReleaseNamespaceAnnotation: "there"})
			}
			live.SetLabels(labels)
			if test.released != "" {
				annotations := live.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[v1alpha1.ReleasedByAnnotation] = test.released
				live.SetAnnotations(annotations)
			}
			if cluster.Fault = nil; test.forbidden {
				cluster.Fault = func(fakecluster.Request) fakecluster.Fault {
					return fakecluster.Fault{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", nil)}
				}
			}
			cluster.Counts()
			of := &newest{store: &storage.Store{Cluster: cluster, Namespace: "here"}}
			got, holder, err := yields(t.Context(), live, asking(), of, test.known)
			if again, _, _ := yields(t.Context(), live, asking(), of, test.known); again != got || cluster.Counts()["list"] > 1 {
				t.Errorf("it yields %t and then %t, or a release is asked for twice", got, again)
			}
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%v", err)
				}
				return
			}
			if got != test.yields || !test.yields && holder != test.holder || err != nil {
				t.Errorf("it yields %t, holder %q, %v; want %t, %q", got, holder, err, test.yields, test.holder)
			}
		})
	}
}

// TestLeaves: a release can be taken back from an item that is being deleted.
func TestLeaves(t *testing.T) {
	for _, test := range []struct {
		reason, owner string
		want          bool
	}{
		{"the item is being deleted", "ns/going", true},
		{"the item is not being deleted", "ns/staying", false},
		{"the item is in another namespace", "other/going", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := ownerTerminating(t.Context(), &storage.Record{OwnerName: test.owner}, asking(), known{"going": true}); got != test.want || err != nil {
				t.Errorf("it leaves: %t, %v", got, err)
			}
		})
	}
}

// TestStatusOfKept: what is kept is recorded with a policy beside the workloads, and a release
// without workloads is not forgotten by that.
func TestStatusOfKept(t *testing.T) {
	entry := func(policy apideployer.ManifestPolicy, kind, name string) apideployer.ManagedResourceStatus {
		return apideployer.ManagedResourceStatus{Policy: policy, Resource: corev1.ObjectReference{APIVersion: "v1", Kind: kind, Namespace: "here", Name: name}}
	}
	config, err := parseConfig(itemWith(t, head).Spec.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	s := released{templates: templates{config: config}, work: &work{kept: apply.Inventory{entry("manage", "ConfigMap", "kept")}}}
	item := withStatus("")
	for _, workloads := range []apply.Inventory{nil, {{Resource: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "here", Name: "app"}}}} {
		if err := item.SetProviderStatus(s.Status(item, workloads)); err != nil {
			t.Fatal(err)
		}
		inStatus, possible, err := mayHaveRelease(item)
		recorded, _ := s.templates.Recorded(item)
		if !inStatus || !possible || err != nil || len(recorded) != 1 || recorded[0].Resource.Name != "kept" {
			t.Errorf("with workloads %v: inStatus %t, possible %t, recorded %v, %v", workloads, inStatus, possible, recorded, err)
		}
	}
	s.work.kept = nil
	if err := item.SetProviderStatus(s.Status(item, nil)); err != nil {
		t.Fatal(err)
	}
	if recorded, _ := s.templates.Recorded(item); len(recorded) > 0 || strings.Contains(string(item.Status.ProviderStatus.Raw), "Secret") {
		t.Errorf("without anything kept, the status is %s", item.Status.ProviderStatus.Raw)
	}
}
