package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.landscaper.dev/internal/landscape/inspect"
)

// still is a landscape that does not change.
type still struct{ snapshot inspect.Snapshot }

// Snapshot implements Source.
func (s still) Snapshot() inspect.Snapshot { return s.snapshot }

// Changed implements Source.
func (still) Changed() <-chan struct{} { return nil }

// Disconnected implements Source.
func (still) Disconnected() error { return nil }

const address = "127.0.0.1:7000"

func newConsole(t *testing.T) http.Handler {
	t.Helper()
	entrance, err := NewLink(address, "secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(t.Context(), Options{Source: still{}, Entrance: entrance})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// ask sends a request; headers are pairs of name and value.
func ask(handler http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	// A stream ends after its first event: its reader has left.
	left, cancel := context.WithCancel(context.Background())
	cancel()
	request := httptest.NewRequestWithContext(left, method, "http://"+address+path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

func cookies(answer *httptest.ResponseRecorder) []*http.Cookie {
	return (&http.Response{Header: answer.Header()}).Cookies()
}

func enter(t *testing.T, handler http.Handler) *http.Cookie {
	t.Helper()
	answer := ask(handler, http.MethodGet, "/login?token=secret")
	if answer.Code != http.StatusOK || len(cookies(answer)) != 1 {
		t.Fatalf("status %d, cookies %v", answer.Code, cookies(answer))
	}
	return cookies(answer)[0]
}

func TestRequests(t *testing.T) {
	handler := newConsole(t)
	session := enter(t, handler).String()
	session, _, _ = strings.Cut(session, ";")
	tests := []struct {
		reason, method, path string
		headers              []string
		want                 int
	}{
		{"the first page", "GET", "/", []string{"Cookie", session}, 200},
		{"the same under the other name of the host", "GET", "/", []string{"Cookie", session, "Host", "localhost:7000"}, 200},
		{"a page of an Installation", "GET", "/n/shop/root", []string{"Cookie", session}, 200},
		{"a link on a page of another site leads here", "GET", "/", []string{"Cookie", session, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"without a session", "GET", "/", nil, 401},
		{"data without a session", "GET", "/live/overview", nil, 401},
		{"data of an Installation without a session", "GET", "/live/n/shop/root", nil, 401},
		{"a session that was guessed", "GET", "/", []string{"Cookie", "landscaper-console-7000=guess"}, 401},
		{"an empty session", "GET", "/", []string{"Cookie", "landscaper-console-7000="}, 401},
		{"the session of a console at another port", "GET", "/", []string{"Cookie", strings.Replace(session, "7000", "7001", 1)}, 401},
		{"a name that leads here (DNS rebinding)", "GET", "/", []string{"Cookie", session, "Host", "evil.example:7000"}, 421},
		{"another port", "GET", "/", []string{"Cookie", session, "Host", "127.0.0.1:80"}, 421},
		{"no port", "GET", "/", []string{"Cookie", session, "Host", "127.0.0.1"}, 421},
		{"the link under another name", "GET", "/login?token=secret", []string{"Host", "evil.example:7000"}, 421},
		{"a page of another site reads data", "GET", "/live/overview", []string{"Cookie", session, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"a page of another port reads data", "GET", "/live/overview", []string{"Cookie", session, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"a page of another site loads a script", "GET", "/app.js", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"POST", "POST", "/", []string{"Cookie", session}, 405},
		{"POST of the link", "POST", "/login?token=secret", nil, 405},
		{"DELETE", "DELETE", "/n/shop/root", []string{"Cookie", session}, 405},
		{"HEAD", "HEAD", "/", []string{"Cookie", session}, 405},
		{"OPTIONS, before a request of another site", "OPTIONS", "/live/overview", nil, 405},
		{"what does not exist", "GET", "/other", []string{"Cookie", session}, 404},
		{"what does not exist, without a session", "GET", "/other", nil, 401},
		{"a way out of the bundle", "GET", "/..%2fgo.mod", []string{"Cookie", session}, 404},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			answer := ask(handler, test.method, test.path, test.headers...)
			if answer.Code != test.want {
				t.Errorf("status %d, want %d", answer.Code, test.want)
			}
			// Refusals have the headers, too.
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self';", "X-Frame-Options": "DENY",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			} {
				if got := answer.Header().Get(name); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if got := answer.Header().Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("other origins may read: %q", got)
			}
		})
	}
}

func TestPolicyAllowsNoInlineCodeAndNoOtherHost(t *testing.T) {
	for _, word := range []string{"unsafe", "http", "data:", "*"} {
		if strings.Contains(policy, word) {
			t.Errorf("the policy has %q: %s", word, policy)
		}
	}
	for _, word := range []string{"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, word) {
			t.Errorf("the policy lacks %q: %s", word, policy)
		}
	}
	for _, file := range []string{"console.html"} {
		text, err := bundle.ReadFile("web/dist/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "style=") || strings.Contains(string(text), "<script>") || strings.Contains(string(text), "//") {
			t.Errorf("%s has what the policy refuses:\n%s", file, text)
		}
	}
}

func TestLogin(t *testing.T) {
	tests := []struct {
		reason, path string
		want         int
	}{
		{"no token", "/login", 403},
		{"an empty token", "/login?token=", 403},
		{"a wrong token", "/login?token=secre", 403},
		{"a wrong token uses nothing up: the right one opens the console", "/login?token=secret", 200},
		{"a second use", "/login?token=secret", 403},
		{"an empty token, after the link was used", "/login?token=", 403},
	}
	handler := newConsole(t)
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			answer := ask(handler, http.MethodGet, test.path)
			if answer.Code != test.want || (len(cookies(answer)) == 1) != (test.want == 200) {
				t.Errorf("status %d, want %d; cookies %v", answer.Code, test.want, cookies(answer))
			}
		})
	}
}

