package access

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/console"
)

// judge answers reviews from a list of rights, as resource/namespace, and counts the questions.
type judge struct {
	mutex  sync.Mutex
	rights map[string]bool
	asked  int
	fails  error
	takes  time.Duration
	last   authorizationv1.SubjectAccessReviewSpec
}

func (j *judge) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	if j.takes > 0 {
		<-time.After(j.takes)
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.asked++
	j.last = review.Spec
	about := review.Spec.ResourceAttributes
	review.Status.Allowed = j.rights[about.Resource+"/"+about.Namespace] && about.Verb == "list"
	return review, j.fails
}

func (j *judge) questions() int {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	defer func() { j.asked = 0 }()
	return j.asked
}

func may(rights ...string) *judge {
	j := &judge{rights: map[string]bool{}}
	for _, right := range rights {
		j.rights[right] = true
	}
	return j
}

func TestView(t *testing.T) {
	tests := []struct {
		reason string
		judge  *judge
		// sees and lacks are namespaces whose Installations are seen or not.
		sees, lacks []string
		// asked is the number of reviews, for the namespaces a, b and c.
		asked int
	}{
		{"no right: nothing but Installations is asked for in namespaces", may(), nil, []string{"a", "b", "c"}, 7 + 3},
		{"one namespace", may("installations/a", "executions/a"), []string{"a"}, []string{"b", "c"}, 7 + 3 + 6},
		{"parts alone are not Installations", may("executions/", "secrets/"), nil, []string{"a"}, 7 + 3},
		{"all namespaces: no single one is asked for", may("installations/", "executions/", "deployitems/", "dataobjects/", "targets/", "targetsyncs/", "events/"), []string{"a", "z"}, nil, 7},
		{"Installations of all namespaces, parts of some", may("installations/", "executions/", "deployitems/", "dataobjects/", "targets/", "targetsyncs/", "events/b"), []string{"a", "b"}, nil, 7 + 3},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			view, err := New(test.judge).View(t.Context(), User{Username: "jane"}, []string{"a", "b", "c"})
			if err != nil || test.judge.questions() != test.asked {
				t.Errorf("%d questions, want %d; %v", test.judge.asked, test.asked, err)
			}
			for _, namespace := range test.sees {
				if !view.Sees(console.Installations, namespace) {
					t.Errorf("does not see %s", namespace)
				}
			}
			for _, namespace := range test.lacks {
				if view.Sees(console.Installations, namespace) {
					t.Errorf("sees %s", namespace)
				}
			}
		})
	}
}

// TestAnswersCount: for seconds, for one user.
func TestAnswersCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge := may("installations/a")
		rights := New(judge)
		look := func(user User, want int, sees bool) {
			t.Helper()
			view, err := rights.View(t.Context(), user, []string{"a"})
			if got := judge.questions(); err != nil || got != want || view.Sees(console.Installations, "a") != sees {
				t.Errorf("%d questions, want %d; sees %v, %v", got, want, !sees, err)
			}
		}
		jane := User{Username: "jane", UID: "1", Groups: []string{"dev"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"x"}}}
		look(jane, 14, true)
		if judge.last.User != "jane" || judge.last.UID != "1" || judge.last.Groups[0] != "dev" || judge.last.Extra["scope"][0] != "x" {
			t.Errorf("asked for another user: %+v", judge.last)
		}
		look(jane, 0, true)
		look(User{Username: "jane", UID: "1"}, 14, true)
		look(User{Username: "joe"}, 14, true)
		judge.rights = nil
		look(jane, 0, true)
		<-time.After(allowedFor)
		look(jane, 1, false)
		judge.rights = map[string]bool{"installations/a": true}
		<-time.After(refusedFor)
		look(jane, 14, true)
	})
}

// TestTimeSaysNothing: how many namespaces others have cannot be seen from the time of an answer.
func TestTimeSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := map[time.Duration]bool{}
		for _, namespaces := range [][]string{{"a", "b"}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"}} {
			judge := may()
			judge.takes = 2 * time.Millisecond
			begun := time.Now()
			if _, err := New(judge).View(t.Context(), User{Username: "jane"}, namespaces); err != nil {
				t.Fatal(err)
			}
			took[time.Since(begun)] = true
		}
		if len(took) != 1 {
			t.Errorf("answers took %v", took)
		}
	})
}

// TestNoAnswer: without an answer there is no right, and the next question is asked.
func TestNoAnswer(t *testing.T) {
	judge := may("installations/", "executions/")
	judge.fails = errors.New("away")
	rights := New(judge)
	view, err := rights.View(t.Context(), User{Username: "jane"}, []string{"a"})
	if !errors.Is(err, judge.fails) || view.Sees(console.Installations, "a") {
		t.Errorf("%v", err)
	}
	judge.fails = nil
	if view, err := rights.View(t.Context(), User{Username: "jane"}, []string{"a"}); err != nil || !view.Sees(console.Installations, "a") {
		t.Errorf("%v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	rights := New(may())
	for i := range maxAnswers + 10 {
		rights.remember(question{namespace: string(rune(i))}, answer{until: time.Now().Add(time.Hour)})
	}
	if len(rights.answers) > maxAnswers {
		t.Errorf("%d answers", len(rights.answers))
	}
}
