package watch

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

// TestFirstEndIsReported: who begins a watch hears of its end, however soon that comes. Many begin
// one at the same time, so that the scheduler comes between the steps of some of them.
func TestFirstEndIsReported(t *testing.T) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	var all sync.WaitGroup
	for range 16 {
		cluster := fake.NewSimpleMetadataClient(runtime.NewScheme())
		forbidden := apierrors.NewForbidden(secrets.GroupResource(), "", errors.New("no"))
		cluster.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
		cluster.PrependWatchReactor("*", clienttesting.DefaultWatchReactor(nil, forbidden))
		set := New(nil, cluster, answerlimit.New(0), "the cluster")
		all.Go(func() {
			for i := range 2000 {
				called := make(chan struct{}, 10)
				s := set.Subscribe(Key{Resource: secrets, Namespace: "a", MetadataOnly: true}, AnyObject, func() { called <- struct{}{} })
				select {
				case <-called:
				case <-time.After(5 * time.Minute):
					t.Errorf("no subscriber was called, the %d. time", i)
					return
				}
				_ = s.Close()
			}
		})
	}
	all.Wait()
}

// TestManyWatches: an item may wait for objects of any number of namespaces. What cannot be watched is
// refused at once, so that the caller reads it, and a later caller gets a watch again.
func TestManyWatches(t *testing.T) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	key := func(i int) Key { return Key{Resource: secrets, Namespace: fmt.Sprint("ns-", i), MetadataOnly: true} }
	for _, test := range []struct {
		reason string
		memory int64
		want   int
	}{
		{"a connection has a bound", 0, maxWatches},
		{"all connections share the memory", 10*watchCost + freeWatches, freeWatches + 10},
		{"some watches are always possible", 1, freeWatches},
	} {
		t.Run(test.reason, func(t *testing.T) {
			memory := answerlimit.New(test.memory)
			set := New(nil, fake.NewSimpleMetadataClient(metav1Scheme(t)), memory, "the cluster")
			var all []*Subscription
			refused := 0
			for i := range 2000 {
				s := set.Subscribe(key(i), AnyObject, func() {})
				if _, err := s.State(); err != nil {
					refused++
				}
				all = append(all, s)
			}
			if len(set.running) != test.want || refused != 2000-test.want {
				t.Errorf("%d watches run, %d are refused; want %d", len(set.running), refused, test.want)
			}
			shared := set.Subscribe(key(0), AnyObject, func() {})
			if _, err := shared.State(); err != nil {
				t.Errorf("a watch that runs can be shared: %v", err)
			}
			for _, s := range append(all, shared) {
				_ = s.Close()
			}
			if len(set.running) != 0 || memory.Used.Load() != 0 {
				t.Errorf("%d watches run, %d bytes are booked", len(set.running), memory.Used.Load())
			}
			again := set.Subscribe(key(1999), AnyObject, func() {})
			if _, err := again.State(); err != nil {
				t.Errorf("one that was refused before: %v", err)
			}
			_ = again.Close()
		})
	}
}

func metav1Scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}
