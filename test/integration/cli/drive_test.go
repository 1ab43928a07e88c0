package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const landscape = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop}
spec:
  blueprint: {ref: {resourceName: blueprint}}
  imports:
    data: [{name: domain, dataRef: domain}]
---
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: DataObject
metadata: {name: domain}
data: example.org
`

func TestApply(t *testing.T) {
	namespace, directory := newNamespace(t), t.TempDir()
	file := filepath.Join(directory, "shop.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) outcome {
		return cli(t, resource.Kubeconfig, append([]string{"inst", "apply", "-n", namespace, "-f", directory}, args...)...)
	}
	write(landscape)
	if got, want := run(), (outcome{out: "DataObject domain: created\nInstallation shop: created\n"}); got != want {
		t.Errorf("%+v", got)
	}
	write(strings.Replace(landscape, "example.org", "example.com", 1))
	if got, want := run(), (outcome{out: "DataObject domain: changed\nInstallation shop: unchanged\n"}); got != want {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "inst", "set-import", "shop", "domain=example.net", "-n", namespace); got.code != 0 || !strings.HasPrefix(got.out, "Set domain of the Installation shop") {
		t.Errorf("%+v", got)
	}
	shop := &v1alpha1.Installation{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop"}, shop); err != nil {
		t.Fatal(err)
	}
	if string(shop.Spec.ImportDataMappings["domain"].RawMessage) != `"example.net"` || len(shop.Spec.Imports.Data) != 0 {
		t.Errorf("%+v", shop.Spec)
	}
	p := begin(t, resource.Kubeconfig, "inst", "apply", "-n", namespace, "-f", directory, "--force-conflicts", "--wait")
	p.err.await(t, `operation "reconcile" has not been picked up yet`)
	take(t, shop, "job-1")
	update(t, shop, job("job-1", "Succeeded"))
	if got := p.end(t); got.code != 0 || !strings.HasSuffix(got.out, "Installation shop: Succeeded\n") {
		t.Errorf("%+v", got)
	}
	// A manifest that asks for its job itself is not asked a second time.
	write(strings.Replace(landscape, "metadata: {name: shop}", "metadata: {name: shop, annotations: {landscaper.gardener.cloud/operation: reconcile}}", 1))
	p = begin(t, resource.Kubeconfig, "inst", "apply", "-n", namespace, "-f", directory, "--force-conflicts", "--wait")
	p.err.await(t, `operation "reconcile" has not been picked up yet`)
	take(t, shop, "job-2")
	update(t, shop, job("job-2", "Succeeded"))
	if got := p.end(t); got.code != 0 || strings.Contains(got.out+got.err, "annotation was added") || strings.Contains(got.err, "already pending") {
		t.Errorf("%+v", got)
	}
}

// TestApplyOfBadFiles: what cannot be applied is found before anything is.
func TestApplyOfBadFiles(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"a kind of another API group", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n", "use kubectl apply for the rest"},
		{"no object", "just: text\n", "bad.yaml: line 1: this is not a Kubernetes object: it needs apiVersion and kind"},
		{"no YAML", "a: [b\n", "bad.yaml: "},
		{"a terminal's commands", "apiVersion: v1\nkind: \"\\e[2J\"\n", "?[2J"},
		{"an end in the middle", "apiVersion: v1\nkind: Secr", "use kubectl apply for the rest"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			namespace, directory := newNamespace(t), t.TempDir()
			for name, text := range map[string]string{"good.yaml": landscape, "bad.yaml": test.text, "readme.txt": "not a manifest: ["} {
				if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := cli(t, resource.Kubeconfig, "inst", "apply", "-n", namespace, "-f", directory, "--wait")
			if got.code != 1 || got.out != "" || !strings.Contains(got.err, test.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRerunFailed(t *testing.T) {
	namespace := newNamespace(t)
	good := create(t, newInstallation(namespace, "good", ""), job("job-1", "Succeeded"))
	bad := create(t, newInstallation(namespace, "bad", ""), job("job-1", "Failed"))
	got := cli(t, resource.Kubeconfig, "inst", "rerun", "--failed", "-n", namespace)
	if want := (outcome{out: "bad: The reconcile annotation was added to the installation\n"}); got != want {
		t.Errorf("%+v", got)
	}
	if operation(t, good) != "" || operation(t, bad) != "reconcile" {
		t.Error("the wrong one got a job")
	}
	if got := cli(t, resource.Kubeconfig, "inst", "rerun", "--failed", "good", "-n", namespace); got.code != 0 || !strings.Contains(got.err, "No root Installation has failed") {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "inst", "rerun", "x", "-n", namespace); got.code != 3 {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "inst", "rerun", "-n", namespace); got.code != 64 {
		t.Errorf("%+v", got)
	}
}

func TestDelete(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-item", "Succeeded")
	shop.Finalizers = []string{v1alpha1.Finalizer}
	if err := cluster.Update(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if got, want := cli(t, resource.Kubeconfig, "inst", "delete", "shop", "-n", namespace, "--dry-run"), (outcome{out: "1. shop/shop-item\n"}); got != want {
		t.Errorf("%+v", got)
	}
	p := begin(t, resource.Kubeconfig, "inst", "delete", "shop", "-n", namespace, "--without-uninstall", "--wait")
	p.err.await(t, "shop (Succeeded): ")
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(shop), shop); err != nil {
		t.Fatal(err)
	}
	if shop.DeletionTimestamp == nil || shop.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] != "true" {
		t.Errorf("%+v", shop.ObjectMeta)
	}
	shop.Finalizers = nil
	if err := cluster.Update(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if got := p.end(t); got.code != 0 || got.out != "1. shop/shop-item (what it has deployed stays)\nInstallation shop: deleted\n" {
		t.Errorf("%+v", got)
	}
}
