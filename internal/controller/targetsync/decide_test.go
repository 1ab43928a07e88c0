package targetsync

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestDecide(t *testing.T) {
	accepted := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1alpha1.Finalizer}}}
	deleted := accepted.DeepCopy()
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	foreign := deleted.DeepCopy()
	foreign.Finalizers = []string{"of.another/controller"}
	for _, test := range []struct {
		reason string
		s      situation
		want   step
	}{
		{"a new one is accepted before anything is made", situation{sync: &v1alpha1.TargetSync{}, due: true}, accept},
		{"also if it is one too many: its end is to be noticed", situation{sync: &v1alpha1.TargetSync{}, several: true, due: true}, accept},
		{"a run begins when it is due", situation{sync: accepted, due: true}, begin},
		{"not before", situation{sync: accepted}, rest},
		{"its outcome is taken, whatever is due", situation{sync: accepted, current: true, busy: true, due: true}, collect},
		{"a run for an older specification ends first", situation{sync: accepted, busy: true, due: true}, cancel},
		{"a second one makes nothing", situation{sync: accepted, several: true, due: true}, refuse},
		{"nor does its run", situation{sync: accepted, several: true, current: true, busy: true, due: true}, cancel},
		{"what it has made goes with it", situation{sync: deleted, due: true}, remove},
		{"after its run has ended: that may make another object", situation{sync: deleted, current: true, busy: true, due: true}, cancel},
		{"one of several is removed like any other", situation{sync: deleted, several: true, due: true}, remove},
		{"what others wait for is no matter of ours", situation{sync: foreign, due: true}, rest},
	} {
		if got := decide(test.s); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
