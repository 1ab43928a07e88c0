package sshkey

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func generated(t *testing.T) *Key {
	t.Helper()
	key, err := Generate("flux-bench")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestGenerate signs with the private key what the public key verifies.
func TestGenerate(t *testing.T) {
	key := generated(t)
	signer, err := ssh.ParsePrivateKey(key.Identity)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(key.Identity, []byte("-----BEGIN OPENSSH PRIVATE KEY-----\n")) {
		t.Error("the private key is not in the format of OpenSSH")
	}
	public, comment, _, rest, err := ssh.ParseAuthorizedKey(key.IdentityPub)
	if err != nil || comment != "flux-bench" || len(rest) != 0 || public.Type() != ssh.KeyAlgoED25519 {
		t.Fatalf("got %s, %v", key.IdentityPub, err)
	}
	signature, err := signer.Sign(rand.Reader, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if err := public.Verify([]byte("text"), signature); err != nil {
		t.Errorf("the two keys are no pair: %v", err)
	}
	if bytes.Equal(key.Identity, generated(t).Identity) {
		t.Error("the same key twice")
	}
	for _, comment := range []string{"two words", "a\nssh-ed25519 AAAA"} {
		t.Run(comment, func(t *testing.T) {
			if _, err := Generate(comment); err == nil {
				t.Errorf("%q would be another line or field of the key", comment)
			}
		})
	}
}

// TestRotation keeps the pair before, and no older one.
func TestRotation(t *testing.T) {
	first, second, third := generated(t), generated(t), generated(t)
	data := third.Data("hosts", second.Data("hosts", first.Data("", nil)))
	for name, want := range map[string][]byte{
		DataIdentity: third.Identity, DataIdentityPub: third.IdentityPub, DataKnownHosts: []byte("hosts"),
		DataOldIdentity: second.Identity, DataOldIdentityPub: second.IdentityPub,
	} {
		if !bytes.Equal(data[name], want) {
			t.Errorf("%s is another one", name)
		}
	}
	shoot := ForShoot(data)
	if len(shoot) != 3 || len(data) != 5 {
		t.Errorf("the shoot gets %d entries of %d, not the old pair", len(shoot), len(data))
	}
}

func TestPublicKey(t *testing.T) {
	key := generated(t)
	line := strings.TrimSpace(string(key.IdentityPub))
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(large, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		data   map[string][]byte
		want   string
	}{
		{"a public key in the Secret", key.Data("", nil), line},
		{"of the private key alone", map[string][]byte{DataIdentity: key.Identity}, strings.TrimSuffix(line, " flux-bench")},
		{"an invalid key is not published", map[string][]byte{DataIdentityPub: []byte("canary")}, ""},
		{"a private key in the wrong place is not published", map[string][]byte{DataIdentityPub: key.Identity}, ""},
		{"a password", map[string][]byte{"username": []byte("me"), "password": []byte("canary")}, ""},
		{"an RSA key", map[string][]byte{DataIdentity: pem.EncodeToMemory(block)}, "ssh-rsa "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := PublicKey(test.data)
			if got != test.want && (test.want != "ssh-rsa " || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSlowIdentity: the private key of a Secret is not computed with, which takes a second for 16,384 bits.
func TestSlowIdentity(t *testing.T) {
	key := generated(t)
	public, _, _, _, err := ssh.ParseAuthorizedKey(key.IdentityPub)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, want string
		public       []byte
	}{
		{"the file says which public key it has", strings.TrimSuffix(strings.TrimSpace(string(key.IdentityPub)), " flux-bench"), public.Marshal()},
		{"a file without one shows nothing", "", []byte("canary")},
	} {
		t.Run(test.reason, func(t *testing.T) {
			data := map[string][]byte{DataIdentity: slowIdentity(test.public)}
			began := time.Now()
			got := PublicKey(data)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// slowIdentity is a file of OpenSSH with an RSA key of 16,384 bits that was made up: its
// product and its exponents fit, as the library computes.
func slowIdentity(public []byte) []byte {
	one, e := big.NewInt(1), big.NewInt(65537)
	p := new(big.Int).Lsh(one, 8192)
	p.Sub(p, one)
	q := new(big.Int).Sub(p, big.NewInt(4))
	even := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	private := ssh.Marshal(struct {
		First, Second              uint32
		Type                       string
		N, E, D, Coefficient, P, Q *big.Int
		Comment                    string
	}{1, 1, ssh.KeyAlgoRSA, new(big.Int).Mul(p, q), e, new(big.Int).ModInverse(e, even), one, p, q, ""})
	for pad := byte(1); len(private)%8 != 0; pad++ {
		private = append(private, pad)
	}
	file := ssh.Marshal(struct {
		Cipher, Derivation, Options string
		Keys                        uint32
		Public, Private             []byte
	}{"none", "none", "", 1, public, private})
	return pem.EncodeToMemory(&pem.Block{Type: opensshBlock, Bytes: append([]byte("openssh-key-v1\x00"), file...)})
}
