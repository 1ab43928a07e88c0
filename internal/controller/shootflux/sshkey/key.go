// Package sshkey generates the key pairs with which Flux reads private repositories, and finds the
// host keys of a repository.
package sshkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"

	"go.landscaper.dev/internal/base/pemkey"
)

// Keys of a Secret with a key pair, as Flux reads them.
const (
	DataIdentity    = "identity"
	DataIdentityPub = "identity.pub"
	DataKnownHosts  = "known_hosts"
	// DataOldIdentity and DataOldIdentityPub are the pair before the last rotation. Nothing uses
	// them; they show which key can be removed from the repository.
	DataOldIdentity    = "identity.old"
	DataOldIdentityPub = "identity.pub.old"
)

// opensshBlock is the type of the PEM block of a private key of OpenSSH.
const opensshBlock = "OPENSSH PRIVATE KEY"

// Key is a pair of keys.
type Key struct {
	// Identity is the private key in the format of OpenSSH.
	Identity []byte
	// IdentityPub is the public key as a repository accepts it, with a comment.
	IdentityPub []byte
}

// Generate makes a key pair. The comment names the owner of the key.
func Generate(comment string) (*Key, error) {
	if strings.ContainsFunc(comment, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return nil, errors.New("the comment of a key must be one word")
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a key pair: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return nil, fmt.Errorf("write the private key: %w", err)
	}
	encoded, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("write the public key: %w", err)
	}
	return &Key{Identity: pem.EncodeToMemory(block), IdentityPub: []byte(authorized(encoded, comment) + "\n")}, nil
}

func authorized(key ssh.PublicKey, comment string) string {
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	if comment != "" {
		line += " " + comment
	}
	return line
}

// Data returns the data of the Secret of a new key pair. The data before the rotation is nil for a
// first key.
func (k *Key) Data(knownHosts string, before map[string][]byte) map[string][]byte {
	data := map[string][]byte{DataIdentity: k.Identity, DataIdentityPub: k.IdentityPub, DataKnownHosts: []byte(knownHosts)}
	for old, now := range map[string]string{DataOldIdentity: DataIdentity, DataOldIdentityPub: DataIdentityPub} {
		if value, found := before[now]; found {
			data[old] = value
		}
	}
	return data
}

// ForShoot returns the data of a Secret without the keys that Flux does not need.
func ForShoot(data map[string][]byte) map[string][]byte {
	data = maps.Clone(data)
	delete(data, DataOldIdentity)
	delete(data, DataOldIdentityPub)
	return data
}

// PublicKey returns the line that has to be registered with the repository; "" if the data of a
// Secret have no key pair.
func PublicKey(data map[string][]byte) string {
	if key, comment, _, _, err := ssh.ParseAuthorizedKey(data[DataIdentityPub]); err == nil {
		return authorized(key, comment)
	}
	if block, _ := pem.Decode(data[DataIdentity]); block != nil && block.Type == opensshBlock {
		return publicOf(block.Bytes)
	}
	if pemkey.Check(string(data[DataIdentity])) != nil {
		return ""
	}
	signer, err := ssh.ParsePrivateKey(data[DataIdentity])
	if err != nil {
		return ""
	}
	return authorized(signer.PublicKey(), "")
}

// publicOf reads the public key in a file of OpenSSH; "" for any other text. The private key is not
// read: the library computes with it, for a second if it has 16,384 bits.
func publicOf(file []byte) string {
	var content struct {
		Cipher, Derivation, Options string
		Keys                        uint32
		Public                      []byte
		Rest                        []byte `ssh:"rest"`
	}
	file, _ = bytes.CutPrefix(file, []byte("openssh-key-v1\x00"))
	if ssh.Unmarshal(file, &content) != nil {
		return ""
	}
	key, err := ssh.ParsePublicKey(content.Public)
	if err != nil {
		return ""
	}
	return authorized(key, "")
}
