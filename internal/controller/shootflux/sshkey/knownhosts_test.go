package sshkey

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/knownhosts"

	"go.landscaper.dev/internal/controller/shootflux/giturl"
)

const aKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// TestWellKnown compares with the fingerprints that the hosts publish.
func TestWellKnown(t *testing.T) {
	never := func(context.Context, *giturl.URL) (string, error) { return "", errors.New("asked") }
	for _, test := range []struct {
		host   string
		prints []string
	}{
		{"github.com", []string{
			"SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU (ssh-ed25519)",
			"SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM (ecdsa-sha2-nistp256)",
			"SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s (ssh-rsa)",
		}},
		{"gitlab.com", []string{
			"SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8 (ssh-ed25519)",
			"SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw (ecdsa-sha2-nistp256)",
			"SHA256:ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ (ssh-rsa)",
		}},
		{"bitbucket.org", []string{
			"SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM (ssh-ed25519)",
			"SHA256:FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0 (ecdsa-sha2-nistp256)",
			"SHA256:46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E (ssh-rsa)",
		}},
		{"ssh.dev.azure.com", []string{"SHA256:ohD8VZEXGWo6Ez8GSEJQ9WpafgLFsOfLOtGGQCQo6Og (ssh-rsa)"}},
		{"codeberg.org", []string{"SHA256:mIlxA9k46MmM6qdJOdMnAQpzGxF4WIVVL+fj+wZbw0g (ssh-ed25519)"}},
	} {
		t.Run(test.host, func(t *testing.T) {
			lines, err := KnownHosts(t.Context(), "git@"+test.host+":team/app.git", "", never)
			if err != nil {
				t.Fatal(err)
			}
			if got := Fingerprints(lines); !slices.Equal(got, test.prints) {
				t.Errorf("got %q, want %q", got, test.prints)
			}
			if err := CheckKnownHosts(lines, parsed(t, "ssh://"+test.host+"/app.git")); err != nil {
				t.Error(err)
			}
		})
	}
	if entries(wellKnown) == nil {
		t.Error("a line cannot be read")
	}
}

func parsed(t *testing.T, address string) *giturl.URL {
	t.Helper()
	repository, err := giturl.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

func TestKnownHosts(t *testing.T) {
	asked := func(_ context.Context, repository *giturl.URL) (string, error) {
		return "asked " + repository.Address(), nil
	}
	for _, test := range []struct {
		reason, address, pinned string
		scan                    Scanner
		want, fail              string
	}{
		{"what was written down goes first", "ssh://git@github.com/a/b", "github.com " + aKey, asked, "github.com " + aKey + "\n", ""},
		{"another port is another server", "ssh://git@github.com:2222/a/b", "", asked, "asked github.com:2222", ""},
		{"an unknown host is asked", "git@git.example.org:a/b", "", asked, "asked git.example.org:22", ""},
		{"the operator does not allow it", "git@git.example.org:a/b", "", nil, "", "set knownHosts"},
		{"written down for another host", "git@git.example.org:a/b", "github.com " + aKey, asked, "", "has no key of git.example.org"},
		{"no address", "canary", "", asked, "", "the address of the repository"},
		{"no host keys", "https://github.com/a/b", "", asked, "", "ssh://"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := KnownHosts(t.Context(), test.address, test.pinned, test.scan)
			if got != test.want || (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
				t.Errorf("got %q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the message repeats the address: %v", err)
			}
		})
	}
}

func TestCheckKnownHosts(t *testing.T) {
	const usual = "ssh://git@git.example.org/app.git"
	for _, test := range []struct{ reason, address, text, fail string }{
		{"the host", usual, "git.example.org " + aKey, ""},
		{"a line of several hosts", usual, "other.example.org,git.example.org " + aKey, ""},
		{"comments and empty lines", usual, "# our host\n\ngit.example.org " + aKey + " a comment\n", ""},
		{"in another case", usual, "GIT.example.org " + aKey, ""},
		{"a pattern", usual, "*.example.org " + aKey, ""},
		{"a pattern of one letter", usual, "gi?.example.org " + aKey, ""},
		{"hidden", usual, knownhosts.HashHostname("git.example.org") + " " + aKey, ""},
		{"with a port", "ssh://git.example.org:2222/app", "[git.example.org]:2222 " + aKey, ""},
		{"hidden, with a port", "ssh://git.example.org:2222/app", knownhosts.HashHostname("[git.example.org]:2222") + " " + aKey, ""},
		{"the second line", usual, "a " + aKey + "\ngit.example.org " + aKey, ""},
		{"IPv6", "ssh://[::1]:2222/app", "[::1]:2222 " + aKey, ""},

		{"another host", usual, "other.example.org " + aKey, "no key of git.example.org"},
		{"another port", "ssh://git.example.org:2222/app", "git.example.org " + aKey, "no key of [git.example.org]:2222"},
		{"a pattern with an exception", usual, "*.example.org,!git.example.org " + aKey, "no key"},
		{"dots are no patterns", usual, "git-example.org " + aKey, "no key"},
		{"hidden, another host", usual, knownhosts.HashHostname("other.example.org") + " " + aKey, "no key"},
		{"hidden, and broken", usual, "|1|=|= " + aKey, "no key"},
		{"hidden, and broken in the second half", usual, "|1|AAAA|= " + aKey, "no key"},
		{"a key that was taken back", usual, "@revoked git.example.org " + aKey, "cannot be read"},
		{"nothing", usual, " ", "cannot be read"},
		{"no host keys", usual, "canary", "cannot be read"},
		{"a good line beside a broken one", usual, "git.example.org " + aKey + "\ncanary", "cannot be read"},
		{"a private key", usual, "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary", "cannot be read"},
		{"too much", usual, strings.Repeat("#", maxKnownHosts+1), "too long"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := CheckKnownHosts(test.text, parsed(t, test.address))
			if (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the message repeats a value: %v", err)
			}
		})
	}
}

func FuzzCheckKnownHosts(f *testing.F) {
	for _, text := range []string{wellKnown, "|1|AAAA|AAAA " + aKey, "*,!x " + aKey, "@cert-authority * " + aKey, "[[[ " + aKey} {
		f.Add(text)
	}
	repository, err := giturl.Parse("ssh://git@git.example.org:2222/app.git")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_ = CheckKnownHosts(text, repository)
		_ = Fingerprints(text)
		_ = PublicKey(map[string][]byte{DataIdentityPub: []byte(text)})
	})
}
