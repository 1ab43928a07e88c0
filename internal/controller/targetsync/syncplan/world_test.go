package syncplan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// worlds makes worlds at random, with things of others in them.
type worlds struct{ *rand.Rand }

func (r worlds) world() World {
	w := World{
		Sync: fleet(), Listed: r.IntN(4) > 0, Now: now,
		Targets: map[string]*v1alpha1.Target{}, Secrets: map[string]Secret{}, Suspects: map[string]time.Time{},
	}
	w.Sync.Spec.CreateTargetToSource = r.IntN(2) == 0
	for i := range 12 {
		name := fmt.Sprintf("s%02d", i)
		if i == 0 {
			name = w.Sync.Spec.SecretRef.Name
		}
		of := aShoot(func(of *Item) {
			of.Name, of.Selected, of.deleting = name, r.IntN(3) > 0, r.IntN(6) == 0
			of.Shoot.reachable = r.IntN(4) > 0
		})
		existing := aSecret(func(s *Secret) { s.Ours, s.Issued = r.IntN(5) > 0, now.Add(-time.Duration(r.IntN(30))*time.Hour) })
		if w.Listed && r.IntN(3) > 0 {
			w.Items = append(w.Items, of)
		}
		if r.IntN(2) == 0 {
			w.Secrets[name] = existing
		}
		if r.IntN(2) == 0 {
			w.Targets[name] = aTarget(w.Sync, of, existing, func(target *v1alpha1.Target) {
				if r.IntN(5) == 0 {
					foreign(target)
				}
			})
		}
		if r.IntN(4) == 0 {
			w.Suspects[name] = now.Add(-time.Duration(r.IntN(180)) * time.Second)
		}
	}
	return w
}

// TestPlansAreSafe: whatever there is, a plan does something for each name once, touches
// nothing of others, and removes nothing that is wanted.
func TestPlansAreSafe(t *testing.T) {
	for seed := range uint64(300) {
		w := worlds{rand.New(rand.NewPCG(seed, 1))}.world()
		p := New(w)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { checkPlan(t, w, p) })
	}
}

func checkPlan(t *testing.T, w World, p Plan) {
	t.Helper()
	wanted := map[string]bool{}
	for _, s := range p.Steps {
		if wanted[s.Name] && s.Do != Refuse {
			t.Errorf("%s for %s, which has a step already", s.Do, s.Name)
		}
		wanted[s.Name] = true
		existing, exists := w.Secrets[s.Name]
		target := w.Targets[s.Name]
		writes := s.Do == RequestCredentials || s.Do == CopySecret || s.Do == WriteTarget
		switch {
		case writes && s.Of != nil && exists && !existing.Ours:
			t.Errorf("%s would overwrite a Secret of another owner: %s", s.Do, s.Name)
		case writes && target != nil && !Ours(target):
			t.Errorf("%s would overwrite a Target of another owner: %s", s.Do, s.Name)
		case writes && s.Of != nil && s.Name == w.Sync.Spec.SecretRef.Name:
			t.Errorf("%s would overwrite the access to the source", s.Do)
		case (s.Do == Skip || s.Do == Refuse) == (s.Why == ""):
			t.Errorf("%s of %s because of %q", s.Do, s.Name, s.Why)
		}
	}
	listed := map[string]bool{}
	for _, of := range w.Items {
		listed[of.Name] = true
		if of.Selected && !wanted[of.Name] {
			t.Errorf("nothing is done for %s", of.Name)
		}
	}
	for _, name := range slices.Concat(p.Remove, p.Held) {
		target, existing := w.Targets[name], w.Secrets[name]
		switch {
		case wanted[name]:
			t.Errorf("%s is wanted, and removed or held", name)
		case (target == nil || !Ours(target)) && !existing.Ours:
			t.Errorf("%s belongs to another owner, and is removed or held", name)
		}
	}
	for _, name := range p.Held {
		if _, suspected := p.Suspects[name]; !suspected || slices.Contains(p.Remove, name) || !w.Listed || listed[name] {
			t.Errorf("%s is held for no reason", name)
		}
	}
	if len(p.Suspects) != len(p.Held) {
		t.Errorf("suspects %v, held %v", p.Suspects, p.Held)
	}
}

