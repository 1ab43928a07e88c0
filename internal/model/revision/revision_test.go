package revision

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// world is a root with its revisions: users write specifications, jobs run, and the server goes back.
type world struct {
	root *v1alpha1.Installation
	kept []*deliveryv1alpha1.DeliveryRevision
	jobs int
}

func newWorld() *world {
	return &world{root: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "u", Annotations: map[string]string{}}}}
}

// write writes a specification, which a version tells apart.
func (w *world) write(version string) {
	w.root.Generation++
	w.root.Spec = specOf(version)
}

func specOf(version string) v1alpha1.InstallationSpec {
	return v1alpha1.InstallationSpec{ComponentDescriptor: &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: version}}}
}

// run runs a job, as the controller does: the specification is kept when it begins.
func (w *world) run(t *testing.T, keep int, phase v1alpha1.InstallationPhase) {
	t.Helper()
	present, err := Of(w.root, w.kept)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(w.kept, func(r *deliveryv1alpha1.DeliveryRevision) bool { return r.Name == present.Name }) {
		for _, surplus := range Surplus(w.root, present, w.kept, keep) {
			w.kept = slices.DeleteFunc(w.kept, func(r *deliveryv1alpha1.DeliveryRevision) bool { return r == surplus })
		}
		w.kept = append(w.kept, present)
	}
	w.jobs++
	status := &w.root.Status
	status.JobID, status.ObservedGeneration, status.InstallationPhase = fmt.Sprint("j", w.jobs), w.root.Generation, phase
	status.JobIDFinished = status.JobID
	status.History = append([]v1alpha1.JobRecord{{JobID: status.JobID, Phase: phase, Generation: w.root.Generation}}, status.History...)
	// A status forgets jobs; the test forgets faster.
	status.History = status.History[:min(len(status.History), 2)]
}

// goBack goes back as the server does, if it does.
func (w *world) goBack(t *testing.T) bool {
	t.Helper()
	if !MayGoBack(w.root) {
		return false
	}
	verdict := AfterFailure(w.root, w.kept)
	if verdict.To == nil {
		return false
	}
	spec, err := Specification(verdict.To)
	if err != nil {
		t.Fatal(err)
	}
	w.root.Annotations[deliveryv1alpha1.WentBackAnnotation] = Back{From: w.root.Generation, To: verdict.To.Spec.Generation, Mode: OnFailure}.String()
	w.root.Generation++
	w.root.Spec = *spec
	return true
}

func (w *world) version() string { return w.root.Spec.ComponentDescriptor.Reference.Version }

const (
	good = "Succeeded"
	bad  = "Failed"
)

// TestGoingBack: stories of a root, each a list of versions that are written, how their jobs end, and the
// version that the root has at the end. Whatever the server goes back to is run, too, and ends as "back"
// says.
func TestGoingBack(t *testing.T) {
	type step struct{ version, ends string }
	for _, test := range []struct {
		reason string
		keep   int
		back   string
		steps  []step
		want   string
		times  int
	}{
		{"the failed upgrade is rolled back", 3, good, []step{{"1", good}, {"2", bad}}, "1", 1},
		{"a failed first installation has nothing to go back to", 3, good, []step{{"1", bad}}, "1", 0},
		{"neither has a second attempt at the first installation", 3, good, []step{{"1", bad}, {"2", bad}}, "2", 0},
		{"a specification that has succeeded before is no upgrade", 3, good, []step{{"1", good}, {"1", bad}}, "1", 0},
		{"also if it was written again", 3, good, []step{{"1", good}, {"2", good}, {"1", bad}}, "1", 0},
		{"the earlier one may fail, and stays", 3, bad, []step{{"1", good}, {"2", bad}}, "1", 1},
		{"to the last one that has succeeded, not to the one before", 3, good, []step{{"1", good}, {"2", good}, {"3", bad}}, "2", 1},
		{"others that have failed are left out", 3, good, []step{{"1", good}, {"2", bad}, {"3", bad}}, "1", 2},
		{"once for each specification: another client writes it again", 3, good, []step{{"1", good}, {"2", bad}, {"2", bad}}, "2", 1},
		{"also if the way back has failed", 2, bad, []step{{"1", good}, {"2", bad}, {"2", bad}}, "2", 1},
		{"also if two are written in turns", 2, bad, []step{{"1", good}, {"2", bad}, {"3", bad}, {"2", bad}, {"3", bad}, {"2", bad}}, "2", 2},
		{"also long after, when its revision is deleted", 2, good, []step{{"1", good}, {"2", bad}, {"3", good}, {"4", good}, {"5", good}, {"2", bad}}, "2", 1},
		{"the last success is kept, however many fail after it", 2, good, []step{{"1", good}, {"2", bad}, {"3", bad}, {"4", bad}, {"5", bad}, {"6", bad}}, "1", 5},
		{"repeated jobs of a failed specification change nothing", 3, good, []step{{"1", good}, {"2", bad}, {"2", bad}, {"2", bad}}, "2", 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w, times := newWorld(), 0
			for _, step := range test.steps {
				w.write(step.version)
				w.run(t, test.keep, v1alpha1.InstallationPhase(step.ends))
				for w.goBack(t) {
					if times++; times > 20 {
						t.Fatal("there is no end to it")
					}
					w.run(t, test.keep, v1alpha1.InstallationPhase(test.back))
				}
			}
			if w.version() != test.want || times != test.times {
				t.Errorf("version %s after going back %d times, want %s after %d", w.version(), times, test.want, test.times)
			}
			if len(w.kept) > test.keep+1 {
				t.Errorf("%d revisions are kept", len(w.kept))
			}
		})
	}
}

