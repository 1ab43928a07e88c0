package listen

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Endpoint is what a process serves at an address.
type Endpoint struct {
	Name, Address string
	Handler       http.Handler
	// TLS serves with a certificate that the process makes for itself.
	TLS bool
	// Certificates serves with these instead; nil for none.
	Certificates *tls.Config
	// Limits are DefaultLimits if they are zero.
	Limits Limits
}

// Metrics returns the handler of all metrics of the process, behind a filter if there is one.
func Metrics(filter func(http.Handler) (http.Handler, error)) (http.Handler, error) {
	handler := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	if filter != nil {
		var err error
		if handler, err = filter(handler); err != nil {
			return nil, fmt.Errorf("guard the metrics: %w", err)
		}
	}
	routes := http.NewServeMux()
	routes.Handle("/metrics", handler)
	return routes, nil
}

// shutdownTimeout is how long the requests under way may take at the end of the process.
const shutdownTimeout = 10 * time.Second

// Add serves an endpoint as long as a manager runs, also while another replica is the leader.
// The address "0", or none, switches it off.
func Add(to manager.Manager, endpoint Endpoint) error {
	if endpoint.Address == "0" || endpoint.Address == "" {
		return nil
	}
	inner, err := net.Listen("tcp", endpoint.Address)
	if err != nil {
		return fmt.Errorf("serve %s at %s: %w", endpoint.Name, endpoint.Address, err)
	}
	var listener net.Listener = Limit(inner, cmp.Or(endpoint.Limits, DefaultLimits()))
	switch {
	case endpoint.Certificates != nil:
		listener = tls.NewListener(listener, endpoint.Certificates)
	case endpoint.TLS:
		config, err := selfSigned()
		if err != nil {
			return fmt.Errorf("serve %s at %s: %w", endpoint.Name, endpoint.Address, err)
		}
		listener = tls.NewListener(listener, config)
	}
	limit := shutdownTimeout
	return to.Add(&manager.Server{Name: endpoint.Name, Listener: listener, ShutdownTimeout: &limit, Server: Server(endpoint.Handler)})
}

// selfSigned returns a configuration with a new certificate: it encrypts, and proves nothing. HTTP/2
// is not offered, in which one connection carries many requests at a time.
func selfSigned() (*tls.Config, error) {
	certificate, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{{127, 0, 0, 1}}, nil, "")
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{pair}}, nil
}
