package gitserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Key is an SSH key pair, in the formats of OpenSSH.
type Key struct {
	Private []byte
	Public  []byte

	public ssh.PublicKey
}

// NewKey makes a key pair.
func NewKey(comment string) (Key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make an SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return Key{}, fmt.Errorf("encode an SSH key: %w", err)
	}
	encoded, err := ssh.NewPublicKey(public)
	if err != nil {
		return Key{}, fmt.Errorf("encode a public SSH key: %w", err)
	}
	return Key{Private: pem.EncodeToMemory(block), Public: ssh.MarshalAuthorizedKey(encoded), public: encoded}, nil
}

// KnownHosts is the line by which clients recognise a host with this key.
func (k Key) KnownHosts(address string) []byte {
	return []byte(knownhosts.Line([]string{knownhosts.Normalize(address)}, k.public) + "\n")
}
