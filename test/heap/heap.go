// Package heap is test equipment: it measures what something takes in memory.
package heap

import (
	"runtime"
	"time"
)

// Peak measures how far the heap grows while something is done.
func Peak(do func()) uint64 {
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	runtime.GC()
	before, highest := heap(), uint64(0)
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return max(highest, heap()) - min(before, max(highest, heap()))
		case <-ticker.C:
			highest = max(highest, heap())
		}
	}
}
