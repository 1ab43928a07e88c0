package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// link is the entrance of a console that its only user has started: a link with a token opens one
// session. What the console reads, it reads with the rights of that user.
type link struct {
	hosts  map[string]bool
	cookie string
	actor  Actor // nil if the user only reads
	// key is what a page needs besides the session to act.
	key string

	mutex   sync.Mutex
	token   string // of the link; empty once it was used
	session string // empty until the link was used
}

// NewLink returns the entrance of a console that listens on an address, and is opened by a link with
// a token. The actor acts with the rights of the user; nil lets the user only read.
func NewLink(address, token string, actor Actor) (Entrance, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the console: %w", err)
	}
	if token == "" {
		return nil, fmt.Errorf("a console at %s needs a token for its link", address)
	}
	return &link{
		hosts: map[string]bool{net.JoinHostPort(host, port): true, "localhost:" + port: true},
		// Browsers do not tell the ports of a host apart: another console has another cookie.
		cookie: "landscaper-console-" + port,
		token:  token,
		actor:  actor,
		key:    rand.Text(),
	}, nil
}

// Host implements Entrance.
func (l *link) Host(host string) bool { return l.hosts[host] }

// Posts implements Entrance.
func (l *link) Posts() []string { return nil }

// Open implements Entrance.
func (l *link) Open(routes *http.ServeMux) { routes.HandleFunc("GET /login", l.login) }

// Enter implements Entrance: it lets only those through who have used the link.
func (l *link) Enter(w http.ResponseWriter, r *http.Request) Visitor {
	if cookie, err := r.Cookie(l.cookie); err == nil && l.knows(cookie.Value) {
		return owner{l}
	}
	http.Error(w, "You are not logged in: open the link that landscaper-cli console has printed.", http.StatusUnauthorized)
	return nil
}

// owner is the user who has started the console.
type owner struct{ link *link }

// Name implements Visitor.
func (owner) Name() string { return "" }

// LogsOut implements Visitor: the command ends the session.
func (owner) LogsOut() bool { return false }

// View implements Visitor.
func (owner) View(context.Context, []string) (View, error) { return Unrestricted(), nil }

// keyHeader has what the page got when the link was used, and what no other port of this machine gets:
// unlike a cookie, a page keeps it for itself.
const keyHeader = "X-Landscaper-Key"

// Actor implements Visitor.
func (o owner) Actor(r *http.Request) (Actor, error) {
	if o.link.actor == nil {
		return nil, nil
	}
	if !same(r.Header.Get(keyHeader), o.link.key) {
		return nil, &Refusal{http.StatusForbidden, "only the browser that has opened the link can act"}
	}
	return o.link.actor, nil
}

// entered leads into the console from a page of its own: a browser would keep a strict cookie back if
// the link was followed on a page of another site. What stands behind the number sign stays in the
// browser.
const entered = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/#key=%[1]s"><title>Landscaper</title><p><a href="/#key=%[1]s">To the console</a></p></html>`

// login exchanges the token of the link for a session, once. The browser that has the session may open
// the link again: it stands in the terminal as long as the console runs.
func (l *link) login(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(l.cookie); err == nil && l.knows(cookie.Value) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	session, key, ok := l.redeem(r.FormValue("token"))
	if !ok {
		http.Error(w, "This link is not valid, or was used already: it opens the console once. Start landscaper-cli console again for a new link.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: l.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // a loopback address has no TLS
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, entered, key)
}

func (l *link) redeem(token string) (session, key string, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.token == "" || !same(l.token, token) {
		return "", "", false
	}
	l.token, l.session = "", rand.Text()
	return l.session, l.key, true
}

func (l *link) knows(session string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.session != "" && same(l.session, session)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