// TestLinkAgain: the browser that has the session may open the link again, and no other one.
func TestLinkAgain(t *testing.T) {
	handler := newConsole(t)
	session, _, _ := strings.Cut(enter(t, handler).String(), ";")
	tests := []struct {
		reason, path, cookie string
		want                 int
	}{
		{"the browser that has opened it", "/login?token=secret", session, http.StatusSeeOther},
		{"another browser", "/login?token=secret", "", http.StatusForbidden},
		{"a browser with a session that was guessed", "/login?token=secret", "landscaper-console-7000=guess", http.StatusForbidden},
		{"a browser with an empty session", "/login?token=secret", "landscaper-console-7000=", http.StatusForbidden},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			answer := ask(handler, http.MethodGet, test.path, "Cookie", test.cookie)
			if answer.Code != test.want || len(cookies(answer)) != 0 || strings.Contains(answer.Body.String(), "#key=") {
				t.Errorf("status %d, want %d, cookies %v: %s", answer.Code, test.want, cookies(answer), answer.Body)
			}
			if to := answer.Header().Get("Location"); test.want == http.StatusSeeOther && to != "/" {
				t.Errorf("leads to %q", to)
			}
		})
	}
}

func TestSessionCookie(t *testing.T) {
	cookie := enter(t, newConsole(t))
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || len(cookie.Value) < 26 {
		t.Errorf("%+v", cookie)
	}
	if strings.Contains(cookie.Value, "secret") {
		t.Error("the session tells the token")
	}
	// A session that a browser brings along is not taken over.
	handler := newConsole(t)
	answer := ask(handler, http.MethodGet, "/login?token=secret", "Cookie", "landscaper-console-7000=planted")
	if cookies(answer)[0].Value == "planted" || ask(handler, http.MethodGet, "/", "Cookie", "landscaper-console-7000=planted").Code != http.StatusUnauthorized {
		t.Error("a planted session is valid")
	}
}

func TestConsoleNeedsAToken(t *testing.T) {
	if _, err := NewLink(address, "", nil); err == nil || !strings.Contains(err.Error(), "needs a token") {
		t.Errorf("error %v", err)
	}
}
