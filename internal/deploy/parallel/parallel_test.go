package parallel

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	for _, count := range []int{0, 1, 2, Width, 3*Width + 1} {
		called := make([]atomic.Int32, count)
		Do(count, func(i int) { called[i].Add(1) })
		for i := range called {
			if n := called[i].Load(); n != 1 {
				t.Errorf("of %d calls number %d was made %d times", count, i, n)
			}
		}
	}
}

func TestDoIsBounded(t *testing.T) {
	var mutex sync.Mutex
	running, most := 0, 0
	full := make(chan struct{})
	var once sync.Once
	Do(5*Width, func(int) {
		mutex.Lock()
		running++
		most = max(most, running)
		reached := running == Width
		mutex.Unlock()
		if reached {
			once.Do(func() { close(full) })
		}
		<-full
		mutex.Lock()
		running--
		mutex.Unlock()
	})
	if most != Width {
		t.Errorf("%d calls at the same time, want %d", most, Width)
	}
}

// TestPanic shows that a panic reaches whoever called, after all other calls: it
// must not end the process.
func TestPanic(t *testing.T) {
	for _, count := range []int{1, 5} {
		var others atomic.Int32
		cause := func() (cause any) {
			defer func() { cause = recover() }()
			Do(count, func(i int) {
				if i == 0 {
					panic("broken")
				}
				others.Add(1)
			})
			return nil
		}()
		if cause == nil || int(others.Load()) != count-1 {
			t.Errorf("of %d calls: panic %v, %d others", count, cause, others.Load())
		}
		if shown, ok := cause.(*Panic); ok && (!strings.HasPrefix(shown.String(), "broken\n") || !strings.Contains(shown.String(), "parallel_test.go")) {
			t.Errorf("it does not say where it came from: %s", shown)
		}
	}
}
