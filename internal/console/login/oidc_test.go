package login

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/test/oidctest"
)

// login is what a user does at the issuer: it returns the path of the console that the browser is sent back to.
func login(p *oidctest.Issuer, address string) string {
	return strings.TrimPrefix(p.Login(address), site)
}

func byIssuer(p *oidctest.Issuer) func(*Options) {
	return func(o *Options) {
		o.Tokens = nil
		o.OIDC = &OIDC{Issuer: p.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Scopes: []string{"email", "groups"}, UserClaim: "email", GroupsClaim: "groups", Names: Names{GroupsPrefix: "sso:"}, Client: http.DefaultClient}
	}
}

func teams() *cluster { return &cluster{rights: map[string]bool{"sso:dev": true}} }

// TestOIDC: a login, from a page and back to it.
func TestOIDC(t *testing.T) {
	p := oidctest.New(t)
	b := open(t, teams(), byIssuer(p))
	page := b.get("/login?to=/n/shop/root").Body.String()
	if !strings.Contains(page, `href="/login/oidc?to=%2Fn%2Fshop%2Froot"`) || strings.Contains(page, "<form") {
		t.Fatalf("%s", page)
	}
	started := b.get("/login/oidc?to=%2Fn%2Fshop%2Froot")
	address := started.Header().Get("Location")
	asked, _ := url.Parse(address)
	for name, want := range map[string]string{"client_id": "console", "response_type": "code", "scope": "openid email groups", "redirect_uri": site + callbackPath} {
		if got := asked.Query().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	cookie := started.Result().Cookies()[0]
	if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || !strings.HasPrefix(cookie.Name, "__Host-") {
		t.Errorf("%+v", cookie)
	}
	back := login(p, address)
	if answer := b.get(back); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/n/shop/root" {
		t.Fatalf("%d %s %s", answer.Code, answer.Header(), answer.Body)
	}
	if said := b.get("/session").Body.String(); !strings.Contains(said, `"jane@example.org"`) {
		t.Errorf("%s", said)
	}
	if root, _ := b.sees(); !root {
		t.Error("the groups of the user do not count")
	}
	if b.cookies["__Host-landscaper-login"] != "" {
		t.Error("the login that has ended is kept")
	}
	if answer := b.copied().get(back); answer.Code != http.StatusForbidden {
		t.Errorf("an answer counts twice: %d", answer.Code)
	}
}

// TestOIDCRefused: what does not let anyone in.
func TestOIDCRefused(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason string
		change func(*oidctest.Issuer)
		back   func(b *browser, back string) (*browser, string)
	}{
		{"a link with the answer for another user (login CSRF, stolen link)", nil, func(b *browser, back string) (*browser, string) { return b.other(), back }},
		{"a link with the answer, in a browser that has begun another login", nil, func(b *browser, back string) (*browser, string) {
			other := b.other()
			other.get("/login/oidc")
			return other, back
		}},
		{"another state", nil, func(b *browser, back string) (*browser, string) { return b, back + "x" }},
		{"no state", nil, func(b *browser, _ string) (*browser, string) { return b, callbackPath + "?code=x" }},
		{"the issuer refuses", nil, func(b *browser, back string) (*browser, string) { return b, back + "&error=access_denied" }},
		{"an unknown code", nil, func(b *browser, back string) (*browser, string) {
			return b, strings.Replace(back, "code=", "code=x", 1)
		}},
		{"the token of another login", func(p *oidctest.Issuer) { p.Change = func(claims map[string]any) { claims["nonce"] = "other" } }, nil},
		{"a token without the number of the login", func(p *oidctest.Issuer) { p.Change = func(claims map[string]any) { delete(claims, "nonce") } }, nil},
		{"a token for another client", func(p *oidctest.Issuer) { p.Change = func(claims map[string]any) { claims["aud"] = "other" } }, nil},
		{"a token of another issuer", func(p *oidctest.Issuer) {
			p.Change = func(claims map[string]any) { claims["iss"] = "https://other.example" }
		}, nil},
		{"a token that has expired", func(p *oidctest.Issuer) {
			p.Change = func(claims map[string]any) { claims["exp"] = time.Now().Add(-time.Hour).Unix() }
		}, nil},
		{"a token that another key has signed", func(p *oidctest.Issuer) { p.Signer = stranger }, nil},
		{"a user without the claim", func(p *oidctest.Issuer) { delete(p.Claims, "email") }, nil},
		{"an address that was not verified", func(p *oidctest.Issuer) { p.Claims["email_verified"] = false }, nil},
		{"a name of Kubernetes", func(p *oidctest.Issuer) { p.Claims["email"] = "system:admin" }, nil},
		{"more groups than a cookie takes", func(p *oidctest.Issuer) {
			var groups []string
			for range 200 {
				groups = append(groups, rand.Text())
			}
			p.Claims["groups"] = groups
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			p := oidctest.New(t)
			if test.change != nil {
				test.change(p)
			}
			b := open(t, teams(), byIssuer(p))
			back := login(p, b.get("/login/oidc").Header().Get("Location"))
			if test.back != nil {
				b, back = test.back(b, back)
			}
			if answer := b.get(back); answer.Code != http.StatusForbidden || b.loggedIn() {
				t.Errorf("status %d", answer.Code)
			}
		})
	}
}

// TestIssuerIsAway: the console starts without its issuer, and uses it when it is there.
func TestIssuerIsAway(t *testing.T) {
	p := oidctest.New(t)
	p.Away = true
	b := open(t, teams(), byIssuer(p))
	if answer := b.get("/login/oidc"); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", answer.Code)
	}
	p.Away = false
	if answer := b.get(login(p, b.get("/login/oidc").Header().Get("Location"))); answer.Code != http.StatusSeeOther {
		t.Errorf("status %d", answer.Code)
	}
}

// TestGroupsOfOIDC: issuers with and without groups; those of Kubernetes are not the issuer's to give.
func TestGroupsOfOIDC(t *testing.T) {
	for _, test := range []struct {
		reason string
		claim  any
		want   int
	}{
		{"a list", []any{"dev", 7, "ops"}, 3}, {"one", "dev", 2}, {"none", nil, 1}, {"of Kubernetes", []any{"system:masters"}, 1}, {"a map", map[string]any{}, 1},
	} {
		i := newIssuer(OIDC{UserClaim: "sub", GroupsClaim: "groups"}, "")
		user, err := i.identify(map[string]any{"sub": "1", "groups": test.claim})
		if err != nil || len(user.Groups) != test.want {
			t.Errorf("%s: %v, %v", test.reason, user.Groups, err)
		}
	}
}
