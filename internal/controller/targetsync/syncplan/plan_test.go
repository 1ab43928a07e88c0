package syncplan

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
func aShoot(changes ...func(*Item)) Item {
	of := Item{Name: "eu", uid: "uid-eu", Selected: true, Shoot: &Shoot{reachable: true}}
	for _, change := range changes {
		change(&of)
	}
	return of
}

// aSecret is the Secret with good credentials of that shoot.
func aSecret(changes ...func(*Secret)) Secret {
	s := Secret{Version: "1", Ours: true, kind: corev1.SecretTypeOpaque, content: true, maker: "fleet", shootUID: "uid-eu", Issued: now.Add(-time.Hour), expires: now.Add(23 * time.Hour)}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// aTarget is the Target that belongs to both.
func aTarget(sync *v1alpha1.TargetSync, of Item, existing Secret, changes ...func(*v1alpha1.Target)) *v1alpha1.Target {
	target, _ := WantedTarget(sync, Step{Name: of.Name, Of: &of}, nil, existing.Issued)
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
		of       Item
		existing *Secret
		target   *v1alpha1.Target
		want     Action
		why      string
	}{
		{"nothing is there yet", aShoot(), nil, nil, RequestCredentials, ""},
		{"all is as it should be", aShoot(), ptr(aSecret()), good(), Keep, ""},
		{"the Target was deleted", aShoot(), ptr(aSecret()), nil, WriteTarget, ""},
		{"the Secret was deleted", aShoot(), nil, good(), RequestCredentials, ""},
		{"another client has changed the Target", aShoot(), ptr(aSecret()), aTarget(sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Spec.Type = "other" }), WriteTarget, ""},
		{"labels of others are no reason to write", aShoot(), ptr(aSecret()), aTarget(sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Labels["team"] = "a" }), Keep, ""},
		{"half of the time has passed", aShoot(), ptr(aSecret(func(s *Secret) { s.Issued, s.expires = now.Add(-12*time.Hour), now.Add(12*time.Hour) })), good(), RequestCredentials, ""},
		{"the Secret has no kubeconfig", aShoot(), ptr(aSecret(func(s *Secret) { s.content = false })), good(), RequestCredentials, ""},
		{"a later shoot has the same name", aShoot(func(of *Item) { of.uid = "uid-2" }), ptr(aSecret()), good(), RequestCredentials, ""},
		{"the shoot is being deleted: its credentials are left alone", aShoot(func(of *Item) { of.deleting = true }), ptr(aSecret(func(s *Secret) { s.expires = now })), good(), Skip, "being deleted"},
		{"no address yet", aShoot(func(of *Item) { of.Shoot.reachable = false }), nil, nil, Skip, "no address"},
		{"a Secret of another owner", aShoot(), &Secret{Version: "1"}, nil, Refuse, "Secret blue/eu belongs to another owner"},
		{"a Target of another owner", aShoot(), nil, aTarget(sync, aShoot(), aSecret(), foreign), Refuse, "Target blue/eu belongs to another owner"},
		{"the name of the access", aShoot(func(of *Item) { of.Name = "access" }), nil, nil, Refuse, "spec.secretRef"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := World{Sync: sync, Items: []Item{test.of}, Listed: true, Targets: map[string]*v1alpha1.Target{}, Secrets: map[string]Secret{}, Now: now}
			if test.existing != nil {
				w.Secrets[test.of.Name] = *test.existing
			}
			if test.target != nil {
				w.Targets[test.of.Name] = test.target
			}
			p := New(w)
			if len(p.Steps) != 1 || p.Steps[0].Do != test.want || !strings.Contains(p.Steps[0].Why, test.why) || len(p.Remove) > 0 {
				t.Errorf("got %+v, want %s %q", p, test.want, test.why)
			}
		})
	}
}

func ptr[T any](value T) *T { return &value }

