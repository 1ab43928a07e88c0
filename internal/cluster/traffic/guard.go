package traffic

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/rewatch"
)

// dialTimeout limits the time for reaching a server at all.
const dialTimeout = 5 * time.Second

// NewClient returns the HTTP client of a connection: it connects where the policy allows, follows
// no redirects, uses only the operator's proxy, sends credentials over TLS only, and limits the
// size of answers.
func NewClient(config *rest.Config, policy egress.Policy, memory *answerlimit.Budget, pace *Pace) (*http.Client, error) {
	transport := policy.Transport(egress.Timeouts{Connect: dialTimeout, Answer: answerlimit.RequestTimeout})
	trust, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("the certificates cannot be used: %w", err)
	}
	if trust != nil {
		trust.MinVersion = transport.TLSClientConfig.MinVersion
		transport.TLSClientConfig = trust
	}
	return NewClientOver(transport, config, memory, pace)
}

// NewClientOver returns such a client over what takes the place of the network.
func NewClientOver(network http.RoundTripper, config *rest.Config, memory *answerlimit.Budget, pace *Pace) (*http.Client, error) {
	wrapped, err := rest.HTTPWrappersForConfig(config, &guard{next: network, memory: memory, pace: pace})
	if err != nil {
		return nil, fmt.Errorf("the credentials cannot be used: %w", err)
	}
	return &http.Client{
		Transport: rewatch.Transport(wrapped, nil),
		// The guard has refused the redirect already; this protects the client without the guard.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Listing is the list of a watch: it takes memory until the watch has stored it, not only until it
// is read.
type Listing struct {
	// Answer is the loan of the list.
	Answer *answerlimit.Loan
	// What is measured, for messages.
	What string
	// Failed is called for a list that is too large.
	Failed func(error)
	// Begun is called when the cluster has begun to send events; it may be nil.
	Begun func()
}

type listingKey struct{}

// WithListing returns the context for the requests of a watch.
func WithListing(ctx context.Context, reads *Listing) context.Context {
	return context.WithValue(ctx, listingKey{}, reads)
}

// guard is next to the network, so that it sees each request as it is sent.
type guard struct {
	next   http.RoundTripper
	memory *answerlimit.Budget
	pace   *Pace
}

// WrappedRoundTripper lets the library close idle connections.
func (g *guard) WrappedRoundTripper() http.RoundTripper { return g.next }

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := g.roundTrip(request)
	count(request, began, response, err)
	if err != nil {
		return nil, err
	}
	return response, nil
}

// roundTrip returns an answer that is not accepted together with the reason.
func (g *guard) roundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && request.Header.Get("Authorization") != "" {
		return nil, clustererror.ErrPlain
	}
	request = request.Clone(request.Context())
	onlyJSON(request.Header)
	response, err := g.next.RoundTrip(request)
	if err != nil {
		return nil, err // the HTTP client adds method and address
	}
	if err := g.admit(request, response); err != nil {
		_ = response.Body.Close()
		return response, err
	}
	return response, nil
}

// onlyJSON removes all other formats from the Accept header: their decoded size cannot be
// estimated.
func onlyJSON(header http.Header) {
	var accepted []string
	for form := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		if strings.HasPrefix(strings.TrimSpace(form), "application/json") {
			accepted = append(accepted, strings.TrimSpace(form))
		}
	}
	if len(accepted) == 0 {
		accepted = []string{"application/json"}
	}
	header.Set("Accept", strings.Join(accepted, ","))
}

// admit checks an answer by its header, and limits its body.
func (g *guard) admit(request *http.Request, response *http.Response) error {
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return clustererror.ErrRedirect
	case response.StatusCode >= 400:
		return clustererror.Restate(request, response)
	case response.StatusCode == http.StatusSwitchingProtocols:
		return clustererror.ErrMediaType
	}
	if form := response.Header.Get("Content-Type"); form != "" {
		if media, _, err := mime.ParseMediaType(form); err != nil || media != "application/json" {
			return clustererror.ErrMediaType
		}
	}
	measured := &meter{body: response.Body, what: "its answer", events: request.URL.Query().Has("watch")}
	if measured.events {
		measured.pace, measured.context = g.pace, request.Context()
	}
	// The caller has the answer in memory for longer than it is read: the loan of the work lasts as
	// long. A watch has no end, so each of its events is given back when it was read.
	measured.loan = answerlimit.LoanOf(request.Context())
	if measured.loan == nil || measured.events {
		measured.loan, measured.own = &answerlimit.Loan{Budget: g.memory}, true
	}
	if reads, ok := request.Context().Value(listingKey{}).(*Listing); ok {
		// The list before this answer is stored or forgotten by now.
		reads.Answer.Begin()
		measured.loan, measured.own = reads.Answer, false
		measured.what, measured.failed = reads.What, reads.Failed
		if measured.events && reads.Begun != nil {
			reads.Begun()
		}
	}
	measured.loan.Answered.Store(true)
	response.Body = measured
	return nil
}
