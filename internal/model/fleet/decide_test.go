package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// TestFailure: what a bad version does in the first wave, by the action.
func TestFailure(t *testing.T) {
	for _, test := range []struct {
		reason           string
		action           fleetv1alpha1.FailureAction
		bad              string
		versions, states string
		ready            string
	}{
		{"stop leaves what has failed", "Stop", "ab", "a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Stopped rest=Waiting", "RolloutStopped"},
		{"one failure is enough", "Stop", "a", "a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Stopped rest=Waiting", "RolloutStopped"},
		{"a failure later stops there", "Stop", "c", "a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Stopped", "RolloutStopped"},
		{"skip goes on, and says so", "Skip", "ab", "a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Done", "ItemsFailed"},
		{"going back concerns what has failed", "GoBack", "a", "a=1.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Stopped rest=Waiting", "RolloutStopped"},
		{"a wave goes back as a whole", "GoBackWave", "a", "a=1.0.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Stopped rest=Waiting", "RolloutStopped"},
		{"a good version reaches all", "GoBackWave", "", "a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Done", "UpToDate"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := canaryWorld(t, test.action)
			w.bad = func(inst *v1alpha1.Installation, version string) bool {
				return version == "2.0.0" && strings.Contains(test.bad, strings.TrimPrefix(inst.Name, "shop-"))
			}
			w.version("2.0.0")
			w.settle()
			w.want(test.versions, test.states, test.ready)
			for name, writes := range w.perInst {
				if writes > 2 {
					t.Errorf("%s was written %d times", name, writes)
				}
			}
			// The next version is good for all.
			w.version("3.0.0")
			w.settle()
			w.want("a=3.0.0 b=3.0.0 c=3.0.0 d=3.0.0", "canary=Done rest=Done", "UpToDate")
			if before := len(w.writes); w.step() || len(w.writes) != before {
				t.Error("it does something although nothing has changed")
			}
		})
	}
}

// TestBackToNothing: a first version that fails has nothing before it, and is not tried again.
func TestBackToNothing(t *testing.T) {
	w := newWorld(t, "a")
	w.fleet.Spec.Rollout.OnFailure = fleetv1alpha1.FailureGoBack
	w.bad = func(*v1alpha1.Installation, string) bool { return true }
	w.settle()
	w.want("a=1.0.0", "rest=Stopped", "RolloutStopped")
	if len(w.writes) != 1 {
		t.Errorf("writes: %v", w.writes)
	}
}

// TestParallel: at no time more Installations have a job than a wave permits, and each is written once.
func TestParallel(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.add("t"+string(rune('a'+i)), nil)
	}
	w.fleet.Spec.Rollout.Waves = []fleetv1alpha1.Wave{{Name: "few", Percent: 20, MaxParallel: 2}, {Name: "many", MaxParallel: 7}}
	most := map[string]int{}
	for range 60 {
		w.rest()
		active := map[string]int{}
		for _, inst := range w.insts {
			if inst.Annotations[v1alpha1.OperationAnnotation] != "" {
				active[inst.Labels[fleetv1alpha1.WaveLabel]]++
			}
		}
		for wave, count := range active {
			most[wave] = max(most[wave], count)
		}
		w.jobs()
	}
	if most["few"] != 2 || most["many"] != 7 || len(w.insts) != 25 {
		t.Errorf("at once: %v, of %d", most, len(w.insts))
	}
	if counts := w.fleet.Status.Waves[0].Counts; counts.Targets != 5 || counts.Succeeded != 5 {
		t.Errorf("20 percent of 25 are %+v", counts)
	}
	for name, writes := range w.perInst {
		if writes != 1 {
			t.Errorf("%s was written %d times", name, writes)
		}
	}
}

