// Package crashnote notes each attempt in a file before it begins, so that a process knows which
// attempts the one before it has not survived. Such an attempt comes after all others, with pauses
// that grow, and is refused after the third time: what ends a server once must not end it for ever.
//
// The file is local and costs no request: an emptyDir of a pod survives that the kernel kills the
// container. A note is a write into the page cache, which the end of a process does not lose.
//
// This package does not know what an attempt does.
package crashnote

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Key names an attempt: the same one in the next process.
type Key struct {
	// Kind, Namespace and Name are those of the object.
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// String names the object.
func (k Key) String() string { return k.Kind + " " + k.Namespace + "/" + k.Name }

// MaxEnds is how often an attempt may end the process.
const MaxEnds = 3

const (
	// firstPause is how long a namespace waits after an attempt of it has ended the process for the
	// first time; each further end doubles the pause.
	firstPause = 5 * time.Second
	maxPause   = 10 * time.Minute
	// memory is how long it counts that an attempt has ended the process.
	memory = time.Hour
	// turn is when an attempt asks again that waits for another one.
	turn = time.Second
)

// Postponed says that an attempt has to wait, because the process has ended in an attempt of the same
// namespace. Another try may succeed.
type Postponed struct {
	// Until is when to try again.
	Until time.Time
	// Ends is how often the process has ended in attempts of the namespace.
	Ends int
}

// Error implements error. Its text stays the same while the attempt waits for its time.
func (p *Postponed) Error() string {
	return fmt.Sprintf("the server ended during an attempt of this namespace: its attempts come after all others and one at a time, the next at %s", p.Until.UTC().Format("15:04:05 MST"))
}

// Timeout and Temporary make it a net.Error, which callers know to try again.
func (*Postponed) Timeout() bool { return false }

// Temporary reports that another attempt may succeed.
func (*Postponed) Temporary() bool { return true }

// GivenUp says that an attempt has ended the process too often.
type GivenUp struct {
	Key Key
	// Until is when the attempt is let begin again.
	Until time.Time
}

// Error implements error.
func (g *GivenUp) Error() string {
	return fmt.Sprintf("the server ended %d times during this attempt on %s, probably because it took more memory than the server has: make it smaller (fewer or smaller values, charts or objects) and ask for another job after %s", MaxEnds, g.Key, g.Until.UTC().Format("15:04:05 MST"))
}

// IsGivenUp reports whether an attempt has ended the process too often.
func IsGivenUp(err error) bool {
	var g *GivenUp
	return errors.As(err, &g)
}

// Notes are the notes of a process. Without a directory, nil, nothing is noted and each attempt begins.
// The mutex guards everything below it.
type Notes struct {
	options Options

	mutex sync.Mutex
	slots *slots
	known record
	// opened is when the process began.
	opened time.Time
	// running is the attempt of a suspicious namespace that runs; nil without one.
	running *Key
}

// Options are the clock and the pauses.
type Options struct {
	// Now is the clock; nil is that of the machine.
	Now func() time.Time
	// FirstPause and Turn replace the usual times.
	FirstPause, Turn time.Duration
}

// Open reads the notes of the process before, and begins those of this one.
func Open(directory string, options Options) (*Notes, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.FirstPause <= 0 {
		options.FirstPause = firstPause
	}
	if options.Turn <= 0 {
		options.Turn = turn
	}
	root, err := openRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("open the notes of attempts: %w", err)
	}
	n, err := open(root, options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the notes of attempts in %s: %w", directory, err), root.Close())
	}
	return n, nil
}

// openRoot opens a directory, and makes it if necessary.
func openRoot(directory string) (*os.Root, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err // names the directory
	}
	return os.OpenRoot(directory)
}

func open(root *os.Root, options Options) (*Notes, error) {
	slots, left, err := openSlots(root)
	if err != nil {
		return nil, err // names the file
	}
	n := &Notes{options: options, slots: slots, opened: options.Now()}
	if n.known, err = readRecord(root); err != nil {
		return nil, err // names the file
	}
	n.known.forget(n.opened)
	n.known.blame(left, n.opened)
	// The record is written before the notes are erased: an end in between counts twice rather than
	// never.
	if err := n.known.write(root); err != nil {
		return nil, err // names the file
	}
	return n, slots.erase()
}

// Close closes the file.
func (n *Notes) Close() error {
	if n == nil {
		return nil
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.slots.close()
}

// Suspicious reports whether the process has ended during an attempt of the same namespace.
func (n *Notes) Suspicious(key Key) bool {
	if n == nil {
		return false
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	_, known := n.known.Namespaces[key.Namespace]
	return known
}

// Ended lists the attempts that the process has ended in, with how often.
func (n *Notes) Ended() map[Key]int {
	ended := map[Key]int{}
	if n == nil {
		return ended
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, of := range n.known.Attempts {
		ended[of.Key] = of.Ends
	}
	return ended
}

// Begin notes that an attempt begins. The caller calls done when the attempt is over, whatever its
// result: the process has survived it. An error says that the attempt must not begin now (Postponed),
// or at all (GivenUp).
//
// An attempt that cannot be noted begins all the same: a full disk must not stop the work.
func (n *Notes) Begin(key Key) (done func(), err error) {
	if n == nil {
		return func() {}, nil
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if err := n.admit(key); err != nil {
		return nil, err
	}
	suspicious := n.known.Namespaces[key.Namespace] != nil
	if suspicious {
		n.running = &key
	}
	slot := n.slots.note(key)
	var once sync.Once
	return func() { once.Do(func() { n.end(key, slot, suspicious) }) }, nil
}

// admit says why an attempt must not begin.
func (n *Notes) admit(key Key) error {
	now := n.options.Now()
	if of := n.known.attempt(key); of != nil && of.Ends >= MaxEnds && now.Before(of.Last.Add(memory)) {
		return &GivenUp{Key: key, Until: of.Last.Add(memory)}
	}
	of := n.known.Namespaces[key.Namespace]
	if of == nil {
		return nil
	}
	if until := n.opened.Add(n.pause(of.Ends)); now.Before(until) {
		return &Postponed{Until: until, Ends: of.Ends}
	}
	if n.running != nil {
		return &Postponed{Until: now.Add(n.options.Turn), Ends: of.Ends}
	}
	return nil
}

// pause is how long a namespace waits after the start of the process.
func (n *Notes) pause(ends int) time.Duration {
	return min(n.options.FirstPause<<min(max(ends-1, 0), 16), maxPause)
}

// end notes that the process has survived an attempt. A namespace whose attempts have all been
// survived is not suspicious any more.
func (n *Notes) end(key Key, slot int, suspicious bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.slots.free(slot)
	if !suspicious {
		return
	}
	n.running = nil
	if n.known.survived(key) {
		// What cannot be written is survived once more by the next process.
		_ = n.known.write(n.slots.directory)
	}
}
