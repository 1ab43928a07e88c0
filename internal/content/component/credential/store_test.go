package credential

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// identity reads "key=value key=value".
func identity(text string) map[string]string {
	values := map[string]string{}
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		values[key] = value
	}
	return values
}

// TestConsumers: for whom an identity of a configuration is.
func TestConsumers(t *testing.T) {
	for _, test := range []struct {
		reason   string
		identity string
		address  string
		found    bool
	}{
		{"an equal host", "hostname=h.example.org", "https://h.example.org/x", true},
		{"an equal host, written with a dot at its end", "hostname=h.example.org.", "https://h.example.org/x", true},
		{"asked with a dot at its end", "hostname=h.example.org", "https://h.example.org./x", true},
		{"a port in the name of the host", "hostname=h.example.org:8443", "https://h.example.org:8443/", true},
		{"a port of its own comes before it", "hostname=h.example.org:1 port=8443", "https://h.example.org:8443/", true},
		{"another port", "hostname=h.example.org port=8443", "https://h.example.org/", false},
		{"the port of http", "hostname=h.example.org port=80", "http://h.example.org/", true},
		{"the port of https is not that of http", "hostname=h.example.org port=443", "http://h.example.org/", false},
		{"an equal scheme in capitals", "hostname=h.example.org scheme=HTTPS", "https://h.example.org/", true},
		{"another scheme", "hostname=h.example.org scheme=https", "http://h.example.org/", false},
		{"below its path", "hostname=h.example.org pathprefix=/a/b/", "https://h.example.org/a/b/c", true},
		{"exactly its path", "hostname=h.example.org pathprefix=a", "https://h.example.org/a", true},
		{"beside its path", "hostname=h.example.org pathprefix=a", "https://h.example.org/ab", false},
		{"above its path", "hostname=h.example.org pathprefix=a/b", "https://h.example.org/a", false},
		{"any type if it names none", "hostname=h.example.org", "https://h.example.org", true},
		{"an equal type in other letters", "hostname=h.example.org type=WGET", "https://h.example.org", true},
		{"another type", "hostname=h.example.org type=Github", "https://h.example.org", false},
		{"the host of a user's part is not the host", "hostname=good.example.org", "https://good.example.org@evil.example.org/", false},
		{"a host that begins alike", "hostname=h.example.org", "https://h.example.org.evil.org/", false},
		{"an address of IPv6", "hostname=::1", "https://[::1]/x", true},
		{"an address of IPv6 with a port", "hostname=[::1]:5000", "https://[::1]:5000/x", true},
		{"an entry without a host has no credentials for any host", "type=wget", "https://h.example.org/", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			address, err := url.Parse(test.address)
			if err != nil {
				t.Fatal(err)
			}
			s := &Store{}
			s.AddConsumer(identity(test.identity), Properties{Username: "u"})
			if found := s.Find(ForURL(TypeWget, address)); (found != nil) != test.found {
				t.Errorf("found: %t", found != nil)
			}
		})
	}
}

// TestWeight: of several, the one that says most.
func TestWeight(t *testing.T) {
	for _, test := range []struct {
		reason     string
		identities []string
		want       int
	}{
		{"the later of two that say the same", []string{"hostname=h", "hostname=h"}, 1},
		{"a path before a later one without", []string{"hostname=h pathprefix=a", "hostname=h"}, 0},
		{"a path before port, scheme and type together", []string{"hostname=h pathprefix=a", "hostname=h port=443 scheme=https type=wget"}, 0},
		{"the longer path", []string{"hostname=h pathprefix=a/b", "hostname=h pathprefix=a"}, 0},
		{"a port before a scheme and a type", []string{"hostname=h port=443", "hostname=h scheme=https type=wget"}, 0},
		{"a scheme before a type", []string{"hostname=h scheme=https", "hostname=h type=wget"}, 0},
		{"a type before nothing", []string{"hostname=h type=wget", "hostname=h"}, 0},
		{"a long path elsewhere does not count", []string{"hostname=h", "hostname=h pathprefix=x/y/z"}, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := &Store{}
			for i, text := range test.identities {
				s.AddConsumer(identity(text), Properties{Username: fmt.Sprint(i)})
			}
			if got := s.Find(Request{Type: TypeWget, Scheme: "https", Host: "h", Path: "a/b/c"})[Username]; got != fmt.Sprint(test.want) {
				t.Errorf("took %s, want %d", got, test.want)
			}
		})
	}
}

