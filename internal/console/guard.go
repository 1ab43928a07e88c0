package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy lets a page load and reach this console only, and lets no page contain it. Markup can only
// come into the document as text: with trusted types, the browser refuses the ways around that.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// AllowForms lets the page of an answer send forms to this console.
func AllowForms(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1))
}

// protect refuses what no page of the console asks for, and sets the headers of all answers.
func protect(entrance Entrance, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Frame-Options", "DENY")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		posts := slices.Contains(entrance.Posts(), r.URL.Path) || strings.HasPrefix(r.URL.Path, requestsBelow)
		switch {
		case !entrance.Host(r.Host):
			// A page of another host whose name leads here would read as if it were ours.
			http.Error(w, "this console answers under its own address only", http.StatusMisdirectedRequest)
		case r.Method == http.MethodPost && posts && !own(r):
			http.Error(w, "pages of other sites cannot send this form", http.StatusForbidden)
		case r.Method != http.MethodGet && (r.Method != http.MethodPost || !posts):
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

// own reports that a page of the console sends a form. All browsers say where a form comes from; a
// request that does not say it is refused.
func own(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && from.Host != "" && from.Host == r.Host
}
