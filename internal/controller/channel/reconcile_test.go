package channel

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func following(name, of string, labels map[string]string) *v1alpha1.Installation {
	return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels, Annotations: map[string]string{fleetv1alpha1.ChannelAnnotation: of}}}
}

// TestWithoutPoll: what needs no registry is said without one, once, and no time is set for another attempt.
func TestWithoutPoll(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*fleetv1alpha1.Channel)
		status metav1.ConditionStatus
		want   reasons.Reason
		says   string
	}{
		{"a range that cannot be understood", func(ch *fleetv1alpha1.Channel) { ch.Spec.Versions = "newest" }, metav1.ConditionFalse, reasons.InvalidSpec, `spec.versions: "newest" is not a range of versions`},
		{"a component that has no name", func(ch *fleetv1alpha1.Channel) { ch.Spec.Component = "shop" }, metav1.ConditionFalse, reasons.InvalidSpec, "spec.component: "},
		{"a suspended Channel without a version", func(ch *fleetv1alpha1.Channel) { ch.Spec.Suspended = true }, metav1.ConditionFalse, reasons.Suspended, "the registry is not asked"},
		{"a suspended Channel with a version", func(ch *fleetv1alpha1.Channel) { ch.Spec.Suspended, ch.Status.Version = true, "1.2.0" }, metav1.ConditionTrue, reasons.Suspended, "the registry is not asked, and 1.2.0 stays"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, fleetv1alpha1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			ch := &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "stable", Generation: 3}, Spec: fleetv1alpha1.ChannelSpec{Component: "example.org/shop"}}
			test.change(ch)
			part := following("d", "stable", map[string]string{v1alpha1.EncompassedByLabel: "a"})
			part.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "a", UID: "a", Controller: new(true)}}
			c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(ch).WithObjects(
				ch, following("a", "stable", nil), following("b", "other", nil), following("c", "stable", map[string]string{fleetv1alpha1.FleetLabel: "shops"}),
				part,
			).Build()
			recorder := events.NewFakeRecorder(10)
			r := &Reconciler{Client: c, Reader: c, Events: recorder, Now: func() time.Time { return noon }}
			r.Background(t.Context(), func(types.NamespacedName) { t.Error("there was a poll") })
			found, version := &fleetv1alpha1.Channel{}, ""
			for range 2 {
				result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(ch)})
				if err != nil || result.RequeueAfter != 0 {
					t.Fatalf("%+v, %v", result, err)
				}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(ch), found); err != nil {
					t.Fatal(err)
				}
				if version != "" && found.ResourceVersion != version {
					t.Error("it was written twice")
				}
				version = found.ResourceVersion
			}
			ready := meta.FindStatusCondition(found.Status.Conditions, fleetv1alpha1.ReadyCondition)
			if ready == nil || ready.Status != test.status || ready.Reason != string(test.want) || !strings.Contains(ready.Message, test.says) || ready.ObservedGeneration != 3 {
				t.Errorf("%+v", ready)
			}
			if found.Status.Followers != 1 {
				t.Errorf("%d followers", found.Status.Followers)
			}
			if said := len(recorder.Events); (said == 1) != (test.status == metav1.ConditionFalse) {
				t.Errorf("%d events", said)
			}
		})
	}
}

// TestDue: when the next poll begins.
func TestDue(t *testing.T) {
	for _, test := range []struct {
		reason string
		memory *memory
		poll   string
		want   time.Time
	}{
		{"the first one", &memory{generation: 1}, "", time.Time{}},
		{"another specification", &memory{generation: 2, next: noon}, "", time.Time{}},
		{"at the end of the interval", &memory{generation: 1, next: noon, seen: true}, "", noon},
		{"a request", &memory{generation: 1, began: noon.Add(-time.Hour), next: noon, seen: true}, "x", noon.Add(-time.Hour).Add(collected)},
		{"a request that was there at the start of the server", &memory{generation: 1, began: noon.Add(-time.Hour), next: noon}, "x", noon},
		{"a request that was served", &memory{generation: 1, began: noon.Add(-time.Hour), next: noon, seen: true, requested: "x"}, "x", noon},
		{"a request just before the end of the interval", &memory{generation: 1, began: noon.Add(-time.Second), next: noon, seen: true}, "x", noon},
	} {
		t.Run(test.reason, func(t *testing.T) {
			ch := &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Generation: 1, Annotations: map[string]string{fleetv1alpha1.PollAnnotation: test.poll}}}
			m := test.memory
			m.observe(ch, noon.Add(-30*time.Minute))
			if got := m.due(ch); !got.Equal(test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestOtherSpecification: versions that another specification has found are not offered for this one.
func TestOtherSpecification(t *testing.T) {
	ch := &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Generation: 2, UID: "u"}, Status: fleetv1alpha1.ChannelStatus{ObservedGeneration: 1, Versions: []fleetv1alpha1.ChannelVersion{{Version: "1.0.0", Digest: "d"}}}}
	var all memories
	key := types.NamespacedName{Namespace: "n", Name: "stable"}
	known := all.of(key, ch)
	if !known.found.known.Void || known.found.known.Digests["1.0.0"] != "d" {
		t.Errorf("%+v", known.found.known)
	}
	if all.of(key, ch) != known {
		t.Error("the memory is another one")
	}
	again := ch.DeepCopy()
	again.UID, again.Status = "v", fleetv1alpha1.ChannelStatus{}
	if other := all.of(key, again); other == known || len(other.found.known.Digests) > 0 {
		t.Error("a new Channel of the name has the memory of the old one")
	}
	if rules, err := channel.Read(&fleetv1alpha1.ChannelSpec{Component: "example.org/shop"}); err != nil || pauseOf(rules, "key") > rules.Interval || pauseOf(rules, "key") < rules.Interval*9/10 {
		t.Errorf("%v", err)
	}
}
