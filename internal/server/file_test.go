package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// load loads a text as a file.
func load(t *testing.T, text string) (Config, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Default()
	warnings, err := config.Load(path)
	return config, warnings, err
}

// TestKeys: each unknown key is named, with what was probably meant.
func TestKeys(t *testing.T) {
	const noKey = " has no effect, since it is not a key of the configuration"
	for _, test := range []struct {
		reason, file     string
		warnings, errors []string
	}{
		{"a key of the published kind without a meaning is told apart", "blueprintStore: {path: x}",
			[]string{"blueprintStore has no effect: blueprints are cached in memory"}, nil},
		{"all of them are named", "controllers: {syncPeriod: 1h, installations: {workers: 3, cacheSyncTimeout: 1m}}\ncrdManagement: {}\nhpaMain: {maxReplicas: 3}",
			[]string{"controllers.installations.cacheSyncTimeout has no effect", "controllers.syncPeriod has no effect", "crdManagement has no effect: \"landscaper install\"", "hpaMain has no effect"}, nil},
		{"a legacy key hides no misspelt one", "blueprintStore: {}\negress: {denyPrivat: true}",
			nil, []string{"egress.denyPrivat is not a key of the configuration: did you mean egress.denyPrivate?"}},
		{"nor does a legacy key that is like another one", "registries: {}", []string{"registries has no effect: use registry.oci.configFiles"}, nil},
		{"several misspelt ones", "egress: {denyPrivat: true, denyInsecureTls: true}\nimportNamespaces: [{from: a, too: [b]}]\nregistry: {oci: {redirects: {host: [a]}, cache: {}}}",
			nil, []string{"did you mean egress.denyPrivate?", "did you mean egress.denyInsecureTLS?", "importNamespaces[0].too is not a key of the configuration: did you mean importNamespaces[0].to?", "did you mean registry.oci.redirects.hosts?"}},
		{"a misspelt section", "egres: {denyPrivate: true}", nil, []string{"egres is not a key of the configuration: did you mean egress?"}},
		{"a key at the wrong place", "denyPrivate: true", nil, []string{"denyPrivate is not a key of the configuration: did you mean egress.denyPrivate?"}},
		{"a policy for signatures", "signatureVerificationEnforcmentPolicy: Enforce", nil, []string{"did you mean signatureVerificationEnforcementPolicy?"}},
		{"a key below a name that users give", "signatureVerification: {keys: {release: {publickey: x}}}", nil, []string{"signatureVerification.keys.release.publickey is not a key of the configuration: did you mean signatureVerification.keys.release.publicKey?"}},
		{"an unknown key without a similar one in a restricting section", "egress: {everything: false}", nil, []string{"egress.everything is not a key of the configuration"}},
		{"a protected namespace", "deployers: {protectedNamespace: [a]}", nil, []string{"did you mean deployers.protectedNamespaces?"}},
		{"a misspelt key that allows nothing", "controllers: {installation: {workers: 3}}", []string{"controllers.installation" + noKey + ": did you mean controllers.installations?"}, nil},
		{"the case counts, as in all objects", "controllers: {installations: {Workers: 3}}", []string{"controllers.installations.Workers" + noKey + ": did you mean controllers.installations.workers?"}, nil},
		{"an unknown key without a similar one", "colour: blue", []string{"colour" + noKey}, nil},
		{"what a repository says is its own", "repositoryContext: {type: ociRegistry, baseUrl: x, anything: y}", nil, nil},
		{"no file at all", "", nil, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, warnings, err := load(t, test.file)
			if len(test.errors) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range test.errors {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
			if len(test.errors) > 0 {
				return
			}
			if len(warnings) != len(test.warnings) {
				t.Fatalf("warnings %q", warnings)
			}
			for i, want := range test.warnings {
				if !strings.HasPrefix(warnings[i], want) {
					t.Errorf("warning %q, want %q", warnings[i], want)
				}
			}
		})
	}
}

// TestLegacyKeysAreUnknown: a key that has got a meaning must leave the table.
func TestLegacyKeysAreUnknown(t *testing.T) {
	for _, key := range withoutEffect {
		path := strings.ReplaceAll(key.path, "*", "installations")
		text := "{}"
		parts := strings.Split(path, ".")
		for i := len(parts) - 1; i >= 0; i-- {
			text = fmt.Sprintf("{%s: %s}", parts[i], text)
		}
		_, warnings, err := load(t, text)
		if err != nil || len(warnings) != 1 || warnings[0] != path+" has no effect: "+key.why {
			t.Errorf("%s: %q, %v", key.path, warnings, err)
		}
	}
}

