package signature

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// Signature algorithms and media types.
const (
	AlgorithmPKCS1 = "RSASSA-PKCS1-V1_5"
	AlgorithmPSS   = "RSASSA-PSS"
	mediaTypeRSA   = "application/vnd.ocm.signature.rsa"
	mediaTypePSS   = "application/vnd.ocm.signature.rsa.pss"
	mediaTypePEM   = "application/x-pem-file"
)

// Trust is what signatures are checked with. One of PublicKey and Authorities is needed: no key is
// trusted by default.
type Trust struct {
	// PublicKey is the signer's key (PEM); without it the key comes from the
	// certificate in the signature.
	PublicKey []byte
	// Authorities may issue such certificates (PEM).
	Authorities []byte
	// Issuer, if set, is whom the certificate must be for: a distinguished name, or
	// parts of one.
	Issuer string
}

// ErrUntrusted says that the certificate of a signature does not lead to an authority that is
// trusted.
var ErrUntrusted = errors.New("its authority is not among those for signers")

// ErrNoTrust says that no key and no authority is configured. The authorities of the system are for
// web servers: every owner of a web site has a certificate of one.
var ErrNoTrust = errors.New("there is neither a public key nor a certificate authority to check it with")

// Usable refuses a trust without a key and an authority.
func (t Trust) Usable() error {
	if len(bytes.TrimSpace(t.PublicKey)) == 0 && len(bytes.TrimSpace(t.Authorities)) == 0 {
		return ErrNoTrust
	}
	return nil
}

// Check refuses an invalid key or invalid authorities before anything is signed.
func (t Trust) Check() error {
	if err := t.Usable(); err != nil {
		return err
	}
	if len(t.PublicKey) > 0 {
		_, err := parseKey(t.PublicKey)
		return err
	}
	_, err := t.roots()
	return err
}

func (t Trust) check(signed *descriptor.Signature) error {
	if err := t.Usable(); err != nil {
		return err
	}
	value, chain, err := decodeSignature(signed)
	if err != nil {
		return err
	}
	key, err := t.key(signed, chain)
	if err != nil {
		return err
	}
	hash, err := access.Hash(signed.Digest.HashAlgorithm)
	if err != nil {
		return err // says what is wrong
	}
	sum, err := hex.DecodeString(signed.Digest.Value)
	if err != nil {
		return fmt.Errorf("the digest of signature %q is not hexadecimal: %w", signed.Name, err)
	}
	switch signed.Signature.Algorithm {
	case AlgorithmPKCS1:
		err = rsa.VerifyPKCS1v15(key, hash, sum, value)
	case AlgorithmPSS:
		err = rsa.VerifyPSS(key, hash, sum, value, nil)
	default:
		return fmt.Errorf("signature %q uses algorithm %q, %s and %s are known: %w", signed.Name, signed.Signature.Algorithm, AlgorithmPKCS1, AlgorithmPSS, errNothing)
	}
	if err != nil {
		return fmt.Errorf("signature %q was not made with this key: %w", signed.Name, err)
	}
	return nil
}

// decodeSignature returns the bytes of a signature and the certificates with it.
func decodeSignature(signed *descriptor.Signature) ([]byte, []*x509.Certificate, error) {
	switch signed.Signature.MediaType {
	case mediaTypeRSA, mediaTypePSS:
		value, err := hex.DecodeString(signed.Signature.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("signature %q is not hexadecimal: %w", signed.Name, err)
		}
		return value, nil, nil
	case mediaTypePEM:
		return decodePEM(signed)
	}
	return nil, nil, fmt.Errorf("invalid signature mediaType %q", signed.Signature.MediaType)
}

func decodePEM(signed *descriptor.Signature) ([]byte, []*x509.Certificate, error) {
	var value []byte
	var chain []*x509.Certificate
	for rest := []byte(signed.Signature.Value); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch block.Type {
		case "SIGNATURE":
			if algorithm := block.Headers["Signature Algorithm"]; algorithm != "" && algorithm != signed.Signature.Algorithm {
				return nil, nil, fmt.Errorf("signature %q says that its algorithm is %q and in its text %q", signed.Name, signed.Signature.Algorithm, algorithm)
			}
			value = block.Bytes
		case "CERTIFICATE":
			certificate, err := parseCertificate(block.Bytes)
			if err != nil {
				return nil, nil, fmt.Errorf("a certificate in signature %q: %w", signed.Name, err)
			}
			chain = append(chain, certificate)
		}
	}
	if value == nil {
		return nil, nil, fmt.Errorf("signature %q has no block SIGNATURE: %w", signed.Name, errNothing)
	}
	return value, chain, nil
}

