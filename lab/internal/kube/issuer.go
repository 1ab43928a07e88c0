package kube

import (
	"fmt"
	"strings"
)

// localIssuer signs the tokens of ServiceAccounts of a cluster that no other trusts.
const localIssuer = "https://kubernetes.default.svc.cluster.local"

// IssuerManifest lets everybody read with which keys a cluster signs, as other clusters
// have to.
const IssuerManifest = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: lab:issuer-discovery
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:service-account-issuer-discovery
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: system:unauthenticated
`

// Issue lets the cluster sign the tokens of its ServiceAccounts under an address at
// which other clusters find its keys. Call it before the cluster starts.
func (c *Cluster) Issue() { c.issues = true }

// Trust lets the cluster accept tokens for it of the issuer's ServiceAccounts: those
// whose audience is the cluster's name. Their users have the issuer's name before their
// own. Call it before the cluster starts.
func (c *Cluster) Trust(issuer *Cluster) error {
	c.authentication = c.path("pki", "authentication.yaml")
	// A string of Go is one of YAML, too; the authority has several lines.
	return c.writeFiles(map[string][]byte{"authentication.yaml": fmt.Appendf(nil, `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: %q
    audiences: [%q]
    certificateAuthority: %q
  claimMappings:
    username: {claim: sub, prefix: %q}
`, issuer.Server(), c.Name, issuer.authority.CertPEM, issuer.Name+":")})
}

// gardenerAudience is the audience of the tokens that the resource manager of Gardener requests
// for a shoot, whose API server accepts it beside its issuers.
const gardenerAudience = "gardener"

// issuerArgs say who signs tokens and whose are accepted. Tokens are valid for the usual
// audience in any case.
func (c *Cluster) issuerArgs() []string {
	var issuers, args []string
	if c.issues {
		issuers = append(issuers, c.Server())
	}
	issuers = append(issuers, localIssuer)
	for _, issuer := range issuers {
		args = append(args, "--service-account-issuer="+issuer)
	}
	args = append(args, "--api-audiences="+strings.Join(append(issuers, gardenerAudience), ","))
	if c.authentication != "" {
		args = append(args, "--authentication-config="+c.authentication)
	}
	return args
}
