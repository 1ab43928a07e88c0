package crashnote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// server is a process that is started again and again on one directory, with a clock of the test.
type server struct {
	t         *testing.T
	directory string
	now       time.Time
	notes     *Notes
}

func newServer(t *testing.T) *server {
	s := &server{t: t, directory: filepath.Join(t.TempDir(), "notes"), now: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)}
	s.restart()
	return s
}

// restart begins another process; what runs in the one before is not ended.
func (s *server) restart() {
	s.t.Helper()
	if err := s.notes.Close(); err != nil {
		s.t.Fatal(err)
	}
	var err error
	if s.notes, err = Open(s.directory, Options{Now: func() time.Time { return s.now }}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) later(after time.Duration) { s.now = s.now.Add(after) }

func attempt(namespace, name string) Key {
	return Key{Kind: "Installation", Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name)}
}

// begin begins an attempt that has to begin.
func (s *server) begin(key Key, reason string) (done func()) {
	s.t.Helper()
	done, err := s.notes.Begin(key)
	if err != nil {
		s.t.Fatalf("%s: %v", reason, err)
	}
	return done
}

// postponed says until when an attempt that must not begin has to wait.
func (s *server) postponed(key Key, reason string) time.Duration {
	s.t.Helper()
	_, err := s.notes.Begin(key)
	var p *Postponed
	if !errors.As(err, &p) {
		s.t.Fatalf("%s: got %v", reason, err)
	}
	return p.Until.Sub(s.now)
}

// TestSurvived: attempts that end leave nothing, whatever they are called.
func TestSurvived(t *testing.T) {
	s := newServer(t)
	long := Key{Kind: "Installation", Namespace: strings.Repeat("n", 63), Name: strings.Repeat("a", 253), UID: types.UID(strings.Repeat("u", 36))}
	for _, key := range []Key{attempt("a", "x"), attempt("a", "y"), long} {
		done := s.begin(key, "nothing has happened yet")
		done()
		done()
	}
	s.restart()
	if ended := s.notes.Ended(); len(ended) != 0 {
		t.Errorf("the process has ended in %v", ended)
	}
	if s.notes.Suspicious(long) {
		t.Error("it is suspicious")
	}
	s.begin(long, "the longest names fit")
	s.restart()
	if s.notes.Ended()[long] != 1 {
		t.Errorf("the longest names are not noted: %v", s.notes.Ended())
	}
}

