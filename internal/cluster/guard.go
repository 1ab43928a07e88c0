package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/egress"
)

// The answers and requests that a connection refuses.
var (
	errRedirect  = errors.New("the server redirects to another address")
	errPlain     = errors.New("credentials would be sent without encryption")
	errMediaType = errors.New("the server answers with something else than JSON")
	// errUnreadable takes the place of what decoders say, who quote the answer.
	errUnreadable = errors.New("its answer cannot be read as the object that was asked for")
)

// newClient returns the HTTP client of a connection: it goes where the policy
// allows, follows nothing, uses no proxy that is not the operator's, sends
// credentials over TLS only, and bounds what comes back.
func newClient(config *rest.Config, policy egress.Policy, memory *budget, pace *pace) (*http.Client, error) {
	transport := policy.Transport(egress.Timeouts{Connect: dialTimeout, Answer: requestTimeout})
	trust, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("the certificates cannot be used: %w", err)
	}
	if trust != nil {
		trust.MinVersion = transport.TLSClientConfig.MinVersion
		transport.TLSClientConfig = trust
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, &guard{next: transport, memory: memory, pace: pace})
	if err != nil {
		return nil, fmt.Errorf("the credentials cannot be used: %w", err)
	}
	return &http.Client{
		Transport: wrapped,
		// The guard has refused it already; this is for whoever takes the guard away.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// guard is next to the network, so that it sees each request as it is sent.
type guard struct {
	next   http.RoundTripper
	memory *budget
	pace   *pace
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
		return nil, errPlain
	}
	request = request.Clone(request.Context())
	onlyJSON(request.Header)
	response, err := g.next.RoundTrip(request)
	if err != nil {
		return nil, err // the HTTP client tells method and address
	}
	if err := g.admit(request, response); err != nil {
		_ = response.Body.Close()
		return response, err
	}
	return response, nil
}

// onlyJSON takes all other forms out of what a request accepts: the cost of what they
// hold cannot be seen.
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

// admit decides about an answer by its header, and bounds its body.
func (g *guard) admit(request *http.Request, response *http.Response) error {
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return errRedirect
	case response.StatusCode >= 400:
		return restate(request, response)
	case response.StatusCode == http.StatusSwitchingProtocols:
		return errMediaType
	}
	if form := response.Header.Get("Content-Type"); form != "" {
		if media, _, err := mime.ParseMediaType(form); err != nil || media != "application/json" {
			return errMediaType
		}
	}
	measured := &meter{body: response.Body, what: "its answer", events: request.URL.Query().Has("watch")}
	if measured.events {
		measured.pace, measured.context = g.pace, request.Context()
	}
	measured.loan, _ = request.Context().Value(loanKey{}).(*loan)
	if measured.loan == nil || measured.events {
		measured.loan, measured.own = &loan{budget: g.memory}, true
	}
	if watch, ok := request.Context().Value(watchContext{}).(*watch); ok {
		// The list before this answer is stored or forgotten by now.
		watch.answer.begin()
		measured.loan, measured.own = watch.answer, false
		measured.what, measured.failed = "the list of "+watch.resource, watch.end
	}
	measured.loan.answered.Store(true)
	response.Body = measured
	return nil
}

// replace gives an answer another body.
func replace(response *http.Response, body []byte) {
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Encoding")
	response.Header.Set("Content-Type", "application/json")
}
