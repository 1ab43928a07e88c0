package login

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/console/access"
)

func TestParseURL(t *testing.T) {
	tests := []struct{ reason, text, host string }{
		{"an address", "https://console.example.org", "console.example.org"},
		{"with a slash and the usual port", "https://Console.example.org:443/", "console.example.org"},
		{"with a port", "https://console.example.org:8443", "console.example.org:8443"},
		{"this machine needs no TLS", "http://localhost:8082", "localhost:8082"},
		{"nor by its number", "http://127.0.0.1:8082", "127.0.0.1:8082"},
		{"another machine does", "http://console.example.org", ""},
		{"what looks like this machine", "http://localhost.example.org", ""},
		{"a path", "https://example.org/console", ""},
		{"a user", "https://u:p@example.org", ""},
		{"a query", "https://example.org?x", ""},
		{"no scheme", "console.example.org", ""},
		{"another scheme", "ftp://console.example.org", ""},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			address, err := ParseURL(test.text)
			if (err == nil) != (test.host != "") || err == nil && address.Host != test.host {
				t.Errorf("%v, %v", address, err)
			}
		})
	}
}

// TestLocal: a login leads to a page of the console only.
func TestLocal(t *testing.T) {
	for to, want := range map[string]string{
		"/n/shop/root?x=1": "/n/shop/root?x=1", "/?q=a b": "/", "/?q=a%20b": "/?q=a%20b",
		"": "/", "n/shop": "/", "//evil.example": "/", "/\\evil.example": "/", "/\t/evil.example": "/", "///evil.example": "/",
		"/%2f/evil.example": "/", "https://evil.example": "/", "javascript:alert(1)": "/", "/login?to=/": "/", "/logout": "/", "/n/%zz": "/",
		"/" + strings.Repeat("a", 1000): "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestRequests(t *testing.T) {
	b := open(t, people(), nil)
	b.post("/login", withToken("jane-token"))
	form := withToken("joe-token")
	tests := []struct {
		reason  string
		method  string
		path    string
		form    url.Values
		headers map[string]string
		want    int
	}{
		{"a link of another site leads to a page", http.MethodGet, "/", nil, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		{"a page of another site reads data", http.MethodGet, "/live/overview", nil, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"a page of a host of the same domain reads data", http.MethodGet, "/session", nil, map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"another site logs its visitor in as another user", http.MethodPost, "/login", form, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403},
		{"the same with an old browser", http.MethodPost, "/login", form, map[string]string{"Origin": "https://evil.example"}, 403},
		{"a sandboxed page", http.MethodPost, "/login", form, map[string]string{"Origin": "null"}, 403},
		{"a form that does not say where it comes from", http.MethodPost, "/login", form, map[string]string{"Origin": ""}, 403},
		{"another site logs its visitor out", http.MethodPost, "/logout", url.Values{}, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a link that logs out", http.MethodGet, "/logout", nil, nil, 404},
		{"a form for a page", http.MethodPost, "/n/shop/root", url.Values{}, nil, 405},
		{"DELETE", http.MethodDelete, "/login", nil, nil, 405},
		{"a token in a link", http.MethodGet, "/login?token=joe-token", nil, nil, 200},
		{"the own form", http.MethodPost, "/login", form, map[string]string{"Sec-Fetch-Site": "same-origin"}, 303},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			one := b.copied()
			one.headers = test.headers
			answer := one.send(test.method, test.path, test.form)
			if answer.Code != test.want {
				t.Errorf("status %d, want %d", answer.Code, test.want)
			}
			one.headers = nil
			if said := one.get("/session").Body.String(); test.want != 303 && !strings.Contains(said, "jane") {
				t.Errorf("the session has changed: %s", said)
			}
			for name, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'"} {
				if got := answer.Header().Get(name); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q", name, got)
				}
			}
			if policy := answer.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %s", policy)
			}
		})
	}
}

// TestOtherHosts: a name of others that leads here gets nothing.
func TestOtherHosts(t *testing.T) {
	b := open(t, people(), nil)
	b.post("/login", withToken("jane-token"))
	answer := httptestHost(b, "evil.example")
	if answer != http.StatusMisdirectedRequest {
		t.Errorf("status %d", answer)
	}
}

// TestCookies: what a browser gets, and what counts of what it sends.
func TestCookies(t *testing.T) {
	b := open(t, people(), nil)
	b.cookies["__Host-landscaper-session"] = "planted"
	answer := b.post("/login", withToken("jane-token"))
	cookies := answer.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%v", cookies)
	}
	cookie := cookies[0]
	if cookie.Name != "__Host-landscaper-session" || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge < 3500 || cookie.MaxAge > 3600 {
		t.Errorf("%+v", cookie)
	}
	if cookie.Value == "planted" || strings.Contains(cookie.Value, "jane") || len(cookie.Value) > maxCookie {
		t.Errorf("%q", cookie.Value)
	}
	changed := []byte(cookie.Value)
	changed[20] ^= 1
	for reason, value := range map[string]string{"planted": "planted", "empty": "", "changed": string(changed), "cut": cookie.Value[:40]} {
		one := b.other()
		one.cookies["__Host-landscaper-session"] = value
		if one.loggedIn() {
			t.Errorf("a session that is %s counts", reason)
		}
	}
	again := b.other()
	if again.post("/login", withToken("jane-token")); again.cookies["__Host-landscaper-session"] == cookie.Value {
		t.Error("two sessions are the same")
	}
	otherKey := open(t, people(), func(o *Options) { o.Key = bytes.Repeat([]byte{8}, MinKeySize) })
	otherKey.cookies = b.cookies
	if otherKey.loggedIn() {
		t.Error("a session of another key counts")
	}
	// A replica with the same key has the same sessions.
	replica := open(t, people(), nil)
	replica.cookies = b.cookies
	if !replica.loggedIn() {
		t.Error("another replica does not know the session")
	}
}

// TestPurposes: a login that has begun is no session, and the other way round.
func TestPurposes(t *testing.T) {
	sealer, err := newSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	user := &access.User{Username: "admin"}
	value, err := sealer.seal(flowCookie, session{User: user, Ends: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, people(), nil)
	b.cookies["__Host-landscaper-session"] = value
	if b.loggedIn() {
		t.Error("a cookie of another purpose is a session")
	}
	if _, err := sealer.seal(sessionCookie, strings.Repeat("x", maxCookie)); err == nil {
		t.Error("a cookie that no browser takes")
	}
	if _, err := newSealer(key[1:]); err == nil {
		t.Error("a short key")
	}
}

// TestWayIsOff: a session that came by a way which was switched off does not count.
func TestWayIsOff(t *testing.T) {
	b := open(t, people(), nil)
	b.post("/login", withToken("jane-token"))
	off := open(t, people(), func(o *Options) { o.Tokens = nil })
	off.cookies = b.cookies
	if off.loggedIn() {
		t.Error("the session counts")
	}
	if answer := off.post("/login", withToken("jane-token")); answer.Code == http.StatusSeeOther {
		t.Errorf("status %d", answer.Code)
	}
}
