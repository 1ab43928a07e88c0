package approvals

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/deliveryplan"
)

// TestIsFirstOf: which objects are plans of an Installation, by their names and owners alone.
func TestIsFirstOf(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	long := strings.Repeat("long-", 50)
	for _, test := range []struct {
		reason, inst, name, owner string
		want                      bool
	}{
		{"a plan", "shop", deliveryplan.NameOf("shop", digest), "u", true},
		{"a further part of it", "shop", deliveryplan.PartName(deliveryplan.NameOf("shop", digest), 3), "u", false},
		{"the plan of an Installation with a long name", long, deliveryplan.NameOf(long, digest), "u", true},
		{"the plan of an earlier Installation of the name", "shop", deliveryplan.NameOf("shop", digest), "other", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: test.inst, UID: "u"}}
			plan := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: test.name, OwnerReferences: []metav1.OwnerReference{{UID: types.UID(test.owner)}}}}
			if got := isFirstOf(inst, plan); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
