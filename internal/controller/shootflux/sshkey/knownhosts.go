package sshkey

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" // OpenSSH hashes names with it
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
)

// wellKnown are the published host keys of large hosts.
//
//go:embed wellknown
var wellKnown string

// Scanner asks a server for its host keys and returns them as lines of known_hosts.
type Scanner func(ctx context.Context, repository *giturl.URL) (string, error)

// ErrNoScan says that a user has to configure host keys.
var ErrNoScan = errors.New("the host keys are not known, and the operator does not allow to ask the host for them: set knownHosts")

// KnownHosts returns the host keys of a repository: the configured ones, the published ones of its
// host, or those that the host answers with. Without a scanner no host is asked.
func KnownHosts(ctx context.Context, address, pinned string, scan Scanner) (string, error) {
	repository, err := giturl.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the address of the repository %w", err)
	}
	if !repository.SSH() {
		return "", errors.New("the repository has no host keys: they are for ssh:// addresses")
	}
	if pinned != "" {
		if err := CheckKnownHosts(pinned, repository); err != nil {
			return "", fmt.Errorf("knownHosts %w", err)
		}
		return strings.TrimSpace(pinned) + "\n", nil
	}
	var lines []string
	for _, entry := range entries(wellKnown) {
		if entry.matches(repository) {
			lines = append(lines, knownhosts.Line(entry.hosts, entry.key)+"\n")
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, ""), nil
	}
	if scan == nil {
		return "", fmt.Errorf("%s: %w", repository.Address(), ErrNoScan)
	}
	return scan(ctx, repository)
}

// maxKnownHosts is far above the size of the keys of one repository.
const maxKnownHosts = 64 << 10

// CheckKnownHosts refuses host keys without a key of the repository. Its error is the rest of a
// sentence about them.
func CheckKnownHosts(text string, repository *giturl.URL) error {
	if len(text) > maxKnownHosts {
		return errors.New("are too long: name the keys of this repository only")
	}
	found := entries(text)
	if len(found) == 0 {
		return errors.New("has no host key, or a line that cannot be read: write lines like git.example.org ssh-ed25519 followed by the key")
	}
	if slices.ContainsFunc(found, func(e entry) bool { return e.matches(repository) }) {
		return nil
	}
	return fmt.Errorf("has no key of %s: add a line that begins with it", knownhosts.Normalize(repository.Address()))
}

// entry is a line of known_hosts.
type entry struct {
	hosts []string
	key   ssh.PublicKey
}

// entries returns the lines with host keys; none if one of them cannot be read.
func entries(text string) []entry {
	var found []entry
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		marker, hosts, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
		if err != nil {
			return nil
		}
		if marker == "" {
			found = append(found, entry{hosts: hosts, key: key})
		}
	}
	return found
}

func (e entry) matches(repository *giturl.URL) bool {
	name := knownhosts.Normalize(repository.Address())
	matched := false
	for _, host := range e.hosts {
		host, not := strings.CutPrefix(host, "!")
		if !hostMatches(host, name) {
			continue
		}
		if not {
			return false
		}
		matched = true
	}
	return matched
}

func hostMatches(host, name string) bool {
	if hash, hidden := strings.CutPrefix(host, "|1|"); hidden {
		return hashMatches(hash, name)
	}
	quoted := regexp.QuoteMeta(strings.ToLower(host))
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, ".*"), `\?`, ".")
	compiled, err := pattern.Compile("^" + quoted + "$")
	if err != nil {
		return false
	}
	matched, err := compiled.Match(strings.ToLower(name))
	return err == nil && matched
}

func hashMatches(hash, name string) bool {
	salt, sum, _ := strings.Cut(hash, "|")
	rawSalt, err := base64.StdEncoding.DecodeString(salt)
	if err != nil {
		return false
	}
	rawSum, err := base64.StdEncoding.DecodeString(sum)
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, rawSalt)
	mac.Write([]byte(name))
	return hmac.Equal(mac.Sum(nil), rawSum)
}

// Fingerprints returns the fingerprints of host keys, one for each line.
func Fingerprints(knownHosts string) []string {
	var prints []string
	for _, entry := range entries(knownHosts) {
		prints = append(prints, ssh.FingerprintSHA256(entry.key)+" ("+entry.key.Type()+")")
	}
	return prints
}
