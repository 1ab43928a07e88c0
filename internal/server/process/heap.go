package process

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapFloor is what a heap may grow to before it is collected. By itself Go collects
	// when it has doubled, which is all the time while it is small: a tenth of the CPU of
	// a server with little to keep.
	heapFloor = 64 << 20
	// usual is how much a heap grows by itself, in percent of what is alive.
	usual = 100
	// most bounds what a process grows to that has kept next to nothing.
	most = 400
)

// KeepHeapFloor lets a small heap grow to 64 MiB before it is collected; a larger one is
// collected as ever. Whoever sets GOGC decides, and GOMEMLIMIT holds in any case.
func KeepHeapFloor() {
	if os.Getenv("GOGC") != "" {
		return
	}
	set := usual
	adjust := func() {
		if percent := growth(aliveBytes()); percent != set {
			set = percent
			debug.SetGCPercent(set)
		}
	}
	adjust()
	afterEachCollection(adjust)
}

// growth is how much a heap may grow, in percent of what is alive.
func growth(alive uint64) int {
	if alive >= heapFloor {
		return usual
	}
	if alive == 0 {
		return most
	}
	percent := int((heapFloor - alive) * 100 / alive)
	// In steps, because a change stops the process for a moment.
	return min(max(percent/50*50, usual), most)
}

// aliveBytes is what the last collection has found alive.
func aliveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterEachCollection calls a function whenever the heap has been collected: nothing
// refers to the mark, so that each collection finds it.
func afterEachCollection(call func()) {
	type mark struct{ _ [16]byte }
	var again func(*mark)
	again = func(found *mark) {
		call()
		runtime.SetFinalizer(found, again)
	}
	runtime.SetFinalizer(&mark{}, again)
}