// TestLatest: of credentials that end, a part of the time is left for attempts that fail.
func TestLatest(t *testing.T) {
	tests := []struct {
		reason        string
		at            time.Time
		expires, want time.Time
	}{
		{"a quarter of what is left when they are due", now, now.Add(40 * time.Minute), now.Add(10 * time.Minute)},
		{"credentials without an expiration time", now, time.Time{}, now},
		{"credentials that have expired before they are due", now, now.Add(-time.Hour), now},
		{"credentials that expire when they are due", now, now, now},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := latest(test.at, Secret{expires: test.expires}); !got.Equal(test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestMadeObjects: what is written says for whom it is, keeps what others have added, and
// never gets a meaning that the source has chosen.
func TestMadeObjects(t *testing.T) {
	sync, of := fleet(), aShoot(func(of *Item) { of.Shoot.authorities = "Prepared" })
	s := Step{Name: "eu", Of: &of}
	data := map[string][]byte{CredentialKey: []byte("k")}
	copied := Step{Name: "eu", Of: &Item{Name: "eu", Copied: &copied{}}}
	t.Run("credentials of a shoot", func(t *testing.T) {
		made := WantedSecret(sync, s, nil, data, now, now.Add(time.Hour))
		facts := FactsOf(made)
		if !facts.Ours || facts.maker != "fleet" || facts.shootUID != "uid-eu" || facts.authorities != "Prepared" || !facts.Issued.Equal(now) || !facts.expires.Equal(now.Add(time.Hour)) || !facts.content {
			t.Errorf("%+v", facts)
		}
		data[CredentialKey][0] = 'x'
		if again := FactsOf(made); made.Type != corev1.SecretTypeOpaque || again.kind != corev1.SecretTypeOpaque {
			t.Errorf("type %s", made.Type)
		}
	})
	t.Run("credentials that tell no end", func(t *testing.T) {
		made := WantedSecret(sync, s, nil, data, now, time.Time{})
		if _, expires := made.Annotations[v1alpha1.KubeconfigExpirationAnnotation]; expires {
			t.Errorf("%v", made.Annotations)
		}
	})
	t.Run("a copy has nothing of the shoot that was there before", func(t *testing.T) {
		before := WantedSecret(sync, s, nil, data, now, now)
		before.Labels["team"], before.Annotations["note"] = "a", "b"
		made := WantedSecret(sync, copied, before, data, time.Time{}, time.Time{})
		facts := FactsOf(made)
		if facts.shootUID != "" || facts.authorities != "" || !facts.Issued.IsZero() || !facts.expires.IsZero() || made.Annotations[v1alpha1.ShootNameAnnotation] != "" {
			t.Errorf("%v", made.Annotations)
		}
		if made.Labels["team"] != "a" || made.Annotations["note"] != "b" || before.Annotations[v1alpha1.ShootUIDAnnotation] != "uid-eu" {
			t.Errorf("additions of others are lost, or the object that was read has changed: %v", made.ObjectMeta)
		}
	})
	t.Run("a Target of a shoot becomes one of a Secret", func(t *testing.T) {
		before, _ := WantedTarget(sync, s, nil, now)
		made, changed := WantedTarget(sync, copied, before, time.Time{})
		if _, dated := made.Annotations[v1alpha1.LastTargetSyncAnnotation]; dated || !changed || made.Annotations[v1alpha1.ShootUIDAnnotation] != "" {
			t.Errorf("changed %t: %v", changed, made.Annotations)
		}
		if again, changed := WantedTarget(sync, copied, made, time.Time{}); changed {
			t.Errorf("it is never as it should be: %v", again.ObjectMeta)
		}
	})
	t.Run("credentials whose time is not known keep the time of before", func(t *testing.T) {
		before, _ := WantedTarget(sync, s, nil, now)
		if made, changed := WantedTarget(sync, s, before, time.Time{}); changed || made.Annotations[v1alpha1.LastTargetSyncAnnotation] == "" {
			t.Errorf("changed %t: %v", changed, made.Annotations)
		}
	})
	t.Run("the Target to the source leads to the access", func(t *testing.T) {
		made, _ := WantedTarget(sync, Step{Name: "garden"}, nil, time.Time{})
		if ref := made.Spec.SecretRef; ref.Name != "access" || ref.Key != "kubeconfig" || made.Spec.Type != v1alpha1.KubernetesClusterTargetType {
			t.Errorf("%+v", made.Spec)
		}
	})
	t.Run("an access without a key has the usual one", func(t *testing.T) {
		if got := AccessKey(fleet(func(spec *v1alpha1.TargetSyncSpec) { spec.SecretRef.Key = "" })); got != CredentialKey {
			t.Errorf("%q", got)
		}
	})
}

// TestTimesIn: any text in an annotation is a time or no time.
func TestTimesIn(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		none         bool
	}{
		{"as we write it", now.Format(time.RFC3339), false},
		{"in another zone", "2031-05-04T14:00:00+02:00", false},
		{"not there", "", true},
		{"in words", "yesterday", true},
		{"as a number", "1935748800", true},
		{"with more behind it", now.Format(time.RFC3339) + " ", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := TimeIn(map[string]string{"a": test.text}, "a")
			if got.IsZero() != test.none || !test.none && !got.Equal(now) {
				t.Errorf("%s", got)
			}
		})
	}
}