// TestSoak: the time counts from the end of the last job, over restarts, and not for a wave in which
// nothing has changed.
func TestSoak(t *testing.T) {
	w := canaryWorld(t, "Stop")
	w.fleet.Spec.Rollout.Waves[0].Soak = "30m"
	w.rest()
	w.want("a=1.0.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Done rest=Done", "UpToDate")
	w.version("2.0.0")
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Soaking rest=Waiting", "RollingOut")
	out, err := Decide(w.observe(), w.now)
	if err != nil || !out.Wake.Deadline().Equal(w.now.Add(30*time.Minute)) {
		t.Errorf("the wake is %s, %v", out.Wake, err)
	}
	w.now = w.now.Add(29 * time.Minute)
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Soaking rest=Waiting", "RollingOut")
	// A failure in this time is what it is for.
	w.bad = func(inst *v1alpha1.Installation, _ string) bool { return inst.Name == "shop-a" }
	w.insts["shop-a"].Annotations[v1alpha1.OperationAnnotation] = "reconcile"
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Stopped rest=Waiting", "RolloutStopped")
	w.bad = func(*v1alpha1.Installation, string) bool { return false }
	w.insts["shop-a"].Annotations[v1alpha1.OperationAnnotation] = "reconcile"
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Soaking rest=Waiting", "RollingOut")
	w.now = w.now.Add(30 * time.Minute)
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Done", "UpToDate")
}

// TestGates: a wave waits for its gates; a promotion counts for one revision and one wave.
func TestGates(t *testing.T) {
	w := canaryWorld(t, "Stop")
	w.fleet.Spec.Rollout.Waves[0].Gates = []fleetv1alpha1.Gate{{Name: "ready", Expression: "true"}, {Name: "lead", Promotion: true}}
	w.version("2.0.0")
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Gated rest=Waiting", "RollingOut")
	if said := w.fleet.Status.Waves[0].Message; said != "ready: not yet; lead: a user has to promote the wave: landscaper-cli fleet promote shop" {
		t.Errorf("it says %s", said)
	}
	w.fleet.Annotations = map[string]string{fleetv1alpha1.PromotedAnnotation: w.fleet.Status.Revision + "/canary"}
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0", "canary=Gated rest=Waiting", "RollingOut")
	w.opens = true
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Done", "UpToDate")
	w.version("3.0.0")
	w.settle()
	w.want("a=3.0.0 b=3.0.0 c=2.0.0 d=2.0.0", "canary=Gated rest=Waiting", "RollingOut")
}

// TestNewVersion: a newer version replaces the present one, or waits for its end.
func TestNewVersion(t *testing.T) {
	for _, test := range []struct {
		reason   string
		action   fleetv1alpha1.NewVersionAction
		bad      bool
		versions string
	}{
		{"it replaces", "Replace", false, "a=3.0.0 b=3.0.0 c=1.0.0 d=1.0.0"},
		{"it waits", "Wait", false, "a=2.0.0 b=2.0.0 c=1.0.0 d=1.0.0"},
		{"what has stopped would never end", "Wait", true, "a=3.0.0 b=3.0.0 c=1.0.0 d=1.0.0"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := canaryWorld(t, "Stop")
			w.fleet.Spec.Rollout.OnNewVersion = test.action
			w.fleet.Spec.Rollout.Waves[0].Soak = "30m"
			w.bad = func(_ *v1alpha1.Installation, version string) bool { return test.bad && version == "2.0.0" }
			w.version("2.0.0")
			w.settle()
			w.version("3.0.0")
			w.settle()
			if got := w.versions(); got != test.versions {
				t.Errorf("versions are %s, want %s", got, test.versions)
			}
			for range 3 {
				w.now = w.now.Add(time.Hour)
				w.settle()
			}
			w.want("a=3.0.0 b=3.0.0 c=3.0.0 d=3.0.0", "canary=Done rest=Done", "UpToDate")
		})
	}
}

// TestPaused: nothing is begun, whatever has changed.
func TestPaused(t *testing.T) {
	w := canaryWorld(t, "Stop")
	w.fleet.Spec.Rollout.Paused = &fleetv1alpha1.FleetPause{Reason: "audit"}
	w.version("2.0.0")
	w.settle()
	w.want("a=1.0.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Running rest=Waiting", "Paused")
	w.fleet.Spec.Rollout.Paused = nil
	w.settle()
	w.want("a=2.0.0 b=2.0.0 c=2.0.0 d=2.0.0", "canary=Done rest=Done", "UpToDate")
}

