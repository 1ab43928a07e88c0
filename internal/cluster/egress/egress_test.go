package egress

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// TestCheck decides about addresses; none is dialled.
func TestCheck(t *testing.T) {
	strict := Policy{}
	lab := Policy{AllowLoopback: true}
	closed := Policy{DenyPrivate: true}
	listed := Policy{DenyPrivate: true, AllowLoopback: true, Allow: prefixes("10.1.0.0/16", "0.0.0.0/0", "::/0"), Deny: prefixes("10.1.2.0/24", "203.0.113.0/24")}
	tests := []struct {
		reason, address string
		policy          Policy
		want            Rule
	}{
		{"the Internet is open", "203.0.113.1", strict, ""},
		{"the Internet is open", "2001:db8::1", strict, ""},
		{"private networks have honest clusters", "10.0.0.1", strict, ""},
		{"private networks have honest clusters", "172.16.0.1", strict, ""},
		{"private networks have honest clusters", "192.168.0.1", strict, ""},
		{"private networks have honest clusters", "fd12::1", strict, ""},
		{"shared addresses are private", "100.64.0.1", strict, ""},
		{"the reserved class is in use", "240.0.0.1", strict, ""},

		{"loopback", "127.0.0.1", strict, RuleLoopback},
		{"any address of the loopback network", "127.255.3.9", strict, RuleLoopback},
		{"loopback, IPv6", "::1", strict, RuleLoopback},
		{"mapped", "::ffff:127.0.0.1", strict, RuleLoopback},
		{"mapped, in hexadecimal", "::ffff:7f00:1", strict, RuleLoopback},
		{"IPv4-compatible", "::127.0.0.1", strict, RuleLoopback},
		{"IPv4-translated", "::ffff:0:127.0.0.1", strict, RuleLoopback},
		{"NAT64", "64:ff9b::127.0.0.1", strict, RuleLoopback},
		{"NAT64 with a local prefix of 96 bits", "64:ff9b:1::7f00:1", strict, RuleLoopback},
		{"NAT64 with a local prefix of 48 bits", "64:ff9b:1:7f00:0:100::", strict, RuleLoopback},
		{"6to4", "2002:7f00:1::1", strict, RuleLoopback},
		{"Teredo turns the bits of the client", "2001:0:cb00:7101::80ff:fffe", strict, RuleLoopback},
		{"Teredo with a server on this machine", "2001:0:7f00:1::1", strict, RuleLoopback},
		{"ISATAP", "2001:db8::5efe:7f00:1", strict, RuleLoopback},
		{"a zone changes nothing", "::1%eth0", strict, RuleLoopback},

		{"stands for this machine", "0.0.0.0", strict, RuleUnspecified},
		{"the whole network does", "0.1.2.3", strict, RuleUnspecified},
		{"stands for this machine", "::", strict, RuleUnspecified},
		{"mapped", "::ffff:0.0.0.0", strict, RuleUnspecified},
		{"never, even in the lab", "0.0.0.0", lab, RuleUnspecified},

		{"the link", "169.254.1.1", strict, RuleLinkLocal},
		{"the link", "fe80::1", strict, RuleLinkLocal},
		{"the link, with its zone", "fe80::1%eth0", strict, RuleLinkLocal},
		{"the end of the network", "febf::1", strict, RuleLinkLocal},
		{"mapped", "::ffff:169.254.1.1", strict, RuleLinkLocal},
		{"many", "224.0.0.1", strict, RuleGroup},
		{"many", "ff02::1", strict, RuleGroup},
		{"all", "255.255.255.255", strict, RuleGroup},

		{"most clouds", "169.254.169.254", strict, RuleMetadata},
		{"tasks", "169.254.170.2", strict, RuleMetadata},
		{"IPv6, in the middle of a private network", "fd00:ec2::254", strict, RuleMetadata},
		{"in the middle of the shared addresses", "100.100.100.200", strict, RuleMetadata},
		{"a public address", "168.63.129.16", strict, RuleMetadata},
		{"NAT64", "64:ff9b::a9fe:a9fe", strict, RuleMetadata},
		{"6to4", "2002:a9fe:a9fe::", strict, RuleMetadata},

		{"allowed in tests", "127.0.0.1", lab, ""},
		{"allowed in tests", "::1", lab, ""},
		{"a metadata address stays refused", "169.254.169.254", lab, RuleMetadata},

		{"a server that serves the Internet only", "10.0.0.1", closed, RulePrivate},
		{"shared addresses", "100.127.255.254", closed, RulePrivate},
		{"unique local", "fc00::1", closed, RulePrivate},
		{"formerly site-local", "fec0::1", closed, RulePrivate},
		{"mapped", "::ffff:10.0.0.1", closed, RulePrivate},
		{"NAT64", "64:ff9b::10.0.0.1", closed, RulePrivate},
		{"the Internet is still open", "203.0.113.1", closed, ""},

		{"an exception", "10.1.0.1", listed, ""},
		{"deny goes before allow", "10.1.2.3", listed, RuleDenied},
		{"denied on the Internet", "203.0.113.7", listed, RuleDenied},
		{"denied, mapped", "::ffff:203.0.113.7", listed, RuleDenied},
		{"denied, behind NAT64", "64:ff9b::203.0.113.7", listed, RuleDenied},
		{"everything is not a name for metadata", "169.254.169.254", listed, RuleMetadata},
		{"everything includes the link", "169.254.1.1", listed, ""},
		{"metadata named alone", "169.254.169.254", Policy{Allow: prefixes("169.254.169.254/32")}, ""},
		{"the user's own program goes anywhere", "127.0.0.1", Unrestricted(), ""},
	}
	for _, test := range tests {
		t.Run(test.reason+"/"+test.address, func(t *testing.T) {
			err := test.policy.Check("host.example.org", netip.MustParseAddr(test.address))
			var refused *Refused
			if errors.As(err, &refused); (err == nil) != (test.want == "") || err != nil && refused.Rule != test.want {
				t.Fatalf("got %v, want rule %q", err, test.want)
			}
			if err != nil && (!strings.Contains(err.Error(), "host.example.org") || !strings.Contains(err.Error(), string(test.want)) || strings.Contains(err.Error(), test.address)) {
				t.Errorf("the message names the host and the rule, not the address: %v", err)
			}
		})
	}
	if err := strict.Check("h", netip.Addr{}); err == nil {
		t.Error("an invalid address is refused")
	}
}

