// Package login lets users into a console that runs in the server: with a token of the resource
// cluster, by an OpenID Connect issuer, or behind a proxy that has authenticated them. A session is
// an encrypted cookie; the server keeps none. Who a user is decides nothing yet: package access asks
// the resource cluster what the user may see.
package login

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
)

// Options are who may come in, and how.
type Options struct {
	// URL is the address of the console in browsers: https, or http on this machine.
	URL string
	// Key is the secret of the cookies; all replicas have the same.
	Key []byte
	// SessionTime is how long a session lasts.
	SessionTime time.Duration
	// Tokens lets users log in with a token of the resource cluster; nil does not.
	Tokens TokenReviews
	// OIDC lets users log in by an issuer; nil does not.
	OIDC *OIDC
	// Proxy lets users in whom a proxy has authenticated; nil does not.
	Proxy *Proxy
	// Rights knows what users may see.
	Rights *access.Rights
	// Acting lets users act; nil lets them only read.
	Acting *Acting
	// Trust is called with each request of a user who is logged in.
	Trust func(*http.Request)
	// Log has who logs in.
	Log logr.Logger
}

// Entrance implements console.Entrance.
type Entrance struct {
	url         *url.URL
	sealer      *sealer
	sessionTime time.Duration
	tokens      *tokens
	oidc        *issuer
	proxy       *Proxy
	rights      *access.Rights
	acting      *Acting
	ended       ended
	trust       func(*http.Request)
	log         logr.Logger
}

// New returns an entrance.
func New(options Options) (*Entrance, error) {
	address, err := ParseURL(options.URL)
	if err != nil {
		return nil, err
	}
	sealer, err := newSealer(options.Key)
	if err != nil {
		return nil, err
	}
	e := &Entrance{
		url: address, sealer: sealer, sessionTime: options.SessionTime, proxy: options.Proxy,
		rights: options.Rights, acting: options.Acting, trust: options.Trust, log: options.Log,
	}
	if options.Tokens != nil {
		e.tokens = newTokens(options.Tokens)
	}
	if options.OIDC != nil {
		e.oidc = newIssuer(*options.OIDC, address.JoinPath(callbackPath).String())
	}
	return e, nil
}

// ParseURL reads the address of a console in browsers.
func ParseURL(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || strings.Trim(address.Path, "/") != "" || address.RawQuery != "" || address.Fragment != "" || address.User != nil {
		return nil, errors.New("write it like https://console.example.org, without a path")
	}
	if address.Scheme != "https" && (address.Scheme != "http" || !here(address.Hostname())) {
		return nil, errors.New("it has to begin with https, unless it is of this machine")
	}
	// Browsers leave out the usual port.
	if port := address.Port(); port == "443" && address.Scheme == "https" || port == "80" && address.Scheme == "http" {
		address.Host = strings.TrimSuffix(address.Host, ":"+port)
	}
	address.Host, address.Path = strings.ToLower(address.Host), ""
	return address, nil
}

// here reports whether a host is this machine.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Host implements console.Entrance.
func (e *Entrance) Host(host string) bool { return strings.ToLower(host) == e.url.Host }

// Posts implements console.Entrance.
func (e *Entrance) Posts() []string { return []string{"/login", "/logout"} }

// Open implements console.Entrance.
func (e *Entrance) Open(routes *http.ServeMux) {
	routes.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		e.page(w, http.StatusOK, local(r.FormValue("to")), "")
	})
	routes.HandleFunc("GET /login.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "login.css") })
	routes.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		if s, known := e.sessionOf(r); known {
			e.ended.add(s)
		}
		e.setCookie(w, sessionCookie, "", time.Time{})
		w.WriteHeader(http.StatusNoContent)
	})
	if e.tokens != nil {
		routes.HandleFunc("POST /login", e.postToken)
	}
	if e.oidc != nil {
		routes.HandleFunc("GET "+startPath, e.startOIDC)
		routes.HandleFunc("GET "+callbackPath, e.finishOIDC)
	}
}

// Enter implements console.Entrance.
func (e *Entrance) Enter(w http.ResponseWriter, r *http.Request) console.Visitor {
	s, known := e.sessionOf(r)
	if e.proxy != nil && e.proxy.trusts(r) {
		user, err := e.proxy.user(r)
		if err != nil {
			http.Error(w, "The proxy in front of the console does not say who you are: "+err.Error(), http.StatusUnauthorized)
			return nil
		}
		s, known = session{User: &user, Ends: time.Now().Add(proxiedFor)}, true
	}
	if !known {
		e.refuse(w, r)
		return nil
	}
	user, err := e.userOf(r.Context(), s)
	switch {
	case errors.Is(err, errToken), errors.Is(err, errEnded):
		e.refuse(w, r)
		return nil
	case err != nil:
		e.log.Error(err, "it is not known who a user is")
		http.Error(w, "The cluster does not answer: try again.", http.StatusServiceUnavailable)
		return nil
	}
	if e.trust != nil {
		e.trust(r)
	}
	return &visitor{entrance: e, session: s, user: user}
}

// refuse leads a user who asks for a page to the login, and then back.
func (e *Entrance) refuse(w http.ResponseWriter, r *http.Request) {
	loads := console.FromPage(r) || r.Method != http.MethodGet || r.URL.Path == "/session" || strings.HasPrefix(r.URL.Path, "/live/")
	if loads || e.tokens == nil && e.oidc == nil {
		http.Error(w, "You are not logged in.", http.StatusUnauthorized)
		return
	}
	to := url.URL{Path: "/login", RawQuery: url.Values{"to": {r.URL.RequestURI()}}.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// local returns where a login leads: a page of the console, and nothing else.
func local(to string) string {
	address, err := url.Parse(to)
	// A browser reads a backslash as a slash, and leaves out control characters.
	if err != nil || address.Scheme != "" || address.Host != "" || address.User != nil || !strings.HasPrefix(to, "/") ||
		strings.HasPrefix(to, "//") || strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) ||
		strings.HasPrefix(address.Path, "//") || strings.HasPrefix(address.Path, "/log") || len(to) > 1000 {
		return "/"
	}
	return address.RequestURI()
}

//go:embed login.css login.html
var files embed.FS

var form = template.Must(template.ParseFS(files, "login.html"))

// page shows the ways to log in, and what was wrong with the last attempt.
func (e *Entrance) page(w http.ResponseWriter, status int, to, wrong string) {
	console.AllowForms(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	content := struct {
		Tokens, OIDC     bool
		To, Start, Wrong string
	}{Tokens: e.tokens != nil, OIDC: e.oidc != nil, To: to, Wrong: wrong}
	content.Start = startPath + "?" + url.Values{"to": {to}}.Encode()
	if err := form.Execute(w, content); err != nil {
		e.log.V(1).Info("the login was not shown", "reason", fmt.Sprint(err)) // the client has left
	}
}