// TestOnlyTLS: who may choose the port or the scheme does not get what was given for the
// host.
func TestOnlyTLS(t *testing.T) {
	for _, test := range []struct {
		reason, hostname, plain string
		request                 Request
		found                   bool
	}{
		{"encrypted, at the usual port", "h", "", Request{Scheme: "https", Host: "h"}, true},
		{"encrypted, at the usual port by its number", "h", "", Request{Scheme: "https", Host: "h:443"}, true},
		{"in clear text", "h", "", Request{Scheme: "http", Host: "h"}, false},
		{"in clear text at the port of https", "h", "", Request{Scheme: "http", Host: "h:443"}, false},
		{"encrypted at a port that another user has chosen", "h", "", Request{Scheme: "https", Host: "h:8443"}, false},
		{"encrypted at a port that is named", "h:8443", "", Request{Scheme: "https", Host: "h:8443"}, true},
		{"in clear text at a port that is named", "h:8080", "", Request{Scheme: "http", Host: "h:8080"}, false},
		{"in clear text where that is allowed", "h:8080", "h:8080", Request{Scheme: "http", Host: "h:8080"}, true},
		{"allowed for another port", "h:8080", "h:9090", Request{Scheme: "http", Host: "h:8080"}, false},
		{"allowed for the host at its usual port", "h", "h", Request{Scheme: "http", Host: "h"}, true},
		{"allowed at the usual port is not allowed at another one", "h", "h", Request{Scheme: "http", Host: "h:8080"}, false},
		{"allowed in clear text opens no other port for TLS", "h", "h", Request{Scheme: "https", Host: "h:8443"}, false},
		{"allowed in clear text at a port that the credentials are not for", "h", "h:8080", Request{Scheme: "http", Host: "h:8080"}, false},
		{"allowed at the usual port by its number", "h", "h:80", Request{Scheme: "http", Host: "h"}, true},
		{"no scheme is not encrypted", "h", "", Request{Host: "h"}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := &Store{}
			s.AddConsumer(map[string]string{"hostname": test.hostname}, Properties{Username: "u"})
			s.OnlyTLS(strings.Fields(test.plain)...)
			if found := s.Find(test.request); (found != nil) != test.found {
				t.Errorf("found: %t", found != nil)
			}
		})
	}
}

// TestWithheld: what is not sent can be told from what is not there, without showing it.
func TestWithheld(t *testing.T) {
	for _, test := range []struct {
		reason, hostname string
		request          Request
		want             bool
	}{
		{"they are sent", "h", Request{Scheme: "https", Host: "h"}, false},
		{"clear text", "h:5000", Request{Scheme: "http", Host: "h:5000"}, true},
		{"another port than the usual one", "h", Request{Scheme: "https", Host: "h:5000"}, true},
		{"they are for another port", "h:5000", Request{Scheme: "https", Host: "h:6000"}, false},
		{"they are for another host", "i", Request{Scheme: "https", Host: "h"}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := &Store{}
			s.AddConsumer(map[string]string{"hostname": test.hostname}, Properties{Username: "u"})
			s.OnlyTLS()
			if got := s.Withheld(test.request); got != test.want {
				t.Errorf("withheld: %t", got)
			}
		})
	}
	if (*Store)(nil).Withheld(Request{Host: "h"}) {
		t.Error("no store withholds nothing")
	}
}

// TestTogether: stores are added, and none is a store, too.
func TestTogether(t *testing.T) {
	var none *Store
	if none.Find(Request{Host: "h"}) != nil {
		t.Error("no store has no credentials")
	}
	first, second := &Store{}, &Store{}
	first.AddConsumer(map[string]string{"hostname": "h"}, Properties{Username: "first"})
	second.AddConsumer(map[string]string{"hostname": "h"}, Properties{Username: "second"})
	first.Add(nil)
	first.Add(second)
	if got := first.Find(Request{Host: "h"})[Username]; got != "second" {
		t.Errorf("took %s", got)
	}
}

