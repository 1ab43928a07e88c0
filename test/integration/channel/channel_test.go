package channel

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const interval = 10 * time.Minute

func versionsOf(ch *fleetv1alpha1.Channel) string {
	var versions []string
	for _, version := range ch.Status.Versions {
		versions = append(versions, version.Version)
	}
	return strings.Join(versions, " ")
}

func refusedOf(ch *fleetv1alpha1.Channel) string {
	var refused []string
	for _, version := range ch.Status.Refused {
		refused = append(refused, version.Version+" "+version.Reason)
	}
	return strings.Join(refused, ", ")
}

func readyOf(t *testing.T, ch *fleetv1alpha1.Channel) *metav1.Condition {
	t.Helper()
	ready := meta.FindStatusCondition(ch.Status.Conditions, fleetv1alpha1.ReadyCondition)
	if ready == nil {
		t.Fatal("there is no condition")
	}
	return ready
}

// TestVersions: a new version is found, what is out of range or a pre-release is not, and a version whose
// plus sign became a part of its tag is called as it is.
func TestVersions(t *testing.T) {
	b := newBench(t, "versions")
	b.publish("a", "0.9.0", "1.0.0", "1.1.0+build.7", "1.2.0-rc.1", "2.0.0")
	b.channel("one", "stable", nil)
	b.channel("one", "candidates", func(s *fleetv1alpha1.ChannelSpec) {
		s.Prereleases = &fleetv1alpha1.PrereleaseRule{Identifiers: []string{"rc"}}
	})
	stable, pause := b.settle("one", "stable")
	if versionsOf(stable) != "1.1.0+build.7 1.0.0" || stable.Status.Version != "1.1.0+build.7" || stable.Status.Digest == "" || readyOf(t, stable).Reason != string(reasons.VersionFound) {
		t.Errorf("%+v", stable.Status)
	}
	if pause > interval || pause < interval*9/10 {
		t.Errorf("the next poll is after %s", pause)
	}
	if said := b.said(); !strings.Contains(said, "Normal VersionFound 1.1.0+build.7 is the newest version that fits (sha256:") {
		t.Errorf("%s", said)
	}
	if candidates, _ := b.settle("one", "candidates"); candidates.Status.Version != "1.2.0-rc.1" {
		t.Errorf("%+v", candidates.Status)
	}
	b.publish("b", "1.3.0")
	b.pass(pause)
	if stable, _ = b.settle("one", "stable"); versionsOf(stable) != "1.3.0 1.1.0+build.7 1.0.0" {
		t.Errorf("%+v", stable.Status)
	}
}

// TestManyVersions: the first poll looks at some versions at a time, the newest first, and all of them are
// found without another list.
func TestManyVersions(t *testing.T) {
	b := newBench(t, "many")
	var versions []string
	for minor := range 14 {
		versions = append(versions, fmt.Sprintf("1.%d.0", minor))
	}
	b.publish("a", versions...)
	b.channel("one", "stable", nil)
	b.front.taken()
	ch, _ := b.settle("one", "stable")
	if len(ch.Status.Versions) != 10 || ch.Status.Version != "1.13.0" {
		t.Errorf("%s", versionsOf(ch))
	}
	lists := slices.DeleteFunc(b.front.taken(), func(request string) bool { return !strings.HasSuffix(request, "/tags/list") })
	if len(lists) != 1 {
		t.Errorf("%q", lists)
	}
}

// TestUnchanged: a Channel without news costs one request in an interval, and no write; each sixth time,
// the tag of the offered version costs another one.
func TestUnchanged(t *testing.T) {
	for _, states := range []bool{false, true} {
		t.Run(fmt.Sprintf("the registry names the state of its list: %t", states), func(t *testing.T) {
			b := newBench(t, fmt.Sprint("unchanged-", states))
			b.publish("a", "1.0.0", "1.1.0")
			b.front.set(false, states)
			b.channel("one", "stable", nil)
			ch, pause := b.settle("one", "stable")
			if versionsOf(ch) != "1.1.0 1.0.0" {
				t.Fatalf("%+v", ch.Status)
			}
			b.front.taken()
			b.writes = 0
			polls := 0
			for i := range 12 {
				b.pass(pause)
				_, pause = b.settle("one", "stable")
				requests := b.front.taken()
				polls += len(requests)
				if len(requests) == 0 || !strings.HasSuffix(requests[0], "/tags/list") || len(requests) > 2 || len(requests) == 2 && !strings.HasSuffix(requests[1], "/manifests/1.1.0") {
					t.Errorf("poll %d: %q", i, requests)
				}
			}
			if polls != 14 || b.writes != 0 || states != (b.front.spared == 12) {
				t.Errorf("%d requests and %d writes in 12 intervals, %d lists without a body", polls, b.writes, b.front.spared)
			}
		})
	}
}

