// Package parallelize does several things at the same time, but not too many.
package parallelize

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Parallelism is the number of calls that run at the same time, mostly requests of the work on
// one object. Calls within a call are as many again.
const Parallelism = 8

// Do calls a function for each index and returns when all calls have returned. No
// more than Parallelism calls run at the same time. A panic in a call comes out of Do, where
// the caller can recover it: in the goroutine of the call it would end the process.
func Do(count int, call func(index int)) {
	if count == 1 {
		call(0)
		return
	}
	var group sync.WaitGroup
	var once sync.Once
	var broken *Panic
	free := make(chan struct{}, Parallelism)
	for index := range count {
		free <- struct{}{}
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					once.Do(func() { broken = newPanic(cause) })
				}
				<-free
			}()
			call(index)
		})
	}
	group.Wait()
	if broken != nil {
		panic(broken)
	}
}

// Panic is a panic of another goroutine.
type Panic struct {
	Cause any
	// Stack is where it came from, for logs, and Came the same as program counters.
	Stack   []byte
	Callers []uintptr
}

// newPanic describes a panic that is being recovered. A panic of nested calls has its cause
// and its location already.
func newPanic(cause any) *Panic {
	if within, ok := cause.(*Panic); ok {
		return within
	}
	var counters [64]uintptr
	return &Panic{Cause: cause, Stack: debug.Stack(), Callers: counters[:runtime.Callers(1, counters[:])]}
}

// String shows the cause and where it came from, for logs.
func (p *Panic) String() string { return fmt.Sprintf("%v\n%s", p.Cause, p.Stack) }

// Parallelizer calls a function for each index, as Do does. A test chooses the order with one of
// its own.
type Parallelizer func(count int, call func(index int))

func (e Parallelizer) orDefault() Parallelizer {
	if e == nil {
		return Do
	}
	return e
}

// All makes calls that do not need each other. Without each, it uses Do.
func All(each Parallelizer, calls ...func()) {
	each.orDefault()(len(calls), func(i int) { calls[i]() })
}

// Until calls a function for each index, and begins no more calls when one has failed or
// panicked. It returns the error of the first index that has one. Without each, it uses Do.
func Until(each Parallelizer, count int, call func(index int) error) error {
	errs := make([]error, count)
	var failed atomic.Bool
	each.orDefault()(count, func(i int) {
		if failed.Load() {
			return
		}
		ended := false
		defer func() {
			if !ended || errs[i] != nil {
				failed.Store(true)
			}
		}()
		errs[i] = call(i)
		ended = true
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
