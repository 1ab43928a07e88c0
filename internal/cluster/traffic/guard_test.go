package traffic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/egress"
)

// secretWord is what no message may repeat.
const secretWord = "Tr0ubador"

// network answers in place of a cluster.
type network func(request *http.Request) (*http.Response, error)

func (n network) RoundTrip(request *http.Request) (*http.Response, error) { return n(request) }

// body is one that knows whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

// answering is a cluster that answers everything in the same way.
func answering(code int, form, text string) (network, *body) {
	sent := &body{Reader: strings.NewReader(text)}
	return func(*http.Request) (*http.Response, error) {
		header := http.Header{}
		if form != "" {
			header.Set("Content-Type", form)
		}
		return &http.Response{StatusCode: code, Header: header, Body: sent}, nil
	}, sent
}

func asking(ctx context.Context, t *testing.T, address string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

const address = "https://cluster.example/api/v1/namespaces/ns/configmaps/a"

// TestAdmit is the decision about an answer by its first lines.
func TestAdmit(t *testing.T) {
	tests := []struct {
		reason string
		code   int
		form   string
		want   error
	}{
		{"JSON", 200, "application/json", nil},
		{"JSON with its letters named", 200, "application/json; charset=utf-8", nil},
		{"JSON in capitals, which is the same", 200, "Application/JSON", nil},
		{"a table is JSON", 200, "application/json;as=Table;v=v1;g=meta.k8s.io", nil},
		{"no form at all: some proxies drop it, and the decoder refuses what is no JSON", 200, "", nil},
		{"made", 201, "application/json", nil},
		{"nothing to say", 204, "", nil},
		{"a form whose cost cannot be seen", 200, "application/vnd.kubernetes.protobuf", clustererror.ErrMediaType},
		{"a stream of such a form", 200, "application/vnd.kubernetes.protobuf;stream=watch", clustererror.ErrMediaType},
		{"a page", 200, "text/html", clustererror.ErrMediaType},
		{"a form that only begins like JSON", 200, "application/json-seq", clustererror.ErrMediaType},
		{"a form that cannot be read", 200, "application/json; charset", clustererror.ErrMediaType},
		{"a form with a line of its own", 200, "text/html\napplication/json", clustererror.ErrMediaType},
		{"a permanent redirect", 301, "application/json", clustererror.ErrRedirect},
		{"a redirect with the same method", 307, "application/json", clustererror.ErrRedirect},
		{"a copy that we do not have", 304, "", clustererror.ErrRedirect},
		{"a choice", 300, "", clustererror.ErrRedirect},
		{"a switch of protocols: its traffic would not be measured", 101, "application/json", clustererror.ErrMediaType},
		{"a page about a failure: the failure counts, not the page", 502, "text/html", nil},
		{"an unknown code", 799, "text/html", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			next, sent := answering(test.code, test.form, `{"a":"`+secretWord+`"}`)
			memory := answerlimit.New(0)
			g := &guard{memory: memory, pace: NewPace(), next: next}
			got, err := g.RoundTrip(asking(t.Context(), t, address))
			if !errors.Is(err, test.want) {
				t.Fatalf("%v, want %v", err, test.want)
			}
			if test.want != nil {
				if got != nil || !sent.closed || strings.Contains(err.Error(), secretWord) {
					t.Errorf("a refused answer is returned (%v) or left open (closed: %v), or is repeated: %v", got, sent.closed, err)
				}
				return
			}
			text, err := io.ReadAll(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			if failed := test.code >= 400; failed == strings.Contains(string(text), secretWord) {
				t.Errorf("an answer with code %d is read as %s", test.code, text)
			}
			if err := got.Body.Close(); err != nil || !sent.closed || memory.Used.Load() != 0 {
				t.Errorf("%v, closed: %v, %d bytes stay booked", err, sent.closed, memory.Used.Load())
			}
		})
	}
}

// TestNothingIsSentInPlain: a token goes over TLS or nowhere.
func TestNothingIsSentInPlain(t *testing.T) {
	for _, test := range []struct {
		reason, address, authorization string
		sent                           bool
	}{
		{"a token over TLS", "https://cluster.example/api", "Bearer " + secretWord, true},
		{"a token in plain", "http://cluster.example/api", "Bearer " + secretWord, false},
		{"a password in plain", "http://cluster.example/api", "Basic " + secretWord, false},
		{"a scheme that only looks like TLS", "httpsx://cluster.example/api", "Bearer " + secretWord, false},
		{"nothing to lose", "http://cluster.example/api", "", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			sent := false
			next, _ := answering(200, "application/json", "{}")
			g := &guard{memory: answerlimit.New(0), pace: NewPace(), next: network(func(request *http.Request) (*http.Response, error) {
				sent = true
				return next(request)
			})}
			request := asking(t.Context(), t, test.address)
			if test.authorization != "" {
				request.Header.Set("Authorization", test.authorization)
			}
			response, err := g.RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if sent != test.sent || (err == nil) != test.sent || !test.sent && !errors.Is(err, clustererror.ErrPlain) {
				t.Errorf("sent: %v, %v", sent, err)
			}
			if err != nil && strings.Contains(err.Error(), secretWord) {
				t.Errorf("the credentials are shown: %v", err)
			}
		})
	}
}

