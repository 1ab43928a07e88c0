package expectations

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// of is an object with a UID in a version.
func of(uid, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name, UID: types.UID(uid), ResourceVersion: version}}
}

// server is an API server with one object, or none, that counts the questions.
type server struct {
	client.Reader
	object *corev1.ConfigMap
	err    error
	asked  int
}

// Get implements client.Reader.
func (s *server) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.asked++
	if s.err != nil {
		return s.err
	}
	if s.object == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, at.Name)
	}
	s.object.DeepCopyInto(into.(*corev1.ConfigMap))
	return nil
}

// TestWritten: an older object has to wait, a newer one counts, and a write is forgotten when
// it was shown.
func TestWritten(t *testing.T) {
	silent := &server{err: errNoAnswer}
	var written Write
	fresh := func(version string) bool { return written.Await(t.Context(), silent, of("u", version)) == nil }
	if !fresh("5") {
		t.Error("what was never written is fresh")
	}
	written.Record(of("u", "10"))
	written.Record(of("u", "9"))
	if fresh("9") {
		t.Error("an older version is not fresh")
	}
	if !fresh("10") || !fresh("9") {
		t.Error("once the cache has caught up, nothing is remembered")
	}
	written.Record(of("u", "no number"))
	if !fresh("no number") {
		t.Error("a version that is not numeric cannot be compared")
	}
	if silent.asked > 0 {
		t.Errorf("the API server was asked %d times", silent.asked)
	}
}

// TestAwaitEnds: a cache that stays behind is left alone for a while, always with a time for
// the next look; then the API server decides whether it is late or its history was rewound.
func TestAwaitEnds(t *testing.T) {
	for _, test := range []struct {
		reason string
		// cached and live are versions; none is an object that does not exist.
		cached, live string
		liveUID      string
		// ends says that the cached version counts at last, and forgets that nothing is
		// remembered any more.
		ends, forgets bool
		// asked is how often the API server is asked in a minute of looks at the latest
		// possible times.
		asked int
	}{
		{"the cache is late: its object is not used, with growing pauses between questions", "9", "10", "u", false, false, 2},
		{"the cache is late, and another writer has written since: its object is not used", "9", "12", "u", false, false, 2},
		{"the store was restored: the older version counts", "9", "9", "u", true, true, 1},
		{"the store was restored, and the cache does not show it yet", "8", "9", "u", true, true, 1},
		{"the object is deleted, and the cache will show that", "9", "", "u", false, false, 2},
		{"another object has the name, and the cache will show that", "9", "7", "other", false, false, 2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				live := &server{}
				if test.live != "" {
					live.object = of(test.liveUID, test.live)
				}
				var written Write
				written.Record(of("u", "10"))
				ended := false
				for begun := time.Now(); time.Since(begun) < time.Minute && !ended; {
					err := written.Await(t.Context(), live, of("u", test.cached))
					pause, behind := RetryAfter(err)
					if err != nil && (!behind || pause <= 0 || pause > maxLiveReadPause) {
						t.Fatalf("an end without a wake: %v", err)
					}
					ended = err == nil
					<-time.After(pause)
				}
				if ended != test.ends || live.asked != test.asked || written.Pending() == test.forgets {
					t.Errorf("ended %t after %d questions, remembers a write: %t", ended, live.asked, written.Pending())
				}
			})
		})
	}
}

// TestAwaitFaults: an API server that does not answer is asked again, and an early attempt does
// not ask it.
func TestAwaitFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &server{err: errNoAnswer}
		var written Write
		written.Record(of("u", "10"))
		if pause, behind := RetryAfter(written.Await(t.Context(), live, of("u", "9"))); !behind || pause != liveReadAfter || live.asked > 0 {
			t.Errorf("%s, %t, asked %d times", pause, behind, live.asked)
		}
		<-time.After(liveReadAfter)
		if err := written.Await(t.Context(), live, of("u", "9")); err == nil || live.asked != 1 {
			t.Errorf("%v, asked %d times", err, live.asked)
		}
		// A write in the meantime is another one to wait for.
		<-time.After(maxLiveReadPause)
		live.err, live.object = nil, of("u", "9")
		slow := meanwhile{live, func() { written.Record(of("u", "11")) }}
		if err := written.Await(t.Context(), slow, of("u", "9")); err != nil {
			t.Fatal(err)
		}
		if err := written.Await(t.Context(), live, of("u", "9")); err == nil {
			t.Error("what was written while the API server was asked is forgotten")
		}
	})
}

// TestAwaitNamesTheKind: an object that cannot be read is named by its kind.
func TestAwaitNamesTheKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written Write
		written.Record(of("u", "10"))
		silent := &server{err: errNoAnswer}
		for range 100 {
			err := written.Await(t.Context(), silent, of("u", "9"))
			if pause, behind := RetryAfter(err); behind {
				<-time.After(pause)
				continue
			}
			if want := "read ConfigMap " + at.String() + ", which the cache shows in an old version: "; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			return
		}
		t.Error("the API server is not asked")
	})
}
