package model

import (
	"flag"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "repeat the history of one seed, with its trace")
	firstFlag = flag.Uint64("first", 1, "the first seed")
	histories = flag.Int("histories", 0, "how many histories; 0 means as many as a unit test may take")
)

// weather is what a history has to stand.
func weather(seed uint64) rates {
	r := winds(seed)
	r.news = []float64{0.3, 0.1, 0.6}[seed/16%3]
	r.late = []kind{"", "DeployItem", "Execution", "Installation"}[seed/48%4]
	r.deaf = append([]string{""}, laneNames...)[seed/192%4]
	r.confined, r.slowSpace = seed/3%2 == 0, append([]string{""}, spaces...)[seed/6%3]
	r.moves = seed/5%2 == 0
	r.outside, r.slow = seed/4%3 == 0, seed/12%3 == 0
	return r
}

// winds are what goes wrong.
func winds(seed uint64) rates {
	switch seed % 4 {
	case 0:
		return rates{}
	case 1:
		return rates{crash: 0.05, haste: 0.03, faults: map[faultKind]float64{faultCut: 0.02, faultStop: 0.02}}
	case 2:
		return rates{faults: map[faultKind]float64{faultDown: 0.05, faultLost: 0.05, faultConflict: 0.05}, haste: 0.05}
	}
	return rates{crash: 0.1, haste: 0.05, faults: map[faultKind]float64{faultDown: 0.1, faultLost: 0.1, faultConflict: 0.1, faultCut: 0.01, faultStop: 0.01}}
}

// stormySteps is how long things go wrong in one history.
const stormySteps = 150

// live lets a world live through one history.
func live(seed uint64) *world {
	// Stored times have no parts of a second: a history begins with a whole one, so
	// that it is the same when it is repeated alone.
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	w := newWorld(seed, weather(seed))
	storm := stormySteps
	if w.rates.moves {
		storm *= 2
	}
	for range storm {
		w.step()
		if w.broken != nil {
			return w
		}
	}
	begun := time.Now()
	w.settle()
	w.checkSettled()
	if passed := time.Since(begun); passed > longWait {
		w.violate("it took %s until everything had settled: only a deadline has ended a wait", passed)
	}
	if w.broken != nil {
		return w
	}
	w.users.changeLate()
	w.settle()
	w.checkSettled()
	w.again()
	w.end()
	return w
}

// again: a restart changes nothing that has settled, and writes nothing.
func (w *world) again() {
	version := w.store.version
	w.note("restart")
	w.boot()
	w.settle()
	if w.store.version != version {
		w.violate("after a restart %d writes were made although everything had settled", w.store.version-version)
	}
}

// end: everything can be deleted, and nothing is left. A deletion that has failed because it was
// interrupted is asked for again.
func (w *world) end() {
	for _, key := range keysOf(w.store.objects["Installation"]) {
		inst := w.store.objects["Installation"][key].DeepCopyObject().(*v1alpha1.Installation)
		if parentOf(inst) != "-" {
			continue
		}
		w.note("end: delete %s", key.Name)
		if inst.DeletionTimestamp != nil {
			w.users.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
			continue
		}
		w.users.remove(inst)
	}
	w.settle()
	w.checkEmpty()
}

// TestHistories lets worlds live through random histories. A failure is repeated with
// -seed.
func TestHistories(t *testing.T) {
	if *seedFlag != 0 {
		synctest.Test(t, func(t *testing.T) {
			w := live(*seedFlag)
			t.Log(strings.Join(w.trace, "\n"))
			if w.broken != nil {
				t.Fatalf("seed %d: %v", *seedFlag, w.broken)
			}
		})
		return
	}
	most := *histories
	if most == 0 {
		most = 150
	}
	// Worlds are short-lived garbage: collecting it less often is twice as fast.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var all counts
	failed := 0
	begun := time.Now()
	// One bubble for all: what the process shares must not know of several clocks.
	synctest.Test(t, func(t *testing.T) {
		for seed := *firstFlag; seed < *firstFlag+uint64(most) && failed < 5; seed++ {
			w := live(seed)
			all.add(w.counts)
			if w.broken != nil {
				failed++
				from := max(0, len(w.trace)-40)
				t.Errorf("seed %d: %v\nrepeat it with: go test ./test/model -run TestHistories -seed %d\nthe end of the trace:\n%s", seed, w.broken, seed, strings.Join(w.trace[from:], "\n"))
			}
		}
	})
	passed := time.Since(begun).Seconds()
	t.Logf("%d histories, %.0f a second, %.0f reconciles a second: %+v", most, float64(most)/passed, float64(all.reconciles)/passed, all)
}
