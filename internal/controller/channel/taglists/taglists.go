// Package taglists keeps the lists of tags that Channels have asked registries for. All Channels of one
// component that reach its repository with the same credentials share a list: one request serves them.
package taglists

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"go.landscaper.dev/internal/content/component/registry"
)

const (
	// MaxTags is how many tags a list may have.
	MaxTags = 10_000
	// maxTag is how long a tag is that is kept: as long as a tag may be.
	maxTag = 128
	// tagOverhead is what a tag costs beside its text, roughly.
	tagOverhead = 16
	// maxBytes is what all lists together may take. A list that was dropped is asked for anew.
	maxBytes = 64 << 20
	// maxLists is how many lists are remembered, the empty ones included.
	maxLists = 10_000
	// firstPause and longestPause are those after failures.
	firstPause   = 10 * time.Second
	longestPause = 10 * time.Minute
)

// Ask lists tags, unless the list still has the validator.
type Ask func(ctx context.Context, validator string, limit int) (list registry.TagList, changed bool, err error)

// Lists are those of a process.
type Lists struct {
	// Now is the clock.
	Now func() time.Time

	mutex sync.Mutex
	known map[string]*list
	bytes int
}

// List is a list of tags as a registry has sent it. It must not be changed.
type List struct {
	Tags []string
	// State distinguishes lists with other tags.
	State uint64
	// At is when the registry was asked last. All who share a list ask again from then on.
	At time.Time
	// Asked says that this call has asked the registry.
	Asked bool
}

type list struct {
	// turn has the place of the one who asks.
	turn chan struct{}

	List
	validator string
	bytes     int
	used      time.Time
	// err is what the last request ended with, at failedAt; the registry is left alone until retry.
	err             error
	failedAt, retry time.Time
	failures        int
}

// Get returns a list that is as new as a moment, and asks the registry for it if it has none that is new enough. After a
// failure, all get its error until the registry is asked again; retry is when.
func (l *Lists) Get(ctx context.Context, key string, notBefore time.Time, ask Ask) (found List, retry time.Time, err error) {
	one := l.of(key)
	select {
	case one.turn <- struct{}{}:
		defer func() { <-one.turn }()
	case <-ctx.Done():
		return List{}, time.Time{}, ctx.Err()
	}
	now := l.Now()
	one.used = now
	switch {
	case one.err != nil && now.Before(one.retry) && !one.failedAt.Before(notBefore):
		return List{}, one.retry, one.err
	case one.err == nil && !one.At.IsZero() && !one.At.Before(notBefore):
		found = one.List
		found.Asked = false
		return found, time.Time{}, nil
	}
	return l.ask(ctx, key, one, now, ask)
}

// ask asks the registry. The caller has the turn.
func (l *Lists) ask(ctx context.Context, key string, one *list, now time.Time, ask Ask) (List, time.Time, error) {
	answer, changed, err := ask(ctx, one.validator, MaxTags)
	if err != nil {
		if ctx.Err() != nil {
			// That one caller has ended says nothing about the registry.
			return List{}, time.Time{}, err
		}
		one.failures++
		one.err, one.failedAt = err, now
		one.retry = now.Add(Pause(key, one.failures))
		return List{}, one.retry, err
	}
	one.err, one.failures, one.At, one.Asked = nil, 0, now, true
	if changed {
		l.store(key, one, answer)
	}
	return one.List, time.Time{}, nil
}

// store keeps a new list, and drops others if they are too many.
func (l *Lists) store(key string, one *list, answer registry.TagList) {
	sum, size := fnv.New64a(), 0
	kept := answer.Tags[:0]
	for _, tag := range answer.Tags {
		if len(tag) > maxTag {
			continue // no registry may have it
		}
		kept = append(kept, tag)
		_, _ = sum.Write([]byte(tag + "\n")) // it never fails
		size += len(tag) + tagOverhead
	}
	one.Tags, one.State, one.validator = kept, sum.Sum64(), answer.Validator
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.known[key] != one {
		return // it was dropped in the meantime
	}
	l.bytes += size - one.bytes
	one.bytes = size
	for l.bytes > maxBytes && l.dropOldest(key) {
		continue
	}
}

// of returns what is known of a list.
func (l *Lists) of(key string) *list {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.known == nil {
		l.known = map[string]*list{}
	}
	if known, exists := l.known[key]; exists {
		return known
	}
	if len(l.known) >= maxLists {
		l.dropOldest(key)
	}
	added := &list{turn: make(chan struct{}, 1)}
	l.known[key] = added
	return added
}

// dropOldest forgets the list that was not used for the longest time, and is not in use now.
func (l *Lists) dropOldest(but string) bool {
	oldest, found := "", (*list)(nil)
	for key, one := range l.known {
		if key == but {
			continue
		}
		select {
		case one.turn <- struct{}{}:
		default:
			continue // it is in use, and its fields are not to be read
		}
		if found == nil || one.used.Before(found.used) {
			oldest, found = key, one
		}
		<-one.turn
	}
	if found == nil {
		return false
	}
	l.bytes -= found.bytes
	delete(l.known, oldest)
	return true
}

// Spread returns a number from 0 to 1 for a key: all who share a list wait as long, and those of different
// lists do not ask all at once.
func Spread(key string) float64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key)) // it never fails
	return float64(sum.Sum64()%1000) / 1000
}

// Pause returns how long a registry is left alone after some failures in a row.
func Pause(key string, failures int) time.Duration {
	pause := min(firstPause<<min(max(failures-1, 0), 10), longestPause)
	return time.Duration((0.75 + 0.25*Spread(key)) * float64(pause))
}
