package login

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// provider is an issuer: discovery, keys, and codes for tokens.
type provider struct {
	*httptest.Server
	t   *testing.T
	key *rsa.PrivateKey
	// codes are the logins under way, by their codes.
	codes map[string]url.Values
	// claims are what ID tokens have; change is applied to the standard ones; signer signs instead.
	claims map[string]any
	change func(map[string]any)
	signer *rsa.PrivateKey
	// away answers nothing.
	away bool
}

// signingKey is that of all issuers of the tests: making one takes long.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, codes: map[string]url.Values{}, claims: map[string]any{"sub": "1234", "email": "jane@example.org", "groups": []string{"dev", "system:masters"}}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	routes.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	routes.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.away {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		routes.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

// login is what a user does at the issuer: it returns the address that the browser is sent back to.
func (p *provider) login(address string) string {
	p.t.Helper()
	parsed, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, p.URL+"/authorize?") {
		p.t.Fatalf("led to %s, %v", address, err)
	}
	asked := parsed.Query()
	code := rand.Text()
	p.codes[code] = asked
	return strings.TrimPrefix(asked.Get("redirect_uri"), site) + "?" + url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
}

// token exchanges a code once, with the verifier of its challenge.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	asked, found := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !found || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || id != "console" || secret != "client-secret" {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": "console", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": asked.Get("nonce")}
	for name, value := range p.claims {
		claims[name] = value
	}
	if p.change != nil {
		p.change(claims)
	}
	key := p.key
	if p.signer != nil {
		key = p.signer
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		p.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": text})
}

func byIssuer(p *provider) func(*Options) {
	return func(o *Options) {
		o.Tokens = nil
		o.OIDC = &OIDC{Issuer: p.URL, ClientID: "console", ClientSecret: "client-secret", Scopes: []string{"email", "groups"}, UserClaim: "email", GroupsClaim: "groups", Names: Names{GroupsPrefix: "sso:"}, Client: http.DefaultClient}
	}
}

func teams() *cluster { return &cluster{rights: map[string]bool{"sso:dev": true}} }

// TestOIDC: a login, from a page and back to it.
func TestOIDC(t *testing.T) {
	p := newProvider(t)
	b := open(t, teams(), byIssuer(p))
	login := b.get("/login?to=/n/shop/root").Body.String()
	if !strings.Contains(login, `href="/login/oidc?to=%2Fn%2Fshop%2Froot"`) || strings.Contains(login, "<form") {
		t.Fatalf("%s", login)
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
	back := p.login(address)
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
		change func(*provider)
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
		{"the token of another login", func(p *provider) { p.change = func(claims map[string]any) { claims["nonce"] = "other" } }, nil},
		{"a token without the number of the login", func(p *provider) { p.change = func(claims map[string]any) { delete(claims, "nonce") } }, nil},
		{"a token for another client", func(p *provider) { p.change = func(claims map[string]any) { claims["aud"] = "other" } }, nil},
		{"a token of another issuer", func(p *provider) {
			p.change = func(claims map[string]any) { claims["iss"] = "https://other.example" }
		}, nil},
		{"a token that has expired", func(p *provider) {
			p.change = func(claims map[string]any) { claims["exp"] = time.Now().Add(-time.Hour).Unix() }
		}, nil},
		{"a token that another key has signed", func(p *provider) { p.signer = stranger }, nil},
		{"a user without the claim", func(p *provider) { delete(p.claims, "email") }, nil},
		{"an address that was not verified", func(p *provider) { p.claims["email_verified"] = false }, nil},
		{"a name of Kubernetes", func(p *provider) { p.claims["email"] = "system:admin" }, nil},
		{"more groups than a cookie takes", func(p *provider) {
			var groups []string
			for range 200 {
				groups = append(groups, rand.Text())
			}
			p.claims["groups"] = groups
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			p := newProvider(t)
			if test.change != nil {
				test.change(p)
			}
			b := open(t, teams(), byIssuer(p))
			back := p.login(b.get("/login/oidc").Header().Get("Location"))
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
	p := newProvider(t)
	p.away = true
	b := open(t, teams(), byIssuer(p))
	if answer := b.get("/login/oidc"); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", answer.Code)
	}
	p.away = false
	if answer := b.get(p.login(b.get("/login/oidc").Header().Get("Location"))); answer.Code != http.StatusSeeOther {
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