// TestRemoval: what becomes of Installations whose Targets have vanished.
func TestRemoval(t *testing.T) {
	none, all := int32(0), int32(100)
	for _, test := range []struct {
		reason  string
		removal *fleetv1alpha1.FleetRemoval
		gone    []string
		allow   string
		after   time.Duration
		writes  string
		present string
	}{
		{"by default they stay", nil, []string{"a", "b", "c", "d"}, "", time.Hour, "", "TargetsMissing"},
		{"one is always permitted, after its grace", &fleetv1alpha1.FleetRemoval{Policy: "Delete", MaxPercent: &none}, []string{"a"}, "", time.Hour, "Delete shop-a, Depart shop-a", "UpToDate"},
		{"not before", &fleetv1alpha1.FleetRemoval{Policy: "Delete", Grace: "2h"}, []string{"a"}, "", time.Hour, "Depart shop-a", "TargetsMissing"},
		{"users get it", &fleetv1alpha1.FleetRemoval{Policy: "Orphan"}, []string{"a"}, "", time.Hour, "Depart shop-a, Release shop-a", "UpToDate"},
		{"a mass deletion stops", &fleetv1alpha1.FleetRemoval{Policy: "Delete"}, []string{"a", "b", "c"}, "", time.Hour, "Depart shop-a, Depart shop-b, Depart shop-c", "TooManyRemovals"},
		{"it stops for users as well", &fleetv1alpha1.FleetRemoval{Policy: "Orphan"}, []string{"a", "b"}, "", time.Hour, "Depart shop-a, Depart shop-b", "TooManyRemovals"},
		{"a user allows it", &fleetv1alpha1.FleetRemoval{Policy: "Delete"}, []string{"a", "b"}, "2", time.Hour, "Delete shop-a, Delete shop-b, Depart shop-a, Depart shop-b", "UpToDate"},
		{"a permission for fewer is not enough", &fleetv1alpha1.FleetRemoval{Policy: "Delete"}, []string{"a", "b", "c"}, "2", time.Hour, "Depart shop-a, Depart shop-b, Depart shop-c", "TooManyRemovals"},
		{"the share is of all", &fleetv1alpha1.FleetRemoval{Policy: "Delete", MaxPercent: &all}, []string{"a", "b"}, "", time.Hour, "Delete shop-a, Delete shop-b, Depart shop-a, Depart shop-b", "UpToDate"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := canaryWorld(t, "Stop")
			w.fleet.Spec.Removal, w.writes = test.removal, nil
			if test.allow != "" {
				w.fleet.Annotations = map[string]string{fleetv1alpha1.AllowRemovalAnnotation: test.allow}
			}
			w.remove(test.gone...)
			w.settle()
			w.now = w.now.Add(test.after)
			w.settle()
			slices.Sort(w.writes)
			if got := strings.Join(w.writes, ", "); got != test.writes || w.reason(fleetv1alpha1.TargetsPresentCondition) != test.present {
				t.Errorf("writes are %s, want %s; %s, want %s", got, test.writes, w.reason(fleetv1alpha1.TargetsPresentCondition), test.present)
			}
		})
	}
}

// TestTargetReturns: a Target that is back in time loses nothing, and its next absence counts anew.
func TestTargetReturns(t *testing.T) {
	w := canaryWorld(t, "Stop")
	w.fleet.Spec.Removal, w.writes = &fleetv1alpha1.FleetRemoval{Policy: "Delete"}, nil
	w.remove("c")
	w.settle()
	w.now = w.now.Add(9 * time.Minute)
	w.add("c", nil)
	w.settle()
	w.remove("c")
	w.settle()
	w.now = w.now.Add(9 * time.Minute)
	w.settle()
	if got := strings.Join(w.writes, ", "); got != "Depart shop-c, Return shop-c, Depart shop-c" {
		t.Errorf("writes: %s", got)
	}
}

// TestEnd: what the deletion of a Fleet does.
func TestEnd(t *testing.T) {
	for policy, want := range map[fleetv1alpha1.RemovalPolicy]string{"Wait": "Release", "Orphan": "Release", "Delete": "Delete"} {
		w := canaryWorld(t, "Stop")
		w.fleet.Spec.Removal, w.writes = &fleetv1alpha1.FleetRemoval{Policy: policy}, nil
		w.fleet.DeletionTimestamp = &metav1.Time{Time: w.now}
		w.settle()
		if out, err := Decide(w.observe(), w.now); err != nil || !out.Released || len(w.writes) != 4 || !strings.HasPrefix(w.writes[0], want+" ") {
			t.Errorf("%s: %v, %v", policy, w.writes, err)
		}
		for name, inst := range w.insts {
			if len(inst.Labels) > 0 || inst.Annotations[fleetv1alpha1.FleetUIDAnnotation] != "" {
				t.Errorf("%s keeps %v, %v", name, inst.Labels, inst.Annotations)
			}
		}
	}
}

