package login

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/base/yamltext"
)

// Kubeconfig has the supported fields of a kubeconfig, from its current context. Other fields are
// not used, even if a later version of the library knows them.
type Kubeconfig struct {
	context, cluster, namespace string

	server      string
	serverName  string
	insecure    bool
	authorities []byte

	token              string
	username, password string
	certificate, key   []byte
}

// ReadKubeconfig reads a kubeconfig that is safe and complete. Messages name fields
// by their position and never values, for any value may be a credential, the name of
// an entry included.
func ReadKubeconfig(text []byte) (*Kubeconfig, error) {
	decoded, err := decodeKubeconfig(text)
	if err != nil {
		return nil, err
	}
	if err := refuseUnsafe(decoded); err != nil {
		return nil, err
	}
	taken, err := current(decoded)
	if err != nil {
		return nil, err
	}
	return taken, taken.check()
}

func decodeKubeconfig(text []byte) (*clientcmdv1.Config, error) {
	asJSON, err := yamltext.ToJSON(text, contentLimits())
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be decoded as YAML or JSON: %w", err)
	}
	decoded := &clientcmdv1.Config{}
	err = kjson.UnmarshalCaseSensitivePreserveInts(asJSON, decoded)
	if err != nil || (decoded.Kind != "" && decoded.Kind != "Config") || (decoded.APIVersion != "" && decoded.APIVersion != clientcmdv1.SchemeGroupVersion.Version) {
		// The reason is dropped on purpose: it may quote the text.
		return nil, errors.New("the kubeconfig cannot be decoded: it must be a document with apiVersion v1 and kind Config, and its fields must have the right types")
	}
	return decoded, nil
}

// refuseUnsafe refuses everything that would run a program, read a file of this process, lead
// through another machine or impersonate another user. All entries count, not only those in use.
func refuseUnsafe(kubeconfig *clientcmdv1.Config) error {
	for i := range kubeconfig.Clusters {
		if field := unsafeClusterField(&kubeconfig.Clusters[i].Cluster); field != "" {
			return refusal("clusters", i, "cluster", field)
		}
	}
	for i := range kubeconfig.AuthInfos {
		if field := unsafeUserField(&kubeconfig.AuthInfos[i].AuthInfo); field != "" {
			return refusal("users", i, "user", field)
		}
	}
	return nil
}

func refusal(list string, index int, object, field string) error {
	return fmt.Errorf("the kubeconfig uses %s[%d].%s.%s, which is not allowed: "+
		"put certificates, keys and tokens themselves into the kubeconfig (certificate-authority-data, client-certificate-data, client-key-data, token), and connect without a proxy", list, index, object, field)
}

func unsafeClusterField(cluster *clientcmdv1.Cluster) string {
	switch {
	case cluster.CertificateAuthority != "":
		return "certificate-authority"
	case cluster.ProxyURL != "":
		return "proxy-url"
	case hasCredentials(cluster.Server):
		return "server (with a user in the address)"
	}
	return ""
}

func hasCredentials(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.User != nil
}

func unsafeUserField(user *clientcmdv1.AuthInfo) string {
	for _, field := range []struct {
		name string
		used bool
	}{
		{"exec", user.Exec != nil},
		{"auth-provider", user.AuthProvider != nil},
		{"client-certificate", user.ClientCertificate != ""},
		{"client-key", user.ClientKey != ""},
		{"tokenFile", user.TokenFile != ""},
		{"as", user.Impersonate != ""},
		{"as-uid", user.ImpersonateUID != ""},
		{"as-groups", len(user.ImpersonateGroups) > 0},
		{"as-user-extra", len(user.ImpersonateUserExtra) > 0},
	} {
		if field.used {
			return field.name
		}
	}
	return ""
}

