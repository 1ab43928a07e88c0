package blueprint

import (
	"context"
	"runtime"
	"sync"
	"time"

	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
)

const (
	// maxPacked is how long the content of a resource may be, maxUnpacked what all files of a blueprint
	// may have together.
	maxPacked, maxUnpacked = 16 << 20, 32 << 20
	// freeBytes is what each blueprint may unpack without being counted: it is enough for almost all, so
	// that these never wait for large ones.
	freeBytes = 1 << 20
	// longestWait is how long a large blueprint waits for others.
	longestWait = 20 * time.Second
	// betweenCollections is how often those who wait may collect the heap, all together: it takes
	// time from everybody.
	betweenCollections = time.Second
)

// budget is what the files of large blueprints may take in this process, from the first byte that is
// unpacked until no job uses the blueprint any more.
type budget struct {
	limit int64
	wait  time.Duration

	mutex sync.Mutex
	used  int64
	// given is closed when something is given back; nil while no one waits.
	given chan struct{}
	// collected is when the heap was collected for those who wait.
	collected time.Time
}

func (b *budget) take(size int64) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.used+size > b.limit {
		return false
	}
	b.used += size
	return true
}

func (b *budget) give(size int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used -= size
	if b.given != nil {
		close(b.given)
		b.given = nil
	}
}

// changed returns what is closed when something is given back.
func (b *budget) changed() <-chan struct{} {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.given == nil {
		b.given = make(chan struct{})
	}
	return b.given
}

// collect collects the heap, unless that was done a moment ago: what the last jobs have left is
// counted until then.
func (b *budget) collect() {
	b.mutex.Lock()
	due := time.Since(b.collected) >= betweenCollections
	if due {
		b.collected = time.Now()
	}
	b.mutex.Unlock()
	if due {
		runtime.GC()
	}
}

// loan is what the unpacking of one blueprint has taken.
type loan struct {
	budget *budget
	//nolint:containedctx // a loan is for one call, whose readers have no context
	ctx         context.Context
	size, taken int64
}

// grow books further bytes, and waits for them. A nil loan counts nothing.
func (l *loan) grow(by int64) error {
	if l.size += by; l.size <= freeBytes+l.taken {
		return nil
	}
	wanted := l.size - freeBytes - l.taken
	// A loan grows in steps, so that few readers ask often.
	wanted = (wanted/freeBytes + 1) * freeBytes
	deadline := time.Now().Add(l.budget.wait)
	for {
		// Before the look, so that nothing is missed in between.
		given := l.budget.changed()
		if l.budget.take(wanted) {
			l.taken += wanted
			return nil
		}
		if !time.Now().Before(deadline) {
			return archive.ErrBusy
		}
		l.budget.collect()
		select {
		case <-l.ctx.Done():
			return l.ctx.Err() // the caller gave up
		case <-given:
		case <-time.After(min(betweenCollections, time.Until(deadline))):
		}
	}
}

// keep hands the loan over to the files: it ends when nothing refers to them any more.
func (l *loan) keep(files *memfs.Tree) {
	if l.taken > 0 {
		runtime.AddCleanup(files, l.budget.give, l.taken)
		l.taken = 0
	}
}

// end gives back what was not kept.
func (l *loan) end() {
	l.budget.give(l.taken)
	l.taken = 0
}
