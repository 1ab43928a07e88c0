package credential

import (
	"fmt"
	"strings"
	"testing"
)

func docker(auths string) string { return `{"auths":{` + auths + `}}` }

func user(key, name string) string {
	return fmt.Sprintf(`%q:{"username":%q,"password":"p"}`, key, name)
}

func TestFind(t *testing.T) {
	ocm := `{type: credentials.config.ocm.software/v1, consumers: [
	  {identity: {type: OCIRegistry, hostname: r.example.org, pathprefix: delivery}, credentials: [{type: Credentials, properties: {username: explicit}}]},
	  {identity: {type: Github, hostname: github.com}, credentials: [{type: DirectCredentials/v1, properties: {token: t, username: git}}]}],
	  repositories: [{repository: {type: DockerConfig/v1, dockerConfig: {auths: {x.example.org: {username: inside, password: p}}}}}]}`
	for _, test := range []struct {
		reason  string
		docker  []string
		ocm     string
		request Request
		want    string
	}{
		{"host", []string{docker(user("r.example.org", "a"))}, "", Request{Host: "r.example.org"}, "a"},
		{"another host gets nothing", []string{docker(user("r.example.org", "a"))}, "", Request{Host: "s.example.org"}, ""},
		{"a host below gets nothing", []string{docker(user("example.org", "a"))}, "", Request{Host: "r.example.org"}, ""},
		{"a host that ends alike gets nothing", []string{docker(user("example.org", "a"))}, "", Request{Host: "evil-example.org"}, ""},
		{"another port gets nothing", []string{docker(user("r.example.org:5000", "a"))}, "", Request{Host: "r.example.org:5001"}, ""},
		{"an entry with the port of the scheme", []string{docker(user("r.example.org:443", "a"))}, "", Request{Host: "r.example.org", Scheme: "https"}, "a"},
		{"an entry without port is for any", []string{docker(user("r.example.org", "a"))}, "", Request{Host: "r.example.org:5000"}, "a"},
		{"the longest path wins", []string{docker(user("r.example.org/a", "short") + "," + user("r.example.org/a/b", "long"))}, "", Request{Host: "r.example.org", Path: "a/b/c"}, "long"},
		{"paths are whole segments", []string{docker(user("r.example.org/a", "a"))}, "", Request{Host: "r.example.org", Path: "ab"}, ""},
		{"scheme and API version are cut", []string{docker(user("https://r.example.org/v2/", "a"))}, "", Request{Host: "r.example.org", Path: "x"}, "a"},
		{"the names of the default registry are one", []string{docker(user("https://index.docker.io/v1/", "hub"))}, "", Request{Host: "docker.io", Path: "library/x"}, "hub"},
		{"of two equal ones the later source wins", []string{docker(user("r.example.org", "first")), docker(user("r.example.org", "second"))}, "", Request{Host: "r.example.org"}, "second"},
		{"base64", []string{docker(`"r.example.org":{"auth":"YTpi"}`)}, "", Request{Host: "r.example.org"}, "a"},
		{"an explicit consumer comes before Docker configurations", []string{docker(user("r.example.org/delivery", "docker"))}, ocm, Request{Host: "r.example.org", Path: "delivery/x"}, "explicit"},
		{"outside of the explicit path the Docker configuration counts", []string{docker(user("r.example.org", "docker"))}, ocm, Request{Host: "r.example.org", Path: "other"}, "docker"},
		{"another type of consumer", nil, ocm, Request{Type: TypeGitHub, Host: "github.com"}, "git"},
		{"credentials for Git are not for a registry", nil, ocm, Request{Host: "github.com"}, ""},
		{"a Docker configuration inside", nil, ocm, Request{Host: "x.example.org"}, "inside"},
		{"host names have no case", []string{docker(user("R.example.org", "a"))}, "", Request{Host: "r.EXAMPLE.org"}, "a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			store := &Store{}
			for _, config := range test.docker {
				if err := store.AddDockerConfig([]byte(config)); err != nil {
					t.Fatalf("%v", err)
				}
			}
			if test.ocm != "" {
				if _, err := store.AddOCMConfig([]byte(test.ocm)); err != nil {
					t.Fatalf("%v", err)
				}
			}
			if test.request.Type == "" {
				test.request.Type = TypeOCIRegistry
			}
			if got := store.Find(test.request)[Username]; got != test.want {
				t.Errorf("got user %q, want %q", got, test.want)
			}
		})
	}
}

func TestBadInputKeepsSecrets(t *testing.T) {
	const secret = "s3cr3t"
	for _, test := range []struct {
		reason, key, content, want string
	}{
		{"a number where a text belongs", DockerConfigKey, docker(`"h":{"auth":{"s3cr3t":1}}`), "no JSON object"},
		{"no base64", DockerConfigKey, docker(`"h":{"auth":"s3cr3t%"}`), "not base64"},
		{"no colon", DockerConfigKey, docker(`"h":{"auth":"czNjcjN0"}`), "user:password"},
		{"no JSON", DockerConfigKey, "s3cr3t", "no JSON object"},
		{"no host", DockerConfigKey, docker(`"":{"username":"s3cr3t"}`), "names no host"},
		{"no YAML", OCMConfigKey, "s3cr3t: [", "neither YAML nor JSON"},
		{"another type", OCMConfigKey, "{type: generic-s3cr3t}", "has another type: use"},
		{"wrong form", OCMConfigKey, "{type: credentials.config.ocm.software, consumers: {s3cr3t: 1}}", "wrong form"},
		{"unknown credentials", OCMConfigKey, "{type: credentials.config.ocm.software, consumers: [{identity: {hostname: h}, credentials: [{type: Vault-s3cr3t, properties: {a: s3cr3t}}]}]}", "a type that is not supported"},
		{"a file of the host", OCMConfigKey, "{type: credentials.config.ocm.software, repositories: [{repository: {type: DockerConfig, dockerConfigFile: /root/.docker/config.json}}]}", "dockerConfigFile is refused"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := (&Store{}).AddSecret("ns/pull", map[string][]byte{test.key: []byte(test.content)})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "ns/pull") {
				t.Errorf("got %v, want %q", err, test.want)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("the message gives the secret away: %v", err)
			}
		})
	}
	properties := Properties{Password: secret}
	if text := fmt.Sprintf("%v %+v %#v %s", properties, properties, properties, properties); strings.Contains(text, secret) {
		t.Errorf("printed credentials show their value: %s", text)
	}
}

func TestUnusedSecretWarns(t *testing.T) {
	warnings, err := (&Store{}).AddSecret("ns/other", map[string][]byte{"password": []byte("x")})
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "ns/other") {
		t.Errorf("got %v, %v", warnings, err)
	}
}
