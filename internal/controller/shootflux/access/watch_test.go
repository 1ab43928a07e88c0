package access

import (
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
)

// TestWatch: what was there when watching began is told as such, and each change after it.
func TestWatch(t *testing.T) {
	object := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-lab", Name: "flux-config"}, Data: map[string]string{"key": value}}
	}
	garden := source.NewFakeControllerSource()
	garden.Add(object("first"))
	informer := cache.NewSharedIndexInformer(garden, &corev1.ConfigMap{}, 0, cache.Indexers{})
	changes := make(chan Change, 10)
	if err := watch(informer, logr.Discard(), true, func(change Change) { changes <- change }); err != nil {
		t.Fatal(err)
	}
	go informer.Run(t.Context().Done())
	for _, step := range []struct {
		reason string
		do     func()
		found  bool
	}{
		{"the object existed", func() {}, true},
		{"the object has changed", func() { garden.Modify(object("second")) }, false},
		{"the object is deleted", func() { garden.Delete(object("second")) }, false},
		{"the object was created again", func() { garden.Add(object("third")) }, false},
	} {
		step.do()
		if got, want := <-changes, (Change{Namespace: "garden-lab", Credentials: true, Found: step.found}); got != want {
			t.Errorf("reported %+v, want %+v: %s", got, want, step.reason)
		}
	}
}