// TestShared: Channels of one component with the same credentials share a poll, also in two namespaces.
// With other credentials, another namespace gets nothing.
func TestShared(t *testing.T) {
	b := newBench(t, "shared")
	b.publish("a", "1.0.0")
	b.channel("one", "stable", nil)
	b.channel("one", "all", func(s *fleetv1alpha1.ChannelSpec) { s.Versions = "" })
	b.channel("two", "stable", nil)
	pause := time.Duration(0)
	for range 3 {
		b.pass(pause)
		b.front.taken()
		for _, key := range []types.NamespacedName{{Namespace: "one", Name: "stable"}, {Namespace: "one", Name: "all"}, {Namespace: "two", Name: "stable"}} {
			var ch *fleetv1alpha1.Channel
			if ch, pause = b.settle(key.Namespace, key.Name); ch.Status.Version != "1.0.0" {
				t.Errorf("%s: %+v", key, ch.Status)
			}
		}
		lists := slices.DeleteFunc(b.front.taken(), func(request string) bool { return !strings.HasSuffix(request, "/tags/list") })
		if len(lists) != 1 {
			t.Errorf("%q", lists)
		}
	}
	b.access("two", "wrong")
	b.channel("two", "late", nil)
	if ch, _ := b.settle("two", "late"); ch.Status.Version != "" || readyOf(t, ch).Reason != string(reasons.RegistryDenied) {
		t.Errorf("%+v", ch.Status)
	}
}

// TestSignatures: a version without the signature is refused, and offered when the signature comes, at
// the cost of one request meanwhile.
func TestSignatures(t *testing.T) {
	b := newBench(t, "signed")
	b.publish("a", "1.0.0", "1.1.0")
	public := b.sign("release", "1.0.0")
	if err := b.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "trust"}, Data: map[string][]byte{"key": public}}); err != nil {
		t.Fatal(err)
	}
	at := &v1alpha1.Context{}
	if err := b.Get(t.Context(), types.NamespacedName{Namespace: "one", Name: "default"}, at); err != nil {
		t.Fatal(err)
	}
	at.VerificationSignatures = map[string]v1alpha1.VerificationSignature{"release": {PublicKeySecretReference: &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: "trust"}, Key: "key"}}}
	if err := b.Update(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	b.channel("one", "stable", func(s *fleetv1alpha1.ChannelSpec) { s.Signatures = []string{"release"} })
	ch, pause := b.settle("one", "stable")
	if versionsOf(ch) != "1.0.0" || refusedOf(ch) != "1.1.0 SignatureRefused" || readyOf(t, ch).Message != "1.0.0 is the newest version that fits; 1 newer ones are refused, status.refused says why" {
		t.Errorf("%+v", ch.Status)
	}
	if said := b.said(); !strings.Contains(said, `Warning SignatureRefused version 1.1.0 is refused: `) || !strings.Contains(said, `signature "release" not found`) {
		t.Errorf("%s", said)
	}
	b.front.taken()
	b.writes = 0
	b.pass(pause)
	_, pause = b.settle("one", "stable")
	if requests := b.front.taken(); len(requests) != 2 || !strings.HasSuffix(requests[1], "/manifests/1.1.0") || b.writes != 0 {
		t.Errorf("%q, %d writes", requests, b.writes)
	}
	b.sign("release", "1.1.0")
	b.pass(pause)
	if ch, _ = b.settle("one", "stable"); versionsOf(ch) != "1.1.0 1.0.0" || refusedOf(ch) != "" {
		t.Errorf("%+v", ch.Status)
	}
	// With another key, everything is looked at again.
	other := newBench(t, "other")
	other.publish("a", "1.0.0")
	trust := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "trust"}, Data: map[string][]byte{"key": other.sign("release", "1.0.0")}}
	if err := b.Update(t.Context(), trust); err != nil {
		t.Fatal(err)
	}
	b.pass(interval)
	if ch, _ = b.settle("one", "stable"); versionsOf(ch) != "" || refusedOf(ch) != "1.1.0 SignatureRefused, 1.0.0 SignatureRefused" {
		t.Errorf("%+v", ch.Status)
	}
}

