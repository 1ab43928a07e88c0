package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"go.landscaper.dev/internal/console/access"
)

const (
	startPath    = "/login/oidc"
	callbackPath = "/login/oidc/callback"
	// flowTime is how long a user may take at the issuer.
	flowTime = 10 * time.Minute
)

// OIDC is an issuer of OpenID Connect.
type OIDC struct {
	Names
	// Issuer is its URL, ClientID and ClientSecret are what it knows the console by. A client without a
	// secret is a public one.
	Issuer, ClientID, ClientSecret string
	// Scopes are asked for besides openid.
	Scopes []string
	// UserClaim has the name of the user, GroupsClaim the groups; without a name, users have none.
	UserClaim, GroupsClaim string
	// Client reaches the issuer.
	Client *http.Client
}

// issuer is an OIDC whose endpoints are asked for when the first user logs in: the console starts
// while the issuer is away.
type issuer struct {
	OIDC
	redirect string

	mutex    sync.Mutex
	provider *oidc.Provider
}

func newIssuer(options OIDC, redirect string) *issuer {
	return &issuer{OIDC: options, redirect: redirect}
}

func (i *issuer) discover(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.provider == nil {
		provider, err := oidc.NewProvider(ctx, i.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("ask the issuer for its endpoints: %w", err)
		}
		i.provider = provider
	}
	return i.provider, &oauth2.Config{
		ClientID: i.ClientID, ClientSecret: i.ClientSecret, RedirectURL: i.redirect,
		Endpoint: i.provider.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, i.Scopes...),
	}, nil
}

// flow is a login that has begun. It is in a cookie, so that only the browser that has begun it can
// end it: a link with the answer of an issuer is of no use in another one.
type flow struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	To       string    `json:"to"`
	Ends     time.Time `json:"ends"`
}

// startOIDC leads a user to the issuer.
func (e *Entrance) startOIDC(w http.ResponseWriter, r *http.Request) {
	f := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: local(r.FormValue("to")), Ends: time.Now().Add(flowTime)}
	_, config, err := e.oidc.discover(oidc.ClientContext(r.Context(), e.oidc.Client))
	if err != nil {
		e.log.Error(err, "a login has failed")
		e.page(w, http.StatusServiceUnavailable, f.To, "The issuer of your account does not answer: try again.")
		return
	}
	value, err := e.sealer.seal(flowCookie, f)
	if err != nil {
		e.page(w, http.StatusBadRequest, "/", "The address that you come from is too long.")
		return
	}
	e.setCookie(w, flowCookie, value, f.Ends)
	http.Redirect(w, r, config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), http.StatusFound)
}

// finishOIDC takes the answer of the issuer.
func (e *Entrance) finishOIDC(w http.ResponseWriter, r *http.Request) {
	var f flow
	begun := e.openCookie(r, flowCookie, &f) && time.Now().Before(f.Ends) && f.State != "" && same(f.State, r.FormValue("state"))
	e.setCookie(w, flowCookie, "", time.Time{})
	if !begun {
		e.page(w, http.StatusForbidden, "/", "This login was not begun in this browser, or took too long: begin again.")
		return
	}
	if said := r.FormValue("error"); said != "" {
		e.log.Info("an issuer has refused a login", "error", fmt.Sprintf("%.100q", said))
		e.page(w, http.StatusForbidden, f.To, "The issuer of your account has refused the login.")
		return
	}
	user, err := e.oidc.user(r.Context(), f, r.FormValue("code"))
	if err != nil {
		e.log.Error(err, "a login has failed")
		e.page(w, http.StatusForbidden, f.To, "The answer of the issuer does not let you in. The log of the server says why.")
		return
	}
	if err := e.begin(w, session{User: &user}); err != nil {
		e.log.Error(err, "a login has failed", "user", user.Username, "groups", len(user.Groups))
		e.page(w, http.StatusForbidden, f.To, "You are in too many groups: their names do not fit into a cookie.")
		return
	}
	e.log.Info("a user has logged in", "user", user.Username, "by", "oidc")
	http.Redirect(w, r, f.To, http.StatusSeeOther)
}

// user exchanges a code for the identity of a user.
func (i *issuer) user(ctx context.Context, f flow, code string) (access.User, error) {
	ctx = oidc.ClientContext(ctx, i.Client)
	provider, config, err := i.discover(ctx)
	if err != nil {
		return access.User{}, err
	}
	answer, err := config.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return access.User{}, fmt.Errorf("exchange the code of a login: %w", err)
	}
	text, found := answer.Extra("id_token").(string)
	if !found {
		return access.User{}, errors.New("the issuer has sent no ID token")
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: i.ClientID}).Verify(ctx, text)
	if err != nil {
		return access.User{}, fmt.Errorf("verify an ID token: %w", err)
	}
	if f.Nonce == "" || !same(f.Nonce, token.Nonce) {
		return access.User{}, errors.New("the ID token is of another login")
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return access.User{}, fmt.Errorf("read an ID token: %w", err)
	}
	return i.identify(claims)
}

// identify reads the user from the claims of an ID token.
func (i *issuer) identify(claims map[string]any) (access.User, error) {
	name, _ := claims[i.UserClaim].(string)
	if verified, said := claims["email_verified"]; i.UserClaim == "email" && said && verified != true {
		return access.User{}, errors.New("the issuer has not verified the email address of the user")
	}
	var groups []string
	switch claim := claims[i.GroupsClaim].(type) {
	case string:
		groups = []string{claim}
	case []any:
		for _, group := range claim {
			if text, is := group.(string); is {
				groups = append(groups, text)
			}
		}
	}
	user, err := i.Names.user(name, groups)
	if err != nil {
		return access.User{}, fmt.Errorf("claim %s of an ID token: %w", i.UserClaim, err)
	}
	return user, nil
}