// TestFingerprints: stores that would answer alike have one fingerprint, and no others;
// no fingerprint has a secret in it.
func TestFingerprints(t *testing.T) {
	store := func(fill func(*Store)) *Store {
		s := &Store{}
		fill(s)
		return s
	}
	add := func(s *Store, text, password string) { s.AddConsumer(identity(text), Properties{Password: password}) }
	base := store(func(s *Store) { add(s, "hostname=h", "geheim") })
	for _, test := range []struct {
		reason string
		other  *Store
		same   bool
	}{
		{"equal credentials", store(func(s *Store) { add(s, "hostname=h", "geheim") }), true},
		{"the same host in other letters", store(func(s *Store) { add(s, "hostname=H.", "geheim") }), true},
		{"another password", store(func(s *Store) { add(s, "hostname=h", "other") }), false},
		{"another host", store(func(s *Store) { add(s, "hostname=i", "geheim") }), false},
		{"a port", store(func(s *Store) { add(s, "hostname=h port=1", "geheim") }), false},
		{"a path", store(func(s *Store) { add(s, "hostname=h pathprefix=a", "geheim") }), false},
		{"only encrypted", store(func(s *Store) { add(s, "hostname=h", "geheim"); s.OnlyTLS() }), false},
		{"credentials for one more host", store(func(s *Store) { add(s, "hostname=h", "geheim"); add(s, "hostname=i", "x") }), false},
		{"from a Docker configuration", store(func(s *Store) { _ = s.AddDockerConfig([]byte(`{"auths":{"h":{"password":"geheim"}}}`)) }), false},
		{"none", &Store{}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if same := base.Fingerprint() == test.other.Fingerprint(); same != test.same || strings.Contains(test.other.Fingerprint(), "geheim") {
				t.Errorf("same: %t", same)
			}
		})
	}
	order := store(func(s *Store) { add(s, "hostname=a", "1"); add(s, "hostname=b", "2") }).Fingerprint()
	if order != store(func(s *Store) { add(s, "hostname=b", "2"); add(s, "hostname=a", "1") }).Fingerprint() {
		t.Error("configurations come in any order")
	}
}

// TestDockerKeys: what a key of a Docker configuration is for.
func TestDockerKeys(t *testing.T) {
	for _, test := range []struct {
		reason, key, host, path string
		found                   bool
	}{
		{"a host", "r.example.org", "r.example.org", "a", true},
		{"an address with a version of the API", "https://r.example.org/v1/", "r.example.org", "a", true},
		{"a path behind the version", "https://r.example.org/v2/a", "r.example.org", "a/b", true},
		{"another path behind the version", "https://r.example.org/v2/a", "r.example.org", "b", false},
		{"a path that only begins like a version", "r.example.org/v2x", "r.example.org", "a", false},
		{"a port", "r.example.org:5000", "r.example.org:5000", "a", true},
		{"a host that is asked by another of its names", "docker.io", "registry-1.docker.io", "library/x", true},
		{"an address of IPv6", "[::1]:5000", "[::1]:5000", "a", true},
		{"a host with a star is only a text", "*.example.org", "r.example.org", "a", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := &Store{}
			if err := s.AddDockerConfig(fmt.Appendf(nil, `{"auths":{%q:{"username":"u","password":"p"}}}`, test.key)); err != nil {
				t.Fatal(err)
			}
			if found := s.Find(Request{Type: TypeOCIRegistry, Scheme: "https", Host: test.host, Path: test.path}); (found != nil) != test.found {
				t.Errorf("found: %t", found != nil)
			}
		})
	}
}

