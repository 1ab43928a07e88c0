package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"
)

// Config is what a proxy is told, as JSON.
type Config struct {
	Address string `json:"address"`
	// Upstream is the API server's URL, CAFile its authority, which also signs
	// the clients' certificates.
	Upstream string `json:"upstream"`
	CAFile   string `json:"caFile"`
	// CertFile and KeyFile are the proxy's certificate for its clients.
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
	// VouchCertFile and VouchKeyFile make the API server trust the proxy when it says which user a
	// client certificate was for.
	VouchCertFile string `json:"vouchCertFile"`
	VouchKeyFile  string `json:"vouchKeyFile"`

	AdminAddress string `json:"adminAddress"`
	AdminToken   string `json:"adminToken"`
	// DecisionLog is appended to; RulesFile keeps the rules over a restart.
	DecisionLog string `json:"decisionLog"`
	RulesFile   string `json:"rulesFile"`
}

// errLost ends an exchange whose answer must not reach the client.
var errLost = errors.New("the answer is lost on purpose")

// proxy forwards requests and breaks some.
type proxy struct {
	engine   *engine
	forward  *httputil.ReverseProxy
	vouched  http.RoundTripper // says who the client is
	plain    http.RoundTripper // leaves that to the client's token
	upstream *url.URL

	mu          sync.Mutex
	connections map[net.Conn]struct{}
}

// Serve proxies until the context ends or a listener fails.
func Serve(ctx context.Context, config Config) error {
	log, err := os.OpenFile(config.DecisionLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the decision log: %w", err)
	}
	defer log.Close()
	engine := newEngine(log)
	p, err := newProxy(config, engine)
	if err != nil {
		return err
	}
	admin := &admin{config: config, proxy: p}
	if err := admin.restore(); err != nil {
		return err
	}
	secure, clients, err := serverTLS(config)
	if err != nil {
		return err
	}
	main := &http.Server{Addr: config.Address, Handler: p, TLSConfig: clients, ConnState: p.track, ReadHeaderTimeout: 10 * time.Second}
	control := &http.Server{Addr: config.AdminAddress, Handler: admin.handler(), TLSConfig: secure, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 2)
	go func() { ended <- main.ListenAndServeTLS("", "") }()
	go func() { ended <- control.ListenAndServeTLS("", "") }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	return errors.Join(err, main.Close(), control.Close())
}

func serverTLS(config Config) (server, clients *tls.Config, err error) {
	certificate, err := tls.LoadX509KeyPair(config.CertFile, config.KeyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("load the proxy's certificate: %w", err)
	}
	pool, err := loadAuthority(config.CAFile)
	if err != nil {
		return nil, nil, err
	}
	server = &tls.Config{Certificates: []tls.Certificate{certificate}}
	clients = server.Clone()
	clients.ClientCAs = pool
	clients.ClientAuth = tls.VerifyClientCertIfGiven
	return server, clients, nil
}

func loadAuthority(file string) (*x509.CertPool, error) {
	authority, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

func newProxy(config Config, engine *engine) (*proxy, error) {
	upstream, err := url.Parse(config.Upstream)
	if err != nil {
		return nil, fmt.Errorf("parse the API server's address: %w", err)
	}
	pool, err := loadAuthority(config.CAFile)
	if err != nil {
		return nil, err
	}
	voucher, err := tls.LoadX509KeyPair(config.VouchCertFile, config.VouchKeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the certificate that vouches for clients: %w", err)
	}
	p := &proxy{
		engine: engine, upstream: upstream, connections: map[net.Conn]struct{}{},
		plain:   transport(&tls.Config{RootCAs: pool}),
		vouched: transport(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{voucher}}),
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      p,
		FlushInterval:  -1, // watches report at once
		ModifyResponse: p.modify,
		ErrorHandler:   p.failed,
	}
	return p, nil
}

func transport(config *tls.Config) *http.Transport {
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableCompression: true}
}

// breaking is the key under which a request's context carries the rule that
// breaks it.
type breaking struct{}

// ServeHTTP decides about a request, and forwards it unless it is to fail.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := Parse(r)
	delays, breaks := p.engine.decide(request)
	for _, rule := range delays {
		if !sleep(r.Context(), time.Duration(rule.Delay)) {
			return
		}
	}
	if breaks == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	switch breaks.Action {
	case ActionStatus:
		writeStatus(w, breaks.Status, breaks.Name)
	case ActionCut:
		if request.Verb == "watch" && breaks.Delay > 0 {
			ctx, cancel := context.WithTimeout(r.Context(), time.Duration(breaks.Delay))
			defer cancel()
			p.forward.ServeHTTP(w, r.WithContext(ctx))
		}
		panic(http.ErrAbortHandler)
	case ActionLose:
		// The client may give up early; the API server must act all the same.
		ctx := context.WithValue(context.WithoutCancel(r.Context()), breaking{}, breaks)
		p.forward.ServeHTTP(w, r.WithContext(ctx))
	}
}

func sleep(ctx context.Context, duration time.Duration) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rewrite addresses the API server and names the client, if a verified certificate names it. The
// client's own headers for that are removed.
func (p *proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.upstream)
	for name := range r.Out.Header {
		if len(name) >= len("X-Remote-") && name[:len("X-Remote-")] == "X-Remote-" {
			r.Out.Header.Del(name)
		}
	}
	if r.In.TLS != nil && len(r.In.TLS.VerifiedChains) > 0 {
		subject := r.In.TLS.VerifiedChains[0][0].Subject
		r.Out.Header.Set("X-Remote-User", subject.CommonName)
		for _, group := range subject.Organization {
			r.Out.Header.Add("X-Remote-Group", group)
		}
	}
}

// RoundTrip sends a request on, vouched for if it names a user.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Remote-User") != "" {
		return p.vouched.RoundTrip(r)
	}
	return p.plain.RoundTrip(r)
}

// modify sees every answer before the client does.
func (p *proxy) modify(response *http.Response) error {
	ctx := response.Request.Context()
	if ctx.Value(breaking{}) != nil {
		_, _ = io.Copy(io.Discard, response.Body) // the API server has acted
		return errLost
	}
	if request := Parse(response.Request); request.Verb == "watch" {
		response.Body = &stallingBody{ReadCloser: response.Body, ctx: ctx, engine: p.engine, request: request, decided: watchDecisions{}}
	}
	return nil
}

// failed breaks the connection off, which is what a client would see of an API
// server that is away.
func (p *proxy) failed(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// stallingBody holds back what was read while a rule stalls the watch.
type stallingBody struct {
	io.ReadCloser
	ctx     context.Context
	engine  *engine
	request Request
	decided watchDecisions
}

// Read reads, and returns what it has read once no rule stalls the watch.
func (s *stallingBody) Read(buffer []byte) (int, error) {
	n, err := s.ReadCloser.Read(buffer)
	s.engine.waitWhileStalled(s.ctx, s.request, s.decided)
	return n, err
}

var reasons = map[int]string{
	400: "BadRequest", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired", 422: "Invalid",
	429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
}

// writeStatus answers as an API server does.
func writeStatus(w http.ResponseWriter, code int, rule string) {
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": fmt.Sprintf("fault rule %q answers in the API server's place", rule),
		"reason":  reasons[code], "code": code,
	})
}

// track remembers the open connections.
func (p *proxy) track(connection net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.connections[connection] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(p.connections, connection)
	}
}

// cut closes all open connections and says how many.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.connections {
		_ = connection.Close()
	}
	return len(p.connections)
}
