package login

import (
	"encoding/json"
	"errors"
	"fmt"

	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// CheckKubeconfig says why a text cannot be stored as the content of a Target, if it must be only a
// kubeconfig: its author must not get the access of this process, nor a token of the resource
// cluster.
func CheckKubeconfig(text []byte) error {
	config, err := ParseContent(text)
	if err != nil {
		return err
	}
	if config.OIDCConfig != nil || config.SelfConfig != nil || config.Kubeconfig.SecretRef != nil || config.Kubeconfig.StrVal == nil {
		return errors.New("it is not a kubeconfig: kubeconfig.secretRef, oidcConfig and selfConfig are not allowed here")
	}
	_, err = ReadKubeconfig([]byte(*config.Kubeconfig.StrVal))
	return err
}

// TokenUser returns the user of a kubeconfig that has one user, who has a token.
func TokenUser(kubeconfig []byte) (name, token string, err error) {
	decoded, err := decodeKubeconfig(kubeconfig)
	if err != nil {
		return "", "", err
	}
	user, err := tokenUser(decoded)
	if err != nil {
		return "", "", err
	}
	return user.Name, user.AuthInfo.Token, nil
}

func tokenUser(decoded *clientcmdv1.Config) (*clientcmdv1.NamedAuthInfo, error) {
	if len(decoded.AuthInfos) != 1 {
		return nil, fmt.Errorf("the kubeconfig has %d entries under users: there must be exactly one", len(decoded.AuthInfos))
	}
	user := &decoded.AuthInfos[0]
	if user.Name == "" || user.AuthInfo.Token == "" {
		return nil, errors.New("the user of the kubeconfig has no name or no token: name the ServiceAccount in users[0].name, and put its token into users[0].user.token")
	}
	return user, nil
}

// WithToken returns a kubeconfig with another token of its only user.
func WithToken(kubeconfig []byte, token string) ([]byte, error) {
	decoded, err := decodeKubeconfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	user, err := tokenUser(decoded)
	if err != nil {
		return nil, err
	}
	user.AuthInfo.Token = token
	decoded.Kind, decoded.APIVersion = "Config", clientcmdv1.SchemeGroupVersion.Version
	asJSON, err := json.Marshal(decoded)
	if err != nil {
		return nil, errors.New("the kubeconfig with the new token cannot be encoded")
	}
	return yaml.JSONToYAML(asJSON) // the JSON was just encoded
}
