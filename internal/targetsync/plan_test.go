package targetsync

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

var now = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// fleet is the TargetSync of the tests.
func fleet(changes ...func(*v1alpha1.TargetSyncSpec)) *v1alpha1.TargetSync {
	sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "fleet", Generation: 1}}
	sync.Spec = v1alpha1.TargetSyncSpec{SourceNamespace: "garden-blue", SecretRef: v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}, ShootNameExpression: "*"}
	for _, change := range changes {
		change(&sync.Spec)
	}
	return sync
}

// aShoot is one that is complete.
func aShoot(changes ...func(*item)) item {
	of := item{name: "eu", uid: "uid-eu", selected: true, shoot: &shoot{reachable: true}}
	for _, change := range changes {
		change(&of)
	}
	return of
}

// aSecret is the Secret with good credentials of that shoot.
func aSecret(changes ...func(*secret)) secret {
	s := secret{version: "1", ours: true, kind: corev1.SecretTypeOpaque, content: true, maker: "fleet", shootUID: "uid-eu", issued: now.Add(-time.Hour), expires: now.Add(23 * time.Hour)}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// aTarget is the Target that belongs to both.
func aTarget(sync *v1alpha1.TargetSync, of item, existing secret, changes ...func(*v1alpha1.Target)) *v1alpha1.Target {
	target, _ := wantedTarget(sync, step{name: of.name, of: &of}, nil, existing.issued)
	for _, change := range changes {
		change(target)
	}
	return target
}

func foreign(target *v1alpha1.Target) { target.Labels = nil }

func TestStepForShoot(t *testing.T) {
	sync := fleet()
	good := func() *v1alpha1.Target { return aTarget(sync, aShoot(), aSecret()) }
	tests := []struct {
		reason   string
		of       item
		existing *secret
		target   *v1alpha1.Target
		want     action
		why      string
	}{
		{"nothing is there yet", aShoot(), nil, nil, requestCredentials, ""},
		{"all is as it should be", aShoot(), ptr(aSecret()), good(), keep, ""},
		{"the Target was deleted", aShoot(), ptr(aSecret()), nil, writeTarget, ""},
		{"the Secret was deleted", aShoot(), nil, good(), requestCredentials, ""},
		{"somebody has changed the Target", aShoot(), ptr(aSecret()), aTarget(sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Spec.Type = "other" }), writeTarget, ""},
		{"labels of others are no reason to write", aShoot(), ptr(aSecret()), aTarget(sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Labels["team"] = "a" }), keep, ""},
		{"half of the time has passed", aShoot(), ptr(aSecret(func(s *secret) { s.issued, s.expires = now.Add(-12*time.Hour), now.Add(12*time.Hour) })), good(), requestCredentials, ""},
		{"the Secret has no kubeconfig", aShoot(), ptr(aSecret(func(s *secret) { s.content = false })), good(), requestCredentials, ""},
		{"a later shoot has the same name", aShoot(func(of *item) { of.uid = "uid-2" }), ptr(aSecret()), good(), requestCredentials, ""},
		{"the shoot is being deleted: its credentials are left alone", aShoot(func(of *item) { of.deleting = true }), ptr(aSecret(func(s *secret) { s.expires = now })), good(), skip, "being deleted"},
		{"no address yet", aShoot(func(of *item) { of.shoot.reachable = false }), nil, nil, skip, "no address"},
		{"a Secret of somebody else", aShoot(), &secret{version: "1"}, nil, refuse, "Secret blue/eu belongs to somebody else"},
		{"a Target of somebody else", aShoot(), nil, aTarget(sync, aShoot(), aSecret(), foreign), refuse, "Target blue/eu belongs to somebody else"},
		{"the name of the access", aShoot(func(of *item) { of.name = "access" }), nil, nil, refuse, "spec.secretRef"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := world{sync: sync, items: []item{test.of}, listed: true, targets: map[string]*v1alpha1.Target{}, secrets: map[string]secret{}, now: now}
			if test.existing != nil {
				w.secrets[test.of.name] = *test.existing
			}
			if test.target != nil {
				w.targets[test.of.name] = test.target
			}
			p := newPlan(w)
			if len(p.steps) != 1 || p.steps[0].do != test.want || !strings.Contains(p.steps[0].why, test.why) || len(p.remove) > 0 {
				t.Errorf("got %+v, want %s %q", p, test.want, test.why)
			}
		})
	}
}

func ptr[T any](value T) *T { return &value }