// TestOnlyJSON: whatever the library asks for, what is asked of a cluster is JSON.
func TestOnlyJSON(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  []string
		want   string
	}{
		{"nothing was asked for", nil, "application/json"},
		{"something else alone", []string{"application/vnd.kubernetes.protobuf"}, "application/json"},
		{"JSON behind something else", []string{"application/vnd.kubernetes.protobuf,application/json"}, "application/json"},
		{"JSON in several forms, in their order", []string{"application/json;as=Table;v=v1, application/json"}, "application/json;as=Table;v=v1,application/json"},
		{"spaces", []string{"  application/json ,  */*"}, "application/json"},
		{"several lines of the header", []string{"application/vnd.kubernetes.protobuf", "application/json"}, "application/json"},
		{"anything", []string{"*/*"}, "application/json"},
		{"an empty line", []string{""}, "application/json"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var asked []string
			g := &guard{memory: answerlimit.New(0), pace: NewPace(), next: network(func(request *http.Request) (*http.Response, error) {
				asked = request.Header.Values("Accept")
				return nil, errors.New("no server")
			})}
			request := asking(t.Context(), t, address)
			for _, form := range test.given {
				request.Header.Add("Accept", form)
			}
			if response, err := g.RoundTrip(request); err == nil {
				_ = response.Body.Close()
				t.Fatal("there is no answer")
			}
			if len(asked) != 1 || asked[0] != test.want {
				t.Errorf("asked for %q, want %q", asked, test.want)
			}
			// The request is the caller's, who may send it again.
			if given := request.Header.Values("Accept"); len(given) != len(test.given) {
				t.Errorf("the request was changed: %q", given)
			}
		})
	}
}

// TestNewClient goes to a server on this machine.
func TestNewClient(t *testing.T) {
	asked := make(chan string, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path + " " + r.Header.Get("Authorization")
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}") // the test sees that it is missing
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL, BearerToken: secretWord, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	tests := []struct {
		reason, path string
		policy       egress.Policy
		want         error
		refused      bool
		asked        []string
	}{
		{"with its token", "/api", egress.Policy{AllowLoopback: true}, nil, false, []string{"/api Bearer " + secretWord}},
		{"a redirect is not followed", "/away", egress.Policy{AllowLoopback: true}, clustererror.ErrRedirect, false, []string{"/away Bearer " + secretWord}},
		{"no request is sent where the policy does not allow it", "/api", egress.Policy{}, nil, true, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			client, err := NewClient(config, test.policy, answerlimit.New(0), NewPace())
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			response, err := client.Do(asking(t.Context(), t, server.URL+test.path))
			if err == nil {
				_ = response.Body.Close()
			}
			var refused *egress.Refused
			if test.want != nil && !errors.Is(err, test.want) || errors.As(err, &refused) != test.refused || (test.want == nil && !test.refused) != (err == nil) {
				t.Errorf("%v", err)
			}
			for _, want := range test.asked {
				if got := <-asked; got != want {
					t.Errorf("asked %q, want %q", got, want)
				}
			}
			if len(asked) != 0 {
				t.Errorf("also asked %q", <-asked)
			}
		})
	}
}

// TestNewClientRefuses: what is wrong with a kubeconfig is told without what it holds.
func TestNewClientRefuses(t *testing.T) {
	for reason, config := range map[string]*rest.Config{
		"a certificate that is not valid":   {TLSClientConfig: rest.TLSClientConfig{CAData: []byte("-----BEGIN CERTIFICATE-----\n" + secretWord + "\n-----END CERTIFICATE-----")}},
		"a key that is not valid":           {TLSClientConfig: rest.TLSClientConfig{CertData: []byte(secretWord), KeyData: []byte(secretWord)}},
		"both a token and a password":       {BearerToken: secretWord, Username: "a", Password: secretWord},
		"no verification with an authority": {TLSClientConfig: rest.TLSClientConfig{Insecure: true, CAData: []byte(secretWord)}},
	} {
		t.Run(reason, func(t *testing.T) {
			config.Host = "https://cluster.example"
			client, err := NewClient(config, egress.Policy{}, answerlimit.New(0), NewPace())
			if err == nil {
				t.Fatalf("made %v", client)
			}
			if strings.Contains(err.Error(), secretWord) {
				t.Errorf("the value is shown: %v", err)
			}
		})
	}
}
