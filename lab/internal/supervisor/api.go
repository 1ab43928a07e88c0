package supervisor

import (
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/report"
)

// serve starts the server that commands and API servers talk to.
func (s *Supervisor) serve() (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w", err)
	}
	pair, err := s.authority.Issue(pki.Subject{Name: "lab-supervisor", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, fmt.Errorf("load the supervisor's certificate: %w", err)
	}
	s.contact = instance.Contact{
		PID: os.Getpid(), URL: "https://" + listener.Addr().String(),
		Token: pki.NewToken(), CA: string(s.authority.CertPEM),
	}
	if err := s.instance.SetContact(s.contact); err != nil {
		return nil, err
	}
	server := &http.Server{Handler: s.authenticated(s.routes()), ReadHeaderTimeout: 10 * time.Second}
	secure := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}})
	go func() {
		if err := server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the command server ended", "error", err)
			s.down()
		}
	}()
	return server, nil
}

func (s *Supervisor) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.contact.Token)) != 1 {
			http.Error(w, "the token in contact.json is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Supervisor) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /v1/lab", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.report()) })
	routes.HandleFunc("POST /v1/down", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, struct{}{})
		s.down()
	})
	routes.HandleFunc("POST /v1/signal", handle(s.signal))
	routes.HandleFunc("POST /v1/restart", handle(s.restart))
	routes.HandleFunc("POST /v1/repositories", handle(s.createRepository))
	routes.HandleFunc("POST /v1/clusters/{cluster}/tokenreview", s.tokenReview)
	routes.HandleFunc("POST /v1/clusters/{cluster}/users", handle(s.addUser))
	routes.HandleFunc("DELETE /v1/clusters/{cluster}/users", handle(s.removeUser))
	routes.HandleFunc("POST /v1/clusters/{cluster}/snapshot", handle(s.snapshot))
	routes.HandleFunc("POST /v1/clusters/{cluster}/restore", handle(s.restore))
	routes.HandleFunc("POST /v1/clusters/{cluster}/proxy", handle(s.ensureProxy))
	return routes
}

// handle makes a handler from a function from one JSON value to another.
func handle[Request, Answer any](do func(*http.Request, Request) (Answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			fail(w, invalid{fmt.Errorf("decode the request: %w", err)})
			return
		}
		result, err := do(r, request)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, result)
	}
}

func answer(w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(content) // the client has disconnected if this fails
}

// invalid is an error of the caller, who asked for something impossible.
type invalid struct{ error }

func (invalid) status() int { return http.StatusBadRequest }

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var callers interface{ status() int }
	if errors.As(err, &callers) {
		status = callers.status()
	}
	http.Error(w, err.Error(), status)
}

// report describes the lab as it is now.
func (s *Supervisor) report() report.Lab {
	lab := report.Lab{
		Name: s.instance.Name, Directory: s.instance.Directory(), PID: os.Getpid(),
		Started:   s.started.UTC().Format(time.RFC3339),
		Clusters:  map[string]report.Cluster{},
		DiskBytes: diskUsage(s.instance.Directory()), MemoryBytes: residentMemory(os.Getpid()),
	}
	memory := map[string]int64{}
	for _, c := range s.all() {
		r := c.report()
		lab.Components = append(lab.Components, r)
		lab.MemoryBytes += r.MemoryBytes
		memory[clusterOf(r.Name)] += r.MemoryBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lab.Registry, lab.Git = s.registry, s.git
	for name, c := range s.clusters {
		described := c.report()
		described.MemoryBytes = memory[name]
		lab.Clusters[name] = described
	}
	return lab
}
