package traffic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"go.landscaper.dev/internal/cluster/clustererror"
)

// The verbs that requests are counted by, from their methods; a watch is a GET.
var verbs = map[string]string{
	http.MethodGet: "read", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// results are those of requests.
var results = []string{"ok", "refused", "not_found", "conflict", "throttled", "invalid", "server_error", "not_answered", "not_allowed"}

// Requests counts requests to target clusters. Neither the cluster nor the resource is a label:
// users choose both.
var Requests = newRequests()

func newRequests() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "landscaper_target_requests_total", Help: "Requests to target clusters.",
	}, []string{"verb", "result"})
	for _, verb := range []string{"read", "watch", "create", "update", "patch", "delete", "other"} {
		// A result that never happened is 0, not absent: an alert needs an earlier value.
		for _, result := range results {
			counts.WithLabelValues(verb, result)
		}
	}
	return counts
}

// Request is a finished request to a target cluster, without path and address.
type Request struct {
	Verb, Result string
	Began, Ended time.Time
}

// OnRequest is called for each finished request, with its context; nil without an observer. It is set
// before the first request and must not block.
var OnRequest func(context.Context, Request)

// count records the result of a request. Refused is the reason why the answer is not accepted.
func count(request *http.Request, began time.Time, response *http.Response, refused error) {
	verb, result := verbOf(request), resultOf(response, refused)
	Requests.WithLabelValues(verb, result).Inc()
	if OnRequest != nil {
		OnRequest(request.Context(), Request{verb, result, began, time.Now()})
	}
}

func verbOf(request *http.Request) string {
	if strings.Contains(request.URL.RawQuery, "watch=") && request.URL.Query().Has("watch") {
		return "watch"
	}
	if verb, ok := verbs[request.Method]; ok {
		return verb
	}
	return "other"
}

func resultOf(response *http.Response, refused error) string {
	switch {
	case response == nil && (errors.Is(refused, clustererror.ErrPlain) || clustererror.NotAllowed(refused) != nil):
		return "not_allowed"
	case response == nil:
		return "not_answered"
	}
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return "refused"
	case code == http.StatusNotFound:
		return "not_found"
	case code == http.StatusConflict:
		return "conflict"
	case code == http.StatusTooManyRequests:
		return "throttled"
	case code >= 500:
		return "server_error"
	case code >= 400:
		return "invalid"
	case refused != nil:
		return "not_allowed"
	}
	return "ok"
}
