// Package giturl parses the addresses of Git repositories.
package giturl

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// URL is the address of a repository.
type URL struct {
	// Scheme is http, https or ssh.
	Scheme string
	// Host is a name or an IP address, without brackets.
	Host string
	// Port is the port of the URL, or that of the scheme.
	Port int
	text string
}

// String returns the address in the form of Flux.
func (u *URL) String() string { return u.text }

// SSH reports whether the repository is reached with an SSH key.
func (u *URL) SSH() bool { return u.Scheme == "ssh" }

// Address returns host and port, for a dialer.
func (u *URL) Address() string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }

// ports are the default ports of the schemes that Flux supports.
var ports = map[string]int{"http": 80, "https": 443, "ssh": 22}

// maxHost is the length of the longest name of a host. Patterns of known_hosts are
// searched in it, of which there may be hundreds.
const maxHost = 253

// The address may hold a password, so no error repeats it.
var (
	errForm        = errors.New("is not an address of a repository: write it like https://git.example.org/team/app.git or ssh://git@git.example.org/team/app.git")
	errScheme      = errors.New("must begin with https://, http:// or ssh://")
	errCredentials = errors.New("contains credentials: put them into a Secret (keys username and password) and write the address without them")
	errUser        = errors.New("has a user, which is for ssh:// only: put credentials into a Secret (keys username and password)")
	errPort        = errors.New("has a port that is not between 1 and 65535")
)

// Parse reads an address. The form user@host:path of Git becomes the ssh:// address that Flux
// requires.
func Parse(text string) (*URL, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return nil, errForm
	}
	text = fromSCP(text)
	parsed, err := url.Parse(text)
	if err != nil {
		return nil, errForm
	}
	port, known := ports[parsed.Scheme]
	switch {
	case !known:
		return nil, errScheme
	case parsed.Hostname() == "" || parsed.Opaque != "" || strings.HasPrefix(parsed.Hostname(), "-") || len(parsed.Hostname()) > maxHost:
		return nil, errForm
	case strings.Trim(parsed.Path, "/") == "":
		return nil, errForm
	}
	if err := checkUser(parsed); err != nil {
		return nil, err
	}
	if written := parsed.Port(); written != "" {
		if port, err = strconv.Atoi(written); err != nil || port < 1 || port > 65535 {
			return nil, errPort
		}
	}
	return &URL{Scheme: parsed.Scheme, Host: parsed.Hostname(), Port: port, text: text}, nil
}

// checkUser refuses credentials in the address.
func checkUser(address *url.URL) error {
	if address.User == nil {
		return nil
	}
	if _, password := address.User.Password(); password {
		return errCredentials
	}
	if address.Scheme != "ssh" {
		return errUser
	}
	return nil
}

// fromSCP turns user@host:path into an ssh:// address. Git does so if there is no slash before the
// first colon, so 2222 in host:2222/path is a directory, not a port.
func fromSCP(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
	host, path, found := strings.Cut(text, ":")
	if strings.HasPrefix(host[strings.LastIndexByte(host, '@')+1:], "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 || !strings.HasPrefix(text[end+1:], ":") {
			return text
		}
		host, path = text[:end+1], text[end+2:]
	}
	if !found || host == "" || path == "" || path[0] == ':' || strings.ContainsRune(host, '/') || slices.Contains([]string{"http", "https", "ssh"}, host) {
		return text
	}
	return "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
}
