package published

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// TestComponent lets a Landscaper that was installed with the chart install another one on a second
// cluster, from the component version of the release, and remove it again.
func TestComponent(t *testing.T) {
	before := objects(t)
	helm := newHelm(t)
	helm.install(t, map[string]any{"egress": loopback, "registry": map[string]any{"oci": map[string]any{"allowPlainHttp": true}}})
	edge := started.Clusters["edge"]
	access, err := os.ReadFile(edge.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target, err := landscape.Target("default", "cluster", string(access))
	if err == nil {
		err = admin.Create(t.Context(), target)
	}
	if err != nil {
		t.Fatal(err)
	}
	repository, installation := landscaperByLandscaper(t)
	if err := errors.Join(admin.Create(t.Context(), repository), admin.Create(t.Context(), installation)); err != nil {
		t.Fatal(err)
	}
	succeed(t, []*v1alpha1.Installation{installation})
	there, err := landscape.Connect(edge.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: space, Name: "landscaper"}
	if err := there.Get(t.Context(), key, deployment); err != nil || deployment.Status.ReadyReplicas != 1 || deployment.Spec.Template.Spec.Containers[0].Image != imageOf(t) {
		t.Errorf("%v: %+v", err, deployment)
	}
	if err := admin.Delete(t.Context(), installation); err != nil {
		t.Fatal(err)
	}
	await(t, installation, "deleted", func(now *v1alpha1.Installation) bool { return now == nil })
	if err := there.Get(t.Context(), key, deployment); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment is left: %v", err)
	}
	if err := errors.Join(admin.Delete(t.Context(), target), admin.Delete(t.Context(), repository)); err != nil {
		t.Fatal(err)
	}
	helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
}

// landscaperByLandscaper is the example of the docs, with the registry and the version of this test.
func landscaperByLandscaper(t *testing.T) (*v1alpha1.Context, *v1alpha1.Installation) {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "install", "landscaper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("registry.example.org/landscaper", "http://"+registry, "v0.1.0", release).Replace(string(text))
	first, second, _ := strings.Cut(changed, "\n---\n")
	repository, installation := &v1alpha1.Context{}, &v1alpha1.Installation{}
	if err := errors.Join(yaml.UnmarshalStrict([]byte(first), repository), yaml.UnmarshalStrict([]byte(second), installation)); err != nil {
		t.Fatal(err)
	}
	repository.Namespace, installation.Namespace = "default", "default"
	return repository, installation
}
