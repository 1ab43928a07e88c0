package fleet

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// world has a Fleet, and carries out what is decided.
type world struct {
	t       *testing.T
	now     time.Time
	fleet   *fleetv1alpha1.Fleet
	targets []*v1alpha1.Target
	insts   map[string]*v1alpha1.Installation
	fleets  map[types.UID]string
	objects map[string]bool
	known   map[string]Content
	opens   bool
	found   string
	// bad says with which version jobs fail.
	bad func(inst *v1alpha1.Installation, version string) bool
	// writes are the names of those that were made, by their kinds; perInst counts them.
	writes  []string
	perInst map[string]int
	stores  int
	// made keeps tests with many Targets fast: no Target of a world changes.
	made map[MadeFor]*Desired
}

func newWorld(t *testing.T, names ...string) *world {
	w := &world{
		t: t, now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), insts: map[string]*v1alpha1.Installation{}, fleets: map[types.UID]string{"f": "shop"},
		objects: map[string]bool{}, known: map[string]Content{}, made: map[MadeFor]*Desired{}, perInst: map[string]int{}, bad: func(*v1alpha1.Installation, string) bool { return false },
	}
	w.fleet = &fleetv1alpha1.Fleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "shop", UID: "f", Generation: 1},
		Spec: fleetv1alpha1.FleetSpec{
			Targets:  fleetv1alpha1.FleetTargets{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"shop": "yes"}}},
			Template: fleetv1alpha1.FleetTemplate{TargetImport: "cluster", Spec: v1alpha1.InstallationSpec{ComponentDescriptor: &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.com/shop"}}}},
			Version:  &fleetv1alpha1.FleetVersion{Version: "1.0.0"},
			Rollout:  &fleetv1alpha1.Rollout{},
		},
	}
	for _, name := range names {
		w.add(name, nil)
	}
	return w
}

func (w *world) add(name string, labels map[string]string) *v1alpha1.Target {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: name, Labels: with(map[string]string{"shop": "yes"}, labels)}}
	w.targets = append(w.targets, target)
	return target
}

func (w *world) remove(names ...string) {
	w.targets = slices.DeleteFunc(w.targets, func(t *v1alpha1.Target) bool { return slices.Contains(names, t.Name) })
}

func (w *world) observe() *Observation {
	return &Observation{
		Fleet: w.fleet, Targets: w.targets, Installations: slices.Collect(maps.Values(w.insts)), Fleets: w.fleets,
		Exists: func(name string) bool { return w.objects[name] }, Contents: w.known, Listed: true, Found: w.found,
		Managed: func(*v1alpha1.Installation) string { return "" }, Made: w.made,
	}
}

