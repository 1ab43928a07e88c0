// Package watchdecoder reads watches with little work: each event is decoded in one pass.
//
// The client library looks for the end of an event, reads its frame twice, then looks for
// the kind of the object and reads that: each step scans the whole text once or twice.
// Decoding the answers of the API server was a fifth of our work.
package watchdecoder

import (
	"context"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
)

// UnreadableEvent is the cause of an error event for an event that cannot be decoded. The
// client library has the same.
const UnreadableEvent metav1.CauseType = "ClientWatchDecoding"

// bodyCapture is held by the context of a watch: its body goes to the claim instead of into the
// client library.
type bodyCapture struct {
	answer *http.Response
}

type captureKey struct{}

// WithBodyCapture returns a configuration with whose clients Watch can read the answers. Where
// requests have a limit of time, they are left to the library: with one, a request ends as
// soon as the library has closed its answer.
func WithBodyCapture(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if config.Timeout > 0 {
		return config
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return captureTransport{next} })
	return config
}

// captureTransport gives the answers to watches to the claims in their contexts.
type captureTransport struct {
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c captureTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err // a transport returns what the one below it returns
	}
	claim, claimed := request.Context().Value(captureKey{}).(*bodyCapture)
	// One that has been taken already comes through a configuration that is WithBodyCapture twice.
	if !claimed || claim.answer != nil || answer.StatusCode != http.StatusOK {
		return answer, nil
	}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media != runtime.ContentTypeJSON {
		return answer, nil
	}
	// The client library gets an empty body, so that its own watch ends at once.
	empty := *answer
	claim.answer, empty.Body = answer, http.NoBody
	return &empty, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper, for callers that unwrap transports.
func (c captureTransport) WrappedRoundTripper() http.RoundTripper { return c.RoundTripper }

// Watch opens a watch whose objects are like the example. Without WithBodyCapture, and for other
// encodings than JSON, it is the client's own.
//
// The namespace and the selectors of a watch are known to the source alone, so the request
// stays its own; only the answer is taken from it.
func Watch(ctx context.Context, from toolscache.ListerWatcherWithContext, options metav1.ListOptions, example runtime.Object) (watch.Interface, error) {
	switch example.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		// Their types do not say which kind they are.
		return from.WatchWithContext(ctx, options) // as below
	}
	claim := &bodyCapture{}
	events, err := from.WatchWithContext(context.WithValue(ctx, captureKey{}, claim), options)
	if err != nil {
		if claim.answer != nil {
			_ = claim.answer.Body.Close() // the answer was good, but it is not read
		}
		return nil, err // the caller looks at the kind of error
	}
	if claim.answer == nil {
		return events, nil
	}
	events.Stop()
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, string(UnreadableEvent))
	return watch.NewStreamWatcher(newDecoder(claim.answer.Body, example), reporter), nil
}
