package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		reason        string
		authorization string
		verdict       error
		want          int
		wantReviews   int
	}{
		{"who may passes, and the API server is asked once", "Bearer a", nil, http.StatusOK, 1},
		{"who says nothing is not asked about", "", nil, http.StatusUnauthorized, 0},
		{"a certificate or a password is no token", "Basic a", nil, http.StatusUnauthorized, 0},
		{"no issuer makes such a token", "Bearer " + strings.Repeat("a", maxTokenBytes+1), nil, http.StatusUnauthorized, 0},
		{"an unknown token", "Bearer a", errWho, http.StatusUnauthorized, 1},
		{"a user who may not", "Bearer a", errMay, http.StatusForbidden, 1},
		{"an API server that fails is asked again", "Bearer a", errors.New(canary), http.StatusServiceUnavailable, 2},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			reviews := 0
			guard := newGuard(func(context.Context, string, string, string) error {
				reviews++
				return test.verdict
			}, http.NotFoundHandler(), logr.Discard())
			guard.next = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			for range 2 {
				code, body := get(guard, "/metrics", test.authorization)
				if code != test.want || strings.Contains(body, canary) {
					t.Errorf("got %d %q, want %d", code, body, test.want)
				}
			}
			if reviews != test.wantReviews {
				t.Errorf("%d reviews, want %d", reviews, test.wantReviews)
			}
		})
	}
}

func TestGuardForgets(t *testing.T) {
	now, reviews := time.Now(), 0
	guard := newGuard(func(context.Context, string, string, string) error {
		reviews++
		return errMay
	}, http.NotFoundHandler(), logr.Discard())
	guard.now = func() time.Time { return now }
	for n := range 2 * maxVerdicts {
		get(guard, "/metrics", fmt.Sprintf("Bearer %d", n))
	}
	if len(guard.verdicts) > maxVerdicts {
		t.Errorf("%d verdicts are remembered", len(guard.verdicts))
	}
	before := reviews
	now = now.Add(2 * verdictLife)
	if get(guard, "/metrics", fmt.Sprintf("Bearer %d", 2*maxVerdicts-1)); reviews != before+1 {
		t.Error("a verdict of long ago counts")
	}
}

func TestGuardBoundsReviews(t *testing.T) {
	release, under := make(chan struct{}), make(chan struct{}, maxReviews)
	guard := newGuard(func(context.Context, string, string, string) error {
		under <- struct{}{}
		<-release
		return errWho
	}, http.NotFoundHandler(), logr.Discard())
	done := make(chan struct{})
	for n := range maxReviews {
		go func() {
			get(guard, "/metrics", fmt.Sprintf("Bearer %d", n))
			done <- struct{}{}
		}()
	}
	for range maxReviews {
		<-under
	}
	if code, _ := get(guard, "/metrics", "Bearer more"); code != http.StatusTooManyRequests {
		t.Errorf("with %d reviews under way: %d", maxReviews, code)
	}
	close(release)
	for range maxReviews {
		<-done
	}
}

func get(handler http.Handler, path, authorization string) (int, string) {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

// TestStrangersFillNoTurns: clients with invented tokens neither keep a collector waiting that was
// accepted before or asks from another address, nor make the guard forget it.
func TestStrangersFillNoTurns(t *testing.T) {
	for _, test := range []struct {
		reason   string
		accepted bool
		from     string
		want     int
	}{
		{"a collector that was accepted before, from the address of the strangers", true, "192.0.2.1:1", http.StatusOK},
		{"a collector that asks for the first time, from another address", false, "192.0.2.2:1", http.StatusOK},
		{"one stranger more", false, "192.0.2.1:1", http.StatusTooManyRequests},
	} {
		t.Run(test.reason, func(t *testing.T) {
			now := time.Now()
			release, under := make(chan struct{}), make(chan struct{}, maxReviews)
			guard := newGuard(func(_ context.Context, token, _, _ string) error {
				if token == "collector" {
					return nil
				}
				under <- struct{}{}
				<-release
				return errWho
			}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), logr.Discard())
			guard.now = func() time.Time { return now }
			if test.accepted {
				getFrom(guard, test.from, "Bearer collector")
				now = now.Add(2 * verdictLife)
			}
			done := make(chan struct{})
			for n := range maxReviews {
				go func() {
					getFrom(guard, "192.0.2.1:1", fmt.Sprintf("Bearer %d", n))
					done <- struct{}{}
				}()
			}
			for range maxReviews {
				<-under
			}
			if code := getFrom(guard, test.from, "Bearer collector"); code != test.want {
				t.Errorf("got %d, want %d", code, test.want)
			}
			close(release)
			for range maxReviews {
				<-done
			}
			if len(guard.underway) != 0 || guard.again != 0 {
				t.Errorf("turns that are not given back: %v, %d", guard.underway, guard.again)
			}
		})
	}
}

// TestInventedTokensForgetNothing: what was accepted is remembered, however many tokens are invented.
func TestInventedTokensForgetNothing(t *testing.T) {
	asked := 0
	guard := newGuard(func(_ context.Context, token, _, _ string) error {
		if token == "collector" {
			asked++
			return nil
		}
		return errWho
	}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), logr.Discard())
	for n := range 3 * maxVerdicts {
		getFrom(guard, "192.0.2.1:1", fmt.Sprintf("Bearer %d", n))
		getFrom(guard, "192.0.2.2:1", "Bearer collector")
	}
	if asked != 1 {
		t.Errorf("the API server was asked %d times", asked)
	}
}

func getFrom(handler http.Handler, from, authorization string) int {
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.RemoteAddr = from
	request.Header.Set("Authorization", authorization)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}