// step makes one decision and carries it out. It returns false if there was nothing to do.
func (w *world) step() bool {
	o := w.observe()
	out, err := Decide(o, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	if out.Asks != nil {
		o.Verdicts = map[string]Verdict{}
		for _, gate := range out.Asks.Wave.Gates {
			o.Verdicts[gate.Name] = Verdict{Open: w.opens, Message: "not yet"}
		}
		if out, err = Decide(o, w.now); err != nil {
			w.t.Fatal(err)
		}
	}
	if !out.Wake.Recorded() {
		w.t.Fatal("the decision has no wake")
	}
	if out.Store != nil {
		name, err := out.Store.Revision(w.fleet.Name)
		if err != nil {
			w.t.Fatal(err)
		}
		w.known[name] = *out.Store
		w.stores++
		return true
	}
	same := fmt.Sprint(w.fleet.Status) == fmt.Sprint(out.Status)
	w.fleet.Status = out.Status
	if out.Entered {
		return true
	}
	for _, write := range out.Writes {
		w.carryOut(write)
	}
	return !same || len(out.Writes) > 0
}

func (w *world) carryOut(write Write) {
	inst := write.Installation
	w.writes = append(w.writes, string(write.Kind)+" "+inst.Name)
	w.perInst[inst.Name]++
	if write.Kind == Delete {
		delete(w.insts, inst.Name)
		return
	}
	before := w.insts[inst.Name]
	if before == nil {
		inst.UID, inst.Generation = types.UID(inst.Name), 1
	} else if a, _ := SpecDigest(&before.Spec); a != "" {
		if b, _ := SpecDigest(&inst.Spec); a != b {
			inst.Generation++
		}
	}
	w.insts[inst.Name] = inst
}

// jobs ends all jobs.
func (w *world) jobs() {
	for _, inst := range w.insts {
		if inst.Annotations[v1alpha1.OperationAnnotation] == "" {
			continue
		}
		delete(inst.Annotations, v1alpha1.OperationAnnotation)
		status := &inst.Status
		status.JobID += "i"
		status.JobIDFinished, status.ObservedGeneration, status.InstallationPhase = status.JobID, inst.Generation, v1alpha1.InstallationPhases.Succeeded
		if w.bad(inst, versionOf(inst)) {
			status.InstallationPhase = v1alpha1.InstallationPhases.Failed
		}
	}
}

func versionOf(inst *v1alpha1.Installation) string {
	return inst.Spec.ComponentDescriptor.Reference.Version
}

// rest makes steps until there is nothing to do.
func (w *world) rest() {
	for range 50 {
		if !w.step() {
			return
		}
	}
	w.t.Fatalf("it does not come to rest: %v", w.writes)
}

// settle lets jobs end, too.
func (w *world) settle() {
	for range 300 {
		w.rest()
		before := len(w.writes)
		w.jobs()
		if w.rest(); before == len(w.writes) && !w.active() {
			return
		}
	}
	w.t.Fatalf("it does not settle: %v", w.writes)
}

func (w *world) active() bool {
	for _, inst := range w.insts {
		if inst.Annotations[v1alpha1.OperationAnnotation] != "" {
			return true
		}
	}
	return false
}

func (w *world) version(version string) {
	w.fleet.Spec.Version = &fleetv1alpha1.FleetVersion{Version: version}
	w.fleet.Generation++
	w.writes, w.perInst = nil, map[string]int{}
}

// states are those of the waves.
func (w *world) states() string {
	var said []string
	for _, wave := range w.fleet.Status.Waves {
		said = append(said, wave.Name+"="+string(wave.State))
	}
	return strings.Join(said, " ")
}

// versions are those of the Installations, by their targets.
func (w *world) versions() string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(w.insts)) {
		said = append(said, strings.TrimPrefix(name, "shop-")+"="+versionOf(w.insts[name]))
	}
	return strings.Join(said, " ")
}

func (w *world) reason(kind string) string {
	for _, condition := range w.fleet.Status.Conditions {
		if condition.Type == kind {
			return condition.Reason
		}
	}
	return ""
}

func (w *world) want(versions, states, ready string) {
	w.t.Helper()
	if got := w.versions(); got != versions {
		w.t.Errorf("versions are %s, want %s", got, versions)
	}
	if got := w.states(); got != states {
		w.t.Errorf("waves are %s, want %s", got, states)
	}
	if got := w.reason(fleetv1alpha1.ReadyCondition); got != ready {
		w.t.Errorf("reason is %s, want %s: %+v", got, ready, w.fleet.Status.Conditions)
	}
}

func byLabel(name, key, value string) fleetv1alpha1.Wave {
	return fleetv1alpha1.Wave{Name: name, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
}

// canaryWorld has a Fleet at a good version: a and b in the first wave, c and d in the second.
func canaryWorld(t *testing.T, action fleetv1alpha1.FailureAction) *world {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		labels := map[string]string{}
		if name < "c" {
			labels["canary"] = "yes"
		}
		w.add(name, labels)
	}
	w.fleet.Spec.Rollout = &fleetv1alpha1.Rollout{Waves: []fleetv1alpha1.Wave{byLabel("canary", "canary", "yes")}, OnFailure: action}
	w.settle()
	w.want("a=1.0.0 b=1.0.0 c=1.0.0 d=1.0.0", "canary=Done rest=Done", "UpToDate")
	return w
}

