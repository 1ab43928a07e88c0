package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.landscaper.dev/internal/landscape/requests"
)

// slowPlanner works plans out until it is let go, or its page is left.
type slowPlanner struct {
	begun, left chan struct{}
	goOn        chan struct{}
}

func newSlowPlanner() *slowPlanner {
	return &slowPlanner{begun: make(chan struct{}, 100), left: make(chan struct{}, 100), goOn: make(chan struct{})}
}

func (s *slowPlanner) Plan(ctx context.Context, _, _ string) (*Plan, error) {
	s.begun <- struct{}{}
	select {
	case <-s.goOn:
		return &Plan{Summary: "worked out"}, nil
	case <-ctx.Done():
		s.left <- struct{}{}
		return nil, ctx.Err()
	}
}

func (s *slowPlanner) Uninstalls(context.Context, string, string) ([]requests.Uninstall, []string, error) {
	return nil, []string{"the clusters were asked"}, nil
}

// planned asks for a plan as a user, until the context ends.
func planned(ctx context.Context, handler http.Handler) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/plan/job/shop/"+landscape().Installations[0].Name, nil)
	request.Header.Set(ownHeader, "1")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

// TestPlanIsLeft: a plan ends when its page is left.
func TestPlanIsLeft(t *testing.T) {
	slow := newSlowPlanner()
	visitor := sees("installations", "executions", "deployitems")
	visitor.actor = &fakeActor{sees: slow}
	ctx, leave := context.WithCancel(t.Context())
	handler := openFor(t, landscape(), visitor)
	var group sync.WaitGroup
	group.Go(func() { planned(ctx, handler) })
	<-slow.begun
	leave()
	group.Wait()
	<-slow.left
}

// TestPlansOfReaders: who may not change an Installation sees its plan nevertheless, as far as the rights
// go, and has no button besides.
func TestPlansOfReaders(t *testing.T) {
	slow := newSlowPlanner()
	close(slow.goOn)
	visitor := sees("installations", "executions", "deployitems")
	visitor.actor = &fakeActor{sees: slow}
	handler := openFor(t, landscape(), visitor)
	answer := sendTo(handler, "/actions/shop/"+landscape().Installations[0].Name, "")
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"actions":[],"plans":true`) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if answer := planned(t.Context(), handler); answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "worked out") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// begins begins a plan, or returns why not.
func begins(t *testing.T, p *plans, visitor string) (end func(), why string) {
	t.Helper()
	end, err := p.begin(t.Context(), visitor)
	var refusal *Refusal
	if err != nil && (!errors.As(err, &refusal) || refusal.Status != http.StatusTooManyRequests) {
		t.Fatalf("%v", err)
	}
	if err != nil {
		return nil, err.Error()
	}
	return end, ""
}

// TestPlansAtOnce: a visitor has one plan at a time, and all together have a few; what was refused leaves
// nothing behind.
func TestPlansAtOnce(t *testing.T) {
	p := newPlans()
	p.timeout = 10 * time.Millisecond
	endJane, _ := begins(t, p, "jane")
	if _, why := begins(t, p, "jane"); !strings.Contains(why, "another plan of yours") {
		t.Errorf("a second plan of jane: %q", why)
	}
	endJoe, why := begins(t, p, "joe")
	if why != "" {
		t.Fatalf("joe waits for jane: %s", why)
	}
	if _, why := begins(t, p, "kim"); !strings.Contains(why, "too many plans") {
		t.Errorf("a plan more than %d: %q", maxPlans, why)
	}
	endJane()
	endKim, why := begins(t, p, "kim")
	if why != "" {
		t.Errorf("there is a place: %s", why)
	}
	endJoe()
	endKim()
	if len(p.own) != 0 || len(p.all) != 0 {
		t.Errorf("left are %v and %d places", p.own, len(p.all))
	}
}

// TestPlansInTurn: a plan that a page asks for again waits for the one before, which was left; more than a
// few do not wait.
func TestPlansInTurn(t *testing.T) {
	p := newPlans()
	p.timeout = time.Minute
	end, _ := begins(t, p, "jane")
	ends := make(chan func(), maxWaiting)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range maxWaiting {
		go func() {
			end, err := p.begin(ctx, "jane")
			if err != nil {
				t.Error(err)
			}
			ends <- end
		}()
	}
	for waiting := 0; waiting <= maxWaiting; {
		p.mutex.Lock()
		waiting = p.own["jane"].asked
		p.mutex.Unlock()
	}
	if _, err := p.begin(t.Context(), "jane"); err == nil || !strings.Contains(fmt.Sprint(err), "plans of yours") {
		t.Errorf("%d wait, and one more: %v", maxWaiting, err)
	}
	end()
	for range maxWaiting {
		(<-ends)()
	}
	if len(p.own) != 0 || len(p.all) != 0 {
		t.Errorf("left are %v and %d places", p.own, len(p.all))
	}
}

// TestDeletionBesidePlans: a deletion that is to be confirmed does not wait for plans without end: it
// shows what is recorded.
func TestDeletionBesidePlans(t *testing.T) {
	visitor := sees("installations", "executions", "deployitems")
	visitor.actor = &fakeActor{sees: newSlowPlanner()}
	name := landscape().Installations[0].Name
	if answer := sendTo(openFor(t, landscape(), visitor), "/plan/deletion/shop/"+name, ""); !strings.Contains(answer.Body.String(), "the clusters were asked") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
