package sshkey

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"go.landscaper.dev/internal/cluster/egress"
)

// server answers on loopback with host keys, or with a text. It reports connections, and counts
// names of users.
func server(t *testing.T, say string, keys ...ssh.Signer) (address string, connections chan struct{}, users *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	connections, users = make(chan struct{}, 100), &atomic.Int32{}
	config := &ssh.ServerConfig{NoClientAuth: true, NoClientAuthCallback: func(ssh.ConnMetadata) (*ssh.Permissions, error) {
		users.Add(1)
		return nil, errors.New("no")
	}}
	for _, key := range keys {
		config.AddHostKey(key)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections <- struct{}{}
			go func() {
				if say != "" {
					_, _ = connection.Write([]byte(say))
				} else if len(keys) > 0 {
					_, _, _, _ = ssh.NewServerConn(connection, config)
				} else {
					return // it keeps silent
				}
				_ = connection.Close()
			}()
		}
	}()
	return listener.Addr().String(), connections, users
}

func signers(t *testing.T) []ssh.Signer {
	t.Helper()
	_, first, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var all []ssh.Signer
	for _, key := range []any{first, second} {
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, signer)
	}
	return all
}

// TestScan reads all keys of a server on a port of its own, and tells it nothing.
func TestScan(t *testing.T) {
	keys := signers(t)
	address, _, users := server(t, "", keys...)
	repository := parsed(t, "ssh://git@"+address+"/app.git")
	lines, err := Scan(egress.Policy{AllowLoopback: true})(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckKnownHosts(lines, repository); err != nil {
		t.Error(err)
	}
	prints := Fingerprints(lines)
	if len(prints) != len(keys) {
		t.Fatalf("got %q of %d keys", lines, len(keys))
	}
	for i, key := range keys {
		if !strings.HasPrefix(prints[i], ssh.FingerprintSHA256(key.PublicKey())) {
			t.Errorf("key %d is another one", i)
		}
	}
	if users.Load() != 0 {
		t.Error("the server has heard who we are")
	}
}

// TestScanRefuses never connects to where the policy does not allow.
func TestScanRefuses(t *testing.T) {
	address, connections, _ := server(t, "", signers(t)...)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "[fe80::1]", "2130706433"} {
		t.Run(host, func(t *testing.T) {
			_, err := Scan(egress.Policy{})(t.Context(), parsed(t, "ssh://git@"+host+":"+port+"/app.git"))
			var refused *egress.Refused
			if !errors.As(err, &refused) || len(connections) != 0 {
				t.Errorf("got %v after %d connections", err, len(connections))
			}
		})
	}
}

// TestScanFails says what may be wrong, and neither what the server says nor whether there
// is one.
func TestScanFails(t *testing.T) {
	talkative, _, _ := server(t, "canary\r\n")
	noSSH, _, _ := server(t, "HTTP/1.1 400 canary\r\n\r\n")
	silent, _, _ := server(t, "")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		reason, address string
		ctx             context.Context
	}{
		{"a server with another protocol", noSSH, t.Context()},
		{"a server that only talks", talkative, t.Context()},
		{"a port without a listener", gone, t.Context()},
		{"an ended context", silent, ended},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Scan(egress.Policy{AllowLoopback: true})(test.ctx, parsed(t, "ssh://git@"+test.address+"/app.git"))
			// What it says depends on the address alone.
			want := "ask " + test.address + " for host keys: it does not answer as a server for SSH: check the address, or set knownHosts"
			if err == nil || err.Error() != want {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// TestScanWaits not longer than the caller for a server that keeps silent.
func TestScanWaits(t *testing.T) {
	address, connections, _ := server(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Scan(egress.Policy{AllowLoopback: true})(ctx, parsed(t, "ssh://git@"+address+"/app.git"))
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-connections:
	}
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}

// TestScanTakesTurns shows that hosts which keep silent do not hold up everybody.
func TestScanTakesTurns(t *testing.T) {
	address, connections, _ := server(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	scan, done := Scan(egress.Policy{AllowLoopback: true}), make(chan error)
	for range atOnce {
		go func() {
			_, err := scan(ctx, parsed(t, "ssh://git@"+address+"/app.git"))
			done <- err
		}()
	}
	for range atOnce {
		<-connections
	}
	if _, err := scan(t.Context(), parsed(t, "ssh://git@"+address+"/other.git")); err == nil || !strings.Contains(err.Error(), "it is tried again") {
		t.Errorf("one more hears %v", err)
	}
	cancel()
	for range atOnce {
		<-done
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := scan(ended, parsed(t, "ssh://git@"+address+"/app.git")); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the turn is not free afterwards: %v", err)
	}
}

// slowKey is a host key of an RSA key that is too large to verify with.
type slowKey struct{ bits uint }

func (s slowKey) number() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), s.bits)
	return n.Sub(n, big.NewInt(1))
}

func (slowKey) Type() string { return ssh.KeyAlgoRSA }

func (s slowKey) Marshal() []byte {
	return ssh.Marshal(struct {
		Type string
		E, N *big.Int
	}{ssh.KeyAlgoRSA, big.NewInt(65537), s.number()})
}

func (slowKey) Verify([]byte, *ssh.Signature) error { return errors.New("no") }

func (s slowKey) PublicKey() ssh.PublicKey { return s }

func (s slowKey) Sign(io.Reader, []byte) (*ssh.Signature, error) {
	return &ssh.Signature{Format: ssh.KeyAlgoRSASHA512, Blob: s.number().Bytes()}, nil
}

func (s slowKey) SignWithAlgorithm(random io.Reader, data []byte, _ string) (*ssh.Signature, error) {
	return s.Sign(random, data)
}

// TestScanSlowKeys: a host key of 800,000 bits takes half a minute to verify with, which nothing could interrupt.
func TestScanSlowKeys(t *testing.T) {
	address, _, _ := server(t, "", slowKey{800_000})
	began := time.Now()
	lines, err := Scan(egress.Policy{AllowLoopback: true})(t.Context(), parsed(t, "ssh://git@"+address+"/app.git"))
	if err == nil {
		t.Errorf("the key was taken: %.100s", lines)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
