// Package credential finds the credentials for a request. A credential belongs to
// the host that it was given for and is found for no other.
package credential

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Types of consumers.
const (
	TypeOCIRegistry    = "OCIRegistry"
	TypeHelmRepository = "HelmChartRepository"
	TypeGitHub         = "Github"
	TypeGit            = "Git"
	TypeWget           = "wget"
	TypeS3             = "S3"
)

// Names of properties.
const (
	Username      = "username"
	Password      = "password"
	IdentityToken = "identityToken"
	RegistryToken = "registryToken"
	Authority     = "certificateAuthority"
	Token         = "token"
	// AccessKeyID and SecretAccessKey are those of Amazon.
	AccessKeyID     = "awsAccessKeyID"
	SecretAccessKey = "awsSecretAccessKey"
)

// HostS3 stands for all hosts of Amazon's storage in identities of type S3, which
// usually name a bucket but no host.
const HostS3 = "amazonaws.com"

// Properties are a credential. Their values never appear in messages.
type Properties map[string]string

// String hides the values.
func (p Properties) String() string { return "credentials (hidden)" }

// GoString hides the values.
func (p Properties) GoString() string { return p.String() }

// Fingerprint distinguishes credentials without revealing them. Callers must not store it: short
// passwords could be guessed from it.
func (p Properties) Fingerprint() string {
	// A map of texts can always be encoded, and its keys are sorted.
	text, _ := json.Marshal(map[string]string(p))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Request says what credentials are wanted for.
type Request struct {
	// Type is the type of consumer.
	Type string
	// Scheme is https or http.
	Scheme string
	// Host is the host, with a port where it is not the scheme's own.
	Host string
	// Path is the repository or the path below the host.
	Path string
}

// ForURL returns the request for an address.
func ForURL(consumer string, address *url.URL) Request {
	return Request{Type: consumer, Scheme: address.Scheme, Host: address.Host, Path: address.Path}
}

// Store holds credentials. Sources are added in the order of their weight: of
// two that match equally well the later one wins.
type Store struct {
	consumers []entry
	docker    []entry
}

type entry struct {
	consumer, scheme, host, port, path string
	properties                         Properties
	// onlyTLS confines the entry to encrypted connections, and to the usual port unless the entry
	// names another one; plain are the hosts with their ports that are exceptions from the former.
	onlyTLS bool
	plain   []string
}

// Find returns the credentials for a request, or nil. Entries that were written
// for consumers are asked before Docker configurations.
func (s *Store) Find(request Request) Properties {
	if s == nil {
		return nil
	}
	if found := best(s.consumers, request); found != nil {
		return found
	}
	return best(s.docker, request)
}

// AddConsumer adds credentials for an identity as in an OCM configuration:
// type, hostname, port, scheme, pathprefix.
func (s *Store) AddConsumer(identity map[string]string, properties Properties) {
	host, port := splitHost(identity["hostname"])
	if identity["port"] != "" {
		port = identity["port"]
	}
	s.consumers = append(s.consumers, entry{
		consumer: identity["type"], scheme: strings.ToLower(identity["scheme"]), host: host, port: port,
		path: strings.Trim(identity["pathprefix"], "/"), properties: properties,
	})
}

// OnlyTLS confines the entries to encrypted connections, and those without a port to the usual port:
// a user who may choose the port of a host, or clear text, shall not see the credentials that were
// given for the host. The hosts in plain, with their ports (80 without one), may get what is
// for them in clear text.
func (s *Store) OnlyTLS(plain ...string) {
	allowed := make([]string, len(plain))
	for i, host := range plain {
		allowed[i] = address("http", host)
	}
	slices.Sort(allowed)
	for _, list := range [][]entry{s.consumers, s.docker} {
		for i := range list {
			list[i].onlyTLS, list[i].plain = true, allowed
		}
	}
}

// Withheld reports whether credentials for the host of a request are not sent because of OnlyTLS: its
// port is another one, or its connection is not encrypted.
func (s *Store) Withheld(request Request) bool {
	if s == nil || s.Find(request) != nil {
		return false
	}
	for _, list := range [][]entry{s.consumers, s.docker} {
		for _, e := range list {
			// An entry of another port was never meant for this one.
			open := e
			open.onlyTLS = false
			if _, matches := open.score(request); matches && e.onlyTLS {
				return true
			}
		}
	}
	return false
}

// Add appends all credentials of another store.
func (s *Store) Add(other *Store) {
	if other == nil {
		return
	}
	s.consumers = append(s.consumers, other.consumers...)
	s.docker = append(s.docker, other.docker...)
}

func best(entries []entry, request Request) Properties {
	var found Properties
	bestScore := -1
	for _, e := range entries {
		if score, matches := e.score(request); matches && score >= bestScore {
			bestScore, found = score, e.properties
		}
	}
	return found
}

// score says how well an entry matches: the longer path first, then the port, the scheme and the
// type.
func (e entry) score(request Request) (int, bool) {
	if !e.reaches(request) || (e.consumer != "" && !strings.EqualFold(e.consumer, request.Type)) {
		return 0, false
	}
	path := strings.Trim(request.Path, "/")
	if e.path != "" && path != e.path && !strings.HasPrefix(path, e.path+"/") {
		return 0, false
	}
	score := 8 * len(e.path)
	for weight, given := range map[int]bool{4: e.port != "", 2: e.scheme != "", 1: e.consumer != ""} {
		if given {
			score += weight
		}
	}
	return score, true
}

// reaches reports whether an entry is for the host of a request, over this scheme and port.
func (e entry) reaches(request Request) bool {
	host, port := splitHost(request.Host)
	usual := defaultPort(request.Scheme)
	port = cmp.Or(port, usual)
	switch {
	case e.host == "" || e.host != host, e.port != "" && e.port != port, e.scheme != "" && e.scheme != request.Scheme:
		return false
	case !e.onlyTLS:
		return true
	case e.port == "" && port != usual:
		return false
	}
	return request.Scheme == "https" || request.Scheme == "http" && slices.Contains(e.plain, net.JoinHostPort(host, port))
}

// address returns a host with its port.
func address(scheme, hostport string) string {
	host, port := splitHost(hostport)
	return net.JoinHostPort(host, cmp.Or(port, defaultPort(scheme)))
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// splitHost returns the host in lower case and the port, if there is one.
func splitHost(hostport string) (string, string) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch host {
	// The names of one registry.
	case "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com":
		host = "docker.io"
	}
	return host, port
}

// Fingerprint distinguishes stores with different credentials, like that of properties.
func (s *Store) Fingerprint() string {
	sum := sha256.New()
	for _, list := range [][]entry{s.consumers, s.docker} {
		lines := make([]string, 0, len(list))
		for _, e := range list {
			lines = append(lines, fmt.Sprintln(e.consumer, e.scheme, e.host, e.port, e.path, e.onlyTLS, e.plain, e.properties.Fingerprint()))
		}
		// Entries of a Docker configuration come in any order.
		slices.Sort(lines)
		_, _ = sum.Write([]byte(strings.Join(lines, "\n") + "\n\n"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
