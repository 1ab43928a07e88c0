// Package hostile has servers that misbehave: clusters and registries of an attacker, or with
// unlucky failures. They are for tests, listen on loopback only, and bound what they send, so that
// they harm no other process.
package hostile

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Canary is in all credentials that point at these servers, and they repeat it wherever
// they can. It must not be found in what others may read.
const Canary = "canary-5d2c41"

// MaxBytes bounds an answer without end.
const MaxBytes = 192 << 20

// Way is one way to misbehave.
type Way struct {
	// Name is short and fits into names of objects; Reason says what it is about.
	Name, Reason string
	// Serve answers each request; without it, Connection does.
	Serve func(*Server, http.ResponseWriter, *http.Request)
	// Connection has a connection for itself, after the TLS handshake if Handshake. It
	// speaks HTTP/1, or what Protocol says.
	Connection func(*Server, net.Conn)
	Handshake  bool
	Protocol   string
	// Honest reports which requests are answered as they should be; none if it is nil. They do not
	// count.
	Honest func(*http.Request) bool
}

// World is a number of servers with one certificate authority, and a witness that no
// client has a reason to call.
type World struct {
	// CA is the certificate authority of all servers (PEM).
	CA []byte

	certificate tls.Certificate
	witness     *http.Server
	witnessAt   string
	witnessed   atomic.Int64
	betrayed    atomic.Int64

	// reached gets each server when it is called for the first time.
	reached chan *Server

	mutex   sync.Mutex
	servers []*Server
	context context.Context
	cancel  context.CancelFunc
}

// maxServers bounds the servers of a world.
const maxServers = 1000

// Server is a server that misbehaves in one way.
type Server struct {
	Way Way
	// Address is host:port.
	Address string

	world    *World
	listener net.Listener
	server   *http.Server
	requests atomic.Int64
	sent     atomic.Int64
}

// NewWorld starts the witness.
func NewWorld() (*World, error) {
	w := &World{reached: make(chan *Server, maxServers)}
	w.context, w.cancel = context.WithCancel(context.Background())
	if err := w.certify(); err != nil {
		return nil, err
	}
	// Another host, without TLS: what follows a redirect there has lost its way.
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		return nil, fmt.Errorf("start the witness: %w", err)
	}
	w.witnessAt = listener.Addr().String()
	w.witness = &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: silent(), Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.witnessed.Add(1)
		if r.Header.Get("Authorization") != "" {
			w.betrayed.Add(1)
		}
		http.Error(rw, "the witness has seen you", http.StatusTeapot)
	})}
	go func() { _ = w.witness.Serve(listener) }()
	return w, nil
}

// Witnessed counts requests that came to the witness, and those of them that carried
// credentials.
func (w *World) Witnessed() (requests, withCredentials int64) {
	return w.witnessed.Load(), w.betrayed.Load()
}

// Close ends all servers and their connections.
func (w *World) Close() error {
	w.cancel()
	errs := []error{w.witness.Close()}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, server := range w.servers {
		errs = append(errs, server.listener.Close())
		if server.server != nil {
			errs = append(errs, server.server.Close())
		}
	}
	return ignoreClosed(errors.Join(errs...))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Start starts a server that misbehaves in this way.
func (w *World) Start(way Way) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a hostile server: %w", err)
	}
	s := &Server{Way: way, Address: listener.Addr().String(), world: w, listener: listener}
	w.mutex.Lock()
	w.servers = append(w.servers, s)
	count := len(w.servers)
	w.mutex.Unlock()
	if count > maxServers {
		return nil, errors.Join(errors.New("too many hostile servers"), listener.Close())
	}
	secure := &tls.Config{Certificates: []tls.Certificate{w.certificate}, MinVersion: tls.VersionTLS12}
	if way.Serve == nil {
		if way.Protocol != "" {
			secure.NextProtos = []string{way.Protocol}
		}
		go s.accept(secure)
		return s, nil
	}
	s.server = &http.Server{
		// Nothing here ends by itself but what the way says; the world's end ends all.
		ReadHeaderTimeout: time.Hour, ErrorLog: silent(), TLSConfig: secure,
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if way.Honest == nil || !way.Honest(r) {
				s.called()
			}
			way.Serve(s, rw, r)
		}),
	}
	go func() { _ = s.server.ServeTLS(listener, "", "") }()
	return s, nil
}

func (s *Server) accept(secure *tls.Config) {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close() //nolint:errcheck // it is hostile anyway
			defer context.AfterFunc(s.world.context, func() { _ = connection.Close() })()
			s.called()
			if s.Way.Handshake {
				connection = tls.Server(connection, secure)
			}
			if s.Way.Handshake && s.Way.Protocol == "" {
				// A client ignores an answer that arrives before its request.
				if _, err := http.ReadRequest(bufio.NewReader(connection)); err != nil {
					return
				}
			}
			s.Way.Connection(s, connection)
		}()
	}
}

func (s *Server) called() {
	if s.requests.Add(1) == 1 {
		s.world.reached <- s
	}
}

// AwaitReached returns when so many servers have misbehaved for the first time since the last call
// of this function. An error names those that were not called.
func (w *World) AwaitReached(ctx context.Context, count int) error {
	for n := range count {
		select {
		case <-w.reached:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d servers were called, not %s: %w", n, count, strings.Join(w.uncalled(), ", "), ctx.Err())
		}
	}
	return nil
}

func (w *World) uncalled() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var names []string
	for _, server := range w.servers {
		if server.Requests() == 0 {
			names = append(names, server.Way.Name)
		}
	}
	return names
}

// Requests counts requests that are not answered honestly, or connections where the server has those for itself.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Sent counts the bytes of answers without end.
func (s *Server) Sent() int64 { return s.sent.Load() }

// URL is how to reach the server.
func (s *Server) URL() string { return "https://" + s.Address }

// Witness is a URL at another host and port that must not be called.
func (s *Server) Witness() string { return "http://" + s.world.witnessAt + "/witness" }

// Kubeconfig leads to the server with a token that is a canary.
func (s *Server) Kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: a, user: {token: %s-token}}]
`, s.URL(), base64.StdEncoding.EncodeToString(s.world.CA), Canary)
}

// ended is closed when a request, or the world, has ended.
func (s *Server) ended(r *http.Request) <-chan struct{} {
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(s.world.context, cancel)
	context.AfterFunc(ctx, cancel)
	return ctx.Done()
}

// pour writes a text again and again, up to the bound, and is glad about errors.
func (s *Server) pour(w io.Writer, text []byte) {
	for sent := 0; sent < MaxBytes && s.world.context.Err() == nil; {
		n, err := w.Write(text)
		sent += n
		s.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// certify makes an authority and a certificate for loopback.
func (w *World) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hostile"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	w.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	w.certificate = tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	return nil
}

func silent() *log.Logger { return log.New(io.Discard, "", 0) }
