package server

import (
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"slices"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/signature"
)

// RegistryConfig is the access to registries.
type RegistryConfig struct {
	// OCI is for registries.
	OCI struct {
		// ConfigFiles are Docker configurations with credentials for all namespaces.
		ConfigFiles []string `json:"configFiles"`
		// PlainHTTPCredentials are the hosts, with their ports, that may see what is in
		// ConfigFiles in clear text.
		PlainHTTPCredentials []string `json:"plainHttpCredentials"`
		// AllowPlainHTTP reaches registries without HTTPS by HTTP.
		AllowPlainHTTP bool `json:"allowPlainHttp"`
		// InsecureSkipVerify does not check certificates.
		InsecureSkipVerify bool `json:"insecureSkipVerify"`
		// CertificateAuthorities is a file with further certificate authorities (PEM).
		CertificateAuthorities string `json:"certificateAuthorities"`
		// Redirects say which hosts registries may redirect to.
		Redirects struct {
			Refuse bool     `json:"refuse"`
			Hosts  []string `json:"hosts"`
		} `json:"redirects"`
		// TokenHosts are hosts that may see the credentials of a registry because they issue its
		// tokens.
		TokenHosts map[string][]string `json:"tokenHosts"`
	} `json:"oci"`
	// Wget is for accesses of type wget.
	Wget struct {
		// AllowAnyRequest sends other methods than GET, and bodies.
		AllowAnyRequest bool `json:"allowAnyRequest"`
		// AllowPrivate lets them lead to private networks, where Egress does.
		AllowPrivate bool `json:"allowPrivate"`
	} `json:"wget"`
	// Local is for tests and development.
	Local struct {
		// RootPath is the root of repositories of type local.
		RootPath string `json:"rootPath"`
	} `json:"local"`
}

// SignatureConfig has the keys of trusted signatures.
type SignatureConfig struct {
	// Keys are those of the deployment, by the name of the signature.
	Keys map[string]SignatureKey `json:"keys"`
	// TrustContexts lets the keys of Contexts count also where signatures are enforced. The users
	// who may write a Context then decide whose signatures count.
	TrustContexts bool `json:"trustContexts"`
}

// SignatureKey is what a signature is checked with.
type SignatureKey struct {
	// PublicKey is a file with the public key of the signer (PEM).
	PublicKey string `json:"publicKey"`
	// CertificateAuthority is a file with the authorities that may issue the certificate of the
	// signer (PEM); Issuer is its required subject.
	CertificateAuthority string `json:"certificateAuthority"`
	Issuer               string `json:"issuer"`
}

// keys reads the files that the configuration names.
func (c *SignatureConfig) keys() (map[string]signature.Trust, error) {
	keys := map[string]signature.Trust{}
	for _, name := range slices.Sorted(maps.Keys(c.Keys)) {
		key := c.Keys[name]
		if (key.PublicKey == "") == (key.CertificateAuthority == "") {
			return nil, fmt.Errorf("signatureVerification.keys.%s: set either publicKey or certificateAuthority", name)
		}
		if key.CertificateAuthority != "" && key.Issuer == "" {
			return nil, fmt.Errorf("signatureVerification.keys.%s: set issuer: an authority issues certificates to many", name)
		}
		content, err := os.ReadFile(key.PublicKey + key.CertificateAuthority)
		if err != nil {
			return nil, fmt.Errorf("signatureVerification.keys.%s: %w", name, err)
		}
		trust := signature.Trust{PublicKey: content}
		if key.CertificateAuthority != "" {
			trust = signature.Trust{Authorities: content, Issuer: key.Issuer}
		}
		if err := trust.Check(); err != nil {
			return nil, fmt.Errorf("signatureVerification.keys.%s: %w", name, err)
		}
		keys[name] = trust
	}
	return keys, nil
}

// components returns the options for all namespaces: the access to registries, and the default
// repository.
func (c *Config) components() (component.Options, error) {
	options, err := c.Registry.options()
	options.Default = component.Context(c.RepositoryContext)
	if c.Embedded != nil {
		options.Given = c.Embedded.Components
	}
	return options, err
}

// wget returns the rules for accesses of type wget.
func (c *RegistryConfig) wget() access.WgetRules {
	return access.WgetRules{
		AnyRequest: c.Wget.AllowAnyRequest, AnyRequestRemedy: "registry.wget.allowAnyRequest of the server allows it",
		Private: c.Wget.AllowPrivate, PrivateRemedy: "registry.wget.allowPrivate of the server allows it",
	}
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
	// The ports and schemes of a Context must not redirect these credentials.
	options.Registry.Credentials.OnlyTLS(c.OCI.PlainHTTPCredentials...)
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
