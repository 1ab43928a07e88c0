package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/server/feature"
)

func TestTraceEndpoint(t *testing.T) {
	for endpoint, want := range map[string]bool{"": true, "http://127.0.0.1:4318": true, "https://collector.example.org/base": true, "collector:4318": false, "unix:///socket": false, "http://": false} {
		t.Run(endpoint, func(t *testing.T) {
			config := Default()
			config.TraceEndpoint = endpoint
			if err := config.Validate(); (err == nil) != want {
				t.Error(err)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	tests := []struct {
		reason, file string
		check        func(Config) bool
		warning      string
		wantErr      string
	}{
		{"workers of each kind", "controllers: {installations: {workers: 3}, executions: {workers: 4}, deployItems: {workers: 5}, contexts: {workers: 6}}",
			func(c Config) bool {
				return c.Workers[Installations] == 3 && c.Workers[Executions] == 4 && c.Workers[Manifests] == 5 && c.Workers[Contexts] == 6
			}, "", ""},
		{"default Contexts as the type spells them", "controllers: {contexts: {config: {default: {excludedNamespaces: [a], repositoryContext: {type: ociRegistry, baseUrl: x}}}}}",
			func(c Config) bool {
				return slices.Equal(c.ExcludedNamespaces, []string{"a"}) && c.RepositoryContext.Type() == "ociRegistry"
			}, "", ""},
		{"default Contexts as published examples spell them", "controllers: {context: {config: {default: {excludeNamespaces: [a], disable: true}}}}",
			func(c Config) bool {
				return slices.Equal(c.ExcludedNamespaces, []string{"a"}) && !slices.Contains(c.Controllers, Contexts)
			}, "", ""},
		{"the repository at its old place", "repositoryContext: {type: ociRegistry, baseUrl: x}", func(c Config) bool { return c.RepositoryContext.Type() == "ociRegistry" }, "", ""},
		{"metrics and time limits", "metrics: {port: 9999}\ndeployItemTimeouts: {pickup: none}", func(c Config) bool { return c.MetricsAddress == ":9999" && c.PickupTimeout == 0 }, "", ""},
		{"confined to namespaces", "namespaces: [team-a, team-b]", func(c Config) bool {
			cached := c.cachedNamespaces()
			_, one := cached["team-a"]
			return one && len(cached) == 2 && c.Validate() == nil
		}, "", ""},
		{"the object that reports the health of the process", "lsDeployments: {deploymentsNamespace: ns, lsHealthCheckName: health}", func(c Config) bool {
			return c.HealthCheck.String() == "ns/health" && c.Validate() == nil
		}, "", ""},
		{"Deployments of upstream are not watched", "lsDeployments: {lsController: main}", func(c Config) bool { return c.HealthCheck.Name == "" }, "lsController", ""},
		{"an object without a namespace", "lsDeployments: {lsHealthCheckName: health}", func(c Config) bool {
			err := c.Validate()
			return err != nil && strings.Contains(err.Error(), "deploymentsNamespace")
		}, "", ""},
		{"what is alpha is off", "{}", func(c Config) bool { return !c.Features.Enabled(feature.ServerConsole) }, "", ""},
		{"an alpha feature", "featureGates: {ServerConsole: true}", func(c Config) bool { return c.Features.Enabled(feature.ServerConsole) }, "", ""},
		{"not confined", "{}", func(c Config) bool { return c.cachedNamespaces() == nil }, "", ""},
		{"metrics are for those who may", "metrics: {port: 9999}", func(c Config) bool { return c.metrics().SecureServing && c.metrics().FilterProvider != nil }, "", ""},
		{"metrics for everybody", "metrics: {open: true}", func(c Config) bool {
			return !c.metrics().SecureServing && c.metrics().FilterProvider == nil && c.MetricsAddress == Default().MetricsAddress
		}, "", ""},
		{"nothing given keeps what works", "kind: LandscaperConfiguration", func(c Config) bool {
			return c.PickupTimeout == 5*time.Minute && slices.Equal(c.Controllers, Controllers())
		}, "", ""},
		{"permissions", "importNamespaces: [{from: shared, to: [a, b]}]", func(c Config) bool { return slices.Equal(c.SourceNamespaces["shared"], []string{"a", "b"}) }, "", ""},
		{"the default repository is that of all Contexts without one", "repositoryContext: {type: ociRegistry, baseUrl: r.example.org}", func(c Config) bool {
			options, err := c.components()
			return err == nil && strings.Contains(options.Default.String(), "r.example.org")
		}, "", ""},
		{"what accesses of type wget may do", "registry: {wget: {allowAnyRequest: true, allowPrivate: true}}", func(c Config) bool {
			rules := c.Registry.wget()
			return rules.AnyRequest && rules.Private
		}, "", ""},
		{"without a word, accesses of type wget may do little", "registry: {}", func(c Config) bool {
			rules := c.Registry.wget()
			return !rules.AnyRequest && !rules.Private
		}, "", ""},
		{"how registries are reached", "registry: {oci: {allowPlainHttp: true, insecureSkipVerify: true, redirects: {refuse: true, hosts: [a]}, tokenHosts: {r.example.org: [b]}}}", func(c Config) bool {
			options, err := c.components()
			got := options.Registry
			return err == nil && got.AllowPlainHTTP && got.InsecureSkipVerify && got.Redirects.Refuse && slices.Equal(got.Redirects.Hosts, []string{"a"}) && slices.Equal(got.TokenHosts["r.example.org"], []string{"b"})
		}, "", ""},
		{"where clients may connect to", "egress: {allowLoopback: true, denyPrivate: true, allow: [10.1.0.0/16], deny: [2001:db8::/32], proxy: environment, denyInsecureTLS: true}", func(c Config) bool {
			return c.Egress.AllowLoopback && c.Egress.DenyPrivate && len(c.Egress.Allow) == 1 && len(c.Egress.Deny) == 1 && c.Egress.Proxy == "environment" && c.Egress.DenyInsecureTLS && c.Validate() == nil
		}, "", ""},
		{"whose signatures count", "signatureVerificationEnforcementPolicy: Enforce", func(c Config) bool { return c.Verification == installation.VerifyAlways && c.Validate() == nil }, "", ""},
		{"signatures count where they are asked for", "{}", func(c Config) bool { return c.Verification == installation.VerifyIfAsked }, "", ""},
		{"what starts jobs", "reconcile: {onSpecChange: true}", func(c Config) bool { return c.Triggers == predicates.Triggers{OnSpecChange: true} }, "", ""},
		{"what starts jobs, too", "reconcile: {onImportChange: true}", func(c Config) bool { return c.Triggers == predicates.Triggers{OnImportChange: true} }, "", ""},
		{"functions that are switched off", "disabledTemplateFunctions: [getOidcKubeconfig]", func(c Config) bool {
			return c.disabledFunctions()["getOidcKubeconfig"] && len(c.disabledFunctions()) == 1 && c.Validate() == nil
		}, "", ""},
		{"blueprints name any Target", "blueprints: {namedTargets: true}", func(c Config) bool { return c.NamedTargets }, "", ""},
		{"blueprints name what Installations import", "{}", func(c Config) bool { return !c.NamedTargets }, "", ""},
		{"the rules for all items", "deployers: {readinessMode: kstatus, protectedNamespaces: [kube-system]}", func(c Config) bool {
			return c.Deployers.ReadinessMode == "kstatus" && slices.Equal(c.Deployers.ProtectedNamespaces, []string{"kube-system"}) && c.Validate() == nil
		}, "", ""},
		{"a mode that does not exist", "deployers: {readinessMode: hope}", func(c Config) bool {
			err := c.Validate()
			return err != nil && strings.Contains(err.Error(), "deployers.readinessMode")
		}, "", ""},
		{"a store for blobs that is no longer there", "registry: {oci: {cache: {path: x}}}", func(Config) bool { return true }, "cache", ""},
		{"a key without effect is a warning", "blueprintStore: {path: x}", func(Config) bool { return true }, "blueprintStore", ""},
		{"a wrong duration", "deployItemTimeouts: {pickup: soon}", nil, "", "deployItemTimeouts.pickup"},
		{"a file of another kind", "kind: Pod", nil, "", "is of kind Pod"},
		{"no YAML", "a: [", nil, "", "decode configuration"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			config := Default()
			warnings, err := config.Load(path)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("got %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil || !test.check(config) {
				t.Errorf("%+v, %v", config, err)
			}
			if got := strings.Join(warnings, "\n"); (test.warning == "") != (got == "") || !strings.Contains(got, test.warning) {
				t.Errorf("warnings %q", got)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	config := Default()
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	config.Controllers = []string{"ghost"}
	if err := config.Validate(); err == nil || !strings.Contains(err.Error(), `there is no controller "ghost": choose from installation, execution, context, targetsync, manifest, helm, kustomize`) {
		t.Errorf("got %v", err)
	}
	for _, test := range []struct {
		reason, want string
		change       func(*Config)
	}{
		{"a policy is not guessed: a misspelt one would check nothing", `signatureVerificationEnforcementPolicy is "enforce": choose from DoNotEnforce, Enforce, Disabled`, func(c *Config) { c.Verification = "enforce" }},
		{"a function that does not exist would stay switched on under its real name", `there is no function "getOIDCKubeconfig": choose from getOidcKubeconfig`, func(c *Config) { c.DisabledFunctions = []string{"getOIDCKubeconfig"} }},
		{"a proxy that is not valid", "egress: proxy", func(c *Config) { c.Egress.Proxy = "proxy.example.org" }},
		{"a pattern for namespaces would name none", `namespaces: "team-*" is not the name of a namespace`, func(c *Config) { c.Namespaces = []string{"team-*"} }},
		{"workers of an unknown controller", `workers: there is no controller "deployitem": choose from installation`, func(c *Config) { c.Workers["deployitem"] = 8 }},
		{"no workers at all", "workers of helm: 0: write a number from 1", func(c *Config) { c.Workers[Charts] = 0 }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := Default()
			test.change(&config)
			if err := config.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
	config.Controllers = nil
	if err := config.Validate(); err == nil {
		t.Error("a process without controllers has nothing to do")
	}
}

// TestRegistryFiles reads the files that the configuration names.
func TestRegistryFiles(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	login := func(user string) string {
		return `{"auths":{"r.example.org":{"username":"` + user + `","password":"hunter2"}}}`
	}
	var config RegistryConfig
	config.OCI.ConfigFiles = []string{write("first", login("first")), write("second", login("second"))}
	options, err := config.options()
	if err != nil {
		t.Fatal(err)
	}
	found := options.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: "r.example.org"})
	if found[credential.Username] != "second" {
		t.Errorf("the later file wins, got %q", found[credential.Username])
	}
	ghost := filepath.Join(directory, "ghost")
	for _, test := range []struct {
		reason, want string
		change       func(*RegistryConfig)
		missing      bool
	}{
		{"credentials that are not there", "registry.oci.configFiles", func(c *RegistryConfig) { c.OCI.ConfigFiles = []string{ghost} }, true},
		{"credentials that are not valid", "registry.oci.configFiles: " + directory, func(c *RegistryConfig) { c.OCI.ConfigFiles = []string{write("broken", `{"auths":"hunter2`)} }, false},
		{"authorities that are not there", "registry.oci.certificateAuthorities", func(c *RegistryConfig) { c.OCI.CertificateAuthorities = ghost }, true},
		{"invalid authorities are reported at the start, not by the first Installation", "holds no certificate in PEM form", func(c *RegistryConfig) { c.OCI.CertificateAuthorities = write("ca", "hunter2") }, false},
		{"a folder that is not there", "registry.local.rootPath", func(c *RegistryConfig) { c.Local.RootPath = ghost }, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var config RegistryConfig
			test.change(&config)
			_, err := config.options()
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, fs.ErrNotExist) != test.missing || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSignatureKeys reads the keys of the deployment.
func TestSignatureKeys(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const key = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A\niTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==\n-----END PUBLIC KEY-----\n"
	good, empty := write("key", key), write("empty", "")
	for _, test := range []struct {
		reason string
		key    SignatureKey
		want   string
	}{
		{"a public key", SignatureKey{PublicKey: good}, ""},
		{"nothing", SignatureKey{}, "set either publicKey or certificateAuthority"},
		{"a public key and an authority", SignatureKey{PublicKey: good, CertificateAuthority: good}, "set either publicKey or certificateAuthority"},
		{"an authority that may have issued a certificate to anybody", SignatureKey{CertificateAuthority: good}, "set issuer"},
		{"an empty file is not a trust in everybody", SignatureKey{PublicKey: empty}, "neither a public key nor"},
		{"a file that is not a key is reported at the start", SignatureKey{PublicKey: write("no", "hunter2")}, "failed parsing public key data"},
		{"a file that is no authority", SignatureKey{CertificateAuthority: good, Issuer: "CN=a"}, "failed parsing ca cert data"},
		{"a file that is not there", SignatureKey{PublicKey: filepath.Join(directory, "ghost")}, "signatureVerification.keys.release"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := SignatureConfig{Keys: map[string]SignatureKey{"release": test.key}}
			keys, err := config.keys()
			if test.want == "" {
				if err != nil || string(keys["release"].PublicKey) != key {
					t.Errorf("%v, %v", keys, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestCredentialsOfTheDeployment: a Context says where a registry is; it must not
// lead the credentials of the deployment to another port, or into clear text.
func TestCredentialsOfTheDeployment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"auths":{"r.example.org":{"username":"deployment","password":"p"},"lab.example.org:5000":{"username":"lab","password":"p"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, scheme, host, plain, want string
	}{
		{"the registry itself", "https", "r.example.org", "", "deployment"},
		{"with its port", "https", "r.example.org:443", "", "deployment"},
		{"another port is another server", "https", "r.example.org:8443", "", ""},
		{"clear text", "http", "r.example.org", "", ""},
		{"clear text on the port of https", "http", "r.example.org:443", "", ""},
		{"a port that was named", "https", "lab.example.org:5000", "", "lab"},
		{"a port that was named, in clear text", "http", "lab.example.org:5000", "", ""},
		{"the administrator allows it", "http", "lab.example.org:5000", "lab.example.org:5000", "lab"},
		{"for another host", "http", "r.example.org", "lab.example.org:5000", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var config RegistryConfig
			config.OCI.ConfigFiles = []string{path}
			if test.plain != "" {
				config.OCI.PlainHTTPCredentials = []string{test.plain}
			}
			options, err := config.options()
			if err != nil {
				t.Fatal(err)
			}
			found := options.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: test.scheme, Host: test.host})
			if found[credential.Username] != test.want {
				t.Errorf("%s://%s is asked as %q, want %q", test.scheme, test.host, found[credential.Username], test.want)
			}
		})
	}
}

// TestFeaturesOfFlags: a flag takes precedence over the file, also where it switches a feature off.
func TestFeaturesOfFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("featureGates: {ServerConsole: true}"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Default()
	if err := config.Features.Set("ServerConsole=false"); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); err != nil || config.Features.Enabled(feature.ServerConsole) {
		t.Errorf("the file has switched it on: %v", err)
	}
}

// TestDocumented loads the configuration that the documentation shows.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "```yaml\n")
	example, _, ended := strings.Cut(example, "```")
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil || !found || !ended {
		t.Fatalf("there is no example: %v", err)
	}
	config := Default()
	warnings, err := config.Load(path)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %v, %v", warnings, err)
	}
	oci := config.Registry.OCI
	if err := config.Validate(); err != nil || config.Verification != installation.VerifyAlways || len(config.DisabledFunctions) != 2 ||
		len(oci.ConfigFiles) != 1 || oci.CertificateAuthorities == "" || len(oci.Redirects.Hosts) != 1 || len(oci.TokenHosts) != 1 {
		t.Errorf("%+v, %v", config, err)
	}
	// Each key of the type is on the page, under its full name.
	for _, key := range []string{"registry.oci.configFiles", "registry.oci.certificateAuthorities", "registry.oci.plainHttpCredentials", "registry.oci.allowPlainHttp", "signatureVerification.keys", "signatureVerification.trustContexts", "egress.allowLoopback", "egress.denyPrivate", "egress.{allow,deny}", "egress.proxy", "egress.denyInsecureTLS", "registry.oci.insecureSkipVerify",
		"registry.wget.allowAnyRequest", "registry.wget.allowPrivate", "registry.oci.redirects.{refuse,hosts}", "registry.oci.tokenHosts", "registry.local.rootPath", "signatureVerificationEnforcementPolicy", "disabledTemplateFunctions", "blueprints.namedTargets"} {
		if !strings.Contains(string(page), "| `"+key) {
			t.Errorf("%s is not documented", key)
		}
	}
}