func TestStepForSecret(t *testing.T) {
	sync := fleet(func(spec *v1alpha1.TargetSyncSpec) { spec.ShootNameExpression, spec.SecretNameExpression = "", "*" })
	of := func(problem error) Item {
		return Item{Name: "eu", uid: "u", Selected: true, Copied: &copied{hash: "h", problem: problem}}
	}
	same := Secret{Ours: true, kind: corev1.SecretTypeOpaque, content: true, hash: "h", maker: "fleet"}
	tests := []struct {
		reason   string
		of       Item
		existing *Secret
		want     Action
	}{
		{"nothing is there yet", of(nil), nil, CopySecret},
		{"a copy that is up to date", of(nil), &same, Keep},
		{"the content is another one", of(nil), ptr(with(same, func(s *Secret) { s.hash = "old" })), CopySecret},
		{"a type that a source has chosen before", of(nil), ptr(with(same, func(s *Secret) { s.kind = "kubernetes.io/tls" })), CopySecret},
		{"a Secret that was for a shoot before", of(nil), ptr(with(same, func(s *Secret) { s.shootUID = "u" })), CopySecret},
		{"content that must not become a Target", of(errors.New("it uses exec")), &same, Refuse},
		{"a Secret of another owner", of(nil), &Secret{}, Refuse},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := World{Sync: sync, Items: []Item{test.of}, Listed: true, Targets: map[string]*v1alpha1.Target{"eu": aTarget(sync, test.of, Secret{})}, Secrets: map[string]Secret{}, Now: now}
			if test.existing != nil {
				w.Secrets["eu"] = *test.existing
			}
			if p := New(w); p.Steps[0].Do != test.want {
				t.Errorf("got %+v, want %s", p.Steps[0], test.want)
			}
		})
	}
}

func with(s Secret, change func(*Secret)) Secret {
	change(&s)
	return s
}

func TestStepForSource(t *testing.T) {
	sync := fleet(func(spec *v1alpha1.TargetSyncSpec) { spec.CreateTargetToSource = true })
	plain := func(World) World { return World{Sync: sync, Now: now} }
	tests := []struct {
		reason string
		change func(World) World
		want   Action
		why    string
	}{
		{"the Target does not exist yet", plain, WriteTarget, ""},
		{"the Target exists", func(World) World {
			target, _ := WantedTarget(sync, Step{Name: "garden-blue"}, nil, time.Time{})
			return World{Sync: sync, Targets: map[string]*v1alpha1.Target{"garden-blue": target}, Now: now}
		}, Keep, ""},
		{"a Target of another owner has the name", func(World) World {
			return World{Sync: sync, Targets: map[string]*v1alpha1.Target{"garden-blue": {}}, Now: now}
		}, Refuse, "belongs to another owner"},
		{"a shoot has the name", func(World) World {
			return World{Sync: sync, Listed: true, Items: []Item{aShoot(func(of *Item) { of.Name = "garden-blue" })}, Now: now}
		}, Refuse, "spec.targetToSourceName"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			steps := New(test.change(World{})).Steps
			if last := steps[len(steps)-1]; last.Do != test.want || last.Name != "garden-blue" || !strings.Contains(last.Why, test.why) {
				t.Errorf("got %+v, want %s", last, test.want)
			}
		})
	}
}

// many are the Targets and Secrets of so many shoots.
func many(sync *v1alpha1.TargetSync, count int) (items []Item, targets map[string]*v1alpha1.Target, secrets map[string]Secret) {
	targets, secrets = map[string]*v1alpha1.Target{}, map[string]Secret{}
	for i := range count {
		of := aShoot(func(of *Item) { of.Name = fmt.Sprintf("s%02d", i) })
		items = append(items, of)
		targets[of.Name], secrets[of.Name] = aTarget(sync, of, aSecret()), aSecret()
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
		change   func(*World)
		removed  []string
		held     int
		suspects int
	}{
		{"nothing has vanished", 10, true, nil, nil, 0, 0},
		{"a few vanish at once", 7, true, nil, all[7:], 0, 0},
		{"most vanish: that is looked at again", 2, true, nil, nil, 8, 8},
		{"all vanish", 0, true, nil, nil, 10, 10},
		{"all are missing again, but too soon", 0, true, func(w *World) { w.Suspects = suspects(now.Add(-30*time.Second), all...) }, nil, 10, 10},
		{"all are missing again after the second look", 0, true, func(w *World) { w.Suspects = suspects(now.Add(-time.Minute), all...) }, all, 0, 0},
		{"suspects that are back", 10, true, func(w *World) { w.Suspects = suspects(now.Add(-time.Minute), all...) }, nil, 0, 0},
		{"some are back: the others are still suspected", 7, true, func(w *World) { w.Suspects = suspects(now.Add(-time.Second), all...) }, nil, 3, 3},
		{"nothing is to be selected any more: the user says so", 0, false, nil, all, 0, 0},
		{"the expression selects none of those that are there: the user says so", 10, true, func(w *World) {
			for i := range w.Items {
				w.Items[i].Selected = false
			}
		}, all, 0, 0},
		{"a Secret without Target is left of a run that was ended", 10, true, func(w *World) { delete(w.Targets, "s09"); w.Items = w.Items[:9] }, all[9:], 0, 0},
		{"the copies that Installations import stay", 10, true, func(w *World) {
			w.Targets["copy"] = aTarget(w.Sync, aShoot(), aSecret(), func(target *v1alpha1.Target) { target.Labels[v1alpha1.DataObjectContextLabel] = "Inst.shop" })
		}, nil, 0, 0},
		{"what belongs to others stays", 10, true, func(w *World) {
			w.Targets["mine"], w.Secrets["mine"], w.Secrets["access"] = &v1alpha1.Target{}, Secret{}, Secret{Ours: true}
		}, nil, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			sync := fleet()
			items, targets, secrets := many(sync, 10)
			w := World{Sync: sync, Items: items[:test.left], Listed: test.listed, Targets: targets, Secrets: secrets, Now: now}
			if test.change != nil {
				test.change(&w)
			}
			p := New(w)
			if diff := cmp.Diff(test.removed, p.Remove); diff != "" || len(p.Held) != test.held || len(p.Suspects) != test.suspects {
				t.Errorf("%s held %v, suspects %v", diff, p.Held, p.Suspects)
			}
		})
	}
}

