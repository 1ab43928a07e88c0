// Package parallel does several things at the same time, but not too many.
package parallel

import "sync"

// Width is the number of requests that the work on one item makes at the same
// time.
const Width = 8

// Do calls a function for each index and returns when all calls have returned. No
// more than Width calls run at the same time.
func Do(count int, call func(index int)) {
	if count == 1 {
		call(0)
		return
	}
	var group sync.WaitGroup
	free := make(chan struct{}, Width)
	for index := range count {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			call(index)
		})
	}
	group.Wait()
}
