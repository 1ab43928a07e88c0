package traffic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
)

func TestResultOf(t *testing.T) {
	tests := []struct {
		reason  string
		code    int
		refused error
		want    string
	}{
		{"an answer", 201, nil, "ok"},
		{"no permission", 403, nil, "refused"},
		{"no credentials", 401, nil, "refused"},
		{"nothing there", 404, nil, "not_found"},
		{"another client was faster", 409, nil, "conflict"},
		{"too many requests", 429, nil, "throttled"},
		{"the object is not valid", 422, nil, "invalid"},
		{"the server is ill", 503, errors.New("the answer cannot be read"), "server_error"},
		{"an answer that we do not take", 200, clustererror.ErrMediaType, "not_allowed"},
		{"a redirect", 302, clustererror.ErrRedirect, "not_allowed"},
		{"a request that we do not send", 0, clustererror.ErrPlain, "not_allowed"},
		{"no server", 0, errors.New("no route"), "not_answered"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var response *http.Response
			if test.code != 0 {
				response = &http.Response{StatusCode: test.code}
			}
			if got := resultOf(response, test.refused); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestVerbOf(t *testing.T) {
	for target, want := range map[string]string{"GET /a": "read", "GET /a?watch=true": "watch", "GET /a?x=watch=": "read", "POST /a": "create", "HEAD /a": "other"} {
		t.Run(target, func(t *testing.T) {
			method, path, _ := strings.Cut(target, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, "https://host"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := verbOf(request); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestEachRequestIsReported: with its end, whether it was admitted or not, and once.
func TestEachRequestIsReported(t *testing.T) {
	type key struct{}
	former := OnRequest
	t.Cleanup(func() { OnRequest = former })
	var observed []Request
	OnRequest = func(ctx context.Context, request Request) {
		if ctx.Value(key{}) != "mine" {
			t.Error("another context")
		}
		observed = append(observed, request)
	}
	for _, test := range []struct {
		reason, target string
		code           int
		form           string
		failed         error
		want           Request
	}{
		{"an answer", address, 200, "application/json", nil, Request{Verb: "read", Result: "ok"}},
		{"a watch", address + "?watch=1", 200, "application/json", nil, Request{Verb: "watch", Result: "ok"}},
		{"no permission", address, 403, "application/json", nil, Request{Verb: "read", Result: "refused"}},
		{"a page", address, 200, "text/html", nil, Request{Verb: "read", Result: "not_allowed"}},
		{"a redirect", address, 302, "", nil, Request{Verb: "read", Result: "not_allowed"}},
		{"no server", address, 0, "", io.ErrUnexpectedEOF, Request{Verb: "read", Result: "not_answered"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			observed = nil
			next, _ := answering(test.code, test.form, "{}")
			before := countOf(t, test.want.Verb, test.want.Result)
			g := &guard{memory: answerlimit.New(0), pace: NewPace(), next: next}
			if test.failed != nil {
				g.next = network(func(*http.Request) (*http.Response, error) { return nil, test.failed })
			}
			if response, err := g.RoundTrip(asking(context.WithValue(t.Context(), key{}, "mine"), t, test.target)); err == nil {
				_ = response.Body.Close()
			}
			if len(observed) != 1 || observed[0].Verb != test.want.Verb || observed[0].Result != test.want.Result || observed[0].Ended.Before(observed[0].Began) {
				t.Errorf("reported %+v, want %+v", observed, test.want)
			}
			if now := countOf(t, test.want.Verb, test.want.Result); now != before+1 {
				t.Errorf("counted %v, before %v", now, before)
			}
		})
	}
}

// TestCountsBeginWithZero: an alert needs a value before the first failure.
func TestCountsBeginWithZero(t *testing.T) {
	all := make(chan prometheus.Metric, 1000)
	newRequests().Collect(all)
	if want := 7 * len(results); len(all) != want {
		t.Errorf("%d counts, want %d", len(all), want)
	}
	known := map[string]bool{}
	for _, result := range results {
		known[result] = true
	}
	for code := 100; code < 600; code++ {
		if got := resultOf(&http.Response{StatusCode: code}, nil); !known[got] {
			t.Errorf("code %d is counted as %s, which has no zero", code, got)
		}
	}
}

// countOf is how many requests were counted.
func countOf(t *testing.T, verb, result string) (count float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(Requests)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range families[0].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if labels["verb"] == verb && labels["result"] == result {
			return metric.GetCounter().GetValue()
		}
	}
	t.Fatalf("%s of %s is not counted", result, verb)
	return 0
}
