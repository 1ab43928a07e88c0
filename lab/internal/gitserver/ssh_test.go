package gitserver

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestKeysMayComeLater shows that the keys in the file at that moment may log in.
func TestKeysMayComeLater(t *testing.T) {
	folder := t.TempDir()
	config := Config{HostKey: filepath.Join(folder, "host"), AuthorizedKeys: filepath.Join(folder, "keys")}
	host, first, second := newKey(t), newKey(t), newKey(t)
	write := func(file string, content ...[]byte) {
		t.Helper()
		var all []byte
		for _, part := range content {
			all = append(all, part...)
		}
		if err := os.WriteFile(file, all, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config.HostKey, host.Private)
	write(config.AuthorizedKeys, first.Public)
	server, err := newSSHServer(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- server.serve(listener) }()
	defer func() {
		_ = listener.Close()
		<-served
	}()
	login := func(key Key) error {
		signer, err := ssh.ParsePrivateKey(key.Private)
		if err != nil {
			t.Fatal(err)
		}
		client, err := ssh.Dial("tcp", listener.Addr().String(), &ssh.ClientConfig{
			User: "git", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(host.public),
		})
		if err != nil {
			return err
		}
		return client.Close()
	}
	for _, row := range []struct {
		reason        string
		keys          [][]byte
		first, second bool
	}{
		{"only one key is known", [][]byte{first.Public}, true, false},
		{"a second key is added after a comment, and both may log in", [][]byte{first.Public, []byte("# later\n\n"), second.Public}, true, true},
		{"the first key is removed, and only the second one may log in", [][]byte{second.Public}, false, true},
		{"no key is known, and none may log in", nil, false, false},
		{"a file that cannot be read as keys lets no client in", [][]byte{[]byte("nonsense\n")}, false, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			write(config.AuthorizedKeys, row.keys...)
			for key, want := range map[*Key]bool{&first: row.first, &second: row.second} {
				if err := login(*key); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "unable to authenticate") {
					t.Errorf("login: %v", err)
				}
			}
		})
	}
}

func newKey(t *testing.T) Key {
	t.Helper()
	key, err := NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	return key
}
