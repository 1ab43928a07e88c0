package parallelize

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	for _, count := range []int{0, 1, 2, Parallelism, 3*Parallelism + 1} {
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
	Do(5*Parallelism, func(int) {
		mutex.Lock()
		running++
		most = max(most, running)
		reached := running == Parallelism
		mutex.Unlock()
		if reached {
			once.Do(func() { close(full) })
		}
		<-full
		mutex.Lock()
		running--
		mutex.Unlock()
	})
	if most != Parallelism {
		t.Errorf("%d calls at the same time, want %d", most, Parallelism)
	}
}

// TestPanic shows that a panic reaches the caller, after all other calls: it must not
// end the process.
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

func TestUntil(t *testing.T) {
	broken := func(i int) error { return fmt.Errorf("number %d", i) }
	inOrder := func(count int, call func(int)) {
		for i := range count {
			call(i)
		}
	}
	backwards := func(count int, call func(int)) {
		for i := range count {
			call(count - 1 - i)
		}
	}
	tests := []struct {
		reason string
		each   Parallelizer
		fails  []int
		want   string
		calls  int32
	}{
		{"nothing fails", nil, nil, "<nil>", 100},
		{"in order, nothing begins after the first failure", inOrder, []int{3, 7}, "number 3", 4},
		{"in reverse order, the first failed call counts, and nothing begins after it", backwards, []int{3, 7}, "number 7", 93},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var calls atomic.Int32
			err := Until(test.each, 100, func(i int) error {
				calls.Add(1)
				if slices.Contains(test.fails, i) {
					return broken(i)
				}
				return nil
			})
			if fmt.Sprint(err) != test.want || calls.Load() != test.calls {
				t.Errorf("got %v after %d calls, want %s after %d", err, calls.Load(), test.want, test.calls)
			}
		})
	}
	t.Run("after a failure of a parallel call, running calls end and no other begins", func(t *testing.T) {
		var calls atomic.Int32
		var group sync.WaitGroup
		group.Add(Parallelism)
		err := Until(nil, 10*Parallelism, func(i int) error {
			calls.Add(1)
			group.Done()
			group.Wait()
			return broken(i)
		})
		if err == nil || err.Error() != "number 0" || calls.Load() != Parallelism {
			t.Errorf("got %v after %d calls", err, calls.Load())
		}
	})
	t.Run("after a panic, no other call begins", func(t *testing.T) {
		var calls atomic.Int32
		var group sync.WaitGroup
		group.Add(Parallelism)
		defer func() {
			if cause := recover(); cause == nil || calls.Load() != Parallelism {
				t.Errorf("panic %v after %d calls", cause, calls.Load())
			}
		}()
		_ = Until(nil, 10*Parallelism, func(int) error {
			if calls.Add(1) <= Parallelism {
				group.Done()
			}
			group.Wait()
			panic("broken")
		}) // it never returns
	})
}
