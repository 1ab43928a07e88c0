package installation

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// behind is a cache that does not show Executions yet.
type behind struct{ client.Client }

func (b behind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*v1alpha1.Execution); is {
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("executions").GroupResource(), key.Name)
	}
	return b.Client.Get(ctx, key, object, options...)
}

// TestObserveUnstored: when the Execution is looked for that an attempt may have made whose job was not
// stored. Without it, a job without items would leave the Execution.
func TestObserveUnstored(t *testing.T) {
	execution := func(owner string) *v1alpha1.Execution {
		inst := testbuilders.InstallationOf(t, "{}")
		inst.UID = types.UID(owner)
		return &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(inst, v1alpha1.GroupVersion.WithKind("Installation"))}}}
	}
	for _, test := range []struct {
		reason   string
		unstored bool
		// cached says that the cache shows what the API server has.
		cached bool
		live   *v1alpha1.Execution
		fails  bool
		found  bool
		asked  int
	}{
		{"an attempt has made it", true, false, execution("uid-2"), false, true, 1},
		{"an attempt has made none", true, false, nil, false, false, 1},
		{"the cache shows it by now", true, true, execution("uid-2"), false, true, 0},
		{"every job was stored", false, false, execution("uid-2"), false, false, 0},
		{"it belongs to another Installation", true, false, execution("uid-1"), false, false, 1},
		{"the API server does not answer", true, false, execution("uid-2"), true, false, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.InstallationOf(t, "{}")
			objects := []client.Object{inst}
			if test.live != nil {
				objects = append(objects, test.live)
			}
			b := newBench(t, objects...)
			if !test.cached {
				b.Client = behind{b.Client}
			}
			reads := fakeapi.Fault{Reading: true, At: -1, Err: errors.New("busy")}
			if test.fails {
				reads.At = 0
			}
			b.Reader = reads.Wrap(t, b.api)
			b.memory.Of(inst.UID).marks.note(unstored, test.unstored)
			s := &snapshot{}
			_, err := b.observe(t.Context(), shop, s)
			if (err != nil) != test.fails || (s.Exec != nil) != test.found {
				t.Errorf("found is %v, %v", s.Exec, err)
			}
			asked := 0
			for _, call := range reads.Calls {
				if call == "get Execution" {
					asked++
				}
			}
			if asked != test.asked {
				t.Errorf("the API server was asked %d times: %v", asked, reads.Calls)
			}
		})
	}
}

// TestObserveUnstoredSubs: which subinstallations are looked for that an attempt has made whose job was not
// stored. One that nothing wants any more would otherwise get the job.
func TestObserveUnstoredSubs(t *testing.T) {
	sub := func(owner string) *v1alpha1.Installation {
		inst := testbuilders.InstallationOf(t, "{}")
		inst.UID = types.UID(owner)
		return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "sub", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(inst, v1alpha1.GroupVersion.WithKind("Installation"))}}}
	}
	for _, test := range []struct {
		reason   string
		unstored bool
		live     *v1alpha1.Installation
		found    bool
	}{
		{"an attempt has made it", true, sub("uid-2"), true},
		{"it was deleted meanwhile", true, nil, false},
		{"it belongs to another Installation", true, sub("uid-1"), false},
		{"every job was stored: the watch brings it", false, sub("uid-2"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.InstallationOf(t, "{}")
			b := newBench(t, inst)
			api := fakeapi.New(t, inst)
			if test.live != nil {
				api = fakeapi.New(t, inst, test.live)
			}
			b.Reader = api
			known := b.memory.Of(inst.UID)
			known.marks.note(unstored, test.unstored)
			known.created.Expect("sub", b.Now())
			// The cache stays behind for more than one attempt.
			for attempt := range 2 {
				later := b.Now().Add(time.Minute)
				b.Now = func() time.Time { return later }
				s := &snapshot{}
				if _, err := b.observe(t.Context(), shop, s); err != nil {
					t.Fatal(err)
				}
				if found := s.shows("sub"); found != test.found {
					t.Errorf("found is %t in attempt %d", found, attempt)
				}
			}
		})
	}
}
