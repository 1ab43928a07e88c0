// Package kube describes a cluster: its files, its credentials and the commands
// of its processes.
package kube

import (
	"fmt"
	"os"
	"path/filepath"

	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/ports"
)

// The users that every cluster has. Each shows under its own name in the audit log, so that tests
// can distinguish the lab's requests from their own.
const (
	AdminUser             = "admin"
	SupervisorUser        = "lab:supervisor"
	ControllerManagerUser = "system:kube-controller-manager"
	SchedulerUser         = "system:kube-scheduler"
	KwokUser              = "lab:kwok"
)

// Masters is the group that may do everything.
const Masters = "system:masters"

// frontProxyClient is the name of who may vouch for users.
const frontProxyClient = "front-proxy-client"

const serviceClusterIPs = "10.96.0.0/16"

// Cluster is one cluster's identity: ports, certificates and tokens.
type Cluster struct {
	Name      string
	Directory string

	serverPort, etcdPort, peerPort int

	authority  *pki.Authority
	frontProxy *pki.Authority
	tokens     map[string]string

	// issues says that others may trust the cluster's ServiceAccounts.
	issues bool
	// authentication is the file that says whose ServiceAccounts the cluster trusts.
	authentication string
}

// New makes a cluster's ports, certificates and files in the directory.
func New(name, directory string, reserve *ports.Reservations) (*Cluster, error) {
	c := &Cluster{Name: name, Directory: directory, tokens: map[string]string{}}
	if err := os.MkdirAll(c.path("pki"), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of cluster %s: %w", name, err)
	}
	for _, port := range []*int{&c.serverPort, &c.etcdPort, &c.peerPort} {
		var err error
		if *port, err = reserve.Reserve(); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
	}
	for _, write := range []func() error{c.writeCertificates, c.writeEtcdCertificates, c.writeTokens, c.writePolicy, c.writeKubeconfigs} {
		if err := write(); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
	}
	return c, nil
}

// Server is the API server's URL.
func (c *Cluster) Server() string { return "https://" + ports.Address(c.serverPort) }

// EtcdAddress is where etcd listens.
func (c *Cluster) EtcdAddress() string { return ports.Address(c.etcdPort) }

// Kubeconfig is the administrator's kubeconfig with a token.
func (c *Cluster) Kubeconfig() string { return c.path("kubeconfig") }

// CertKubeconfig is the administrator's kubeconfig with a client certificate.
func (c *Cluster) CertKubeconfig() string { return c.path("kubeconfig-cert") }

// KubeconfigOf is the kubeconfig of one of the lab's own users.
func (c *Cluster) KubeconfigOf(user string) string {
	return c.path("pki", fileName(user)+".kubeconfig")
}

// CAFile holds the authority that signed the API server's certificate and that the API server
// trusts about clients.
func (c *Cluster) CAFile() string { return c.path("pki", "ca.crt") }

// CAKeyFile holds the key of that authority, for equipment that signs certificates of
// its own, which end when it likes.
func (c *Cluster) CAKeyFile() string { return c.path("pki", "ca.key") }

// AuditLog is where the API server records every request.
func (c *Cluster) AuditLog() string { return c.path("audit.log") }

// Token is the token of one of the lab's own users.
func (c *Cluster) Token(user string) string { return c.tokens[user] }

// Authority signs the cluster's certificates.
func (c *Cluster) Authority() *pki.Authority { return c.authority }

// FrontProxy signs the certificate of a proxy that vouches for its clients.
func (c *Cluster) FrontProxy() *pki.Authority { return c.frontProxy }

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.Directory}, elements...)...)
}