// key returns the signer's key.
func (t Trust) key(signed *descriptor.Signature, chain []*x509.Certificate) (*rsa.PublicKey, error) {
	var key crypto.PublicKey
	var err error
	if len(t.PublicKey) > 0 {
		if key, err = parseKey(t.PublicKey); err != nil {
			return nil, err
		}
	} else {
		if len(chain) == 0 {
			return nil, fmt.Errorf("public key from signature: %q not found: set a public key for this signature", signed.Name)
		}
		if err := t.checkChain(signed, chain); err != nil {
			return nil, err
		}
		key = chain[0].PublicKey
	}
	found, isRSA := key.(*rsa.PublicKey)
	if !isRSA {
		return nil, fmt.Errorf("signature %q needs an RSA key: the key is one of %s", signed.Name, algorithmOf(key))
	}
	return found, nil
}

// parseCertificate reads a certificate, unless it takes long to compute with its key.
func parseCertificate(der []byte) (*x509.Certificate, error) {
	if err := pemkey.CheckDER(der); err != nil {
		return nil, err // says what is too large
	}
	return x509.ParseCertificate(der) //nolint:wrapcheck // the caller says whose it is
}

// parseKey reads a key. The message of the parser is not repeated.
func parseKey(text []byte) (crypto.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("failed parsing public key data: it is not PEM")
	}
	if err := pemkey.CheckDER(block.Bytes); err != nil {
		return nil, fmt.Errorf("failed parsing public key data: %w", err)
	}
	if key, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
		return key, nil
	}
	if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
		return certificate.PublicKey, nil
	}
	return nil, errors.New("failed parsing public key data: its PEM block is neither a PKIX nor a PKCS #1 public key")
}

// roots returns the authorities that are trusted. They are never those of the
// system.
func (t Trust) roots() (*x509.CertPool, error) {
	if len(t.Authorities) == 0 {
		return nil, ErrNoTrust
	}
	if err := pemkey.CheckAll(t.Authorities); err != nil {
		return nil, fmt.Errorf("failed parsing ca cert data: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(t.Authorities) {
		return nil, errors.New("failed parsing ca cert data: failed generating ca cert pool: it has no PEM certificate")
	}
	return roots, nil
}

// checkChain checks the certificates of a signature. The signature must have been
// possible when it was made, not today: they are checked at the time of the time
// stamp, and without one at the beginning of the certificate's life.
func (t Trust) checkChain(signed *descriptor.Signature, chain []*x509.Certificate) error {
	roots, err := t.roots()
	if err != nil {
		return err
	}
	at, err := t.stampedAt(signed)
	if err != nil {
		return err
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	leaf := chain[0]
	if at.IsZero() {
		at = leaf.NotBefore.Add(time.Second)
	}
	if !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageCodeSigning) {
		return fmt.Errorf("the certificate of signature %q is not for signing: it needs the extended key usage code signing", signed.Name)
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: intermediates, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}
	if _, err := leaf.Verify(options); err != nil {
		return fmt.Errorf("the certificate of signature %q is not trusted: %w: %w", signed.Name, ErrUntrusted, err)
	}
	if t.Issuer != "" && !sameName(t.Issuer, leaf) {
		return fmt.Errorf("signature %q was made by %q, not by %q", signed.Name, leaf.Subject, t.Issuer)
	}
	if issuer := signed.Signature.Issuer; issuer != "" && !sameName(issuer, leaf) {
		return fmt.Errorf("signature %q names the issuer %q, its certificate is for %q", signed.Name, issuer, leaf.Subject)
	}
	return nil
}

// sameName compares a distinguished name with that of a certificate: each part that is given must
// be there. A common name alone is enough, unless it looks like a distinguished name itself: who
// requests a certificate may choose its common name.
func sameName(issuer string, leaf *x509.Certificate) bool {
	subject := leaf.Subject.String()
	if issuer == subject {
		return true
	}
	if !strings.Contains(issuer, "=") {
		return issuer == leaf.Subject.CommonName
	}
	have := map[string]bool{}
	for _, part := range nameParts(subject) {
		have[part] = true
	}
	for _, part := range nameParts(issuer) {
		if !have[part] {
			return false
		}
	}
	return true
}

// nameParts divides a distinguished name. A comma or plus that belongs to a value has a
// backslash in front, and begins no part: "O=x\,CN=release" has no common name.
func nameParts(name string) []string {
	var parts []string
	begin := 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case ',', '+':
			parts = append(parts, strings.TrimSpace(name[begin:i]))
			begin = i + 1
		}
	}
	return append(parts, strings.TrimSpace(name[begin:]))
}
