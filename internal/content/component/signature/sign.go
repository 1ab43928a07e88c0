package signature

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Signing says how a component version is signed.
type Signing struct {
	// Name is that of the signature; one that exists is replaced.
	Name string
	// Key is the private key (PEM).
	Key []byte
	// Certificates, if set, go along with the signature, the signer's first (PEM).
	Certificates []byte
	// Algorithm is AlgorithmPSS or AlgorithmPKCS1.
	Algorithm string
	// Hash and Normalisation say what is signed.
	Hash, Normalisation string
}

// Check finds names that are not known, before anything is read.
func (how Signing) Check() error {
	if _, err := access.Hash(how.Hash); err != nil {
		return err // says what is wrong
	}
	if how.Algorithm != AlgorithmPSS && how.Algorithm != AlgorithmPKCS1 {
		return fmt.Errorf("the algorithm %q is not known: use %s or %s", how.Algorithm, AlgorithmPSS, AlgorithmPKCS1)
	}
	if !slices.Contains(Normalisations(), how.Normalisation) {
		return unknownNormalisation(how.Normalisation)
	}
	return nil
}

// Sign signs a component version: the digests of all contents and of all component
// versions that it refers to are put into its descriptor, and the signature behind
// those that are there.
func (v *Verifier) Sign(ctx context.Context, version *repository.Version, how Signing) (*descriptor.Signature, error) {
	if err := how.Check(); err != nil {
		return nil, err
	}
	key, err := parsePrivateKey(how.Key)
	if err != nil {
		return nil, err
	}
	issuer, err := how.issuer(key)
	if err != nil {
		return nil, err
	}
	run := newRun(v, version, how.Hash, how.Normalisation)
	found, err := run.digest(ctx, version, run.kind())
	if err != nil {
		return nil, fmt.Errorf("sign component version %s:%s: %w", version.Name, version.Version, err)
	}
	signed := descriptor.Signature{Name: how.Name, Digest: descriptor.Digest{HashAlgorithm: how.Hash, NormalisationAlgorithm: how.Normalisation, Value: found}}
	if signed.Signature, err = how.value(key, &signed.Digest); err != nil {
		return nil, err
	}
	signed.Signature.Issuer = issuer
	run.pin(version)
	if old := find(version, how.Name); old != nil {
		*old = signed
	} else {
		version.Signatures = append(version.Signatures, signed)
	}
	return &signed, nil
}

// value makes a signature of a digest.
func (how Signing) value(key *rsa.PrivateKey, of *descriptor.Digest) (descriptor.SignatureValue, error) {
	hash, err := access.Hash(of.HashAlgorithm)
	if err != nil {
		return descriptor.SignatureValue{}, err // says what is wrong
	}
	sum, err := hex.DecodeString(of.Value)
	if err != nil {
		return descriptor.SignatureValue{}, fmt.Errorf("sign: %w", err)
	}
	var value []byte
	mediaType := mediaTypeRSA
	if how.Algorithm == AlgorithmPKCS1 {
		value, err = rsa.SignPKCS1v15(rand.Reader, key, hash, sum)
	} else {
		mediaType = mediaTypePSS
		value, err = rsa.SignPSS(rand.Reader, key, hash, sum, nil)
	}
	if err != nil {
		return descriptor.SignatureValue{}, fmt.Errorf("sign: %w", err)
	}
	if len(how.Certificates) == 0 {
		return descriptor.SignatureValue{Algorithm: how.Algorithm, MediaType: mediaType, Value: hex.EncodeToString(value)}, nil
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "SIGNATURE", Headers: map[string]string{"Signature Algorithm": how.Algorithm}, Bytes: value})
	return descriptor.SignatureValue{Algorithm: how.Algorithm, MediaType: mediaTypePEM, Value: string(text) + string(how.Certificates)}, nil
}

// issuer returns for whom the certificate is, which must be for the key.
func (how Signing) issuer(key *rsa.PrivateKey) (string, error) {
	if len(how.Certificates) == 0 {
		return "", nil
	}
	block, _ := pem.Decode(how.Certificates)
	if block == nil || block.Type != "CERTIFICATE" {
		return "", errors.New("the certificate is no PEM certificate")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("the certificate: %w", err)
	}
	if !key.PublicKey.Equal(leaf.PublicKey) {
		return "", errors.New("the first certificate is not for this key: the signer's goes first")
	}
	return leaf.Subject.String(), nil
}

// parsePrivateKey reads a key. The message of the parser is not repeated.
func parsePrivateKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the private key is not PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("a PEM block %q is neither a PKCS #8 nor a PKCS #1 private key without a password", block.Type)
	}
	found, isRSA := key.(*rsa.PrivateKey)
	if !isRSA {
		return nil, fmt.Errorf("the private key must be one of RSA: it is one of %s", algorithmOf(key))
	}
	return found, nil
}