// TestControl is the decision at the moment of dialling, without a connection.
func TestControl(t *testing.T) {
	for _, test := range []struct {
		reason, network, address string
		refused                  bool
	}{
		{"an address of TCP", "tcp4", "203.0.113.1:443", false},
		{"an address of TCP", "tcp6", "[2001:db8::1]:443", false},
		{"with a zone", "tcp6", "[fe80::1%eth0]:443", true},
		{"loopback", "tcp4", "127.0.0.1:443", true},
		{"a socket in the file system cannot be judged", "unix", "/run/agent.sock", true},
		{"no connection that we know", "udp4", "203.0.113.1:53", true},
		{"a name must have been resolved", "tcp4", "localhost:443", true},
	} {
		t.Run(test.reason+"/"+test.address, func(t *testing.T) {
			if err := (Policy{}).control("h")(t.Context(), test.network, test.address, nil); (err != nil) != test.refused {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCheckHost(t *testing.T) {
	for _, test := range []struct {
		host    string
		refused Rule
	}{
		{"api.example.org", ""}, {"registry", ""}, {"10.0.0.1", ""}, {"2001:db8::1", ""}, {"0x.example.org", ""},
		{"localhost", RuleLoopback}, {"LOCALHOST.", RuleLoopback}, {"a.localhost", RuleLoopback}, {"[::1]", RuleLoopback}, {"::ffff:127.0.0.1", RuleLoopback},
		{"127.1", RuleForm}, {"2130706433", RuleForm}, {"0x7f000001", RuleForm}, {"127.0.0.0x1", RuleForm}, {"0177.0.0.1", RuleForm}, {"", RuleForm},
		{"169.254.169.254", RuleMetadata},
	} {
		t.Run(test.host, func(t *testing.T) {
			err := (Policy{}).CheckHost(test.host)
			var refused *Refused
			if errors.As(err, &refused); (err == nil) != (test.refused == "") || err != nil && refused.Rule != test.refused {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}

// server counts the connections that reach it.
func server(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(handler)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, &connections
}

// TestTransport goes to this machine, under all its names, with and without
// permission.
func TestTransport(t *testing.T) {
	s, connections := server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "canary") })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		t.Run(host, func(t *testing.T) {
			address := "http://" + host + ":" + port
			before := connections.Load()
			err := get(t, Policy{}, address)
			var refused *Refused
			if !errors.As(err, &refused) || refused.Rule != RuleLoopback || connections.Load() != before {
				t.Errorf("got %v and %d connections", err, connections.Load()-before)
			}
			if err := get(t, Policy{AllowLoopback: true}, address); err != nil {
				t.Errorf("with permission: %v", err)
			}
		})
	}
}

func get(t *testing.T, policy Policy, address string) error {
	t.Helper()
	transport := policy.Transport(Timeouts{})
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return err
}

// TestRedirect: a server that is allowed sends us to one that is not.
func TestRedirect(t *testing.T) {
	inside, connections := server(t, func(http.ResponseWriter, *http.Request) {})
	outside, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(inside.URL, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
	})
	err := get(t, Policy{Allow: prefixes("127.0.0.1/32")}, outside.URL)
	var refused *Refused
	if !errors.As(err, &refused) || refused.Host != "127.0.0.2" || connections.Load() != 0 {
		t.Errorf("got %v and %d connections", err, connections.Load())
	}
}

// TestProxy: the operator's proxy is used wherever it is, and does not open what the
// policy refuses.
func TestProxy(t *testing.T) {
	var asked atomic.Value
	asked.Store("")
	proxy, _ := server(t, func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.Host) })
	policy := Policy{Proxy: proxy.URL}
	if err := get(t, policy, "http://api.example.org/"); err != nil || asked.Load() != "api.example.org" {
		t.Errorf("%v, the proxy was asked for %q", err, asked.Load())
	}
	for _, host := range []string{"127.0.0.1:1", "localhost", "169.254.169.254", "2130706433"} {
		t.Run(host, func(t *testing.T) {
			asked.Store("")
			var refused *Refused
			if err := get(t, policy, "http://"+host+"/"); !errors.As(err, &refused) || asked.Load() != "" {
				t.Errorf("%s: %v, the proxy was asked for %q", host, err, asked.Load())
			}
		})
	}
	t.Setenv("HTTP_PROXY", proxy.URL)
	other, connections := server(t, func(http.ResponseWriter, *http.Request) {})
	if err := get(t, Policy{AllowLoopback: true}, other.URL); err != nil || connections.Load() != 1 {
		t.Errorf("the environment is not asked: %v", err)
	}
}

// TestDialers: names are judged by what they resolve to, other networks are refused.
func TestDialers(t *testing.T) {
	s, connections := server(t, func(http.ResponseWriter, *http.Request) {})
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, address := range []string{"localhost:" + port, "127.0.0.1:" + port, ":" + port, "nothing"} {
		conn, err := Policy{}.DialContext(ctx, "tcp", address)
		var refused *Refused
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v", address, conn, err)
		}
	}
	if connections.Load() != 0 {
		t.Errorf("%d connections", connections.Load())
	}
}

func TestConfiguration(t *testing.T) {
	var policy Policy
	text := `{"allowLoopback":true,"denyPrivate":true,"allow":["10.1.0.0/16"],"deny":["2001:db8::/32"],"proxy":"http://proxy.example.org:3128","denyInsecureTLS":true}`
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	if err := policy.Validate(); err != nil {
		t.Error(err)
	}
	if back, err := json.Marshal(policy); err != nil || string(back) != text {
		t.Errorf("%s, %v", back, err)
	}
	for _, wrong := range []Policy{
		{Proxy: "proxy.example.org"}, {Proxy: "ftp://proxy.example.org"}, {Proxy: "http://user:hunter2@%zz"},
		{Allow: []netip.Prefix{{}}}, {Deny: prefixes("::ffff:10.0.0.0/104")},
	} {
		if err := wrong.Validate(); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