func TestStepForSecret(t *testing.T) {
	sync := fleet(func(spec *v1alpha1.TargetSyncSpec) { spec.ShootNameExpression, spec.SecretNameExpression = "", "*" })
	of := func(problem error) item {
		return item{name: "eu", uid: "u", selected: true, copied: &copied{hash: "h", problem: problem}}
	}
	same := secret{ours: true, kind: corev1.SecretTypeOpaque, content: true, hash: "h", maker: "fleet"}
	tests := []struct {
		reason   string
		of       item
		existing *secret
		want     action
	}{
		{"nothing is there yet", of(nil), nil, copySecret},
		{"a copy that is up to date", of(nil), &same, keep},
		{"the content is another one", of(nil), ptr(with(same, func(s *secret) { s.hash = "old" })), copySecret},
		{"a type that a source has chosen before", of(nil), ptr(with(same, func(s *secret) { s.kind = "kubernetes.io/tls" })), copySecret},
		{"it was for a shoot before", of(nil), ptr(with(same, func(s *secret) { s.shootUID = "u" })), copySecret},
		{"content that must not become a Target", of(errors.New("it uses exec")), &same, refuse},
		{"a Secret of somebody else", of(nil), &secret{}, refuse},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := world{sync: sync, items: []item{test.of}, listed: true, targets: map[string]*v1alpha1.Target{"eu": aTarget(sync, test.of, secret{})}, secrets: map[string]secret{}, now: now}
			if test.existing != nil {
				w.secrets["eu"] = *test.existing
			}
			if p := newPlan(w); p.steps[0].do != test.want {
				t.Errorf("got %+v, want %s", p.steps[0], test.want)
			}
		})
	}
}

func with(s secret, change func(*secret)) secret {
	change(&s)
	return s
}

func TestStepForSource(t *testing.T) {
	sync := fleet(func(spec *v1alpha1.TargetSyncSpec) { spec.CreateTargetToSource = true })
	plain := func(world) world { return world{sync: sync, now: now} }
	tests := []struct {
		reason string
		change func(world) world
		want   action
		why    string
	}{
		{"it is not there yet", plain, writeTarget, ""},
		{"it is there", func(world) world {
			target, _ := wantedTarget(sync, step{name: "garden-blue"}, nil, time.Time{})
			return world{sync: sync, targets: map[string]*v1alpha1.Target{"garden-blue": target}, now: now}
		}, keep, ""},
		{"somebody else has the name", func(world) world {
			return world{sync: sync, targets: map[string]*v1alpha1.Target{"garden-blue": {}}, now: now}
		}, refuse, "belongs to somebody else"},
		{"a shoot has the name", func(world) world {
			return world{sync: sync, listed: true, items: []item{aShoot(func(of *item) { of.name = "garden-blue" })}, now: now}
		}, refuse, "spec.targetToSourceName"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			steps := newPlan(test.change(world{})).steps
			if last := steps[len(steps)-1]; last.do != test.want || last.name != "garden-blue" || !strings.Contains(last.why, test.why) {
				t.Errorf("got %+v, want %s", last, test.want)
			}
		})
	}
}

// many are the Targets and Secrets of so many shoots.
func many(sync *v1alpha1.TargetSync, count int) (items []item, targets map[string]*v1alpha1.Target, secrets map[string]secret) {
	targets, secrets = map[string]*v1alpha1.Target{}, map[string]secret{}
	for i := range count {
		of := aShoot(func(of *item) { of.name = fmt.Sprintf("s%02d", i) })
		items = append(items, of)
		targets[of.name], secrets[of.name] = aTarget(sync, of, aSecret()), aSecret()
	}
	return items, targets, secrets
}

func TestRemovals(t *testing.T) {
	suspects := func(since time.Time, names ...string) map[string]time.Time {
		found := map[string]time.Time{}
		for _, name := range names {
			found[name] = since
		}
		return found
	}
	all := []string{"s00", "s01", "s02", "s03", "s04", "s05", "s06", "s07", "s08", "s09"}
	tests := []struct {
		reason   string
		left     int
		listed   bool
		change   func(*world)
		removed  []string
		held     int
		suspects int
	}{
		{"nothing has vanished", 10, true, nil, nil, 0, 0},
		{"a few vanish at once", 7, true, nil, all[7:], 0, 0},
		{"most vanish: that is looked at again", 2, true, nil, nil, 8, 8},
		{"all vanish", 0, true, nil, nil, 10, 10},
		{"they are missing again, but too soon", 0, true, func(w *world) { w.suspects = suspects(now.Add(-30*time.Second), all...) }, nil, 10, 10},
		{"they are missing again", 0, true, func(w *world) { w.suspects = suspects(now.Add(-time.Minute), all...) }, all, 0, 0},
		{"they are back", 10, true, func(w *world) { w.suspects = suspects(now.Add(-time.Minute), all...) }, nil, 0, 0},
		{"some are back: the others are still suspected", 7, true, func(w *world) { w.suspects = suspects(now.Add(-time.Second), all...) }, nil, 3, 3},
		{"nothing is to be selected any more: the user says so", 0, false, nil, all, 0, 0},
		{"the expression selects none of those that are there: the user says so", 10, true, func(w *world) {
			for i := range w.items {
				w.items[i].selected = false
			}
		}, all, 0, 0},
		{"a Secret without Target is left of a run that was ended", 10, true, func(w *world) { delete(w.targets, "s09"); w.items = w.items[:9] }, all[9:], 0, 0},
		{"the copies that Installations import stay", 10, true, func(w *world) {
			w.targets["copy"] = aTarget(w.sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Labels[v1alpha1.DataObjectContextLabel] = "Inst.shop" })
		}, nil, 0, 0},
		{"what belongs to others stays", 10, true, func(w *world) {
			w.targets["mine"], w.secrets["mine"], w.secrets["access"] = &v1alpha1.Target{}, secret{}, secret{ours: true}
		}, nil, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			sync := fleet()
			items, targets, secrets := many(sync, 10)
			w := world{sync: sync, items: items[:test.left], listed: test.listed, targets: targets, secrets: secrets, now: now}
			if test.change != nil {
				test.change(&w)
			}
			p := newPlan(w)
			if diff := cmp.Diff(test.removed, p.remove); diff != "" || len(p.held) != test.held || len(p.suspects) != test.suspects {
				t.Errorf("%s held %v, suspects %v", diff, p.held, p.suspects)
			}
		})
	}
}

