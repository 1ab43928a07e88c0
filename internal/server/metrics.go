package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.landscaper.dev/internal/server/listen"
)

const (
	// verdictLife is how long the review of a token is cached.
	verdictLife = time.Minute
	// maxVerdicts limits the cached reviews.
	maxVerdicts = 256
	// maxReviews limits the concurrent reviews: a client without a valid token must not cause many
	// requests to the API server. A client that has no review gets one above it, up to maxClients:
	// strangers at other addresses must not take its turn.
	maxReviews = 4
	maxClients = 32
	// acceptedLife is how long a token that was accepted has turns that strangers cannot take.
	acceptedLife = time.Hour
	// maxTokenBytes is above the length of any real token.
	maxTokenBytes = 16 << 10
	reviewTimeout = 10 * time.Second
)

var (
	errWho  = errors.New("a token is needed that the resource cluster knows")
	errMay  = errors.New("the resource cluster does not let this user get this path")
	errBusy = errors.New("too many clients at once")
)

// metrics returns the options of the metrics server. Metrics say how many Installations of which
// namespace fail, so the API server reviews each request. The library's filter does the same with
// most of the code of an API server; this needs only the client. The library's server is not used:
// it accepts connections without end.
func (c *Config) metrics() metricsserver.Options {
	options := metricsserver.Options{BindAddress: c.MetricsAddress}
	if !c.OpenMetrics {
		options.SecureServing = true
		options.FilterProvider = guarded
	}
	return options
}

// addMetrics serves metrics by its options.
func addMetrics(to manager.Manager, options metricsserver.Options) error {
	var filter func(http.Handler) (http.Handler, error)
	if options.FilterProvider != nil {
		made, err := options.FilterProvider(to.GetConfig(), to.GetHTTPClient())
		if err != nil {
			return err // says what it did
		}
		filter = func(next http.Handler) (http.Handler, error) { return made(to.GetLogger().WithName("metrics"), next) }
	}
	handler, err := listen.Metrics(filter)
	if err != nil {
		return err // says what it did
	}
	return listen.Add(to, listen.Endpoint{Name: "metrics", Address: options.BindAddress, Handler: handler, TLS: options.SecureServing})
}

func guarded(config *rest.Config, httpClient *http.Client) (metricsserver.Filter, error) {
	who, err := authenticationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client that asks who reads metrics: %w", err)
	}
	may, err := authorizationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client that asks who may read metrics: %w", err)
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return newGuard(reviewer(who, may), next, log), nil
	}, nil
}

// review checks whether the owner of a token may request a path; a nil error means yes.
type review func(ctx context.Context, token, verb, path string) error

// reviewer returns a review by the API server. It needs two clients, and not those of all kinds: a program
// that has these cannot leave out one of their methods.
func reviewer(tokens authenticationclient.TokenReviewsGetter, access authorizationclient.SubjectAccessReviewsGetter) review {
	return func(ctx context.Context, token, verb, path string) error {
		who, err := tokens.TokenReviews().Create(ctx,
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask whose token it is: %w", err)
		}
		if !who.Status.Authenticated {
			return errWho
		}
		user := who.Status.User
		extra := map[string]authorizationv1.ExtraValue{}
		for key, value := range user.Extra {
			extra[key] = authorizationv1.ExtraValue(value)
		}
		may, err := access.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
			}}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask what the user may do: %w", err)
		}
		if !may.Status.Allowed {
			return errMay
		}
		return nil
	}
}

// guard passes requests whose token has the permission.
type guard struct {
	review review
	next   http.Handler
	log    logr.Logger
	now    func() time.Time

	mutex sync.Mutex
	// verdicts are the refusals, accepted the tokens that were accepted: no number of invented tokens
	// makes the guard forget these.
	verdicts, accepted map[tokenKey]verdict
	// underway counts the reviews of each client, and of tokens that were accepted before.
	underway map[netip.Prefix]int
	again    int
}

type tokenKey = [sha256.Size]byte

type verdict struct {
	err   error
	until time.Time
}

func newGuard(review review, next http.Handler, log logr.Logger) *guard {
	return &guard{
		review: review, next: next, log: log, now: time.Now,
		verdicts: map[tokenKey]verdict{}, accepted: map[tokenKey]verdict{}, underway: map[netip.Prefix]int{},
	}
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch err := g.judge(r); {
	case err == nil:
		listen.Trust(r)
		g.next.ServeHTTP(w, r)
	case errors.Is(err, errWho):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
	case errors.Is(err, errMay):
		http.Error(w, err.Error(), http.StatusForbidden)
	case errors.Is(err, errBusy):
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	default:
		g.log.Error(err, "cannot find out who reads metrics")
		http.Error(w, "the resource cluster does not say who you are", http.StatusServiceUnavailable)
	}
}

func (g *guard) judge(r *http.Request) error {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || token == "" || len(token) > maxTokenBytes {
		return errWho
	}
	verb := strings.ToLower(r.Method)
	// A client may invent paths without limit, but the number of cached reviews is limited.
	key := sha256.Sum256([]byte(verb + "\x00" + r.URL.Path + "\x00" + token))
	if err, known := g.known(key); known {
		return err
	}
	done := g.begin(key, listen.Client(r))
	if done == nil {
		return errBusy
	}
	defer done()
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	err := g.review(ctx, token, verb, r.URL.Path)
	if err == nil || errors.Is(err, errWho) || errors.Is(err, errMay) {
		g.remember(key, err)
	}
	return err
}

// begin takes a turn for a review and returns its end, or nil if all turns are taken. There is no queue:
// scrapers retry by themselves, and any client could fill a queue.
func (g *guard) begin(key tokenKey, client netip.Prefix) (done func()) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if before, known := g.accepted[key]; known && g.now().Before(before.until.Add(acceptedLife)) && g.again < maxReviews {
		g.again++
		return func() {
			g.mutex.Lock()
			defer g.mutex.Unlock()
			g.again--
		}
	}
	all := 0
	for _, number := range g.underway {
		all += number
	}
	if all >= maxReviews && (g.underway[client] > 0 || all >= maxClients) {
		return nil
	}
	g.underway[client]++
	return func() {
		g.mutex.Lock()
		defer g.mutex.Unlock()
		if g.underway[client]--; g.underway[client] == 0 {
			delete(g.underway, client)
		}
	}
}

func (g *guard) known(key tokenKey) (error, bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, verdicts := range []map[tokenKey]verdict{g.accepted, g.verdicts} {
		if found, known := verdicts[key]; known && g.now().Before(found.until) {
			return found.err, true
		}
	}
	return nil, false
}

func (g *guard) remember(key tokenKey, err error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	verdicts, other := g.verdicts, g.accepted
	if err == nil {
		verdicts, other = other, verdicts
	}
	delete(other, key)
	if len(verdicts) >= maxVerdicts {
		clear(verdicts) // asking again is cheap
	}
	verdicts[key] = verdict{err, g.now().Add(verdictLife)}
}
