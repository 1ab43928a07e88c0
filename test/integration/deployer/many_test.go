package deployer_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestFiveHundredObjects counts the requests for an item with 500 objects of one kind: to
// create them, when nothing has changed, when one has, to compare them, and to delete
// them.
func TestFiveHundredObjects(t *testing.T) {
	const n = 500
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	var config strings.Builder
	config.WriteString(configHead + "manifests:\n")
	for i := range n {
		fmt.Fprintf(&config, "- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: object-%d, namespace: NAMESPACE}, data: {number: \"%d\"}}\n", i, i)
	}
	item := newItem(t, namespace, "many", config.String())
	// requests counts all but those that find out which kinds there are.
	requests := func(what string, most int, do func()) map[string]int {
		t.Helper()
		before := mark(t, target)
		do()
		got, sum := count(t, target, namespace, before), 0
		for request, times := range got {
			if !strings.HasPrefix(request, "get /api") {
				sum += times
			}
		}
		t.Logf("%s: %v", what, got)
		if sum > most {
			t.Errorf("%s: %d requests, at most %d: %v", what, sum, most, got)
		}
		return got
	}
	var ended *v1alpha1.DeployItem
	requests("new", n+2, func() {
		create(t, item)
		ended = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	})
	if got := managed(t, ended); len(got) != n {
		t.Errorf("%d objects are recorded", len(got))
	}
	requests("unchanged", 2, func() {
		handOver(t, ended)
		ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	})
	got := requests("one has changed", 3, func() {
		again(t, ended, strings.Replace(config.String(), `number: "250"`, `number: "none"`, 1))
		ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	})
	if got["update configmaps"] != 1 {
		t.Errorf("one change: %v", got)
	}
	requests("deleted", n+5, func() {
		remove(t, ended)
		awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	})
	list := &corev1.ConfigMapList{}
	if err := deployed.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) > 1 {
		t.Errorf("%d objects are left, error %v", len(list.Items), err)
	}
}
