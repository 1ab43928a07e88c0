package cluster

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestAwayInOrder: of several versions whose server is away, the first one is named each time.
func TestAwayInOrder(t *testing.T) {
	s := &served{RESTMapper: meta.NewDefaultRESTMapper(nil), away: map[schema.GroupVersion]error{}}
	for _, version := range []string{"v1", "v1alpha1", "v1beta1"} {
		s.away[schema.GroupVersion{Group: "metrics.k8s.io", Version: version}] = errors.New("away")
	}
	for range 50 {
		_, err := s.RESTMapping(schema.GroupKind{Group: "metrics.k8s.io", Kind: "PodMetrics"}, "")
		if err == nil || !strings.HasSuffix(err.Error(), "see the APIService v1.metrics.k8s.io") {
			t.Fatalf("got %v", err)
		}
	}
}
