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
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "repeat the history of one seed, with its trace")
	firstFlag = flag.Uint64("first", 1, "the first seed")
	everyFlag = flag.Uint64("every", 1, "the distance of the seeds: several processes share the histories")
	forFlag   = flag.Duration("for", 0, "how long to go on with more histories than usual; 0 means until they are over")
	histories = flag.Int("histories", 0, "how many histories; 0 means as many as a unit test may take")
)

// weather is what a history has to stand.
func weather(seed uint64) world.Rates {
	r := winds(seed)
	r.News = []float64{0.3, 0.1, 0.6}[seed/16%3]
	r.Late = []store.Kind{"", "DeployItem", "Execution", "Installation"}[seed/48%4]
	r.Deaf = append([]string{""}, world.LaneNames...)[seed/192%4]
	r.Confined, r.SlowSpace = seed/3%2 == 0, append([]string{""}, world.Spaces...)[seed/6%3]
	r.Moves, r.Syncs = seed/5%2 == 0, seed/7%3 == 0
	r.Shoots = seed/11%3 == 0
	r.Outside, r.Slow = seed/4%3 == 0, seed/12%3 == 0
	return r
}

// winds are what goes wrong.
func winds(seed uint64) world.Rates {
	switch seed % 4 {
	case 0:
		return world.Rates{}
	case 1:
		return world.Rates{Crash: 0.05, Haste: 0.03, Faults: map[world.FaultKind]float64{world.FaultCut: 0.02, world.FaultStop: 0.02, world.FaultHandover: 0.02}}
	case 2:
		return world.Rates{Faults: map[world.FaultKind]float64{world.FaultDown: 0.05, world.FaultLost: 0.05, world.FaultConflict: 0.05}, Haste: 0.05}
	}
	return world.Rates{Crash: 0.1, Haste: 0.05, Faults: map[world.FaultKind]float64{world.FaultDown: 0.1, world.FaultLost: 0.1, world.FaultConflict: 0.1, world.FaultCut: 0.01, world.FaultStop: 0.01, world.FaultHandover: 0.01}}
}

// stormySteps is how long things go wrong in one history.
const stormySteps = 150

// live lets a world live through one history.
func live(seed uint64) *history {
	// Stored times have no parts of a second: a history begins with a whole one, so
	// that it is the same when it is repeated alone.
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	h := begin(seed, weather(seed))
	storm := stormySteps
	if h.Rates.Moves {
		storm *= 2
	}
	for range storm {
		h.Step()
		if h.Broken != nil {
			return h
		}
	}
	begun := time.Now()
	h.Settle()
	h.checkSettled()
	if passed := time.Since(begun); passed > world.LongWait {
		h.Violate("it took %s until everything had settled: only a deadline has ended a wait", passed)
	}
	if h.Broken != nil {
		return h
	}
	h.trees.Users.ChangeLate()
	h.Settle()
	h.checkSettled()
	if h.Rates.Syncs {
		h.garden.SyncAgain()
		h.garden.CheckSyncs()
		h.garden.CheckRotations()
	}
	h.seed.LookAgain()
	h.again()
	h.end()
	return h
}

// again: a restart changes nothing that has settled, and writes nothing.
func (h *history) again() {
	version := h.Store.Version
	h.Note("restart")
	h.Boot()
	h.Settle()
	if h.Store.Version != version {
		h.Violate("after a restart %d writes were made although everything had settled", h.Store.Version-version)
	}
}

// end: everything can be deleted, and nothing is left. A deletion that has failed because it was
// interrupted is asked for again.
func (h *history) end() {
	for _, key := range store.KeysOf(h.Store.Objects["Installation"]) {
		inst := h.Store.Objects["Installation"][key].DeepCopyObject().(*v1alpha1.Installation)
		if world.ParentOf(inst) != "-" {
			continue
		}
		h.Note("end: delete %s", key.Name)
		if inst.DeletionTimestamp != nil {
			h.trees.Users.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
			continue
		}
		h.trees.Users.Remove(inst)
	}
	for _, key := range store.KeysOf(h.Store.Objects["TargetSync"]) {
		world.Must(h.Store.Remove(h.Store.Objects["TargetSync"][key], nil))
	}
	h.seed.End()
	h.Settle()
	h.checkEmpty()
}

// TestHistories lets worlds live through random histories. A failure is repeated with
// -seed.
func TestHistories(t *testing.T) { liveAll(t, 150, live) }

// TestHistoriesGoBack: the store is restored from a backup below a process that has written more
// since. Everything comes to rest, without that a deadline has to end a wait, and can be deleted.
func TestHistoriesGoBack(t *testing.T) { liveAll(t, 60, rewound) }

// liveAll lets worlds live through as many histories as are asked for, or usual.
func liveAll(t *testing.T, usual int, live func(seed uint64) *history) {
	if *seedFlag != 0 {
		synctest.Test(t, func(t *testing.T) {
			h := live(*seedFlag)
			t.Log(h.Last(len(h.Trace)))
			if h.Broken != nil {
				t.Fatalf("seed %d: %v", *seedFlag, h.Broken)
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
	var all world.Counts
	failed, lived := 0, 0
	begun := time.Now()
	// One bubble for all: what the process shares must not know of several clocks.
	synctest.Test(t, func(t *testing.T) {
		for seed := *firstFlag; seed < *firstFlag+most && failed < 5; seed += *everyFlag {
			h := live(seed)
			all.Add(h.Counts)
			if lived++; lived%1000 == 0 {
				t.Logf("%d histories, the last one is %d", lived, seed)
			}
			if h.Broken != nil {
				failed++
				t.Errorf("seed %d: %v\nrepeat it with: go test ./test/model -run '%s$' -seed %d\nthe end of the trace:\n%s", seed, h.Broken, t.Name(), seed, h.Last(60))
			}
		}
	})
	passed := time.Since(begun).Seconds()
	t.Logf("%d histories, %.0f a second, %.0f reconciles a second: %+v", lived, float64(lived)/passed, float64(all.Reconciles)/passed, all)
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
