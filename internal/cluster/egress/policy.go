package egress

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Policy says which addresses clients may connect to. The zero value is the default: private
// networks and the Internet, and no proxy.
type Policy struct {
	// AllowLoopback allows addresses of this machine. It is for tests and development.
	AllowLoopback bool `json:"allowLoopback,omitempty"`
	// DenyPrivate refuses addresses of private networks.
	DenyPrivate bool `json:"denyPrivate,omitempty"`
	// Allow are networks that are allowed in spite of the other rules, except Deny. A metadata
	// address of a cloud must be named alone (/32, /128).
	Allow []netip.Prefix `json:"allow,omitempty"`
	// Deny are networks that are refused.
	Deny []netip.Prefix `json:"deny,omitempty"`
	// Proxy is the address of a proxy for HTTP, or "environment" for those of the usual variables.
	// A proxy resolves names itself, so the proxy has to check the resolved addresses.
	Proxy string `json:"proxy,omitempty"`
	// DenyInsecureTLS refuses connections whose certificate would not be verified.
	DenyInsecureTLS bool `json:"denyInsecureTLS,omitempty"`

	unrestricted bool
	// privateRemedy is how private networks are allowed where DenyPrivate does not decide.
	privateRemedy string
	// offlineRemedy is how connections are allowed at all; empty if they are.
	offlineRemedy string
}

// ProxyFromEnvironment is the value of Proxy for the proxies of the environment.
const ProxyFromEnvironment = "environment"

// Unrestricted returns the policy of a program that acts for the user who runs it: it may connect
// to all addresses, through the proxies of the user.
func Unrestricted() Policy { return Policy{unrestricted: true, Proxy: ProxyFromEnvironment} }

// Offline returns the policy that refuses all connections, before a name is resolved. The remedy says how
// they are allowed.
func Offline(remedy string) Policy { return Policy{offlineRemedy: remedy} }

// Outside returns the policy for places that a server outside has named: without the exceptions that an
// operator has made.
func (p Policy) Outside() Policy {
	return Policy{DenyPrivate: p.DenyPrivate, Deny: p.Deny, Proxy: p.Proxy, offlineRemedy: p.offlineRemedy}
}

// WithoutPrivate returns the policy for a purpose for which private networks are refused, unless they
// are listed in Allow. The remedy says how they are allowed. An unrestricted policy stays as it is.
func (p Policy) WithoutPrivate(remedy string) Policy {
	if !p.DenyPrivate {
		p.DenyPrivate, p.privateRemedy = true, remedy
	}
	return p
}

// Validate checks what was configured.
func (p Policy) Validate() error {
	for _, networks := range []struct {
		field string
		list  []netip.Prefix
	}{{"allow", p.Allow}, {"deny", p.Deny}} {
		for _, prefix := range networks.list {
			if !prefix.IsValid() || prefix.Addr().Is4In6() {
				return fmt.Errorf("%s: %s is no network: write it like 10.0.0.0/8 or fd00::/8", networks.field, prefix)
			}
		}
	}
	if p.Proxy == "" || p.Proxy == ProxyFromEnvironment {
		return nil
	}
	address, err := url.Parse(p.Proxy)
	if err != nil || address.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, address.Scheme) {
		// A proxy may have a password in its address.
		return fmt.Errorf("proxy: the value is not an address of a proxy: write it like http://proxy.example.org:3128, or %s", ProxyFromEnvironment)
	}
	return nil
}

// Rule names why a connection was refused.
type Rule string

// The rules.
const (
	// RuleLoopback refuses addresses of this machine.
	RuleLoopback Rule = "loopback"
	// RuleUnspecified refuses addresses that name no machine, and in practice mean this one.
	RuleUnspecified Rule = "unspecified"
	// RuleLinkLocal refuses addresses that are valid on one link only.
	RuleLinkLocal Rule = "link-local"
	// RuleGroup refuses addresses of many machines.
	RuleGroup Rule = "multicast or broadcast"
	// RuleMetadata refuses the metadata addresses of clouds, which serve credentials.
	RuleMetadata Rule = "metadata of a cloud"
	// RulePrivate refuses private networks, where that is configured.
	RulePrivate Rule = "private network"
	// RuleDenied refuses the listed networks.
	RuleDenied Rule = "denied network"
	// RuleForm refuses malformed addresses.
	RuleForm Rule = "malformed address"
	// RuleOffline refuses everything.
	RuleOffline Rule = "no network"
)