// TestMayGoBack: what a status must say before anything is read.
func TestMayGoBack(t *testing.T) {
	failed := func(change func(*v1alpha1.Installation)) *v1alpha1.Installation {
		w := newWorld()
		w.write("1")
		w.run(t, 2, bad)
		change(w.root)
		return w.root
	}
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		may    bool
	}{
		{"the last job has failed", func(*v1alpha1.Installation) {}, true},
		{"there was no job", func(inst *v1alpha1.Installation) { inst.Status = v1alpha1.InstallationStatus{} }, false},
		{"it is being deleted", func(inst *v1alpha1.Installation) { inst.DeletionTimestamp = &metav1.Time{} }, false},
		{"a job runs", func(inst *v1alpha1.Installation) { inst.Status.JobID = "other" }, false},
		{"a user has asked for a job", func(inst *v1alpha1.Installation) {
			inst.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
		}, false},
		{"a user has written another specification", func(inst *v1alpha1.Installation) { inst.Generation++ }, false},
		{"a user has stopped the job", func(inst *v1alpha1.Installation) {
			inst.Annotations[deliveryv1alpha1.StoppedAnnotation] = inst.Status.JobID
		}, false},
		{"a user has stopped an earlier job", func(inst *v1alpha1.Installation) { inst.Annotations[deliveryv1alpha1.StoppedAnnotation] = "j0" }, true},
		{"the deletion has failed", func(inst *v1alpha1.Installation) {
			inst.Status.InstallationPhase = v1alpha1.InstallationPhases.DeleteFailed
		}, false},
		{"it was judged", func(inst *v1alpha1.Installation) {
			inst.Status.Conditions = []v1alpha1.Condition{{Type: deliveryv1alpha1.RolledBackCondition, ObservedGeneration: 1}}
		}, false},
		{"an earlier generation was judged", func(inst *v1alpha1.Installation) {
			inst.Status.Conditions = []v1alpha1.Condition{{Type: deliveryv1alpha1.RolledBackCondition, ObservedGeneration: 0}}
		}, true},
		{"the record is of another job, as in a status that a user has changed", func(inst *v1alpha1.Installation) { inst.Status.History[0].JobID = "other" }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := MayGoBack(failed(test.change)); got != test.may {
				t.Errorf("%v, want %v", got, test.may)
			}
		})
	}
}