// TestNotSurvived: what follows from the end of a process in an attempt.
func TestNotSurvived(t *testing.T) {
	s := newServer(t)
	bad, sibling, honest := attempt("a", "bad"), attempt("a", "sibling"), attempt("b", "honest")
	s.begin(honest, "it is over before the end")()
	s.begin(bad, "first time")
	s.restart()
	if !s.notes.Suspicious(bad) || !s.notes.Suspicious(sibling) || s.notes.Suspicious(honest) {
		t.Error("the namespace of the attempt is suspicious, and no other")
	}
	if pause := s.postponed(bad, "it comes last"); pause != firstPause {
		t.Errorf("it waits %s", pause)
	}
	s.postponed(sibling, "an attempt of the same tenant may be as bad")
	s.begin(honest, "others begin at once")()
	s.later(firstPause)
	done := s.begin(sibling, "its time has come")
	if pause := s.postponed(bad, "one at a time, so that it is known which one it is"); pause != turn {
		t.Errorf("it waits %s", pause)
	}
	s.begin(honest, "others do not wait for it")()
	done()
	s.begin(bad, "second time")
	s.restart()
	if pause := s.postponed(bad, "the pause grows"); pause != 2*firstPause {
		t.Errorf("it waits %s", pause)
	}
	s.later(2 * firstPause)
	s.begin(bad, "third time")
	s.restart()
	s.later(4 * firstPause)
	_, err := s.notes.Begin(bad)
	if !IsGivenUp(err) {
		t.Fatalf("after the third time: %v", err)
	}
	for _, part := range []string{"3 times", "Installation a/bad", "make it smaller", "11:00:15 UTC"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	s.restart()
	if _, err := s.notes.Begin(bad); !IsGivenUp(err) {
		t.Errorf("another restart changes nothing: %v", err)
	}
	s.later(memory)
	s.begin(bad, "it may have become smaller since")()
	if len(s.notes.Ended()) != 0 || s.notes.Suspicious(bad) {
		t.Errorf("it was survived, and still counts: %v", s.notes.Ended())
	}
}

// TestUnlucky: an attempt that ran beside the one that ends the process counts once, and not when it
// is survived the next time.
func TestUnlucky(t *testing.T) {
	s := newServer(t)
	bad, unlucky := attempt("a", "bad"), attempt("b", "unlucky")
	s.begin(bad, "first time")
	s.begin(unlucky, "beside it")
	s.restart()
	if ended := s.notes.Ended(); ended[bad] != 1 || ended[unlucky] != 1 {
		t.Errorf("it is not known which of them it was: %v", ended)
	}
	s.later(firstPause)
	s.begin(unlucky, "alone")()
	if s.notes.Suspicious(unlucky) {
		t.Error("the namespace is suspicious although all of it was survived")
	}
	s.begin(bad, "alone")
	s.begin(unlucky, "it does not wait any more")()
	s.restart()
	if ended := s.notes.Ended(); ended[bad] != 2 || ended[unlucky] != 0 {
		t.Errorf("%v", ended)
	}
}

// TestPausesEnd: pauses do not grow for ever, and what happened long ago does not count.
func TestPausesEnd(t *testing.T) {
	s := newServer(t)
	for i := range 40 {
		s.later(maxPause)
		s.begin(attempt("a", fmt.Sprint(i)), "another one of the same tenant")
		s.restart()
	}
	if pause := s.postponed(attempt("a", "next"), "it waits"); pause != maxPause {
		t.Errorf("it waits %s", pause)
	}
	s.later(memory)
	s.restart()
	if len(s.notes.Ended())+len(s.notes.known.Namespaces) != 0 {
		t.Errorf("it is remembered for ever: %v", s.notes.Ended())
	}
	if s.notes.pause(1000) != maxPause {
		t.Errorf("the pause after many ends is %s", s.notes.pause(1000))
	}
}

// TestDamaged: what another program has left in the files keeps no server from starting.
func TestDamaged(t *testing.T) {
	for _, test := range []struct{ reason, file, text string }{
		{"a record that is no JSON", recordFile, "{"},
		{"a record of nothing", recordFile, `{"attempts":[null],"namespaces":{"a":null}}`},
		{"notes that are no JSON", slotsFile, strings.Repeat("x", 3*slotSize/2)},
		{"a note that was cut off", slotsFile, `{"kind":"Installation"`},
		{"notes without names", slotsFile, "{}"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newServer(t)
			if err := os.WriteFile(filepath.Join(s.directory, test.file), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s.restart()
			if ended := s.notes.Ended(); len(ended) != 0 {
				t.Errorf("the process has ended in %v", ended)
			}
			s.begin(attempt("a", "x"), "it works")()
		})
	}
}

// TestNowhere: without a directory nothing is noted; one that cannot be written is an error at the start.
func TestNowhere(t *testing.T) {
	var none *Notes
	done, err := none.Begin(attempt("a", "x"))
	if err != nil || none.Suspicious(attempt("a", "x")) || len(none.Ended()) != 0 {
		t.Errorf("without notes: %v", err)
	}
	done()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{}); err == nil {
		t.Error("a file was opened as a directory")
	}
}

// BenchmarkNote is what a note costs an attempt.
func BenchmarkNote(b *testing.B) {
	notes, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		done, err := notes.Begin(Key{Kind: "Installation", Namespace: "a", Name: "x", UID: "1"})
		if err != nil {
			b.Fatal(err)
		}
		done()
	}
}
