package giturl

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ reason, text, want, address string }{
		{"public", "https://git.example.org/team/app.git", "https://git.example.org/team/app.git", "git.example.org:443"},
		{"in a lab", "http://127.0.0.1:3000/app.git", "http://127.0.0.1:3000/app.git", "127.0.0.1:3000"},
		{"with a key", "ssh://git@git.example.org/team/app.git", "ssh://git@git.example.org/team/app.git", "git.example.org:22"},
		{"a port counts", "ssh://git@git.example.org:2222/team/app.git", "ssh://git@git.example.org:2222/team/app.git", "git.example.org:2222"},
		{"as hosts show it for cloning", "git@git.example.org:team/app.git", "ssh://git@git.example.org/team/app.git", "git.example.org:22"},
		{"what looks like a port is a directory, as for Git", "git@git.example.org:2222/app.git", "ssh://git@git.example.org/2222/app.git", "git.example.org:22"},
		{"an absolute path", "git@git.example.org:/srv/app.git", "ssh://git@git.example.org/srv/app.git", "git.example.org:22"},
		{"no user", "git.example.org:app.git", "ssh://git.example.org/app.git", "git.example.org:22"},
		{"IPv6", "ssh://git@[::1]:2222/app.git", "ssh://git@[::1]:2222/app.git", "[::1]:2222"},
		{"IPv6 in the short form", "git@[::1]:app.git", "ssh://git@[::1]/app.git", "[::1]:22"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != test.want || got.Address() != test.address {
				t.Errorf("got %s at %s", got, got.Address())
			}
			if got.SSH() != strings.HasPrefix(test.want, "ssh:") {
				t.Errorf("SSH is %v", got.SSH())
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         error
	}{
		{"nothing", "", errForm},
		{"a file", "file:///srv/app.git", errScheme},
		{"the old protocol of Git", "git://git.example.org/app.git", errScheme},
		{"a path", "/srv/app.git", errScheme},
		{"a name", "app", errScheme},
		{"a program of Git", "ext::sh", errScheme},
		{"a scheme without slashes", "https:git.example.org/app", errForm},
		{"no host", "https:///app.git", errForm},
		{"no path", "https://git.example.org/", errForm},
		{"an option for ssh", "ssh://-oProxyCommand=secret/app.git", errForm},
		{"an option for ssh in the short form", "-oProxyCommand=secret:app.git", errForm},
		{"a host longer than any name", "ssh://git@" + strings.Repeat("a", 254) + "/app.git", errForm},
		{"a line break", "https://git.example.org/app.git\nsecret", errForm},
		{"a password", "https://me:secret@git.example.org/app.git", errCredentials},
		{"a password for ssh", "ssh://git:secret@git.example.org/app.git", errCredentials},
		{"a token as user", "https://secret@git.example.org/app.git", errUser},
		{"a port of nothing", "ssh://git.example.org:0/app.git", errPort},
		{"a port beyond", "ssh://git.example.org:65536/app.git", errPort},
		{"brackets that do not end", "git@[::1:app.git", errForm},
		{"not an escape", "https://git.example.org/%zzsecret", errForm},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Parse(test.text)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, %v", got, err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the message repeats the address: %v", err)
			}
		})
	}
}

// FuzzParse: what is accepted is what Flux accepts, says where it leads, and reads the
// same again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"git@git.example.org:a/b", "ssh://git@[::1]:2222/a", "https://a:b@c/d", "a:b:c/d", "[a]:b", "ssh://%41/b", "http://a/?b#c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(parsed.String())
		if err != nil || *again != *parsed {
			t.Fatalf("%q is %+v, and read again %+v, %v", text, parsed, again, err)
		}
		written, err := url.Parse(parsed.String())
		if err != nil || parsed.Host != written.Hostname() || parsed.Host == "" || parsed.Port < 1 || parsed.Port > 65535 {
			t.Fatalf("%q leads to %s", text, parsed.Address())
		}
		if _, password := written.User.Password(); password || written.Scheme != parsed.Scheme {
			t.Fatalf("%q is accepted with a password", text)
		}
	})
}
