package login

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
)

// TestConfigOf: a user acts with the token that the user has brought, or in the name and the groups that
// the administrator lets through. No credentials of the server go with a token, and no user of Kubernetes
// itself is acted for.
func TestConfigOf(t *testing.T) {
	base := &rest.Config{Host: "https://api", BearerToken: "of the server", BearerTokenFile: "/token", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca"), CertData: []byte("cert"), KeyData: []byte("key")}}
	alice := access.User{Username: "alice", Groups: []string{authenticated, "dev", "ops"}}
	tests := []struct {
		reason  string
		session session
		user    access.User
		groups  []string
		want    rest.ImpersonationConfig
		wrong   bool
	}{
		{"no groups", session{User: &alice}, alice, nil, rest.ImpersonationConfig{UserName: "alice"}, false},
		{"groups that count", session{User: &alice}, alice, []string{"dev", "other"}, rest.ImpersonationConfig{UserName: "alice", Groups: []string{"dev"}}, false},
		{"all groups", session{User: &alice}, alice, []string{"*"}, rest.ImpersonationConfig{UserName: "alice", Groups: []string{"dev", "ops"}}, false},
		{"a user who may do everything", session{}, access.User{Username: "mallory", Groups: []string{masters}}, []string{"*"}, rest.ImpersonationConfig{}, true},
		{"the same, if it is named", session{}, access.User{Username: "mallory", Groups: []string{masters}}, []string{masters}, rest.ImpersonationConfig{}, true},
		{"a user of Kubernetes", session{}, access.User{Username: "system:kube-controller-manager"}, nil, rest.ImpersonationConfig{}, true},
		{"a ServiceAccount", session{}, access.User{Username: "system:serviceaccount:shop:admin"}, nil, rest.ImpersonationConfig{}, true},
		{"no name: the server would act as itself", session{}, access.User{}, nil, rest.ImpersonationConfig{}, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			config, err := (&Acting{Base: base, Groups: test.groups}).configOf(test.session, test.user)
			if (err != nil) != test.wrong {
				t.Fatal(err)
			}
			if err == nil {
				test.want.Extra = map[string][]string{}
				if diff := cmp.Diff(test.want, config.Impersonate); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	config, err := (&Acting{Base: base}).configOf(session{Token: "mine"}, access.User{Username: "system:serviceaccount:shop:dev"})
	if err != nil || config.BearerToken != "mine" || config.BearerTokenFile != "" || len(config.CertData)+len(config.KeyData) > 0 || config.Impersonate.UserName != "" || string(config.CAData) != "ca" {
		t.Errorf("%v, %v", config, err)
	}
}

// pretender acts as anyone, and notes as whom.
type pretender struct {
	console.Actor

	as *[]string
}

// ask sends a question as a page of the console does.
func (b *browser) ask(path string) *httptest.ResponseRecorder {
	b.headers["X-Landscaper-Console"], b.headers["Origin"] = "1", site
	defer func() { delete(b.headers, "X-Landscaper-Console"); delete(b.headers, "Origin") }()
	return b.send(http.MethodGet, path, nil)
}

func (p pretender) Planner() console.Planner { return nil }

// acts lets users act, and notes as whom.
func acts(as *[]string) func(*Options) {
	return func(o *Options) {
		o.Acting = &Acting{Base: &rest.Config{Host: "https://api"}, Groups: []string{"dev"}, New: func(config *rest.Config, user string) (console.Actor, error) {
			*as = append(*as, fmt.Sprint(user, " ", config.BearerToken, config.Impersonate.UserName, config.Impersonate.Groups))
			return pretender{as: as}, nil
		}}
	}
}

// TestActors: headers in which a client says as whom it wants to act mean nothing.
func TestActors(t *testing.T) {
	var as []string
	b := open(t, people(), acts(&as))
	b.post("/login", withToken("jane-token"))
	b.headers = map[string]string{"Impersonate-User": "admin", "Impersonate-Group": masters, "Impersonate-Uid": "0", "Impersonate-Extra-Scopes": "all", "Authorization": "Bearer other"}
	answer := b.ask("/plan/job/shop/root")
	if want := []string{"jane jane-token[]"}; answer.Code != http.StatusNotFound || !cmp.Equal(want, as) {
		t.Errorf("%d %s, acted as %q", answer.Code, answer.Body, as)
	}
}

// TestLogOutEnds: a cookie that was copied ends with the log-out, also for an open page.
func TestLogOutEnds(t *testing.T) {
	var as []string
	b := open(t, people(), acts(&as))
	b.post("/login", withToken("jane-token"))
	thief := b.copied()
	if answer := thief.ask("/plan/job/shop/root"); answer.Code != http.StatusNotFound || len(as) != 1 {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if answer := b.post("/logout", url.Values{}); answer.Code != http.StatusNoContent {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if answer := thief.ask("/plan/job/shop/root"); len(as) != 1 || answer.Code != http.StatusUnauthorized {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if thief.loggedIn() {
		t.Error("the kept cookie is valid")
	}
}

// TestEndedIsBounded: sessions that end next go first.
func TestEndedIsBounded(t *testing.T) {
	var e ended
	now := time.Now()
	for i := range maxEnded + 1 {
		e.add(session{ID: fmt.Sprint(i), Ends: now.Add(time.Hour + time.Duration(i)*time.Second)})
	}
	if len(e.until) > maxEnded || e.has(session{ID: "0"}) || !e.has(session{ID: fmt.Sprint(maxEnded)}) {
		t.Errorf("%d are known", len(e.until))
	}
	e.add(session{})
	if e.has(session{}) {
		t.Error("the session of a proxy has ended")
	}
}
