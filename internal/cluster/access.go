package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/api/v1alpha1"
)

// access is what a Target says about its cluster. Targets with the same access
// share a connection.
type access struct {
	// key identifies the access. It is a hash, so it gives nothing away.
	key string
	// config is the connection without a token that has to be requested first.
	config *rest.Config
	// token says which token has to be requested; nil if none.
	token *tokenSpec
}

// tokenSpec is a token of a ServiceAccount on the resource cluster.
type tokenSpec struct {
	Namespace, Name string
	Audience        []string
	Expiration      int64
}

func (s *tokenSpec) request() *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: s.Audience, ExpirationSeconds: &s.Expiration}}
}

// newAccess returns the access that a Target's configuration describes. Self is
// the connection to the resource cluster.
func newAccess(config *v1alpha1.KubernetesClusterTargetConfig, namespace string, self *rest.Config) (*access, error) {
	switch {
	case config.Kubeconfig.StrVal != nil:
		restConfig, err := parseKubeconfig([]byte(*config.Kubeconfig.StrVal))
		if err != nil {
			return nil, err
		}
		return &access{key: hash("kubeconfig", *config.Kubeconfig.StrVal), config: restConfig}, nil
	case config.OIDCConfig != nil:
		return oidcAccess(config.OIDCConfig, namespace)
	case config.SelfConfig != nil:
		return selfAccess(config.SelfConfig, namespace, self)
	}
	return nil, errors.New("it holds no access to a cluster: set one of kubeconfig, oidcConfig and selfConfig")
}

func oidcAccess(config *v1alpha1.OIDCConfig, namespace string) (*access, error) {
	if err := checkServer("oidcConfig.server", config.Server); err != nil {
		return nil, err
	}
	if hasCredentials(config.Server) {
		return nil, errors.New("oidcConfig.server has a user in the address, which is not allowed")
	}
	if config.ServiceAccount.Name == "" {
		return nil, errors.New("oidcConfig.serviceAccount.name is missing: name a ServiceAccount in the namespace of the Target")
	}
	token := &tokenSpec{Namespace: namespace, Name: config.ServiceAccount.Name, Audience: config.Audience, Expiration: expiration(config.ExpirationSeconds)}
	return &access{
		key:    hash("oidc", config, namespace),
		config: &rest.Config{Host: config.Server, TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData}},
		token:  token,
	}, nil
}

func selfAccess(config *v1alpha1.SelfConfig, namespace string, self *rest.Config) (*access, error) {
	if config.ServiceAccount.Name == "" {
		return nil, errors.New("selfConfig.serviceAccount.name is missing: name a ServiceAccount in the namespace of the Target")
	}
	if self == nil {
		return nil, errors.New("selfConfig cannot be used here: this deployer does not know its own cluster")
	}
	token := &tokenSpec{Namespace: namespace, Name: config.ServiceAccount.Name, Expiration: expiration(config.ExpirationSeconds)}
	return &access{key: hash("self", config, namespace), config: rest.AnonymousClientConfig(self), token: token}, nil
}

func expiration(seconds *int64) int64 {
	if seconds == nil {
		return v1alpha1.DefaultTokenExpirationSeconds
	}
	return *seconds
}

func hash(parts ...any) string {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(parts); err != nil {
		// Only texts and plain structures come here.
		panic(fmt.Sprintf("encode for a hash: %v", err))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