// TestAdoption: what a Fleet takes over, and what it never touches.
func TestAdoption(t *testing.T) {
	yes := true
	for _, test := range []struct {
		reason  string
		exists  func(inst *v1alpha1.Installation)
		adopted bool
		why     string
	}{
		{"a root that belongs to no Fleet", func(*v1alpha1.Installation) {}, true, ""},
		{"a root of a Fleet that does not exist any more", func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{fleetv1alpha1.FleetUIDAnnotation: "old"}
		}, true, ""},
		{"a root of another Fleet", func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{fleetv1alpha1.FleetUIDAnnotation: "g"}
		}, false, "Installation shop-a belongs to Fleet other"},
		{"a part of another Installation", func(i *v1alpha1.Installation) {
			i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "p"}}
		}, false, "Installation shop-a is a part of another one"},
		{"something of another controller", func(i *v1alpha1.Installation) {
			i.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: "Instance", Name: "p", Controller: &yes}}
		}, false, "Installation shop-a belongs to Instance p"},
		{"one that is being deleted", func(i *v1alpha1.Installation) { i.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, false, "Installation shop-a is being deleted"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			w.fleets["g"] = "other"
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "shop-a", UID: "x", Generation: 1}, Spec: w.fleet.Spec.Template.Spec}
			test.exists(inst)
			w.insts["shop-a"] = inst
			before := inst.DeepCopy()
			w.settle()
			if adopted := slices.Contains(w.writes, "Adopt shop-a"); adopted != test.adopted {
				t.Errorf("adopted: %t, %v", adopted, w.writes)
			}
			if !test.adopted {
				if now := w.insts["shop-a"]; now != inst || len(now.Annotations) != len(before.Annotations) {
					t.Error("it was touched")
				}
				w.want("a= b=1.0.0", "rest=Done", "Blocked")
				if !strings.Contains(w.fleet.Status.Conditions[len(w.fleet.Status.Conditions)-1].Message, test.why) {
					t.Errorf("it says %+v", w.fleet.Status.Conditions)
				}
			}
		})
	}
}

// TestSelection: what is selected, and what never is.
func TestSelection(t *testing.T) {
	all := newWorld(t, "user").targets
	for name, labels := range map[string]map[string]string{
		"copy": {v1alpha1.DataObjectContextLabel: "Inst.shop"}, "export": {v1alpha1.DataObjectSourceTypeLabel: "export"}, "source": {v1alpha1.DataObjectSourceLabel: "Inst.shop"},
	} {
		all = append(all, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: with(labels, map[string]string{"shop": "yes"})}})
	}
	owned := all[0].DeepCopy()
	owned.Name, owned.OwnerReferences = "owned", []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "x"}}
	all = append(all, owned)
	for _, test := range []struct {
		reason string
		spec   fleetv1alpha1.FleetTargets
		want   int
		fails  bool
	}{
		{"all that users have", fleetv1alpha1.FleetTargets{All: true}, 1, false},
		{"by labels", fleetv1alpha1.FleetTargets{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"shop": "yes"}}}, 1, false},
		{"a selector that says nothing selects nothing", fleetv1alpha1.FleetTargets{Selector: &metav1.LabelSelector{}}, 0, true},
		{"no selector selects nothing", fleetv1alpha1.FleetTargets{}, 0, true},
	} {
		selected, err := Selected(&test.spec, all)
		if len(selected) != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %d, %v", test.reason, len(selected), err)
		}
	}
}

