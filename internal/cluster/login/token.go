package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
)

// TokenRequester requests tokens of ServiceAccounts on the resource cluster.
type TokenRequester func(ctx context.Context, namespace, name string, request *authenticationv1.TokenRequest) error

// TokensFrom requests tokens through a client of the resource cluster.
func TokensFrom(resource client.Client) TokenRequester {
	return func(ctx context.Context, namespace, name string, request *authenticationv1.TokenRequest) error {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		return resource.SubResource("token").Create(ctx, account, request)
	}
}

// notRequested says why the resource cluster gave no token.
func (s *tokenSpec) notRequested(err error) error {
	asked := fmt.Sprintf("request a token of ServiceAccount %s/%s on the resource cluster", s.Namespace, s.Name)
	var refused clustererror.NoToken
	switch {
	case errors.As(err, &refused):
		return clustererror.NoToken{Cause: fmt.Errorf("%s: %w", asked, refused.Cause), Remedy: refused.Remedy}
	case apierrors.IsNotFound(err):
		return clustererror.NoToken{Cause: errors.New(asked + ": it does not exist"), Remedy: fmt.Sprintf("create ServiceAccount %s/%s", s.Namespace, s.Name)}
	case apierrors.IsForbidden(err):
		return clustererror.NoToken{Cause: errors.New(asked + ": this deployer may not do so"),
			Remedy: "an administrator has to give this deployer the right to create serviceaccounts/token in namespace " + s.Namespace + ", as serviceAccountTokens in the values of its chart does"}
	}
	return clustererror.NoToken{Cause: fmt.Errorf("%s: %w", asked, err)}
}

// tokens caches a token and replaces it when 80 % of its lifetime are over.
type tokens struct {
	spec    tokenSpec
	request TokenRequester
	// foreign checks that the resource cluster does not accept a token, before the token is sent to
	// another cluster; nil for tokens of the resource cluster itself.
	foreign func(ctx context.Context, token string) error
	now     func() time.Time

	mutex   sync.Mutex
	token   string
	renewAt time.Time
}

// NewTokens returns the tokens of an access. Self is the connection to the resource cluster.
func NewTokens(of *Login, request TokenRequester, self *rest.Config) *tokens {
	source := &tokens{spec: *of.Token, request: request, now: time.Now}
	if !of.Self {
		source.foreign = refusedBy(self)
	}
	return source
}

// get returns a token that is valid for some time. The lock is held during the request: of
// concurrent callers, one requests the token, and the others wait for at most the time of one
// request.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	if t.token != "" && now.Before(t.renewAt) {
		return t.token, nil
	}
	if t.request == nil {
		return "", clustererror.NoToken{Cause: errors.New("this deployer cannot request tokens")}
	}
	ctx, cancel := context.WithTimeout(ctx, answerlimit.RequestTimeout)
	defer cancel()
	request := t.spec.request()
	if err := t.request(ctx, t.spec.Namespace, t.spec.Name, request); err != nil {
		return "", t.spec.notRequested(err)
	}
	if t.foreign != nil {
		if err := t.foreign(ctx, request.Status.Token); err != nil {
			return "", err
		}
	}
	lifetime := request.Status.ExpirationTimestamp.Sub(now)
	t.token, t.renewAt = request.Status.Token, now.Add(lifetime*8/10)
	return t.token, nil
}

// refusedBy returns a check that the resource cluster does not accept a token. Only the resource
// cluster itself knows its audiences.
func refusedBy(self *rest.Config) func(ctx context.Context, token string) error {
	return func(ctx context.Context, token string) error {
		if self == nil {
			return clustererror.NoToken{Cause: errors.New("this deployer does not know its own cluster, and cannot find out whether the token would open it")}
		}
		config := rest.AnonymousClientConfig(self)
		config.BearerToken, config.WarningHandler = token, rest.NoWarnings{}
		asker, err := authenticationclient.NewForConfig(config)
		if err != nil {
			return clustererror.NoToken{Cause: fmt.Errorf("make a client for the resource cluster: %w", err)}
		}
		_, err = asker.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		switch {
		case apierrors.IsUnauthorized(err):
			return nil
		case err == nil, apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return clustererror.ErrOpensOurs
		}
		return clustererror.NoToken{Cause: fmt.Errorf("ask the resource cluster whether it accepts the token: %w", err)}
	}
}

// drop forgets a token that a cluster did not accept.
func (t *tokens) drop(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// Wrap adds the token to each request.
func (t *tokens) Wrap(next http.RoundTripper) http.RoundTripper {
	return &tokenTransport{tokens: t, next: next}
}

type tokenTransport struct {
	tokens *tokens
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *tokenTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" {
		return nil, clustererror.ErrPlain
	}
	token, err := t.tokens.get(request.Context())
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := t.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		t.tokens.drop(token)
	}
	return response, err
}

// WrappedRoundTripper lets the library close idle connections.
func (t *tokenTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
