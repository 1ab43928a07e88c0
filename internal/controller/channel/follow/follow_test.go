package follow

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

func shopAt(version string) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "u", Annotations: map[string]string{fleetv1alpha1.ChannelAnnotation: "stable"}}}
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: version}}
	return inst
}

func stableAt(version string) *fleetv1alpha1.Channel {
	return &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "stable", Generation: 1}, Spec: fleetv1alpha1.ChannelSpec{Component: "example.org/shop"}, Status: fleetv1alpha1.ChannelStatus{ObservedGeneration: 1, Version: version}}
}

// bench is a controller whose writes are counted. Before each write, something may happen.
type bench struct {
	client.Client
	*Reconciler
	events *events.FakeRecorder
	writes int
	before func(client.Client)
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, fleetv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{events: events.NewFakeRecorder(10)}
	b.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			b.writes++
			if before := b.before; before != nil {
				b.before = nil
				before(c)
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	b.Reconciler = &Reconciler{Client: b.Client, Events: b.events}
	return b
}

func (b *bench) follow(t *testing.T) (*v1alpha1.Installation, ctrl.Result) {
	t.Helper()
	key := client.ObjectKey{Namespace: "n", Name: "shop"}
	result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	inst := &v1alpha1.Installation{}
	if err := b.Get(t.Context(), key, inst); err != nil {
		t.Fatal(err)
	}
	return inst, result
}

// TestFollow: the version and the request for its job are one write.
func TestFollow(t *testing.T) {
	b := newBench(t, shopAt("1.0.0"), stableAt("1.1.0"))
	inst, _ := b.follow(t)
	if at := inst.Spec.ComponentDescriptor.Reference.Version; b.writes != 1 || at != "1.1.0" || inst.Annotations[v1alpha1.OperationAnnotation] != "reconcile" || inst.Annotations[fleetv1alpha1.FollowedAnnotation] != "1.1.0" {
		t.Errorf("%d writes, version %s, %v", b.writes, at, inst.Annotations)
	}
	if said := <-b.events.Events; said != "Normal VersionFollowed Channel stable has 1.1.0 after 1.0.0: a job was requested" {
		t.Error(said)
	}
	if b.follow(t); b.writes != 1 {
		t.Errorf("%d writes without a change", b.writes)
	}
}

// TestChangedMeanwhile: what a user writes at the same time is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	b := newBench(t, shopAt("1.0.0"), stableAt("1.1.0"))
	b.before = func(c client.Client) {
		if err := c.Update(t.Context(), func() *v1alpha1.Installation {
			inst := &v1alpha1.Installation{}
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "shop"}, inst); err != nil {
				t.Fatal(err)
			}
			inst.Spec.ComponentDescriptor.Reference.Version = "2.0.0"
			return inst
		}()); err != nil {
			t.Fatal(err)
		}
	}
	inst, result := b.follow(t)
	if inst.Spec.ComponentDescriptor.Reference.Version != "2.0.0" || inst.Annotations[v1alpha1.OperationAnnotation] != "" || result.RequeueAfter == 0 {
		t.Errorf("%+v, %v, %+v", inst.Spec.ComponentDescriptor.Reference, inst.Annotations, result)
	}
	if b.follow(t); b.writes != 1 {
		t.Errorf("%d writes", b.writes)
	}
}

// TestRefused: why an Installation does not follow is said once, and again when it is another reason.
func TestRefused(t *testing.T) {
	b := newBench(t, shopAt("1.2.0"))
	b.follow(t)
	b.follow(t)
	if said := len(b.events.Events); said != 1 || !strings.Contains(<-b.events.Events, "Warning NotFollowed it does not follow Channel stable: there is no such Channel") {
		t.Errorf("%d events", said)
	}
	if err := b.Create(t.Context(), stableAt("1.1.0")); err != nil {
		t.Fatal(err)
	}
	if b.follow(t); len(b.events.Events) != 1 || b.writes != 0 || !strings.Contains(<-b.events.Events, "nothing goes back by itself") {
		t.Errorf("%d writes", b.writes)
	}
}

// TestTriggers: an Installation without the annotation never comes to the controller.
func TestTriggers(t *testing.T) {
	plain, following := shopAt("1.0.0"), shopAt("1.0.0")
	plain.Annotations = nil
	requested, changed := following.DeepCopy(), following.DeepCopy()
	requested.Annotations[v1alpha1.OperationAnnotation] = "reconcile"
	changed.Generation = 7
	working := following.DeepCopy()
	working.Status.JobID = "job"
	of := (&Reconciler{}).follows()
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Installation
		want          bool
	}{
		{"one that follows nothing", plain, plain, false},
		{"one that begins to follow", plain, following, true},
		{"one that ends to follow", following, plain, true},
		{"the status of one that follows", following, working, false},
		{"a request that was picked up", requested, following, true},
		{"another specification", following, changed, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := of.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	if of.Create(event.CreateEvent{Object: plain}) || !of.Create(event.CreateEvent{Object: following}) || of.Delete(event.DeleteEvent{Object: following}) {
		t.Error("a new or a deleted Installation")
	}
	if hasNews().Update(event.UpdateEvent{ObjectOld: stableAt("1.0.0"), ObjectNew: stableAt("1.0.0")}) || !hasNews().Update(event.UpdateEvent{ObjectOld: stableAt("1.0.0"), ObjectNew: stableAt("1.1.0")}) {
		t.Error("the version of a Channel")
	}
	b := newBench(t, plain, stableAt("1.1.0"))
	if found := b.followers(t.Context(), stableAt("1.1.0")); len(found) != 0 {
		t.Errorf("%v", found)
	}
}
