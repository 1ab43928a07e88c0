package model

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "repeat the history of one seed, with its trace")
	firstFlag = flag.Uint64("first", 1, "the first seed")
	everyFlag = flag.Uint64("every", 1, "the distance of the seeds: several processes share the histories")
	forFlag   = flag.Duration("for", 0, "how long to go on with more histories than usual; 0 means until they are over")
	histories = flag.Int("histories", 0, "how many histories; 0 means as many as a unit test may take")
)

// weather is what a history has to stand.
func weather(seed uint64) rates {
	r := winds(seed)
	r.news = []float64{0.3, 0.1, 0.6}[seed/16%3]
	r.late = []kind{"", "DeployItem", "Execution", "Installation"}[seed/48%4]
	r.deaf = append([]string{""}, laneNames...)[seed/192%4]
	r.confined, r.slowSpace = seed/3%2 == 0, append([]string{""}, spaces...)[seed/6%3]
	r.moves, r.syncs = seed/5%2 == 0, seed/7%3 == 0
	r.shoots = seed/11%3 == 0
	r.outside, r.slow = seed/4%3 == 0, seed/12%3 == 0
	return r
}

// winds are what goes wrong.
func winds(seed uint64) rates {
	switch seed % 4 {
	case 0:
		return rates{}
	case 1:
		return rates{crash: 0.05, haste: 0.03, faults: map[faultKind]float64{faultCut: 0.02, faultStop: 0.02, faultHandover: 0.02}}
	case 2:
		return rates{faults: map[faultKind]float64{faultDown: 0.05, faultLost: 0.05, faultConflict: 0.05}, haste: 0.05}
	}
	return rates{crash: 0.1, haste: 0.05, faults: map[faultKind]float64{faultDown: 0.1, faultLost: 0.1, faultConflict: 0.1, faultCut: 0.01, faultStop: 0.01, faultHandover: 0.01}}
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
	if w.rates.syncs {
		w.syncAgain()
		w.checkSyncs()
		w.checkRotations()
	}
	w.lookAgain()
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
	for _, key := range keysOf(w.store.objects["TargetSync"]) {
		must(w.store.remove(w.store.objects["TargetSync"][key], nil))
	}
	w.seed.end()
	w.settle()
	w.checkEmpty()
}

// TestHistories lets worlds live through random histories. A failure is repeated with
// -seed.
func TestHistories(t *testing.T) { liveAll(t, 150, live) }

// TestHistoriesGoBack: the store is restored from a backup below a process that has written more
// since. Everything comes to rest, without that a deadline has to end a wait, and can be deleted.
func TestHistoriesGoBack(t *testing.T) { liveAll(t, 60, rewound) }

// liveAll lets worlds live through as many histories as are asked for, or usual.
func liveAll(t *testing.T, usual int, live func(seed uint64) *world) {
	if *seedFlag != 0 {
		synctest.Test(t, func(t *testing.T) {
			w := live(*seedFlag)
			t.Log(w.last(len(w.trace)))
			if w.broken != nil {
				t.Fatalf("seed %d: %v", *seedFlag, w.broken)
			}
		})
		return
	}
	most := uint64(cmp.Or(*histories, usual))
	if *everyFlag == 1 && *histories > usual && runtime.NumCPU() > 1 {
		spread(t, most)
		return
	}
	// Worlds are short-lived garbage: collecting it less often is twice as fast.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var all counts
	failed, lived := 0, 0
	begun := time.Now()
	// One bubble for all: what the process shares must not know of several clocks.
	synctest.Test(t, func(t *testing.T) {
		for seed := *firstFlag; seed < *firstFlag+most && failed < 5; seed += *everyFlag {
			w := live(seed)
			all.add(w.counts)
			if lived++; lived%1000 == 0 {
				t.Logf("%d histories, the last one is %d", lived, seed)
			}
			if w.broken != nil {
				failed++
				t.Errorf("seed %d: %v\nrepeat it with: go test ./test/model -run '%s$' -seed %d\nthe end of the trace:\n%s", seed, w.broken, t.Name(), seed, w.last(60))
			}
		}
	})
	passed := time.Since(begun).Seconds()
	t.Logf("%d histories, %.0f a second, %.0f reconciles a second: %+v", lived, float64(lived)/passed, float64(all.reconciles)/passed, all)
}

// spread lets several processes live through histories, one for each processor: within a process
// there is one clock for all. When a history breaks, the others need not go on.
func spread(t *testing.T, most uint64) {
	processes := uint64(runtime.NumCPU())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if *forFlag > 0 {
		defer time.AfterFunc(*forFlag, stop).Stop()
	}
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			command := exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "0",
				"-histories", fmt.Sprint(most-i), "-first", fmt.Sprint(*firstFlag+i), "-every", fmt.Sprint(processes))
			command.Env = append(os.Environ(), "GOMAXPROCS=1")
			command.Stdout, command.Stderr = os.Stdout, os.Stderr
			if err := command.Run(); err != nil && ctx.Err() == nil {
				t.Errorf("histories %d, %d, ...: %v", *firstFlag+i, *firstFlag+i+processes, err)
				stop()
			}
		})
	}
	group.Wait()
}
