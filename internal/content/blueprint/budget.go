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
	// defaultUnpacked is what all others may have together, those in the cache included.
	defaultUnpacked = 192 << 20
	// longestWait is how long a large blueprint waits for others, recheck how often it looks.
	longestWait, recheck = 20 * time.Second, 50 * time.Millisecond
)

// budget is what the files of large blueprints may take in this process, from the first byte that is
// unpacked until no job uses the blueprint any more.
type budget struct {
	limit int64
	wait  time.Duration

	mutex sync.Mutex
	used  int64
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
	for deadline := time.Now().Add(l.budget.wait); !l.budget.take(wanted); {
		if time.Now().After(deadline) {
			return archive.ErrBusy
		}
		// What the last jobs have left is still counted.
		runtime.GC()
		select {
		case <-l.ctx.Done():
			return l.ctx.Err() // the caller gave up
		case <-time.After(recheck):
		}
	}
	l.taken += wanted
	return nil
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
