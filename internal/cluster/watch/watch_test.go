package watch

import (
	"errors"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