// TestDockerForms: the forms in which a password stands.
func TestDockerForms(t *testing.T) {
	for _, test := range []struct {
		reason, auth string
		want         Properties
	}{
		{"base64", `{"auth":"dTpw"}`, Properties{Username: "u", Password: "p"}},
		{"base64 with blanks around", `{"auth":" dTpw\n"}`, Properties{Username: "u", Password: "p"}},
		{"a colon in the password", `{"auth":"dTpwOng="}`, Properties{Username: "u", Password: "p:x"}},
		{"a zero at its end, as an old client wrote it", `{"auth":"dTpwAA=="}`, Properties{Username: "u", Password: "p"}},
		{"fields win", `{"auth":"dTpw","username":"v","password":"w"}`, Properties{Username: "v", Password: "w"}},
		{"a token for an identity", `{"identitytoken":"t"}`, Properties{IdentityToken: "t"}},
		{"a token for a registry", `{"registrytoken":"t"}`, Properties{RegistryToken: "t"}},
		{"nothing, as a helper leaves it", `{}`, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := &Store{}
			if err := s.AddDockerConfig([]byte(`{"auths":{"h":` + test.auth + `}}`)); err != nil {
				t.Fatal(err)
			}
			got := s.Find(Request{Type: TypeOCIRegistry, Host: "h"})
			if got.Fingerprint() != test.want.Fingerprint() || len(got) != len(test.want) {
				t.Errorf("%d properties, want %d", len(got), len(test.want))
			}
		})
	}
}

// TestHalfIsNothing: a configuration with a mistake adds nothing.
func TestHalfIsNothing(t *testing.T) {
	s := &Store{}
	err := s.AddDockerConfig([]byte(`{"auths":{"a":{"username":"u"},"b":{"auth":"%"}}}`))
	if err == nil || s.Find(Request{Type: TypeOCIRegistry, Host: "a"}) != nil {
		t.Errorf("%v", err)
	}
}

// TestOCMWarnings: what is passed over is said, with its place and without its content.
func TestOCMWarnings(t *testing.T) {
	for _, test := range []struct {
		reason, config, want string
	}{
		{"no host", "consumers: [{identity: {type: OCIRegistry}, credentials: []}]", "consumers[0] of the OCM credential configuration names no hostname and is not used"},
		{"the second of two has none", "consumers: [{identity: {hostname: h}}, {identities: [{type: x-s3cr3t}]}]", "consumers[1] of the OCM credential configuration names no hostname and is not used"},
		{"storage of Amazon needs none", "consumers: [{identity: {type: s3}, credentials: [{type: Credentials, properties: {awsAccessKeyID: a}}]}]", ""},
		{"a repository of another type", "repositories: [{repository: {type: HashiCorpVault/v1-s3cr3t}}]", "repositories[0] of the OCM credential configuration: its type is not known and is not used: use DockerConfig"},
		{"nothing in it", "", ""},
		{"a Docker configuration as a text", `repositories: [{repository: {type: DockerConfig, dockerConfig: '{"auths":{}}'}}]`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			warnings, err := (&Store{}).AddOCMConfig([]byte("type: credentials.config.ocm.software/v1\n" + test.config))
			if got := strings.Join(warnings, ";"); err != nil || got != test.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestAmazon: credentials without a host are for Amazon's own storage.
func TestAmazon(t *testing.T) {
	s := &Store{}
	if _, err := s.AddOCMConfig([]byte("type: credentials.config.ocm.software\nconsumers: [{identity: {type: S3, pathprefix: bucket}, credentials: [{type: Credentials, properties: {awsAccessKeyID: a}}]}]")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason  string
		request Request
		found   bool
	}{
		{"the bucket of the entry", Request{Type: TypeS3, Host: HostS3, Path: "bucket/key"}, true},
		{"another bucket", Request{Type: TypeS3, Host: HostS3, Path: "other/key"}, false},
		{"storage elsewhere", Request{Type: TypeS3, Host: "s3.example.org", Path: "bucket/key"}, false},
		{"something else at Amazon", Request{Type: TypeWget, Host: HostS3, Path: "bucket/key"}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if found := s.Find(test.request); (found != nil) != test.found {
				t.Errorf("found: %t", found != nil)
			}
		})
	}
}
