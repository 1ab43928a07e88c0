package login

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
	"go.landscaper.dev/internal/landscape/inspect"
)

// cluster knows tokens and rights.
type cluster struct {
	mutex sync.Mutex
	// users are by their tokens; rights are the names of users and groups that may list everything.
	users  map[string]string
	rights map[string]bool
	// reviewed counts the reviews of tokens; fails is the answer to all of them.
	reviewed int
	fails    error
	wait     chan struct{}
}

type (
	tokenReviews  struct{ *cluster }
	accessReviews struct{ *cluster }
)

func (c tokenReviews) Create(_ context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	if c.wait != nil {
		<-c.wait
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reviewed++
	name, found := c.users[review.Spec.Token]
	review.Status.Authenticated = found
	review.Status.User = authenticationv1.UserInfo{Username: name}
	return review, c.fails
}

func (c accessReviews) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	review.Status.Allowed = slices.ContainsFunc(append(review.Spec.Groups, review.Spec.User), func(name string) bool { return c.rights[name] })
	return review, nil
}

// still is a landscape with one Installation.
type still struct{}

func (still) Snapshot() inspect.Snapshot {
	return inspect.Snapshot{Installations: []*v1alpha1.Installation{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "root"}}}}
}
func (still) Changed() <-chan struct{} { return nil }
func (still) Disconnected() error      { return nil }

var key = bytes.Repeat([]byte{7}, MinKeySize)

const site = "https://console.example.org"

// browser keeps cookies, as a browser does, and sends what it sends.
type browser struct {
	t       *testing.T
	handler http.Handler
	cookies map[string]string
	headers map[string]string
}

func open(t *testing.T, c *cluster, change func(*Options)) *browser {
	t.Helper()
	options := Options{
		URL: site, Key: key, SessionTime: time.Hour, Tokens: tokenReviews{c}, Rights: access.New(accessReviews{c}), Log: logr.Discard(),
	}
	if change != nil {
		change(&options)
	}
	entrance, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := console.New(t.Context(), console.Options{Source: still{}, Entrance: entrance})
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, handler: handler, cookies: map[string]string{}, headers: map[string]string{}}
}

// other is another browser at the same console.
func (b *browser) other() *browser {
	return &browser{t: b.t, handler: b.handler, cookies: map[string]string{}, headers: map[string]string{}}
}

// copied is another browser with the same cookies.
func (b *browser) copied() *browser {
	other := b.other()
	maps.Copy(other.cookies, b.cookies)
	return other
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.send(http.MethodGet, path, nil)
}

func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	return b.send(http.MethodPost, path, form)
}

func (b *browser) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	left, cancel := context.WithCancel(context.Background())
	defer cancel()
	request := httptest.NewRequestWithContext(left, method, site+path, strings.NewReader(form.Encode()))
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", site)
	}
	for name, value := range b.headers {
		request.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	b.handler.ServeHTTP(leaving{recorder, cancel}, request)
	for _, cookie := range recorder.Result().Cookies() {
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
			continue
		}
		b.cookies[cookie.Name] = cookie.Value
	}
	return recorder
}

// leaving is a reader of a stream who leaves after its first event.
type leaving struct {
	*httptest.ResponseRecorder
	leave func()
}

// Flush implements http.Flusher.
func (l leaving) Flush() { l.leave() }

// sees reports whether the overview has the Installation, or that the browser is not logged in.
func (b *browser) sees() (root bool, status int) {
	b.t.Helper()
	answer := b.get("/live/overview")
	return strings.Contains(answer.Body.String(), `"name":"root"`), answer.Code
}

func (b *browser) loggedIn() bool {
	b.t.Helper()
	return b.get("/session").Code == http.StatusOK
}

func withToken(token string) url.Values { return url.Values{"token": {token}} }

var errAway = errors.New("connection refused")
