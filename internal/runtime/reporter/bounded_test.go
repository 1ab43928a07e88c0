package reporter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// recording keeps the notes of events, by the UID of their object.
type recording struct{ notes map[types.UID][]string }

// Eventf implements events.EventRecorder.
func (r *recording) Eventf(regarding, _ runtime.Object, _, _, _, note string, args ...any) {
	inst, _ := regarding.(*v1alpha1.Installation)
	r.notes[inst.UID] = append(r.notes[inst.UID], fmt.Sprintf(note, args...))
}

// TestBounded: whatever happens to an object, its events of an hour are bounded, they end
// with the last news, and other objects do not feel it.
func TestBounded(t *testing.T) {
	for _, test := range []struct {
		reason string
		// every is the time between two events, count how many there are.
		every time.Duration
		count int
		// most is how many are made in all, first how many of them at once.
		first, most int
		// last is the end of the news, 10 minutes later.
		last string
	}{
		{"a job has its event", 0, 1, 1, 1, "1 of 1"},
		{"many jobs one after the other", 0, 60, 60, 60, "60 of 60"},
		{"an event beyond the limit has to wait, and comes", 0, 61, 60, 61, "61 of 61"},
		{"a mistake of ours repeats itself: only the last news comes", 0, 5000, 60, 61, "(4939 events before this one were left out) 5000 of 5000"},
		{"an event each minute can go on for ever", time.Minute, 500, 500, 500, "500 of 500"},
		{"an event each second for an hour is bounded", time.Second, 3600, 120, 121, "3600 of 3600"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &recording{notes: map[types.UID][]string{}}
				recorder := RateLimited(inner)
				noisy := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{UID: "noisy"}}
				for i := range test.count {
					if i > 0 && test.every > 0 {
						<-time.After(test.every)
					}
					recorder.Eventf(noisy, nil, "Warning", "Failed", "Reconcile", "%d of %d", i+1, test.count)
				}
				noisy.UID = "changed meanwhile"
				if got := len(inner.notes["noisy"]); got > test.first {
					t.Errorf("%d events at once, want at most %d", got, test.first)
				}
				recorder.Eventf(&v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{UID: "calm"}}, nil, "Normal", "Succeeded", "Reconcile", "well")
				<-time.After(10 * time.Minute)
				synctest.Wait()
				notes := inner.notes["noisy"]
				if len(notes) > test.most || !strings.HasSuffix(notes[len(notes)-1], test.last) {
					t.Errorf("%d events, want at most %d; the last one is %q", len(notes), test.most, notes[len(notes)-1])
				}
				if !slices.Equal(inner.notes["calm"], []string{"well"}) {
					t.Errorf("another object has %v", inner.notes["calm"])
				}
				<-time.After(2 * time.Hour)
				recorder.Eventf(&v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{UID: "next"}}, nil, "Normal", "Succeeded", "Reconcile", "well")
				if known := recorder.(*rateLimited).objects; len(known) != 1 {
					t.Errorf("it remembers %d objects without recent events", len(known)-1)
				}
			})
		})
	}
}

// TestEveryRecorderIsBounded: events are made in no other way.
func TestEveryRecorderIsBounded(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	unbounded, bounded := regexp.MustCompile(`\.GetEventRecorder(For)?\(`), regexp.MustCompile(`reporter\.RateLimited\(`)
	made := 0
	for _, part := range []string{"cmd", "deployer", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(text)) {
				if unbounded.MatchString(line) && !bounded.MatchString(line) {
					t.Errorf("%s: %s: wrap it in reporter.RateLimited", path, strings.TrimSpace(line))
				}
				made += len(unbounded.FindAllString(line, -1))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made < 4 {
		t.Errorf("found only %d recorders", made)
	}
}
