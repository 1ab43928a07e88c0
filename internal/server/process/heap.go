package process

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapFloor is the size that a heap may reach before it is collected. By default Go collects
	// when the heap has doubled, which happens all the time while it is small: a tenth of the CPU
	// of a server with little data.
	heapFloor = 64 << 20
	// usual is Go's default growth of a heap, in percent of the live heap.
	usual = 100
	// most limits the growth of a process with a tiny live heap.
	most = 400
)

// KeepHeapFloor lets a small heap grow to 64 MiB before it is collected; a larger one is collected
// as usual. GOGC overrides this, and GOMEMLIMIT holds in any case.
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
	AfterEachCollection(adjust)
}

// growth is how much a heap may grow, in percent of the live heap.
func growth(alive uint64) int {
	if alive >= heapFloor {
		return usual
	}
	if alive == 0 {
		return most
	}
	percent := int(min((heapFloor-alive)*100/alive, most))
	// Rounded to steps, because a change stops the process for a moment.
	return max(percent/50*50, usual)
}

// aliveBytes is the live heap of the last collection.
func aliveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// AfterEachCollection calls a function whenever the heap has been collected: nothing refers to the
// marker object, so each collection frees it.
func AfterEachCollection(call func()) {
	type mark struct{ _ [16]byte }
	var again func(*mark)
	again = func(found *mark) {
		call()
		runtime.SetFinalizer(found, again)
	}
	runtime.SetFinalizer(&mark{}, again)
}
