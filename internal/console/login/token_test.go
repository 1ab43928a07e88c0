package login

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.landscaper.dev/internal/console/access"
)

func people() *cluster {
	return &cluster{users: map[string]string{"jane-token": "jane", "joe-token": "joe"}, rights: map[string]bool{"jane": true}}
}

// TestToken: who has a token sees what its owner may list.
func TestToken(t *testing.T) {
	b := open(t, people(), nil)
	if answer := b.get("/n/shop/root?x=1"); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/login?to=%2Fn%2Fshop%2Froot%3Fx%3D1" {
		t.Fatalf("%d %s", answer.Code, answer.Header())
	}
	if b.loggedIn() {
		t.Fatal("a session without a login")
	}
	answer := b.post("/login", url.Values{"token": {"  jane-token\n"}, "to": {"/n/shop/root?x=1"}})
	if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/n/shop/root?x=1" {
		t.Fatalf("%d %s", answer.Code, answer.Header())
	}
	if said := b.get("/session").Body.String(); strings.TrimSpace(said) != `{"logsOut":true,"user":"jane"}` {
		t.Errorf("%s", said)
	}
	if root, status := b.sees(); !root || status != http.StatusOK {
		t.Errorf("sees %v, status %d", root, status)
	}
	joe := b.other()
	joe.post("/login", withToken("joe-token"))
	if root, status := joe.sees(); root || status != http.StatusOK {
		t.Errorf("a user without rights sees %v, status %d", root, status)
	}
	if answer := b.post("/logout", url.Values{}); answer.Code != http.StatusNoContent || b.loggedIn() {
		t.Errorf("%d, or the session goes on", answer.Code)
	}
}

func TestTokensRefused(t *testing.T) {
	tests := []struct {
		reason, token string
		fails         error
		want          int
	}{
		{"no token", " ", nil, http.StatusBadRequest},
		{"an unknown token", "guess", nil, http.StatusForbidden},
		{"a token that no cookie takes is not even asked about", strings.Repeat("x", maxToken+1), nil, http.StatusBadRequest},
		{"the cluster does not answer", "jane-token", errAway, http.StatusServiceUnavailable},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := people()
			c.fails = test.fails
			b := open(t, c, nil)
			answer := b.post("/login", withToken(test.token))
			if answer.Code != test.want || len(b.cookies) > 0 || b.loggedIn() {
				t.Errorf("status %d, want %d, cookies %v", answer.Code, test.want, b.cookies)
			}
			if strings.Contains(answer.Body.String(), "connection refused") || test.want == http.StatusBadRequest && c.reviewed > 0 {
				t.Errorf("%d reviews, page %s", c.reviewed, answer.Body)
			}
		})
	}
}

// TestTokenEnds: a token that the cluster does not accept any more ends its session, and the cluster is
// asked once a minute.
func TestTokenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := people()
		b := open(t, c, nil)
		b.post("/login", withToken("jane-token"))
		for range 3 {
			b.loggedIn()
		}
		if c.reviewed != 1 {
			t.Errorf("%d reviews", c.reviewed)
		}
		<-time.After(reviewedFor)
		c.fails = errAway
		if answer := b.get("/"); answer.Code != http.StatusServiceUnavailable || len(b.cookies) != 1 {
			t.Errorf("a cluster that is away logs out: %d", answer.Code)
		}
		c.fails = nil
		if !b.loggedIn() {
			t.Error("the session has not survived")
		}
		<-time.After(reviewedFor)
		delete(c.users, "jane-token")
		if b.loggedIn() {
			t.Error("a token that was deleted has a session")
		}
	})
}

// TestSessionEnds: whatever the user does.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := people()
		b := open(t, c, nil)
		b.post("/login", withToken("jane-token"))
		<-time.After(time.Hour - time.Second)
		if !b.loggedIn() {
			t.Error("ended early")
		}
		v := &visitor{session: session{User: &access.User{Username: "jane"}, Ends: time.Now().Add(time.Second)}}
		<-time.After(time.Second)
		if b.loggedIn() {
			t.Error("the session goes on")
		}
		if _, err := v.View(t.Context(), nil); err == nil {
			t.Error("an open page goes on")
		}
	})
}

// TestReplicas: what ends a session at all replicas, and what does not. They have the key of the cookies in
// common, and nothing else.
func TestReplicas(t *testing.T) {
	tests := []struct {
		reason string
		// end happens at the first replica, after 10 minutes; the others are then asked with a copy of the cookie.
		end        func(first *browser, c *cluster)
		here, late bool
	}{
		{"nothing has happened", func(*browser, *cluster) {}, true, true},
		{"a log-out ends it at its replica: others take a copy until its time is over", func(first *browser, _ *cluster) { first.post("/logout", url.Values{}) }, false, true},
		{"a token that was revoked ends it at all", func(_ *browser, c *cluster) { delete(c.users, "jane-token") }, false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := people()
				first, second := open(t, c, nil), open(t, c, nil)
				first.post("/login", withToken("jane-token"))
				copied := first.copied()
				second.cookies = first.copied().cookies
				if !copied.loggedIn() || !second.loggedIn() {
					t.Fatal("a replica does not take the session of another one")
				}
				<-time.After(10 * time.Minute)
				test.end(first, c)
				if here, there := copied.loggedIn(), second.loggedIn(); here != test.here || there != test.late {
					t.Errorf("logged in here %t and there %t", here, there)
				}
				<-time.After(50 * time.Minute)
				if copied.loggedIn() || second.loggedIn() {
					t.Error("the session has outlived its time")
				}
			})
		})
	}
}

// TestSessionIsNotExtended: use does not make a session longer, so that a copy of its cookie has an end.
func TestSessionIsNotExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, people(), nil)
		b.post("/login", withToken("jane-token"))
		before := b.copied().cookies
		for range 5 {
			<-time.After(10 * time.Minute)
			if !b.loggedIn() || !maps.Equal(before, b.cookies) {
				t.Fatal("the cookie was changed, or the session has ended early")
			}
		}
		<-time.After(10 * time.Minute)
		if b.loggedIn() {
			t.Error("the session has outlived its time")
		}
	})
}

// TestGuesses: strangers cost few requests at a time, and do not keep those out who are logged in.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := people()
		b := open(t, c, nil)
		b.post("/login", withToken("jane-token"))
		c.wait = make(chan struct{})
		for range maxGuesses {
			go b.other().post("/login", withToken("guess"))
		}
		synctest.Wait()
		if answer := b.other().post("/login", withToken("guess")); answer.Code != http.StatusTooManyRequests {
			t.Errorf("status %d", answer.Code)
		}
		if !b.loggedIn() {
			t.Error("strangers keep a user out")
		}
		close(c.wait)
		synctest.Wait()
		if answer := b.other().post("/login", withToken("joe-token")); answer.Code != http.StatusSeeOther {
			t.Errorf("status %d", answer.Code)
		}
	})
}
