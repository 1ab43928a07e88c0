// Package story reports what a program does, in one line for each step, with how long the step took.
// On a terminal, the line of a running step is replaced in place and shows what the step waits
// for. Anywhere else, a line is written when a step ends, so that a log has each step once.
package story

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
)

// Story reports steps, one after the other.
type Story struct {
	streams terminal.Streams
	now     func() time.Time
	// every is how often the running time is shown again; 0 is never.
	every time.Duration
}

// New returns a story on these streams.
func New(streams terminal.Streams) *Story {
	return &Story{streams: streams, now: time.Now, every: time.Second}
}

// Failure is a step that has failed.
type Failure struct {
	Step string
	// Waiting is what the step has waited for last, if it has said so.
	Waiting string
	Err     error
}

// Error implements error.
func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %v", f.Step, f.Err)
	if f.Waiting != "" {
		text += "\nlast seen: " + f.Waiting
	}
	return text
}

// Unwrap returns why the step has failed.
func (f *Failure) Unwrap() error { return f.Err }

// Step carries a step out. Each line that the step writes to progress takes the place of the line
// before as what the step waits for.
func (s *Story) Step(name string, do func(progress io.Writer) error) error {
	return s.StepTo(name, func(progress io.Writer) (string, error) { return name, do(progress) })
}

// StepTo is Step for a step that knows only at its end what it has done.
func (s *Story) StepTo(name string, do func(progress io.Writer) (done string, err error)) error {
	r := &running{story: s, name: name, began: s.now()}
	end := r.start()
	result, err := do(r)
	end()
	if err != nil {
		r.finish(name, false)
		return &Failure{Step: name, Waiting: r.waiting, Err: err}
	}
	r.finish(result, true)
	return nil
}

// Say writes a text between two steps. A terminal shows a long line as several.
func (s *Story) Say(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if s.streams.Terminal {
			line = strings.Join(treeview.Wrap(line, width(s.streams), 0), "\n")
		}
		s.write(line + "\n")
	}
}

// inPlace says whether lines can be replaced.
func (s *Story) inPlace() bool { return s.streams.Terminal && s.streams.Getenv("TERM") != "dumb" }

// write ignores errors: a story that is not read any more does not end the program.
func (s *Story) write(text string) { _, _ = io.WriteString(s.streams.Out, text) }

// running is a step that runs.
type running struct {
	story *Story
	name  string
	began time.Time

	mutex   sync.Mutex
	partial []byte
	waiting string
}

// start shows the step, again and again until the returned function is called.
func (r *running) start() (end func()) {
	r.show()
	if r.story.every == 0 || !r.story.inPlace() {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		clock := time.NewTicker(r.story.every)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				r.show()
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Write implements io.Writer.
func (r *running) Write(text []byte) (int, error) {
	r.mutex.Lock()
	for _, char := range text {
		if char != '\n' {
			r.partial = append(r.partial, char)
			continue
		}
		if line := wait(string(r.partial)); line != "" {
			r.waiting = line
		}
		r.partial = r.partial[:0]
	}
	r.mutex.Unlock()
	r.show()
	return len(text), nil
}

// show draws the line of the running step in its place.
func (r *running) show() {
	s := r.story
	if !s.inPlace() {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	s.write("\r" + runningLine(s.streams, r.name, r.waiting, s.now().Sub(r.began)) + terminal.ClearRight)
}

// finish replaces the line of the running step by that of its end.
func (r *running) finish(name string, good bool) {
	s := r.story
	line := endLine(s.streams, name, good, s.now().Sub(r.began))
	if s.inPlace() {
		line = "\r" + line + terminal.ClearRight
	}
	s.write(line + "\n")
}
