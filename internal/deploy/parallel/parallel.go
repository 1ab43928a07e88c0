// Package parallel does several things at the same time, but not too many.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Width is the number of requests that the work on one item makes at the same
// time.
const Width = 8

// Do calls a function for each index and returns when all calls have returned. No
// more than Width calls run at the same time. A panic in a call comes out of Do,
// where whoever called can catch it: in a goroutine of its own it would end the
// process.
func Do(count int, call func(index int)) {
	if count == 1 {
		call(0)
		return
	}
	var group sync.WaitGroup
	var once sync.Once
	var broken *Panic
	free := make(chan struct{}, Width)
	for index := range count {
		free <- struct{}{}
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					once.Do(func() { broken = &Panic{Cause: cause, Stack: debug.Stack()} })
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
	// Stack is where it came from.
	Stack []byte
}

// String shows the cause and where it came from, for logs.
func (p *Panic) String() string { return fmt.Sprintf("%v\n%s", p.Cause, p.Stack) }