// TestStableWaves: while a Fleet grows, no Target that has an Installation changes its wave.
func TestStableWaves(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		waves := []fleetv1alpha1.Wave{byLabel("first", "canary", "yes")}
		for i := range 1 + random.IntN(4) {
			wave := fleetv1alpha1.Wave{Name: fmt.Sprintf("w%d", i), Percent: int32(1 + random.IntN(60))}
			if random.IntN(4) == 0 {
				wave.Percent, wave.Count = 0, int32(1+random.IntN(5))
			}
			waves = append(waves, wave)
		}
		waves = append(waves, fleetv1alpha1.Wave{Name: RestWave})
		var all []candidate
		for len(all) < 100 {
			for range 1 + random.IntN(20) {
				all = append(all, candidate{name: fmt.Sprint(random.Uint64())})
			}
			assigned, err := assign(waves, all)
			if err != nil || len(assigned) != len(all) {
				t.Fatal(len(assigned), err)
			}
			for i := range all {
				got := waves[assigned[all[i].name]].Name
				if before := all[i].wave; before != "" && before != got {
					t.Fatalf("of %d, %s was in %s, and is in %s: %+v", len(all), all[i].name, before, got, waves)
				}
				all[i].wave = got
			}
			random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		}
	}
}

// TestWavesAreAdded: a Fleet that had no waves gets some, and each has its share.
func TestWavesAreAdded(t *testing.T) {
	var all []candidate
	for i := range 20 {
		all = append(all, candidate{name: fmt.Sprint(i), wave: RestWave})
	}
	assigned, err := assign([]fleetv1alpha1.Wave{{Name: "one", Count: 1}, {Name: "few", Percent: 5}, {Name: "more", Percent: 20}, {Name: RestWave}}, all)
	counts := map[int]int{}
	for _, wave := range assigned {
		counts[wave]++
	}
	if err != nil || counts[0] != 1 || counts[1] != 1 || counts[2] != 4 {
		t.Error(counts, err)
	}
}

// TestScale: what a roll-out to so many Targets costs in decisions and writes. The time of a decision
// grows with the Targets, and not with their square.
func TestScale(t *testing.T) {
	for _, count := range []int{10, 100, 1000} {
		w := newWorld(t)
		for i := range count {
			w.add(fmt.Sprintf("t%04d", i), nil)
		}
		w.fleet.Spec.Rollout.Waves = []fleetv1alpha1.Wave{{Name: "few", Percent: 5, MaxParallel: 50}, {Name: "all", MaxParallel: 100}}
		w.settle()
		w.version("2.0.0")
		w.settle()
		if len(w.writes) != count || len(w.fleet.Status.Waves) != 2 || w.fleet.Status.Counts.Succeeded != int32(count) {
			t.Errorf("%d writes, %+v", len(w.writes), w.fleet.Status)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, count := range []int{10, 100, 1000} {
		w := newWorld(&testing.T{})
		for i := range count {
			w.add(fmt.Sprintf("t%04d", i), nil)
		}
		w.fleet.Spec.Rollout.Waves = []fleetv1alpha1.Wave{{Name: "few", Percent: 5, MaxParallel: 50}, {Name: "all", MaxParallel: 100}}
		w.settle()
		o, digests := w.observe(), map[string]string{}
		o.Made = map[MadeFor]*Desired{}
		for _, inst := range o.Installations {
			digest, err := SpecDigest(&inst.Spec)
			if err != nil {
				b.Fatal(err)
			}
			digests[inst.Name] = digest
		}
		o.SpecDigest = func(inst *v1alpha1.Installation) (string, error) { return digests[inst.Name], nil }
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decide(o, w.now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