// TestEarlier: to what users go back, and why not.
func TestEarlier(t *testing.T) {
	w := newWorld()
	for _, step := range []struct{ version, ends string }{{"1", good}, {"2", bad}, {"3", good}, {"4", bad}} {
		w.write(step.version)
		w.run(t, 10, v1alpha1.InstallationPhase(step.ends))
	}
	record := func(id string, generation int64, phase v1alpha1.InstallationPhase) *v1alpha1.JobRecord {
		return &v1alpha1.JobRecord{JobID: id, Generation: generation, Phase: phase}
	}
	for _, test := range []struct {
		reason string
		record *v1alpha1.JobRecord
		change func(*world)
		want   int64
		err    string
	}{
		{"the last one that has succeeded with another specification", nil, nil, 3, ""},
		{"from one that has succeeded, to the one before", nil, func(w *world) { w.root.Spec = specOf("3") }, 1, ""},
		{"a user has written something that had no job yet", nil, func(w *world) { w.write("5") }, 3, ""},
		{"that of a job, also of one that has failed", record("j2", 2, bad), nil, 2, ""},
		{"that of a job whose specification is not kept", record("j0", 9, good), nil, 0, "the specification of job j0, generation 9, is not kept"},
		{"that of the job that runs", record("j5", 0, ""), nil, 0, "job j5 has not ended"},
		{"the present one", record("j4", 4, bad), nil, 0, "job j4 has had the specification that the Installation has"},
		{"revisions of another Installation of the name do not count", nil, func(w *world) { w.root.UID = "other" }, 0, "no specification is kept"},
		{"nor does one that was changed", nil, func(w *world) {
			w.kept[2] = w.kept[2].DeepCopy()
			w.kept[2].Spec.Specification.Raw = []byte(`{"context":"other"}`)
		}, 1, ""},
		{"nor does one under another name", nil, func(w *world) {
			w.kept[2] = w.kept[2].DeepCopy()
			w.kept[2].Name = "shop-3"
		}, 1, ""},
		{"nothing is kept", nil, func(w *world) { w.kept = nil }, 0, "no specification is kept"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			there := &world{root: w.root.DeepCopy(), kept: slices.Clone(w.kept)}
			if test.change != nil {
				test.change(there)
			}
			found, err := Earlier(there.root, there.kept, test.record)
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
			case err != nil || found.Spec.Generation != test.want:
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestBackOf: a note counts for the generation that was written with it.
func TestBackOf(t *testing.T) {
	for _, test := range []struct {
		reason, value string
		want          bool
	}{
		{"a user has gone back", "4 2 Requested", true},
		{"the server has", "4 2 OnFailure", true},
		{"another specification was written since", "3 2 OnFailure", false},
		{"to itself", "4 4 OnFailure", false},
		{"forward", "4 5 OnFailure", false},
		{"to nothing", "4 0 OnFailure", false},
		{"another client", "4 2 Mallory", false},
		{"no numbers", "a b OnFailure", false},
		{"nothing", "", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := newWorld().root
			root.Generation = 5
			root.Annotations[deliveryv1alpha1.WentBackAnnotation] = test.value
			if back := BackOf(root); (back != nil) != test.want || back != nil && back.String() != test.value {
				t.Errorf("%+v", back)
			}
		})
	}
}

// TestSettingOf: of several policies, the one that keeps most counts.
func TestSettingOf(t *testing.T) {
	policy := func(keep int32, mode deliveryv1alpha1.RollbackMode, names ...string) *deliveryv1alpha1.DeliveryPolicy {
		p := &deliveryv1alpha1.DeliveryPolicy{Spec: deliveryv1alpha1.DeliveryPolicySpec{Installations: names}}
		if keep > 0 {
			p.Spec.History = &deliveryv1alpha1.History{Revisions: keep, Rollback: mode}
		}
		return p
	}
	for _, test := range []struct {
		reason   string
		policies []*deliveryv1alpha1.DeliveryPolicy
		want     Setting
	}{
		{"no policy", nil, Setting{}},
		{"a policy that keeps nothing", []*deliveryv1alpha1.DeliveryPolicy{policy(0, "")}, Setting{}},
		{"one", []*deliveryv1alpha1.DeliveryPolicy{policy(3, deliveryv1alpha1.RollbackNever)}, Setting{Keep: 3}},
		{"one that goes back", []*deliveryv1alpha1.DeliveryPolicy{policy(3, deliveryv1alpha1.RollbackOnFailure)}, Setting{3, true}},
		{"two", []*deliveryv1alpha1.DeliveryPolicy{policy(9, ""), policy(3, deliveryv1alpha1.RollbackOnFailure)}, Setting{9, true}},
		{"one that is about others", []*deliveryv1alpha1.DeliveryPolicy{policy(9, deliveryv1alpha1.RollbackOnFailure, "other"), policy(3, "")}, Setting{Keep: 3}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := SettingOf(test.policies, newWorld().root); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestDigest: the order of fields is not a difference; the digits of numbers are.
func TestDigest(t *testing.T) {
	of := func(text string) string {
		digest, err := digestOf([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	if of(`{"a":1,"b":{"c":2,"d":3}}`) != of(`{"b":{"d":3,"c":2},"a":1}`) {
		t.Error("the order of fields counts")
	}
	if of(`{"a":12345678901234567890}`) == of(`{"a":12345678901234567891}`) {
		t.Error("digits are lost")
	}
}

// TestName: long names fit, and two Installations of a name have other revisions.
func TestName(t *testing.T) {
	long := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 199) + ".b", UID: "u"}}
	if name := Name(long, 1<<62); len(name) > 253 || strings.Contains(name, ".-") {
		t.Errorf("%s", name)
	}
	other := newWorld().root.DeepCopy()
	other.UID = "v"
	if Name(newWorld().root, 1) == Name(other, 1) {
		t.Error("the same name")
	}
}
