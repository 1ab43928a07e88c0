package connection

import (
	"net/netip"

	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/cluster/egress"
)

// Egress is where this machine connects to for the sake of what others have written on
// the cluster, such as the address of a chart or of a Target: not to where clouds hand out
// credentials, and to this machine only if the cluster is reached on it, too.
func (c *Connection) Egress() egress.Policy {
	return egress.Policy{AllowLoopback: local(c.Config), Proxy: egress.ProxyFromEnvironment}
}

// local tells that a cluster is reached at an address of this machine.
func local(config *rest.Config) bool {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return false
	}
	if server.Hostname() == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(server.Hostname())
	return err == nil && address.IsLoopback()
}