// TestMovedTag: a tag that leads elsewhere is refused with the digest that was found, also after a restart
// and after the registry has hidden it for a while.
func TestMovedTag(t *testing.T) {
	b := newBench(t, "moved")
	b.publish("a", "1.0.0", "1.1.0")
	b.channel("one", "stable", nil)
	ch, _ := b.settle("one", "stable")
	good := ch.Status.Digest
	b.publish("something else", "1.1.0")
	ask := func(value string) {
		t.Helper()
		ch.Annotations = map[string]string{fleetv1alpha1.PollAnnotation: value}
		if err := b.Update(t.Context(), ch); err != nil {
			t.Fatal(err)
		}
		b.pass(5 * time.Second)
	}
	// The list of tags is what it was: a look at the tag itself shows it.
	ask("now")
	b.said()
	ch, pause := b.settle("one", "stable")
	check := func(when string) {
		t.Helper()
		if versionsOf(ch) != "1.0.0" || refusedOf(ch) != "1.1.0 DigestChanged" || ch.Status.Refused[0].Digest != good {
			t.Errorf("%s: %+v", when, ch.Status)
		}
	}
	check("at once")
	if said := b.said(); !strings.Contains(said, "Warning DigestChanged version 1.1.0 is refused: its tag led to "+good+" when it was found") {
		t.Errorf("%s", said)
	}
	b.start()
	b.pass(pause)
	ch, pause = b.settle("one", "stable")
	check("after a restart")
	b.withdraw("1.1.0")
	b.pass(pause)
	if ch, pause = b.settle("one", "stable"); refusedOf(ch) != "1.1.0 VersionWithdrawn" || ch.Status.Refused[0].Digest != good {
		t.Errorf("%+v", ch.Status)
	}
	b.publish("something else", "1.1.0")
	b.pass(pause)
	ch, pause = b.settle("one", "stable")
	check("after it was hidden")
	b.publish("a", "1.1.0")
	b.pass(pause)
	if ch, _ = b.settle("one", "stable"); versionsOf(ch) != "1.1.0 1.0.0" || ch.Status.Digest != good {
		t.Errorf("when it leads there again: %+v", ch.Status)
	}
}

// TestOutage: a registry that is down is asked again after growing pauses, what was found stays, and the
// status is written twice.
func TestOutage(t *testing.T) {
	b := newBench(t, "outage")
	b.publish("a", "1.0.0")
	b.channel("one", "stable", nil)
	_, pause := b.settle("one", "stable")
	b.front.set(true, false)
	b.writes = 0
	last := time.Duration(0)
	for range 6 {
		b.pass(pause)
		var ch *fleetv1alpha1.Channel
		ch, pause = b.settle("one", "stable")
		ready := readyOf(t, ch)
		if ch.Status.Version != "1.0.0" || ready.Reason != string(reasons.RegistryUnreachable) || !strings.Contains(ready.Message, strings.TrimPrefix(b.front.URL, "http://")) || !strings.Contains(ready.Message, "check that the host runs") {
			t.Errorf("%+v", ch.Status)
		}
		if pause < last || pause > interval {
			t.Errorf("asked again after %s, then after %s", last, pause)
		}
		last = pause
	}
	b.front.set(false, false)
	b.pass(pause)
	if ch, _ := b.settle("one", "stable"); ch.Status.Version != "1.0.0" || readyOf(t, ch).Reason != string(reasons.VersionFound) {
		t.Errorf("%+v", ch.Status)
	}
	if b.writes != 2 {
		t.Errorf("%d writes", b.writes)
	}
}

// TestTroubles: what is wrong is said with what to do, and without credentials.
func TestTroubles(t *testing.T) {
	b := newBench(t, "troubles")
	b.publish("a", "1.0.0")
	for _, test := range []struct {
		reason string
		change func(*fleetv1alpha1.ChannelSpec)
		before func()
		want   reasons.Reason
		says   string
	}{
		{"no such component", func(s *fleetv1alpha1.ChannelSpec) { s.Component = "example.org/none" }, nil, reasons.ComponentNotListed, "publish it there"},
		{"no such Context", func(s *fleetv1alpha1.ChannelSpec) { s.Context = "none" }, nil, reasons.PollFailed, "the Context none cannot be found in this namespace: create it, or correct spec.context"},
		{"no key for a signature", func(s *fleetv1alpha1.ChannelSpec) { s.Signatures = []string{"release"} }, nil, reasons.PollFailed, "spec.signatures: Context default: verificationSignatures does not contain a key"},
		{"nothing fits", func(s *fleetv1alpha1.ChannelSpec) { s.Versions = "7.x" }, nil, reasons.NoVersion, `none of the 1 versions of component example.org/shop fits "7.x"`},
		{"wrong credentials", nil, func() { b.access("one", "s3cr3t-and-wrong") }, reasons.RegistryDenied, "check the credentials for this host"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b.t = t
			if test.before != nil {
				test.before()
			}
			name := strings.ReplaceAll(strings.ToLower(test.reason), " ", "-")
			b.channel("one", name, test.change)
			ch, pause := b.settle("one", name)
			ready := readyOf(t, ch)
			if ready.Status != metav1.ConditionFalse || ready.Reason != string(test.want) || !strings.Contains(ready.Message, test.says) || pause > interval {
				t.Errorf("%+v, again after %s", ready, pause)
			}
			if text := fmt.Sprintf("%+v %s", ch, b.said()); strings.Contains(text, "s3cr3t") || strings.Contains(text, server.Password) {
				t.Errorf("credentials are shown: %s", text)
			}
		})
	}
}
