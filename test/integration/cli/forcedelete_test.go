package cli

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestForceDelete removes a tree whose finalizers no controller would remove.
func TestForceDelete(t *testing.T) {
	namespace := newNamespace(t)
	root := plant(t, namespace, "shop", "", "shop-item", "Failed")
	web := plant(t, namespace, "web", "shop", "web-item", "Succeeded")
	for _, object := range []client.Object{root, web} {
		object.SetFinalizers([]string{v1alpha1.Finalizer})
		if err := cluster.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	const names = "deployItem web-item\nexecution web\ninstallation web\ndeployItem shop-item\nexecution shop\ninstallation shop\n"
	lines := func(verb string) string {
		return strings.TrimSuffix(strings.ReplaceAll("\n"+names, "\n", "\n- "+verb+" "), "- "+verb+" ")[1:]
	}
	got := cli(t, resource.Kubeconfig, "inst", "fd", "shop", "-n", namespace, "--dry-run")
	if want := (outcome{0, lines("would delete"), ""}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = cli(t, resource.Kubeconfig, "inst", "force-delete", "shop", "-n", namespace)
	if want := lines("deleted") + "All objects deleted\n"; got.code != 0 || !equalOrGone(got.out, want) {
		t.Errorf("%+v, want %q", got, want)
	}
	for _, object := range []client.Object{root, web} {
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", object.GetName(), err)
		}
	}
	if got := cli(t, resource.Kubeconfig, "inst", "force-delete", "shop", "-n", namespace, "--strict-exit-codes"); got.code != 3 {
		t.Errorf("what does not exist: %+v", got)
	}
}

// equalOrGone allows that objects without finalizers are deleted before they are released.
func equalOrGone(got, want string) bool {
	return strings.ReplaceAll(got, "already gone:", "deleted") == want
}
