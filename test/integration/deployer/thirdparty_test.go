package deployer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// provisioner is a third-party program: for each Tenant on one cluster it makes an account on
// another one, and does not show it in the status of the Tenant.
type provisioner struct{ from, to client.WithWatch }

func tenants() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("acme.example/v1")
	list.SetKind("TenantList")
	return list
}

// run works in a namespace until the context ends.
func (p provisioner) run(ctx context.Context, namespace string) error {
	events, err := p.from.Watch(ctx, tenants(), client.InNamespace(namespace))
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		tenant, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Deleted {
			continue
		}
		if err := p.provision(ctx, tenant); err != nil {
			return err
		}
	}
	return nil
}

func (p provisioner) provision(ctx context.Context, tenant *unstructured.Unstructured) error {
	plan, _, _ := unstructured.NestedString(tenant.Object, "spec", "plan")
	meta := metav1.ObjectMeta{Namespace: tenant.GetNamespace(), Name: tenant.GetName() + "-login", Labels: map[string]string{"acme.example/tenant": tenant.GetName()}}
	login := &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": "for-" + plan}}
	meta.Name = tenant.GetName()
	account := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"plan": plan, "login": "name: " + login.Name}}
	for _, object := range []client.Object{login, account} {
		err := p.to.Create(ctx, object)
		if apierrors.IsAlreadyExists(err) {
			err = p.to.Update(ctx, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestThirdParty runs the documented blueprint for further combinations: objects go to
// one cluster, a program that we know nothing of works, and its effects are checked,
// exported and, in the end, removed on another cluster.
func TestThirdParty(t *testing.T) {
	definition := unstructuredFrom(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tenants.acme.example}
spec:
  group: acme.example
  names: {kind: Tenant, plural: tenants}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`)
	if err := deployed.Create(t.Context(), definition); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	await(t, deployed, listOf("CustomResourceDefinition"), definition, "the definition", func(found *unstructured.Unstructured) bool {
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, entry := range conditions {
			if entry, _ := entry.(map[string]any); entry["type"] == "Established" && entry["status"] == "True" {
				return true
			}
		}
		return false
	})
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createTarget(t, namespace, "edge", edgeAccess)
	config := documented(t, "## Working with programs of others")
	item := newItem(t, namespace, "tenant", config)
	create(t, item)
	awaitText(t, item, "waiting for ConfigMap "+namespace+"/blue on Target edge to become ready (check \"account\": it does not exist yet)")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- provisioner{from: deployed, to: items}.run(ctx, namespace) }()
	defer func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	done := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	_, values := exported(t, done)
	want := map[string]any{"tenant": map[string]any{"plan": "small", "password": "Zm9yLXNtYWxs"}}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("exports, -want +got\n%s", diff)
	}
	// Another plan: the check waits for the effect of this change, not of the last one.
	again(t, done, strings.ReplaceAll(config, "small", "large"))
	done = awaitEnd(t, done, v1alpha1.DeployItemPhases.Succeeded)
	if _, values := exported(t, done); values["tenant"].(map[string]any)["plan"] != "large" {
		t.Errorf("exports %v", values)
	}
	if err := items.Create(t.Context(), configMap(namespace, "foreign")); err != nil {
		t.Fatal(err)
	}
	remove(t, done)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, done)
	if got := left(t, items, namespace); got != "foreign" {
		t.Errorf("on the second cluster there are %q", got)
	}
	if list := tenants(); deployed.List(t.Context(), list, client.InNamespace(namespace)) != nil || len(list.Items) != 0 {
		t.Errorf("%d tenants are left", len(list.Items))
	}
}

// listOf is the empty list of definitions, as a watch needs it.
func listOf(kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apiextensions.k8s.io/v1")
	list.SetKind(kind + "List")
	return list
}