// TestHalts: what nothing is begun with.
func TestHalts(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*world)
		ready  string
	}{
		{"an empty selector", func(w *world) { w.fleet.Spec.Targets.Selector = &metav1.LabelSelector{} }, "InvalidSpec"},
		{"more Targets than the limit", func(w *world) { w.fleet.Spec.Targets.Limit = 1 }, "TooManyTargets"},
		{"a label of the server", func(w *world) {
			w.fleet.Spec.Template.Labels = map[string]string{fleetv1alpha1.FleetLabel: "x"}
		}, "InvalidSpec"},
		{"an operation in the template", func(w *world) {
			w.fleet.Spec.Template.Annotations = map[string]string{v1alpha1.OperationAnnotation: "abort"}
		}, "InvalidSpec"},
		{"a version without a component", func(w *world) { w.fleet.Spec.Template.Spec.ComponentDescriptor = nil }, "InvalidSpec"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			test.change(w)
			w.settle()
			if len(w.writes) > 0 || w.reason(fleetv1alpha1.ReadyCondition) != test.ready {
				t.Errorf("%v, %+v", w.writes, w.fleet.Status.Conditions)
			}
		})
	}
}

// TestChangedByOthers: what another client changes is reported, not fought.
func TestChangedByOthers(t *testing.T) {
	w := canaryWorld(t, "Stop")
	w.writes = nil
	inst := w.insts["shop-a"]
	inst.Spec.ComponentDescriptor.Reference.Version = "0.9.0"
	inst.Generation++
	inst.Annotations[v1alpha1.OperationAnnotation] = "reconcile"
	w.settle()
	w.want("a=0.9.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Done rest=Done", "ItemsFailed")
	if len(w.writes) > 0 {
		t.Errorf("it writes %v", w.writes)
	}
	delete(w.insts["shop-a"].Annotations, fleetv1alpha1.AppliedAnnotation)
	w.settle()
	w.want("a=1.0.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Done rest=Done", "UpToDate")
}

// TestValues: where the value of an import comes from.
func TestValues(t *testing.T) {
	value := v1alpha1.NewAnyJSON([]byte(`"north"`))
	w := newWorld(t)
	w.fleet.Spec.Values = []fleetv1alpha1.FleetValue{
		{Import: "region", Label: "region", Annotation: "note", DataObject: "region-{target}", Value: &value},
		{Import: "size", Label: "size"},
	}
	w.fleet.Spec.Overrides = []fleetv1alpha1.FleetOverride{
		{Name: "big", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"big": "yes"}}, Version: "1.1.0", Values: map[string]v1alpha1.AnyJSON{"size": v1alpha1.NewAnyJSON([]byte(`9`))}},
		{Name: "bigger", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"big": "yes", "old": "yes"}}, Version: "1.2.0"},
	}
	w.add("label", map[string]string{"region": "south", "size": "1"}).Annotations = map[string]string{"note": "east"}
	w.add("note", map[string]string{"size": "1"}).Annotations = map[string]string{"note": "(( cluster.spec ))"}
	w.add("object", map[string]string{"size": "1"})
	w.add("default", map[string]string{"big": "yes"})
	w.add("older", map[string]string{"big": "yes", "old": "yes"})
	w.add("lacks", nil)
	w.objects["region-object"] = true
	w.settle()
	w.want("default=1.1.0 label=1.0.0 note=1.0.0 object=1.0.0 older=1.2.0", "rest=Done", "Blocked")
	for name, want := range map[string]string{"label": `"south" "1"`, "note": `"((! cluster.spec ))" "1"`, "object": ` "1"`, "default": `"north" 9`} {
		spec := w.insts["shop-"+name].Spec
		if got := string(spec.ImportDataMappings["region"].RawMessage) + " " + string(spec.ImportDataMappings["size"].RawMessage); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
		if len(spec.Imports.Targets) != 1 || spec.Imports.Targets[0].Target != name {
			t.Errorf("%s imports %+v", name, spec.Imports.Targets)
		}
	}
	if data := w.insts["shop-object"].Spec.Imports.Data; len(data) != 1 || data[0].DataRef != "region-object" {
		t.Errorf("it imports %+v", data)
	}
	if said := w.fleet.Status.Conditions; !strings.Contains(said[len(said)-1].Message, "Target lacks has no value for import size") {
		t.Errorf("it says %+v", said)
	}
}

// TestNames: names are stable, and fit.
func TestNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	if InstallationName("shop", "a") != "shop-a" || len(InstallationName("shop", long)) != v1alpha1.InstallationNameMaxLength || len(LabelValue(long)) != 63 {
		t.Error(InstallationName("shop", long), LabelValue(long))
	}
	if InstallationName("shop", long+"a") == InstallationName("shop", long+"b") {
		t.Error("two Targets have one name")
	}
}
