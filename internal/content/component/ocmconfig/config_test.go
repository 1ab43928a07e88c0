package ocmconfig

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/credential"
)

const sample = `
type: generic.config.ocm.software/v1
configurations:
  - type: ocm.config.ocm.software
    aliases:
      mirror: {type: OCIRegistry, baseUrl: mirror}
    resolvers:
      - repository: {type: OCIRegistry, baseUrl: any}
      - repository: {type: OCIRegistry, baseUrl: shop}
        prefix: example.org/shop
      - repository: mirror
        priority: 20
        prefix: example.org
  - type: credentials.config.ocm.software/v1
    consumers:
      - identity: {type: OCIRegistry, hostname: registry.example.org, pathprefix: delivery}
        credentials: [{type: Credentials, properties: {username: reader, password: s3cr3t}}]
  - type: logging.config.ocm.software
`

func TestParse(t *testing.T) {
	config, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, component, want string }{
		{"priority first, then the longer prefix, then the order", "example.org/shop/db", "mirror shop any"},
		{"a prefix is whole segments", "example.org/shopping", "mirror any"},
		{"a prefix may be the whole name", "example.org/shop", "mirror shop any"},
		{"an empty prefix is for all", "other.org/x", "any"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, repository := range config.Repositories(test.component) {
				var spec struct{ BaseURL string }
				if err := repository.Decode(&spec); err != nil {
					t.Fatal(err)
				}
				got = append(got, spec.BaseURL)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s is asked from %v, want %s", test.component, got, test.want)
			}
		})
	}
	if got := config.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Host: "registry.example.org", Path: "delivery/x"})[credential.Username]; got != "reader" {
		t.Errorf("credentials of the configuration: got user %q", got)
	}
	if len(config.Warnings) != 1 || !strings.Contains(config.Warnings[0], "a part of another type") || strings.Contains(config.Warnings[0], "logging.config") {
		t.Errorf("an unknown part is worth a warning, got %v", config.Warnings)
	}
}

func TestParseRefuses(t *testing.T) {
	if config, err := Parse(nil); err != nil || len(config.Resolvers) != 0 {
		t.Errorf("an empty configuration says nothing: %v", err)
	}
	for _, test := range []struct{ reason, config, want string }{
		{"no YAML", "s3cr3t: [", "neither YAML nor JSON"},
		{"no type", "{resolvers: []}", "has no type"},
		{"a resolver without repository", "{type: ocm.config.ocm.software, resolvers: [{prefix: a}]}", "resolvers[0]"},
		{"an unknown alias", "{type: ocm.config.ocm.software, resolvers: [{repository: nowhere}]}", "resolvers[0]"},
		{"a file with credentials", "{type: credentials.config.ocm.software, repositories: [{repository: {type: DockerConfig, dockerConfigFile: /x}}]}", "refused"},
		{"endless nesting", strings.Repeat("{type: generic.config.ocm.software, configurations: [", 30) + strings.Repeat("]}", 30), "nested deeper"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := Parse([]byte(test.config)); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
