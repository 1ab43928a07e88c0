// Package oidctest is an issuer of OpenID Connect for tests: discovery, keys, a page on which users say who they
// are, and codes for ID tokens, which it gives to a client with the verifier of its challenge alone.
package oidctest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
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

// ClientID and ClientSecret are what the issuer knows its only client by.
const (
	ClientID     = "console"
	ClientSecret = "client-secret"
)

// Issuer is an issuer. What tests change of it is read with the next request.
type Issuer struct {
	*httptest.Server

	// Claims are what ID tokens have; Change is applied to the standard ones.
	Claims map[string]any
	Change func(map[string]any)
	// Signer signs in place of the key that the issuer publishes.
	Signer *rsa.PrivateKey
	// Away lets it answer nothing.
	Away bool

	t   *testing.T
	key *rsa.PrivateKey

	mutex sync.Mutex
	// codes are the logins under way, by their codes.
	codes map[string]url.Values
}

// signingKey is that of all issuers of the tests: making one takes long.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// New starts an issuer in clear text, which ends with the test.
func New(t *testing.T) *Issuer {
	t.Helper()
	return start(t, (*httptest.Server).Start)
}

// NewTLS starts an issuer with a certificate that is its own authority.
func NewTLS(t *testing.T) *Issuer {
	t.Helper()
	return start(t, (*httptest.Server).StartTLS)
}

func start(t *testing.T, begin func(*httptest.Server)) *Issuer {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{t: t, key: key, codes: map[string]url.Values{}, Claims: map[string]any{"sub": "1234", "email": "jane@example.org", "groups": []string{"dev", "system:masters"}}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	routes.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	routes.HandleFunc("GET /authorize", i.ask)
	routes.HandleFunc("POST /authorize", i.authorize)
	routes.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.Away {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		routes.ServeHTTP(w, r)
	}))
	begin(i.Server)
	t.Cleanup(i.Close)
	return i
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

// ask is the page on which users log in.
func (i *Issuer) ask(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><title>Issuer</title><main><form method="post" action="/authorize"><input type="hidden" name="asked" value="%s"><button id="me">I am %s</button></form></main>`,
		html.EscapeString(r.URL.RawQuery), html.EscapeString(fmt.Sprint(i.Claims["email"])))
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	asked, err := url.ParseQuery(r.PostFormValue("asked"))
	if err != nil || asked.Get("client_id") != ClientID || asked.Get("response_type") != "code" {
		http.Error(w, "this is not a login", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, i.answer(asked), http.StatusSeeOther)
}

// Login is what a user does who was led to an address of the issuer: it returns the one that the browser is
// sent back to.
func (i *Issuer) Login(address string) string {
	i.t.Helper()
	parsed, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, i.URL+"/authorize?") {
		i.t.Fatalf("led to %s, %v", address, err)
	}
	return i.answer(parsed.Query())
}

// answer is the address with the code of a new login.
func (i *Issuer) answer(asked url.Values) string {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	code := rand.Text()
	i.codes[code] = asked
	return asked.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
}

// redeem returns what was asked for with a code, once.
func (i *Issuer) redeem(code string) (asked url.Values, found bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	asked, found = i.codes[code]
	delete(i.codes, code)
	return asked, found
}

// token exchanges a code once, with the verifier of its challenge.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	asked, found := i.redeem(r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !found || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || id != ClientID || secret != ClientSecret {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{"iss": i.URL, "aud": ClientID, "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": asked.Get("nonce")}
	maps.Copy(claims, i.Claims)
	if i.Change != nil {
		i.Change(claims)
	}
	key := i.key
	if i.Signer != nil {
		key = i.Signer
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		i.t.Error(err)
		return
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		i.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": text})
}