// remedies say what an operator may change.
var remedies = map[Rule]string{
	RuleLoopback: "egress.allowLoopback of the server allows it",
	RulePrivate:  "egress.denyPrivate of the server refuses it",
	RuleDenied:   "egress.deny of the server lists it",
	RuleMetadata: "egress.allow of the server allows it if it lists this address alone",
}

// Refused says that the policy does not allow a connection.
type Refused struct {
	// Host is the requested host.
	Host string
	// Rule is the rule that refused the connection.
	Rule Rule
	// Remedy is what may be changed, if it is not what the rule says.
	Remedy string
}

// Error implements error. The message does not have the resolved address.
func (r *Refused) Error() string {
	if r.Rule == RuleOffline {
		return fmt.Sprintf("nothing leaves this machine, so %s is not contacted: %s", r.Host, r.Remedy)
	}
	remedy := cmp.Or(r.Remedy, remedies[r.Rule])
	if remedy == "" {
		remedy = "egress.allow of the server can list exceptions"
	}
	return fmt.Sprintf("the egress policy refuses connections to %s (%s): use another address; %s", r.Host, r.Rule, remedy)
}

// Check checks an address to which a host was resolved. Its error is a *Refused.
func (p Policy) Check(host string, address netip.Addr) error {
	if p.unrestricted {
		return nil
	}
	if err := p.checkOffline(host); err != nil {
		return err
	}
	if !address.IsValid() {
		return &Refused{Host: host, Rule: RuleForm}
	}
	for _, meant := range meanings(address) {
		if rule := p.refuses(meant); rule != "" {
			refused := &Refused{Host: host, Rule: rule}
			if rule == RulePrivate {
				refused.Remedy = p.privateRemedy
			}
			return refused
		}
	}
	return nil
}

// refuses returns the rule that refuses an address, if there is one.
func (p Policy) refuses(address netip.Addr) Rule {
	if within(p.Deny, address) {
		return RuleDenied
	}
	kind := classify(address)
	if kind == metadata {
		if slices.Contains(p.Allow, netip.PrefixFrom(address, address.BitLen())) {
			return ""
		}
		return RuleMetadata
	}
	if within(p.Allow, address) {
		return ""
	}
	switch kind {
	case loopback:
		if !p.AllowLoopback {
			return RuleLoopback
		}
	case private:
		if p.DenyPrivate {
			return RulePrivate
		}
	case unspecified:
		return RuleUnspecified
	case linkLocal:
		return RuleLinkLocal
	case group:
		return RuleGroup
	}
	return ""
}

// CheckHost checks a host as it was written, without resolving it: a name that is allowed here may
// still lead to an address that is not. Its error is a *Refused.
func (p Policy) CheckHost(host string) error {
	if p.unrestricted {
		return nil
	}
	if err := p.checkOffline(host); err != nil {
		return err
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if address, err := netip.ParseAddr(bare); err == nil {
		return p.Check(host, address)
	}
	name := strings.ToLower(strings.TrimSuffix(bare, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "localhost" || last == "localdomain" || strings.HasPrefix(name, "ip6-l"):
		return p.Check(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	case last == "" || isNumber(last):
		// Some resolvers take 127.1, 2130706433 and 0x7f.1 for addresses.
		return &Refused{Host: host, Rule: RuleForm}
	}
	return nil
}

// checkOffline refuses a host if there are no connections at all. Its error is a *Refused.
func (p Policy) checkOffline(host string) error {
	if p.offlineRemedy == "" {
		return nil
	}
	return &Refused{Host: host, Rule: RuleOffline, Remedy: p.offlineRemedy}
}

func isNumber(label string) bool {
	digits := "0123456789"
	if rest, hex := strings.CutPrefix(label, "0x"); hex {
		label, digits = rest, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}
