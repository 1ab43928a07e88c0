package model

import (
	"time"

	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// rewound lets a world live through a history whose store is restored in the middle.
func rewound(seed uint64) *history {
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	h := begin(seed, world.Rates{News: []float64{0.3, 0.1}[seed%2], Deaf: append([]string{""}, world.LaneNames...)[seed/2%4], Confined: seed/3%2 == 0})
	h.left += 4
	var saved store.Backup
	first, then := 10+h.Random.IntN(stormySteps/2), 20+h.Random.IntN(stormySteps/2)
	for step := range first + then {
		if step == first {
			saved = h.Store.Backup()
		}
		h.Step()
		if h.Broken != nil {
			return h
		}
	}
	h.Restore(saved)
	h.trees.Restored()
	begun := time.Now()
	h.Settle()
	h.checkSettled()
	if passed := time.Since(begun); passed > world.LongWait {
		h.Violate("it took %s until everything had settled: only a deadline has ended a wait", passed)
	}
	if h.Broken == nil {
		// Plans of the other history may be left, which a restart finds.
		h.Boot()
		h.Settle()
		h.end()
	}
	return h
}
