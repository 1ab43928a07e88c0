package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// parseKubeconfig turns the text of a kubeconfig into a connection. Messages name
// fields and never values, for any value may be a credential.
func parseKubeconfig(text []byte) (*rest.Config, error) {
	kubeconfig, err := loadKubeconfig(text)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*kubeconfig, "", &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, errors.New("the kubeconfig cannot be used: check the certificates, keys and the proxy-url of its current context")
	}
	return config, nil
}

// loadKubeconfig reads a kubeconfig that is safe and complete.
func loadKubeconfig(text []byte) (*clientcmdapi.Config, error) {
	kubeconfig, err := clientcmd.Load(text)
	if err != nil {
		// The reason is dropped on purpose: the parser quotes the text.
		return nil, errors.New("the kubeconfig cannot be decoded: it must be a YAML or JSON document of kind Config")
	}
	if err := refuseUnsafe(kubeconfig); err != nil {
		return nil, err
	}
	if err := checkComplete(kubeconfig); err != nil {
		return nil, err
	}
	return kubeconfig, nil
}

// refuseUnsafe refuses everything that would run a program, read a file of this
// process or act in the name of somebody else. All entries count, not only those
// in use.
func refuseUnsafe(kubeconfig *clientcmdapi.Config) error {
	for _, name := range slices.Sorted(maps.Keys(kubeconfig.Clusters)) {
		if field := unsafeClusterField(kubeconfig.Clusters[name]); field != "" {
			return refusal("clusters", name, "cluster", field)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kubeconfig.AuthInfos)) {
		if field := unsafeUserField(kubeconfig.AuthInfos[name]); field != "" {
			return refusal("users", name, "user", field)
		}
	}
	return nil
}

func refusal(list, name, object, field string) error {
	return fmt.Errorf("the kubeconfig uses %s[%s].%s.%s, which is not allowed: "+
		"put certificates, keys and tokens themselves into the kubeconfig (certificate-authority-data, client-certificate-data, client-key-data, token)", list, name, object, field)
}

func unsafeClusterField(cluster *clientcmdapi.Cluster) string {
	switch {
	case cluster == nil:
		return ""
	case cluster.CertificateAuthority != "":
		return "certificate-authority"
	case hasCredentials(cluster.Server):
		return "server (with a user in the address)"
	}
	return ""
}

func hasCredentials(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.User != nil
}

func unsafeUserField(user *clientcmdapi.AuthInfo) string {
	if user == nil {
		return ""
	}
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

// checkComplete demands what the library would fill in from the environment of
// this process, or report with a value.
func checkComplete(kubeconfig *clientcmdapi.Config) error {
	if kubeconfig.CurrentContext == "" {
		return errors.New("the kubeconfig has no current-context: set it to the name of one of its contexts")
	}
	current, ok := kubeconfig.Contexts[kubeconfig.CurrentContext]
	if !ok || current == nil {
		return fmt.Errorf("the kubeconfig has no context with the name that current-context says: add it under contexts")
	}
	cluster, ok := kubeconfig.Clusters[current.Cluster]
	if !ok || cluster == nil {
		return fmt.Errorf("the kubeconfig has no cluster with the name that its current context says: add it under clusters")
	}
	if _, ok := kubeconfig.AuthInfos[current.AuthInfo]; !ok && current.AuthInfo != "" {
		return fmt.Errorf("the kubeconfig has no user with the name that its current context says: add it under users")
	}
	return checkServer("clusters[].cluster.server of the kubeconfig", cluster.Server)
}

// checkServer demands the address of an API server.
func checkServer(field, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		return fmt.Errorf("%s is not the address of an API server: it must look like https://api.example.org:6443", field)
	}
	return nil
}