func TestRenewal(t *testing.T) {
	hour := func(hours int) time.Time { return now.Add(time.Duration(hours) * time.Hour) }
	dated := func(at time.Time) *v1alpha1.Target {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.LastTargetSyncAnnotation: at.Format(time.RFC3339)}}}
	}
	public := func(s *secret) {
		s.maker, s.shootUID, s.issued, s.expires = "", "", time.Time{}, time.Time{}
	}
	tests := []struct {
		reason   string
		existing secret
		target   *v1alpha1.Target
		of       item
		want     time.Time
	}{
		{"24 hours are renewed after 12", aSecret(), nil, aShoot(), hour(11)},
		{"a garden that grants an hour: after half of it", aSecret(func(s *secret) { s.issued, s.expires = now, hour(1) }), nil, aShoot(), now.Add(30 * time.Minute)},
		{"a garden that grants a week: after 12 hours", aSecret(func(s *secret) { s.issued, s.expires = now, hour(168) }), nil, aShoot(), hour(12)},
		{"what tells no end follows the rule", aSecret(func(s *secret) { s.expires = time.Time{} }), nil, aShoot(), hour(11)},
		{"the public system notes the time at the Target", aSecret(public), dated(hour(-2)), aShoot(), hour(10)},
		{"no time at all: now", aSecret(public), nil, aShoot(), time.Time{}},
		{"a time in the future tells nothing", aSecret(func(s *secret) { s.issued = hour(1) }), nil, aShoot(), time.Time{}},
		{"no kubeconfig", aSecret(func(s *secret) { s.content = false }), nil, aShoot(), time.Time{}},
		{"another type", aSecret(func(s *secret) { s.kind = "other" }), nil, aShoot(), time.Time{}},
		{"a copy of a Secret", aSecret(func(s *secret) { s.shootUID = "" }), nil, aShoot(), time.Time{}},
		{"credentials of an earlier shoot", aSecret(func(s *secret) { s.shootUID = "earlier" }), nil, aShoot(), time.Time{}},
		{"the rotation of authorities has gone a step on", aSecret(), nil, aShoot(func(of *item) { of.shoot.authorities = "Prepared" }), time.Time{}},
		{"authorities were replaced since, where no step is noted", aSecret(public), dated(hour(-2)), aShoot(func(of *item) { of.shoot.authorities, of.shoot.authoritiesDone = "Completed", hour(-1) }), time.Time{}},
		{"authorities were replaced before", aSecret(func(s *secret) { s.authorities = "Completed" }), nil, aShoot(func(of *item) { of.shoot.authorities, of.shoot.authoritiesDone = "Completed", hour(-3) }), hour(11)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := renewal(test.existing, test.target, test.of, now); !got.Equal(test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestWake: a run comes for credentials that do not live long, with time for attempts
// that fail; those that do wait for the next run.
func TestWake(t *testing.T) {
	sync := fleet()
	short := aSecret(func(s *secret) { s.issued, s.expires = now, now.Add(40*time.Second) })
	w := world{sync: sync, items: []item{aShoot()}, listed: true, secrets: map[string]secret{"eu": short}, now: now}
	if got := w.wake(); !got.Equal(now.Add(25 * time.Second)) {
		t.Errorf("got %s", got)
	}
	w.now = now.Add(30 * time.Second)
	if got := w.wake(); !got.IsZero() {
		t.Errorf("what is due and has failed is tried again at %s, not after the pause for failures", got)
	}
}

func TestNames(t *testing.T) {
	candidates := []string{"a.kubeconfig", "my-prod-1", "prod", "test"}
	for _, test := range []struct {
		reason, expression string
		want               []string
	}{
		{"empty selects nothing", "", nil},
		{"a star selects all", "*", candidates},
		{"not anchored", "prod", []string{"my-prod-1", "prod"}},
		{"anchored if that is said", "^prod$", []string{"prod"}},
		{"a suffix", `\.kubeconfig$`, []string{"a.kubeconfig"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			selects, err := names(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return !selects(name) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if _, err := names("*-prod"); err == nil || !strings.HasPrefix(err.Error(), "invalid regular expression to filter names: ") {
		t.Errorf("got %v", err)
	}
}
