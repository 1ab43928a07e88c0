package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// certify writes a certificate that is its own authority, and returns it.
func certify(t *testing.T, name string) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	content, secret, err := certutil.GenerateSelfSignedCertKey(name, []net.IP{{127, 0, 0, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	certificate, key = filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")
	for path, text := range map[string][]byte{certificate: content, key: secret} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(content)
	return certificate, key, pool
}

// TestConsoleListens: with the certificate of the files, for browsers without a certificate.
func TestConsoleListens(t *testing.T) {
	to := &lent{}
	console := ConsoleConfig{Address: "127.0.0.1:0"}
	var authority *x509.CertPool
	console.TLS.Certificate, console.TLS.Key, authority = certify(t, "console")
	proxies := x509.NewCertPool()
	err := listenConsole(to, console, proxies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	if err != nil || len(to.added) != 2 {
		t.Fatalf("%d runnables, %v", len(to.added), err)
	}
	var address string
	for _, added := range to.added {
		if elected, is := added.(manager.LeaderElectionRunnable); !is || elected.NeedLeaderElection() {
			t.Errorf("%T runs on one replica only", added)
		}
		if server, is := added.(*manager.Server); is {
			address = server.Listener.Addr().String()
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = added.Start(ctx) }()
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}}
	defer client.CloseIdleConnections()
	answer, err := client.Get("https://" + address + "/here")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "/here" {
		t.Errorf("%s, %v", text, err)
	}
	// A certificate of another authority does not pass for the proxy's.
	foreign, key, _ := certify(t, "front")
	pair, err := tls.LoadX509KeyPair(foreign, key)
	if err != nil {
		t.Fatal(err)
	}
	stranger := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }}}}
	defer stranger.CloseIdleConnections()
	if answer, err := stranger.Get("https://" + address); err == nil {
		_ = answer.Body.Close()
		t.Error("a certificate of another authority is accepted")
	}
}

// TestConsoleWithoutCertificate: what is missing is named.
func TestConsoleWithoutCertificate(t *testing.T) {
	console := ConsoleConfig{Address: "127.0.0.1:0"}
	console.TLS.Certificate, console.TLS.Key = "absent.crt", "absent.key"
	if err := listenConsole(&lent{}, console, nil, http.NotFoundHandler()); err == nil {
		t.Error("no error")
	}
}
