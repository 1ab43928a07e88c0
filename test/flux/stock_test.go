package flux

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// volatile are kinds whose objects come and go by themselves.
var volatile = []string{"Event", "Lease", "Endpoints", "EndpointSlice", "Pod", "ReplicaSet", "ComponentStatus"}

// furniture is what Kubernetes puts into every namespace by itself, a moment after it was
// made.
var furniture = map[string]string{"ServiceAccount": "default", "ConfigMap": "kube-root-ca.crt"}

// inTests reports whether an object is a namespace that a test has made, or in one: what is left
// there is deleted with it.
func inTests(kind string, object metav1.PartialObjectMetadata) bool {
	return strings.HasPrefix(object.Namespace, "test-") || kind == "Namespace" && strings.HasPrefix(object.Name, "test-")
}

// stock is what is on the clusters of a stage, and on more clusters.
func stock(t *testing.T, stage *showcase.Stage, more ...string) []string {
	t.Helper()
	var all []string
	for _, kubeconfig := range append(stage.Clusters(), more...) {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		found, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := landscape.Connect(kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range found {
			for _, resource := range group.APIResources {
				if !slices.Contains(resource.Verbs, "list") || slices.Contains(volatile, resource.Kind) {
					continue
				}
				list := &metav1.PartialObjectMetadataList{}
				list.SetGroupVersionKind(schema.FromAPIVersionAndKind(group.GroupVersion, resource.Kind))
				err := cluster.List(t.Context(), list)
				if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
					continue // the kind was deleted meanwhile
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, object := range list.Items {
					if inTests(resource.Kind, object) || furniture[resource.Kind] == object.Name {
						continue
					}
					all = append(all, fmt.Sprintf("%s %s %s/%s", config.Host, resource.Kind, object.Namespace, object.Name))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// waitCollected returns when Kubernetes has collected what belonged to Installations.
func waitCollected(t *testing.T) {
	t.Helper()
	for _, list := range []client.ObjectList{&v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}} {
		env.WaitNone(t, list, client.InNamespace(showcase.InstallationNamespace))
	}
}

// waitAsBefore returns when the clusters of a stage hold what they held before. Objects of deleted
// owners are collected a moment later, and no event of a single kind shows that all of them are.
func waitAsBefore(t *testing.T, before []string, stage *showcase.Stage, more ...string) {
	t.Helper()
	late, tick := time.After(scenario.WaitLimit), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for {
		diff := cmp.Diff(before, stock(t, stage, more...))
		if diff == "" {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the clusters are not as before, -before +after\n%s", diff)
		}
	}
}
