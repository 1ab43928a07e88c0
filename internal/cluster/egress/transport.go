package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// Timeouts bound the time for a server that does not answer; zero is a default.
type Timeouts struct {
	// Connect is how long a connection may take, and again its TLS handshake.
	Connect time.Duration
	// Answer is how long a server may take until it begins to answer.
	Answer time.Duration
}

const (
	defaultConnect = 10 * time.Second
	defaultAnswer  = 30 * time.Second
	// maxHeader is how long the header of an answer may be.
	maxHeader = 1 << 20
)

// Dial connects to an address. It has the signature of net.Dialer's DialContext.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// DialContext connects to an address if the policy allows the resolved address.
func (p Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return p.dialer(defaultConnect)(ctx, network, address)
}

// dialer returns a Dial with a timeout.
func (p Policy) dialer(timeout time.Duration) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, &Refused{Host: address, Rule: RuleForm}
		}
		if err := p.checkOffline(host); err != nil {
			return nil, err
		}
		dialer := net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second, ControlContext: p.control(host)}
		return dialer.DialContext(ctx, network, address) // the error of net has network and address
	}
}

// control returns the check of a resolved address, which runs when there is a socket and nothing
// was sent yet.
//
// Every address of a name is checked when the dialer tries it; so a name cannot resolve to an
// allowed address for the check and to another one for the connection.
func (p Policy) control(host string) func(ctx context.Context, network, address string, socket syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		if p.unrestricted {
			return nil
		}
		resolved, err := netip.ParseAddrPort(address)
		if err != nil || (network != "tcp4" && network != "tcp6") {
			// Only TCP addresses can be checked.
			return &Refused{Host: host, Rule: RuleForm}
		}
		return p.Check(host, resolved.Addr())
	}
}

// Transport returns a new transport that enforces the policy.
func (p Policy) Transport(timeouts Timeouts) *http.Transport {
	if timeouts.Connect <= 0 {
		timeouts.Connect = defaultConnect
	}
	if timeouts.Answer <= 0 {
		timeouts.Answer = defaultAnswer
	}
	via := &proxies{policy: p, direct: p.dialer(timeouts.Connect), toProxy: Unrestricted().dialer(timeouts.Connect)}
	return &http.Transport{
		Proxy:                  via.choose,
		DialContext:            via.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    timeouts.Connect,
		ResponseHeaderTimeout:  timeouts.Answer,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		// Pings find connections that died in silence.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// proxies leads the connections of a transport, some of them through a proxy. The
// proxy itself is the operator's choice, wherever it is.
type proxies struct {
	policy          Policy
	direct, toProxy Dial
	// chosen has the addresses of proxies that were chosen.
	chosen sync.Map
}

// choose returns the proxy for a request; nil means no proxy.
func (p *proxies) choose(request *http.Request) (*url.URL, error) {
	var via *url.URL
	var err error
	switch p.policy.Proxy {
	case "":
		return nil, nil
	case ProxyFromEnvironment:
		via, err = http.ProxyFromEnvironment(request)
	default:
		via, err = url.Parse(p.policy.Proxy)
	}
	if err != nil || via == nil {
		return nil, err // the HTTP client adds method and address
	}
	// The proxy dials, so this check is the only one.
	if err := p.policy.CheckHost(request.URL.Hostname()); err != nil {
		return nil, err
	}
	p.chosen.Store(hostPort(via), true)
	return via, nil
}

func (p *proxies) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dial := p.direct
	if _, isProxy := p.chosen.Load(address); isProxy {
		dial = p.toProxy
	}
	connection, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return pace(connection, rate.NewLimiter(writesPerSecond, writesAtOnce)), nil
}

// hostPort returns what a transport dials for a proxy.
func hostPort(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	if port == "" {
		port = "1080"
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}