func TestRenewal(t *testing.T) {
	hour := func(hours int) time.Time { return now.Add(time.Duration(hours) * time.Hour) }
	dated := func(at time.Time) *v1alpha1.Target {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.LastTargetSyncAnnotation: at.Format(time.RFC3339)}}}
	}
	public := func(s *Secret) {
		s.maker, s.shootUID, s.Issued, s.expires = "", "", time.Time{}, time.Time{}
	}
	tests := []struct {
		reason   string
		existing Secret
		target   *v1alpha1.Target
		of       Item
		want     time.Time
	}{
		{"24 hours are renewed after 12", aSecret(), nil, aShoot(), hour(11)},
		{"a garden that grants an hour: after half of it", aSecret(func(s *Secret) { s.Issued, s.expires = now, hour(1) }), nil, aShoot(), now.Add(30 * time.Minute)},
		{"a garden that grants a week: after 12 hours", aSecret(func(s *Secret) { s.Issued, s.expires = now, hour(168) }), nil, aShoot(), hour(12)},
		{"what tells no end follows the rule", aSecret(func(s *Secret) { s.expires = time.Time{} }), nil, aShoot(), hour(11)},
		{"upstream records the time at the Target", aSecret(public), dated(hour(-2)), aShoot(), hour(10)},
		{"no time at all: now", aSecret(public), nil, aShoot(), time.Time{}},
		{"a time in the future tells nothing", aSecret(func(s *Secret) { s.Issued = hour(1) }), nil, aShoot(), time.Time{}},
		{"no kubeconfig", aSecret(func(s *Secret) { s.content = false }), nil, aShoot(), time.Time{}},
		{"a Secret of another type", aSecret(func(s *Secret) { s.kind = "other" }), nil, aShoot(), time.Time{}},
		{"a copy of a Secret", aSecret(func(s *Secret) { s.shootUID = "" }), nil, aShoot(), time.Time{}},
		{"credentials of an earlier shoot", aSecret(func(s *Secret) { s.shootUID = "earlier" }), nil, aShoot(), time.Time{}},
		{"the rotation of authorities has gone a step on", aSecret(), nil, aShoot(func(of *Item) { of.Shoot.authorities = "Prepared" }), time.Time{}},
		{"authorities were replaced since, where no step is noted", aSecret(public), dated(hour(-2)), aShoot(func(of *Item) { of.Shoot.authorities, of.Shoot.authoritiesDone = "Completed", hour(-1) }), time.Time{}},
		{"authorities were replaced before", aSecret(func(s *Secret) { s.authorities = "Completed" }), nil, aShoot(func(of *Item) { of.Shoot.authorities, of.Shoot.authoritiesDone = "Completed", hour(-3) }), hour(11)},
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
	short := aSecret(func(s *Secret) { s.Issued, s.expires = now, now.Add(40*time.Second) })
	w := World{Sync: sync, Items: []Item{aShoot()}, Listed: true, Secrets: map[string]Secret{"eu": short}, Now: now}
	if got := w.Wake(); !got.Equal(now.Add(25 * time.Second)) {
		t.Errorf("got %s", got)
	}
	w.Now = now.Add(30 * time.Second)
	if got := w.Wake(); !got.IsZero() {
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
			selects, err := Names(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return !selects(name) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	for _, expression := range []string{"*-prod", strings.Repeat("[a-z]{900}", 500)} {
		if _, err := Names(expression); err == nil || !strings.HasPrefix(err.Error(), "invalid regular expression to filter names: ") {
			t.Errorf("%.40s: got %v", expression, err)
		}
	}
}
