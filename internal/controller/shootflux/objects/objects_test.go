package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/config"
)

// resolved returns the configuration of a ConfigMap for a release of Flux.
func resolved(t *testing.T, data map[string]string) *config.Config {
	t.Helper()
	c, err := config.FromConfigMap(&corev1.ConfigMap{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Resolve(config.Surroundings{DefaultVersion: "v2.4.0"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func names(objects []*unstructured.Unstructured) string {
	var list []string
	for _, object := range objects {
		list = append(list, object.GetKind()+" "+strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/"))
	}
	return strings.Join(list, ", ")
}

func TestConfiguration(t *testing.T) {
	repository := func(more ...string) map[string]string {
		data := map[string]string{"repositoryUrl": "https://git.example.org/app.git", "repositoryBranch": "main"}
		for i := 0; i < len(more); i += 2 {
			data[more[i]] = more[i+1]
		}
		return data
	}
	const both = "GitRepository flux-system/main-gitrepo, Kustomization flux-system/main-ks"
	for _, test := range []struct {
		reason string
		data   map[string]string
		change func(*config.Config)
		want   string
	}{
		{"Flux only", nil, nil, ""},
		{"the namespace of Flux comes with Flux, default with the cluster", repository(), nil, both},
		{"where the objects go", repository("targetNamespace", "apps"), nil, "Namespace apps, " + both},
		{"objects stay where they say", repository("targetNamespace", "-"), nil, both},
		{"where Secrets go, once each", repository("targetNamespace", "apps"), func(c *config.Config) {
			c.AdditionalSecrets = []config.AdditionalSecret{{TargetNamespace: "team-b"}, {TargetNamespace: "apps"}, {TargetNamespace: "kube-system"}, {TargetNamespace: "flux-system"}}
		}, "Namespace apps, Namespace team-b, " + both},
		{"Secrets without a source", nil, func(c *config.Config) {
			c.AdditionalSecrets = []config.AdditionalSecret{{TargetNamespace: "team-b"}}
		}, "Namespace team-b"},
		{"where source and kustomization are", repository(), func(c *config.Config) {
			c.Source.Object.SetNamespace("team-a")
			c.Kustomization.SetNamespace("team-b")
		}, "Namespace team-a, Namespace team-b, GitRepository team-a/main-gitrepo, Kustomization team-b/main-ks"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := resolved(t, test.data)
			if test.change != nil {
				test.change(c)
			}
			objects := Configuration(c)
			if got := names(objects); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			for _, object := range objects {
				if object.GetKind() != "Namespace" {
					continue
				}
				if diff := cmp.Diff(map[string]string{"resources.gardener.cloud/ignore": "true", "resources.gardener.cloud/keep-object": "true"}, object.GetAnnotations()); diff != "" {
					t.Errorf("a namespace would be changed, or go with what others have in it: %s", diff)
				}
			}
			for _, object := range objects {
				object.SetName("changed")
			}
			if strings.Contains(names(Configuration(c)), "changed") {
				t.Error("the objects are those of the configuration")
			}
		})
	}
}

func TestSecret(t *testing.T) {
	of := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ref-fleet-ssh", Namespace: "shoot--lab--bench", UID: "x", ResourceVersion: "1", Finalizers: []string{"gardener.cloud/gardener"},
			Labels: map[string]string{"team": "a", managerLabel: "other"}, Annotations: map[string]string{"a": "b"},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"identity": {0xff, 0}, "identity.old": []byte("canary"), "identity.pub.old": []byte("x")},
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": "flux-source", "namespace": "flux-system", "labels": map[string]any{managerLabel: manager}},
		"data":     map[string]any{"identity": "/wA="},
	}
	if diff := cmp.Diff(want, Secret(of, "flux-system", "flux-source").Object); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
	of.Annotations[copyLabels] = "true"
	if diff := cmp.Diff(map[string]string{"team": "a", managerLabel: manager}, Secret(of, "flux-system", "flux-source").GetLabels()); diff != "" {
		t.Errorf("labels that should be copied: -want +got: %s", diff)
	}
}

func TestShootInfo(t *testing.T) {
	c := resolved(t, nil)
	all := Info{Name: "bench", TechnicalID: "shoot--lab--bench", ClusterIdentity: "shoot--lab--bench-1", GardenClusterIdentity: "garden", PublicKey: "ssh-ed25519 AAAA flux-lab"}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "shoot-info", "namespace": "flux-system", "labels": map[string]any{managerLabel: manager}},
		"data": map[string]any{
			"SHOOT_INFO_CLUSTER_IDENTITY": "shoot--lab--bench-1", "SHOOT_INFO_NAME": "bench", "SHOOT_INFO_TECHNICAL_ID": "shoot--lab--bench",
			"SHOOT_INFO_GARDEN_CLUSTER_IDENTITY": "garden", "SHOOT_INFO_FLUX_PUBLIC_KEY": "ssh-ed25519 AAAA flux-lab",
		},
	}
	if diff := cmp.Diff(want, ShootInfo(c, all).Object); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
	data, _, _ := unstructured.NestedMap(ShootInfo(c, Info{Name: "bench"}).Object, "data")
	if diff := cmp.Diff(map[string]any{"SHOOT_INFO_NAME": "bench"}, data); diff != "" {
		t.Errorf("what is not known is left out: -want +got: %s", diff)
	}
}
