package login

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
)

var errEnded = errors.New("the session has ended")

// session is what the cookie of a user who is logged in has. There is no other place for it: each
// replica reads the same, and a restart ends none.
type session struct {
	// ID is by which it is known when the user logs out; that of a proxy has none.
	ID string `json:"id,omitempty"`
	// User is who has logged in by an issuer.
	User *access.User `json:"user,omitempty"`
	// Token is that of a user who has logged in with it: whose it is, and whether it is still valid, is
	// asked again.
	Token string `json:"token,omitempty"`
	// Ends is when the user has to log in again.
	Ends time.Time `json:"ends"`
}

// cookieName is the name of a cookie. With the prefix, a browser takes it only from this host, over
// TLS: no other host of the domain can plant a session.
func (e *Entrance) cookieName(name string) string {
	if e.secure() {
		return "__Host-landscaper-" + name
	}
	return "landscaper-" + name + "-" + e.url.Port()
}

func (e *Entrance) secure() bool { return e.url.Scheme == "https" }

// setCookie gives a browser what it keeps until a time. Links of other sites lead into the console with
// it, by which one only reads; requests of their pages are refused.
func (e *Entrance) setCookie(w http.ResponseWriter, name, value string, until time.Time) {
	cookie := &http.Cookie{ //nolint:gosec // only a loopback address has no TLS
		Name: e.cookieName(name), Value: value, Path: "/", MaxAge: int(time.Until(until).Seconds()),
		HttpOnly: true, Secure: e.secure(), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// openCookie reads what setCookie has given.
func (e *Entrance) openCookie(r *http.Request, name string, into any) bool {
	cookie, err := r.Cookie(e.cookieName(name))
	return err == nil && e.sealer.open(name, cookie.Value, into)
}

const (
	sessionCookie = "session"
	flowCookie    = "login"
)

// begin makes a session, in place of any other.
func (e *Entrance) begin(w http.ResponseWriter, s session) error {
	s.ID, s.Ends = rand.Text(), time.Now().Add(e.sessionTime)
	value, err := e.sealer.seal(sessionCookie, s)
	if err != nil {
		return err // says what is too large
	}
	e.setCookie(w, sessionCookie, value, s.Ends)
	return nil
}

// sessionOf returns the session of a request that has not ended.
func (e *Entrance) sessionOf(r *http.Request) (session, bool) {
	var s session
	if !e.openCookie(r, sessionCookie, &s) || !time.Now().Before(s.Ends) || e.ended.has(s) {
		return session{}, false
	}
	return s, true
}

// visitor is a user of the console.
type visitor struct {
	entrance *Entrance
	session  session
	user     access.User
}

// Name implements console.Visitor.
func (v *visitor) Name() string { return v.user.Username }

// LogsOut implements console.Visitor.
func (v *visitor) LogsOut() bool { return v.session.ID != "" }

// View implements console.Visitor.
func (v *visitor) View(ctx context.Context, namespaces []string) (console.View, error) {
	if !time.Now().Before(v.session.Ends) || v.entrance.ended.has(v.session) {
		return console.View{}, errEnded
	}
	user, err := v.entrance.userOf(ctx, v.session)
	if err != nil {
		return console.View{}, err // says what was asked
	}
	return v.entrance.rights.View(ctx, user, namespaces)
}

// userOf returns the user of a session as it is now.
func (e *Entrance) userOf(ctx context.Context, s session) (access.User, error) {
	switch {
	case s.User != nil:
		return *s.User, nil
	case s.Token != "" && e.tokens != nil:
		return e.tokens.whose(ctx, s.Token)
	}
	return access.User{}, errEnded // the way in was switched off
}
