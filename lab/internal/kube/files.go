package kube

import (
	"fmt"
	"os"
	"strings"

	"go.landscaper.dev/lab/internal/pki"
)

var serverHosts = []string{
	"127.0.0.1", "::1", "localhost", "10.96.0.1",
	"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
}

func (c *Cluster) writeCertificates() error {
	var err error
	if c.authority, err = pki.NewAuthority(c.Name + "-ca"); err != nil {
		return err
	}
	if c.frontProxy, err = pki.NewAuthority(c.Name + "-front-proxy-ca"); err != nil {
		return err
	}
	serving, err := c.authority.Issue(pki.Subject{Name: "kube-apiserver", Hosts: serverHosts})
	if err != nil {
		return err
	}
	authorityKey, err := c.authority.KeyPEM()
	if err != nil {
		return err
	}
	vouching, err := c.frontProxy.Issue(pki.Subject{Name: frontProxyClient})
	if err != nil {
		return err
	}
	private, public, err := pki.NewSigningKey()
	if err != nil {
		return err
	}
	return c.writeFiles(map[string][]byte{
		"ca.crt":                 c.authority.CertPEM,
		"ca.key":                 authorityKey,
		"front-proxy-ca.crt":     c.frontProxy.CertPEM,
		"front-proxy-client.crt": vouching.Cert,
		"front-proxy-client.key": vouching.Key,
		"apiserver.crt":          serving.Cert,
		"apiserver.key":          serving.Key,
		"sa.key":                 private,
		"sa.pub":                 public,
	})
}

// writeEtcdCertificates uses an authority of its own: etcd trusts every client with a certificate
// of its authority, and must not trust the cluster's users.
func (c *Cluster) writeEtcdCertificates() error {
	authority, err := pki.NewAuthority(c.Name + "-etcd-ca")
	if err != nil {
		return err
	}
	server, err := authority.Issue(pki.Subject{Name: "etcd", Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		return err
	}
	client, err := authority.Issue(pki.Subject{Name: "kube-apiserver"})
	if err != nil {
		return err
	}
	return c.writeFiles(map[string][]byte{
		"etcd-ca.crt":     authority.CertPEM,
		"etcd.crt":        server.Cert,
		"etcd.key":        server.Key,
		"etcd-client.crt": client.Cert,
		"etcd-client.key": client.Key,
	})
}

func (c *Cluster) writeTokens() error {
	var lines strings.Builder
	for _, user := range []string{AdminUser, SupervisorUser, ControllerManagerUser, SchedulerUser, KwokUser} {
		c.tokens[user] = pki.NewToken()
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", c.tokens[user], user, user, Masters)
	}
	return c.writeFiles(map[string][]byte{"tokens.csv": []byte(lines.String())})
}

// auditPolicy records who asked for what, once per request and once more at
// the end of a watch, and no bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func (c *Cluster) writePolicy() error {
	return c.writeFiles(map[string][]byte{"audit-policy.yaml": []byte(auditPolicy)})
}

func (c *Cluster) writeKubeconfigs() error {
	for user, token := range c.tokens {
		access := c.access(user)
		access.Token = token
		if err := access.Write(c.KubeconfigOf(user)); err != nil {
			return err
		}
	}
	admin := c.access(AdminUser)
	admin.Token = c.tokens[AdminUser]
	if err := admin.Write(c.Kubeconfig()); err != nil {
		return err
	}
	access, err := c.CertAccess(AdminUser, []string{Masters})
	if err != nil {
		return err
	}
	return access.Write(c.CertKubeconfig())
}

func (c *Cluster) access(user string) Access {
	return Access{Server: c.Server(), CA: c.authority.CertPEM, Cluster: c.Name, User: user}
}

// CertAccess makes a client certificate for the user.
func (c *Cluster) CertAccess(user string, groups []string) (Access, error) {
	pair, err := c.authority.Issue(pki.Subject{Name: user, Groups: groups})
	if err != nil {
		return Access{}, err
	}
	access := c.access(user)
	access.Cert, access.Key = pair.Cert, pair.Key
	return access, nil
}

// TokenAccess is an access with a token that the caller has made valid.
func (c *Cluster) TokenAccess(user, token string) Access {
	access := c.access(user)
	access.Token = token
	return access
}

func (c *Cluster) writeFiles(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(c.path("pki", name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func fileName(user string) string { return strings.ReplaceAll(user, ":", "-") }
