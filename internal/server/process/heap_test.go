package process

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGrowth(t *testing.T) {
	for _, test := range []struct {
		reason string
		alive  uint64
		want   int
	}{
		{"nothing was collected yet", 0, most},
		{"next to nothing is alive", 1 << 20, most},
		{"a small server", 20 << 20, 200},
		{"in steps", 21 << 20, 200},
		{"half of the floor grows to it as ever", heapFloor / 2, usual},
		{"more grows as ever", heapFloor/2 + 1, usual},
		{"a large server", 4 << 30, usual},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := growth(test.alive); got != test.want {
				t.Errorf("%d %%, want %d", got, test.want)
			}
		})
	}
}

// TestKeepHeapFloor: the growth follows what each collection finds alive.
func TestKeepHeapFloor(t *testing.T) {
	before := debug.SetGCPercent(usual)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Run("GOGC overrides the floor", func(t *testing.T) {
		t.Setenv("GOGC", "100")
		KeepHeapFloor()
		if now := debug.SetGCPercent(usual); now != usual {
			t.Errorf("%d %%", now)
		}
	})
	t.Run("each collection is noticed", func(t *testing.T) {
		seen := make(chan struct{}, 1)
		AfterEachCollection(func() {
			select {
			case seen <- struct{}{}:
			default:
			}
		})
		for range 3 {
			runtime.GC()
			<-seen
		}
	})
	t.Run("a process with little to keep grows more", func(t *testing.T) {
		t.Setenv("GOGC", "")
		KeepHeapFloor()
		if now := debug.SetGCPercent(usual); now <= usual {
			t.Errorf("%d %%", now)
		}
	})
}
