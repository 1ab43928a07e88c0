package server

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/credential"
	"go.landscaper.dev/internal/component/registry"
)

// RegistryConfig says how registries are reached.
type RegistryConfig struct {
	// OCI is for registries.
	OCI struct {
		// ConfigFiles are Docker configurations with credentials for all namespaces.
		ConfigFiles []string `json:"configFiles"`
		// AllowPlainHTTP reaches registries without HTTPS by HTTP.
		AllowPlainHTTP bool `json:"allowPlainHttp"`
		// InsecureSkipVerify does not check certificates.
		InsecureSkipVerify bool `json:"insecureSkipVerify"`
		// CertificateAuthorities is a file with further certificate authorities (PEM).
		CertificateAuthorities string `json:"certificateAuthorities"`
		// Redirects say where registries may send us to.
		Redirects struct {
			Refuse bool     `json:"refuse"`
			Hosts  []string `json:"hosts"`
		} `json:"redirects"`
		// TokenHosts are hosts that may see the credentials of a registry because they
		// hand out its tokens.
		TokenHosts map[string][]string `json:"tokenHosts"`
	} `json:"oci"`
	// Local is for tests and development.
	Local struct {
		// RootPath is the root of repositories of type local.
		RootPath string `json:"rootPath"`
	} `json:"local"`
}

// components returns what all namespaces have in common: how registries are
// reached, and the default repository.
func (c *Config) components() (component.Options, error) {
	options, err := c.Registry.options()
	options.Default = component.Context(c.RepositoryContext)
	return options, err
}

// registryTimeouts are shorter than the time that a template has: one that waits for
// a registry must hear of it, and not come to its own end first.
func registryTimeouts() registry.Timeouts {
	return registry.Timeouts{Connect: 10 * time.Second, Answer: 20 * time.Second, Stall: 20 * time.Second}
}

// options reads the files that the configuration names.
func (c *RegistryConfig) options() (component.Options, error) {
	options := component.Options{Registry: registry.Options{
		Credentials:    &credential.Store{},
		AllowPlainHTTP: c.OCI.AllowPlainHTTP, InsecureSkipVerify: c.OCI.InsecureSkipVerify,
		Redirects:  registry.Redirects{Refuse: c.OCI.Redirects.Refuse, Hosts: c.OCI.Redirects.Hosts},
		TokenHosts: c.OCI.TokenHosts,
	}}
	for _, path := range c.OCI.ConfigFiles {
		content, err := os.ReadFile(path)
		if err != nil {
			return options, fmt.Errorf("registry.oci.configFiles: %w", err)
		}
		if err := options.Registry.Credentials.AddDockerConfig(content); err != nil {
			return options, fmt.Errorf("registry.oci.configFiles: %s: %w", path, err)
		}
	}
	if path := c.OCI.CertificateAuthorities; path != "" {
		content, err := os.ReadFile(path)
		if err != nil {
			return options, fmt.Errorf("registry.oci.certificateAuthorities: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(content) {
			return options, fmt.Errorf("registry.oci.certificateAuthorities: %s holds no certificate in PEM form", path)
		}
		options.Registry.Authorities = string(content)
	}
	if path := c.Local.RootPath; path != "" {
		root, err := os.OpenRoot(path)
		if err != nil {
			return options, fmt.Errorf("registry.local.rootPath: %w", err)
		}
		options.Local = root.FS()
	}
	return options, nil
}
