package signature

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"testing"
)

func TestAlgorithmOf(t *testing.T) {
	for want, keys := range map[string][]any{
		"RSA":               {&rsa.PrivateKey{}, &rsa.PublicKey{}},
		"ECDSA":             {&ecdsa.PrivateKey{}, &ecdsa.PublicKey{}},
		"Ed25519":           {ed25519.PrivateKey{}, ed25519.PublicKey{}},
		"another algorithm": {nil, "a text"},
	} {
		for _, key := range keys {
			if got := algorithmOf(key); got != want {
				t.Errorf("%T is %s", key, got)
			}
		}
	}
}