// current copies the fields of the current context, one by one.
func current(from *clientcmdv1.Config) (*Kubeconfig, error) {
	if from.CurrentContext == "" {
		return nil, errors.New("the kubeconfig has no current-context: set it to the name of one of its contexts")
	}
	context, err := only("contexts", from.Contexts, func(c clientcmdv1.NamedContext) bool { return c.Name == from.CurrentContext })
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig has no context with the name that current-context says: %w", err)
	}
	cluster, err := only("clusters", from.Clusters, func(c clientcmdv1.NamedCluster) bool { return c.Name == context.Context.Cluster })
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig has no cluster with the name that its current context says: %w", err)
	}
	taken := &Kubeconfig{
		context: context.Name, cluster: cluster.Name, namespace: context.Context.Namespace,
		server: cluster.Cluster.Server, serverName: cluster.Cluster.TLSServerName,
		insecure: cluster.Cluster.InsecureSkipTLSVerify, authorities: cluster.Cluster.CertificateAuthorityData,
	}
	if context.Context.AuthInfo == "" {
		return taken, nil
	}
	user, err := only("users", from.AuthInfos, func(u clientcmdv1.NamedAuthInfo) bool { return u.Name == context.Context.AuthInfo })
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig has no user with the name that its current context says: %w", err)
	}
	taken.token, taken.username, taken.password = user.AuthInfo.Token, user.AuthInfo.Username, user.AuthInfo.Password
	taken.certificate, taken.key = user.AuthInfo.ClientCertificateData, user.AuthInfo.ClientKeyData
	return taken, nil
}

// only returns the one matching entry of a list: of two with the same name, readers choose
// different ones.
func only[T any](list string, entries []T, fits func(T) bool) (found T, err error) {
	count := 0
	for _, entry := range entries {
		if fits(entry) {
			found, count = entry, count+1
		}
	}
	if count != 1 {
		return found, fmt.Errorf("%d entries fit: there must be exactly one under %s", count, list)
	}
	return found, nil
}

// check requires the fields that the library would fill in from the environment of this process, or
// report with a value.
func (k *Kubeconfig) check() error {
	if err := checkServer("clusters[].cluster.server of the kubeconfig", k.server); err != nil {
		return err
	}
	switch {
	case k.token != "" && k.username+k.password != "":
		return errors.New("the user of the kubeconfig has a token and a password: leave one of them")
	case !isEncrypted(k.server) && k.token+k.username+k.password != "":
		return errors.New("clusters[].cluster.server of the kubeconfig begins with http://, so the user's credentials would be readable by others: use https://")
	case k.insecure && len(k.authorities) > 0:
		return errors.New("the kubeconfig has certificate-authority-data and insecure-skip-tls-verify: leave out the latter")
	case len(k.certificate) > 0 != (len(k.key) > 0):
		return errors.New("the kubeconfig has only one of client-certificate-data and client-key-data: check the certificates")
	case len(k.authorities) > 0 && !x509.NewCertPool().AppendCertsFromPEM(k.authorities):
		return errors.New("certificate-authority-data of the kubeconfig holds no certificate in PEM form: check the certificates")
	}
	for _, given := range []struct {
		field string
		text  []byte
	}{{"certificate-authority-data", k.authorities}, {"client-certificate-data", k.certificate}, {"client-key-data", k.key}} {
		if err := pemkey.CheckAll(given.text); err != nil {
			return fmt.Errorf("%s of the kubeconfig: %w", given.field, err)
		}
	}
	if len(k.certificate) > 0 {
		if _, err := tls.X509KeyPair(k.certificate, k.key); err != nil {
			// The reason is dropped on purpose: it is about a key.
			return errors.New("client-certificate-data and client-key-data of the kubeconfig do not hold a certificate and its key in PEM form: check the certificates")
		}
	}
	return nil
}

// rest returns the connection that the kubeconfig describes.
func (k *Kubeconfig) rest() *rest.Config {
	return &rest.Config{
		Host: k.server, BearerToken: k.token, Username: k.username, Password: k.password,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: k.insecure, ServerName: k.serverName, CAData: k.authorities, CertData: k.certificate, KeyData: k.key,
		},
	}
}

// Server is the address of the API server.
func (k *Kubeconfig) Server() string { return k.server }

// WithUser writes a kubeconfig for the same cluster with another user.
func (k *Kubeconfig) WithUser(name string, user *clientcmdapi.AuthInfo) ([]byte, error) {
	made := clientcmdapi.NewConfig()
	made.CurrentContext = k.context
	made.Clusters[k.cluster] = &clientcmdapi.Cluster{
		Server: k.server, TLSServerName: k.serverName, InsecureSkipTLSVerify: k.insecure, CertificateAuthorityData: k.authorities,
	}
	made.Contexts[k.context] = &clientcmdapi.Context{Cluster: k.cluster, AuthInfo: name, Namespace: k.namespace}
	made.AuthInfos[name] = user
	return clientcmd.Write(*made) // the caller wraps the error
}

// checkServer requires the address of an API server.
func checkServer(field, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || parsed.RawQuery != "" || parsed.Fragment != "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		return fmt.Errorf("%s is not the address of an API server: it must look like https://api.example.org:6443", field)
	}
	return nil
}

func isEncrypted(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Scheme == "https"
}
