package scenario

import (
	"io"
	"net/http"
	"os"
	"testing"

	"go.landscaper.dev/test/landscape"
)

// Server is a running server of a test.
type Server struct {
	*landscape.Server

	t *testing.T
}

// StartServer starts the server and returns when it is ready. It ends with the test.
func StartServer(t *testing.T, kubeconfig string, args ...string) *Server {
	t.Helper()
	s := LaunchServer(t, kubeconfig, args...)
	s.AwaitReady()
	return s
}

// LaunchServer starts the server without waiting for it.
func LaunchServer(t *testing.T, kubeconfig string, args ...string) *Server {
	t.Helper()
	return &Server{Server: landscape.RunUnready(t, landscape.Options{Kubeconfig: kubeconfig, Args: args}), t: t}
}

// AwaitReady returns when the server says that it is ready.
func (s *Server) AwaitReady() {
	s.t.Helper()
	if err := s.WaitReady(s.t.Context()); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// EndBy sends a signal that ends the server and returns when it has ended.
func (s *Server) EndBy(signal os.Signal) {
	s.t.Helper()
	if err := s.Signal(signal); err != nil {
		s.t.Error(err)
	}
	<-s.Ended()
}

// ReadMetrics returns what a server says of itself on an address.
func ReadMetrics(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
