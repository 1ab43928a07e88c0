// Package sign signs what a release publishes, in the forms that cosign verifies with a key and
// without a network: files, images, and statements about them.
package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Key signs. Its signatures depend on nothing but the key and the content (RFC 6979), so that a
// signed release can be repeated to the byte, too.
type Key struct{ private *ecdsa.PrivateKey }

// ParseKey reads a private key of curve P-256 in PEM: one of cosign, with its password, or one
// that is not encrypted.
func ParseKey(text, password []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key for signatures: it is not in PEM: make one with \"cosign generate-key-pair\", or \"openssl ecparam -genkey -name prime256v1 -noout\"")
	}
	private, err := parse(block, password)
	if err != nil {
		return nil, fmt.Errorf("the key for signatures: %w", err)
	}
	key, ok := private.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("the key for signatures: it is a %T: use ECDSA with curve P-256, as cosign does", private)
	}
	return &Key{key}, nil
}

func parse(block *pem.Block, password []byte) (any, error) {
	der := block.Bytes
	switch block.Type {
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(der)
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		var err error
		if der, err = encrypted.Decrypt(der, password); err != nil {
			return nil, fmt.Errorf("decrypt it with the password in COSIGN_PASSWORD: %w", err)
		}
	case "PRIVATE KEY":
	default:
		return nil, fmt.Errorf("its PEM block is a %q: use a private key of cosign or one of PKCS #8", block.Type)
	}
	return x509.ParsePKCS8PrivateKey(der)
}

// Public returns the public key in PEM, for those who verify.
func (k *Key) Public() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(&k.private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// Signature signs content: as "cosign sign-blob" does, and "openssl dgst -sha256 -verify" reads
// after base64.
func (k *Key) Signature(content []byte) ([]byte, error) {
	sum := sha256.Sum256(content)
	signature, err := k.private.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return []byte(base64.StdEncoding.EncodeToString(signature)), nil
}

// payloadType is that of statements of in-toto.
const payloadType = "application/vnd.in-toto+json"

// Envelope signs a statement of in-toto, in an envelope of DSSE.
func (k *Key) Envelope(ctx context.Context, statement []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(dsseSigner{k})
	if err != nil {
		return nil, fmt.Errorf("sign a statement: %w", err)
	}
	envelope, err := signer.SignPayload(ctx, payloadType, statement)
	if err != nil {
		return nil, fmt.Errorf("sign a statement: %w", err)
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(envelope); err != nil {
		return nil, fmt.Errorf("encode a signed statement: %w", err)
	}
	return text.Bytes(), nil
}

// dsseSigner signs what an envelope asks for.
type dsseSigner struct{ *Key }

// Sign signs the payload together with its type.
func (s dsseSigner) Sign(_ context.Context, data []byte) ([]byte, error) {
	sum := sha256.Sum256(data)
	return s.private.Sign(nil, sum[:], crypto.SHA256)
}

// KeyID is a hint for those who have several keys.
func (s dsseSigner) KeyID() (string, error) {
	public, err := s.Public()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:]), nil
}
