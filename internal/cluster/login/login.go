package login

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/pemkey"
)

// Login is the access to a cluster as a Target describes it. Targets with the same access share a
// connection.
//
// The key covers everything that distinguishes connections: the whole text of a kubeconfig, or the
// configuration together with the namespace of the ServiceAccount.
type Login struct {
	// Key identifies the access. It is a hash, so it reveals nothing.
	Key string
	// Config is the connection without a token that has to be requested first.
	Config *rest.Config
	// Token says which token has to be requested; nil if none.
	Token *tokenSpec
	// Self says that the cluster is the resource cluster, whose address no user has chosen.
	Self bool
}

// Address identifies the API server: its address and the authority of its certificate,
// and nothing of the credentials. It is a hash.
func (l *Login) Address() string {
	tls := l.Config.TLSClientConfig
	server, _, _ := strings.Cut(l.Config.Host, "?")
	return Hash("address", strings.TrimRight(server, "/"), tls.ServerName, bytes.TrimSpace(tls.CAData))[:addressLength]
}

// addressLength is enough for the clusters that an item meets.
const addressLength = 32

// tokenSpec is a token of a ServiceAccount on the resource cluster.
type tokenSpec struct {
	Namespace, Name string
	Audience        []string
	Expiration      int64
}

func (s *tokenSpec) request() *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: s.Audience, ExpirationSeconds: &s.Expiration}}
}

// Terms are the settings of the process for all Targets.
type Terms struct {
	// Self is the connection to the resource cluster.
	Self *rest.Config
	// DenyInsecure refuses connections whose certificates are not verified.
	DenyInsecure bool
}

// Of returns the access that a Target's configuration describes.
func Of(config *v1alpha1.KubernetesClusterTargetConfig, namespace string, terms Terms) (*Login, error) {
	switch {
	case config.Kubeconfig.StrVal != nil:
		kubeconfig, err := ReadKubeconfig([]byte(*config.Kubeconfig.StrVal))
		if err != nil {
			return nil, err
		}
		return OfKubeconfig(kubeconfig, *config.Kubeconfig.StrVal, terms)
	case config.OIDCConfig != nil:
		return oidcAccess(config.OIDCConfig, namespace)
	case config.SelfConfig != nil:
		return selfAccess(config.SelfConfig, namespace, terms.Self)
	}
	return nil, errors.New("it holds no access to a cluster: set one of kubeconfig, oidcConfig and selfConfig")
}

// OfKubeconfig returns the access that a kubeconfig describes; text is its source.
func OfKubeconfig(kubeconfig *Kubeconfig, text string, terms Terms) (*Login, error) {
	if kubeconfig.insecure && terms.DenyInsecure {
		return nil, errors.New("the kubeconfig uses insecure-skip-tls-verify, which this server does not allow (egress.denyInsecureTLS): put the authority of the cluster into certificate-authority-data")
	}
	return &Login{Key: Hash("kubeconfig", text), Config: kubeconfig.rest()}, nil
}

func oidcAccess(config *v1alpha1.OIDCConfig, namespace string) (*Login, error) {
	if err := checkServer("oidcConfig.server", config.Server); err != nil {
		return nil, err
	}
	switch {
	case hasCredentials(config.Server):
		return nil, errors.New("oidcConfig.server has a user in the address, which is not allowed")
	case !isEncrypted(config.Server):
		return nil, errors.New("oidcConfig.server begins with http://, so the token would be readable by others: use https://")
	case config.ServiceAccount.Name == "":
		return nil, errors.New("oidcConfig.serviceAccount.name is missing: name a ServiceAccount in the namespace of the Target")
	case len(config.Audience) == 0 || slices.Contains(config.Audience, ""):
		return nil, errors.New("oidcConfig.audience is missing or has an empty entry: name what the target cluster expects; without an audience, every recipient of the token could use it on the resource cluster")
	case len(config.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(config.CAData):
		return nil, errors.New("oidcConfig.caData holds no certificate in PEM form")
	}
	if err := pemkey.CheckAll(config.CAData); err != nil {
		return nil, fmt.Errorf("oidcConfig.caData: %w", err)
	}
	token := &tokenSpec{Namespace: namespace, Name: config.ServiceAccount.Name, Audience: config.Audience, Expiration: expiration(config.ExpirationSeconds)}
	return &Login{
		Key:    Hash("oidc", config, namespace),
		Config: &rest.Config{Host: config.Server, TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData}},
		Token:  token,
	}, nil
}

func selfAccess(config *v1alpha1.SelfConfig, namespace string, self *rest.Config) (*Login, error) {
	if config.ServiceAccount.Name == "" {
		return nil, errors.New("selfConfig.serviceAccount.name is missing: name a ServiceAccount in the namespace of the Target")
	}
	if self == nil {
		return nil, errors.New("selfConfig cannot be used here: this deployer does not know its own cluster")
	}
	token := &tokenSpec{Namespace: namespace, Name: config.ServiceAccount.Name, Expiration: expiration(config.ExpirationSeconds)}
	return &Login{Key: Hash("self", config, namespace), Config: rest.AnonymousClientConfig(self), Token: token, Self: true}, nil
}

func expiration(seconds *int64) int64 {
	if seconds == nil {
		return v1alpha1.DefaultTokenExpirationSeconds
	}
	return *seconds
}

// Hash distinguishes values without revealing them.
func Hash(parts ...any) string {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(parts); err != nil {
		// The parts are only strings and plain structs.
		panic(fmt.Sprintf("encode for a hash: %v", err))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
