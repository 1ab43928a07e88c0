package cli

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// waitLimit is when a test gives up waiting for an event.
const waitLimit = 3 * time.Minute

// lines collects text that a process writes and lets a test wait for a part of it.
type lines struct {
	mutex   sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func newLines() *lines { return &lines{changed: make(chan struct{})} }

// Write implements io.Writer.
func (l *lines) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.text.Write(text)
}

// String returns the text so far.
func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

func (l *lines) state() (string, <-chan struct{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String(), l.changed
}

// await returns when the text contains a part.
func (l *lines) await(t *testing.T, part string) {
	t.Helper()
	deadline := time.After(waitLimit)
	for {
		text, changed := l.state()
		if strings.Contains(text, part) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%q did not come within %s; there is\n%s", part, waitLimit, text)
		}
	}
}
