package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// added is a manager that takes one runnable.
type added struct {
	manager.Manager
	what manager.Runnable
}

func (a *added) Add(what manager.Runnable) error {
	a.what = what
	return nil
}

// TestEndpoint asks an endpoint with TLS, as a collector does.
func TestEndpoint(t *testing.T) {
	to := &added{}
	handler, err := Metrics(nil)
	if err == nil {
		err = Add(to, Endpoint{Name: "metrics", Address: "127.0.0.1:0", Handler: handler, TLS: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	server, is := to.what.(*manager.Server)
	if !is || server.NeedLeaderElection() {
		t.Fatalf("%T is served by the leader only", to.what)
	}
	go func() { _ = server.Start(t.Context()) }()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/": http.StatusNotFound} {
		t.Run(path, func(t *testing.T) {
			response, err := client.Get("https://" + server.Listener.Addr().String() + path)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // it was read
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != want || response.ProtoMajor != 1 || path == "/metrics" && !strings.Contains(string(text), "# TYPE ") {
				t.Errorf("%d, HTTP/%d: %v", response.StatusCode, response.ProtoMajor, err)
			}
		})
	}
}

// TestNoEndpoint: what cannot or is not to be served.
func TestNoEndpoint(t *testing.T) {
	to := &added{}
	for _, off := range []string{"", "0"} {
		if err := Add(to, Endpoint{Name: "metrics", Address: off}); err != nil || to.what != nil {
			t.Errorf("%q: %v", off, err)
		}
	}
	if err := Add(to, Endpoint{Name: "metrics", Address: "nowhere"}); err == nil || !strings.Contains(err.Error(), "serve metrics at nowhere") {
		t.Errorf("%v", err)
	}
	broken := errors.New("no filter")
	if _, err := Metrics(func(http.Handler) (http.Handler, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	guarded, err := Metrics(func(http.Handler) (http.Handler, error) { return http.NotFoundHandler(), nil })
	answer := httptest.NewRecorder()
	if guarded.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil)); err != nil || answer.Code != http.StatusNotFound {
		t.Errorf("the filter is passed by: %d, %v", answer.Code, err)
	}
}