// TestWrongValues: a wrong value is refused with its field and what to write instead, and
// without a type of this program.
func TestWrongValues(t *testing.T) {
	for _, test := range []struct{ reason, file, want string }{
		{"negative workers are not the default", "controllers: {installations: {workers: -3}}", "controllers.installations.workers is -3: write a number from 1 to 10000, or leave the key out"},
		{"for executions", "controllers: {executions: {workers: -1}}", "controllers.executions.workers is -1"},
		{"for items", "controllers: {deployItems: {workers: -1}}", "controllers.deployItems.workers is -1"},
		{"for Contexts", "controllers: {contexts: {workers: -1}}", "controllers.contexts.workers is -1"},
		{"for Contexts, in the other spelling", "controllers: {context: {workers: -1}}", "controllers.context.workers is -1"},
		{"more workers than help", "controllers: {installations: {workers: 1000000}}", "controllers.installations.workers is 1000000"},
		{"a port below 0", "metrics: {port: -1}", "metrics.port is -1: write a number from 1 to 65535"},
		{"a port that does not exist", "metrics: {port: 70000}", "metrics.port is 70000"},
		{"a port that no number here holds", "metrics: {port: 3000000000}", "metrics.port is the number 3000000000: write a whole number"},
		{"a time below 0", "deployItemTimeouts: {pickup: -5m}", "deployItemTimeouts.pickup: -5m0s is below 0"},
		{"a text for a number", "controllers: {installations: {workers: many}}", "controllers.installations.workers is a text: write a whole number"},
		{"half a worker", "controllers: {installations: {workers: 1.5}}", "controllers.installations.workers is the number 1.5: write a whole number"},
		{"a text for a switch", "egress: {denyPrivate: \"yes\"}", "egress.denyPrivate is a text: write true or false"},
		{"a gate that does not exist", "featureGates: {ServerConsol: true}", "featureGates: unrecognized feature gate: ServerConsol"},
		{"a text for a list", "namespaces: team-a", "namespaces is a text: write a list"},
		{"a list for a section", "egress: [denyPrivate]", "egress is a list: write a map"},
		{"a network that is not valid", "egress: {allow: [10.0.0.0]}", "egress: "},
		{"a key twice", "egress: {denyPrivate: true}\negress: {}", "egress"},
		{"a file of another version", "apiVersion: v1\nkind: LandscaperConfiguration", "its apiVersion is v1: write config.landscaper.gardener.cloud/v1alpha1"},
		{"a list", "[a]", "write a map of keys and values"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, _, err := load(t, test.file)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "config.yaml: ") {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "server.") {
				t.Errorf("it speaks of a type of the program: %v", err)
			}
		})
	}
	_, _, err := load(t, "controllers: {installations: {workers: -3}, executions: {workers: -4}}\nmetrics: {port: -5}")
	for _, want := range []string{"installations.workers is -3", "executions.workers is -4", "port is -5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not all is named: %v", err)
		}
	}
	if config, _, err := load(t, "controllers: {installations: {workers: 0}}"); err != nil || config.Workers[Installations] != Default().Workers[Installations] {
		t.Errorf("0 is the default, as published: %v, %v", config.Workers, err)
	}
}

// TestRanges: the flags and the file are checked alike.
func TestRanges(t *testing.T) {
	for _, test := range []struct {
		reason, want string
		change       func(*Config)
	}{
		{"workers below 0", "workers of installation: -8: write a number from 1 to 10000", func(c *Config) { c.Workers[Installations] = -8 }},
		{"too many", "workers of installation: 100000", func(c *Config) { c.Workers[Installations] = 100000 }},
		{"a time in the past", "--pickup-timeout is -5m0s", func(c *Config) { c.PickupTimeout = -5 * time.Minute }},
		{"no time to end", "--shutdown-timeout is -1s", func(c *Config) { c.ShutdownTimeout = -time.Second }},
		{"no time for a failure", "--unready-after is 0s: write a time above 0", func(c *Config) { c.UnreadyAfter = 0 }},
		{"an address without a port", `--metrics-address "8080": write an address and a port`, func(c *Config) { c.MetricsAddress = "8080" }},
		{"a port that does not exist", `--health-address ":70000"`, func(c *Config) { c.HealthAddress = ":70000" }},
		{"a namespace that would get a Context all the same", `excludedNamespaces: "kube-*" is not the name of a namespace`, func(c *Config) { c.ExcludedNamespaces = []string{"kube-*"} }},
		{"a namespace that nothing protects", `deployers.protectedNamespaces: "Kube-system" is not`, func(c *Config) { c.Deployers.ProtectedNamespaces = []string{"Kube-system"} }},
		{"a source of imports that is not valid", `importNamespaces[].from: "sh ared" is not`, func(c *Config) { c.SourceNamespaces = map[string][]string{"sh ared": {"a"}} }},
		{"a source without importers", `importNamespaces: to is missing where from is "shared"`, func(c *Config) { c.SourceNamespaces = map[string][]string{"shared": nil} }},
		{"an importer that is not valid", `importNamespaces[].to: "*" is not`, func(c *Config) { c.SourceNamespaces = map[string][]string{"shared": {"*"}} }},
		{"a lease nowhere", `--leader-election-namespace: "A" is not`, func(c *Config) { c.LeaderElectionNamespace = "A" }},
		{"problems nowhere", `--namespace: "A" is not`, func(c *Config) { c.Namespace = "A" }},
		{"an object that no API server takes", `lsDeployments.lsHealthCheckName: "Health" is not`, func(c *Config) { c.HealthCheck.Namespace, c.HealthCheck.Name = "a", "Health" }},
		{"a URL is no host", `registry.oci.plainHttpCredentials: "https://registry.example.org" is no host`, func(c *Config) {
			c.Registry.OCI.PlainHTTPCredentials = []string{"https://registry.example.org"}
		}},
		{"a redirect", `registry.oci.redirects.hosts: "*.example.org" is no host`, func(c *Config) { c.Registry.OCI.Redirects.Hosts = []string{"*.example.org"} }},
		{"a token server", `registry.oci.tokenHosts.r.example.org: "https://login.example.org/" is no host`, func(c *Config) {
			c.Registry.OCI.TokenHosts = map[string][]string{"r.example.org": {"https://login.example.org/"}}
		}},
		{"a repository of no type", "repositoryContext: unknown repository type", func(c *Config) {
			loaded, _, err := load(t, "repositoryContext: {type: ociRegistri, baseUrl: x}")
			if err != nil {
				t.Error(err)
			}
			c.RepositoryContext = loaded.RepositoryContext
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := Default()
			test.change(&config)
			if err := config.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	config := Default()
	config.Workers[Installations], config.UnreadyAfter, config.Egress.Proxy = -1, 0, "proxy"
	for _, want := range []string{"workers of installation", "--unready-after", "egress: proxy"} {
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not all is named: %v", err)
		}
	}
}
