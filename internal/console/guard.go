package console

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// policy lets a page load and reach this console only, and lets no page contain it. Markup can only
// come into the document as text: with trusted types, the browser refuses the ways around that.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard decides who may read.
type guard struct {
	hosts  map[string]bool
	cookie string

	mutex   sync.Mutex
	token   string // of the link; empty once it was used
	session string // empty until the link was used
}

func newGuard(address, token string) (*guard, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the console: %w", err)
	}
	if token == "" {
		return nil, fmt.Errorf("a console at %s needs a token for its link", address)
	}
	return &guard{
		hosts: map[string]bool{net.JoinHostPort(host, port): true, "localhost:" + port: true},
		// Browsers do not tell the ports of a host apart: another console has another cookie.
		cookie: "landscaper-console-" + port,
		token:  token,
	}, nil
}

// protect refuses what no page of the console asks for, and sets the headers of all answers.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Frame-Options", "DENY")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		switch {
		case !g.hosts[r.Host]:
			// A page of another host whose name leads here would read as if it were ours.
			http.Error(w, "this console answers under the address of its link only", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet:
			header.Set("Allow", http.MethodGet)
			http.Error(w, "this console is read with GET only", http.StatusMethodNotAllowed)
		case foreign(r):
			http.Error(w, "pages of other sites cannot read this console", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// foreign reports that a page of another site, or of another port, asks for something other than to
// be left for the console.
func foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// entered leads into the console from a page of its own: a browser would keep a strict cookie back if
// the link was followed on a page of another site.
const entered = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Landscaper</title><p><a href="/">To the console</a></p></html>`

// login exchanges the token of the link for a session, once.
func (g *guard) login(w http.ResponseWriter, r *http.Request) {
	session, ok := g.redeem(r.FormValue("token"))
	if !ok {
		http.Error(w, "This link is not valid, or was used already: it opens the console once. Start landscaper-cli console again for a new link.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // a loopback address has no TLS
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, entered)
}

func (g *guard) redeem(token string) (session string, ok bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.token == "" || !same(g.token, token) {
		return "", false
	}
	g.token, g.session = "", rand.Text()
	return g.session, true
}

// sessions lets only those through who have used the link.
func (g *guard) sessions(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie(g.cookie); err != nil || !g.knows(cookie.Value) {
			http.Error(w, "You are not logged in: open the link that landscaper-cli console has printed.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) knows(session string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.session != "" && same(g.session, session)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
