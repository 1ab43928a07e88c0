// Package pki makes the certificate authorities, certificates and keys of a lab.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity is far longer than any lab lives.
const validity = 10 * 365 * 24 * time.Hour

// Authority signs certificates. Its key never leaves the process that made it
// unless a caller stores KeyPEM.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	// CertPEM is the authority's certificate, as clients are given it.
	CertPEM []byte
}

// KeyPEM is the authority's key, for who signs in its place.
func (a *Authority) KeyPEM() ([]byte, error) {
	key, err := encodeKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of an authority: %w", err)
	}
	return key, nil
}

// Pair is a certificate and its private key, PEM-encoded.
type Pair struct {
	Cert []byte
	Key  []byte
}

// Subject says what a certificate is for. A certificate with Hosts is for a
// server; every certificate may be used by a client.
type Subject struct {
	Name   string
	Groups []string
	Hosts  []string
}

// NewAuthority makes a self-signed authority.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of authority %s: %w", name, err)
	}
	template, err := template(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back authority %s: %w", name, err)
	}
	return &Authority{cert: cert, key: key, CertPEM: encode("CERTIFICATE", der)}, nil
}

// Issue signs a certificate for the subject with a new key.
func (a *Authority) Issue(subject Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make the key of %s: %w", subject.Name, err)
	}
	template, err := template(pkix.Name{CommonName: subject.Name, Organization: subject.Groups})
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(subject.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range subject.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate of %s: %w", subject.Name, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode the key of %s: %w", subject.Name, err)
	}
	return Pair{Cert: encode("CERTIFICATE", der), Key: keyPEM}, nil
}

// NewSigningKey makes a private key and its public half, for signing tokens.
func NewSigningKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a signing key: %w", err)
	}
	private, err = encodeKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the signing key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encode the public half of the signing key: %w", err)
	}
	return private, encode("PUBLIC KEY", der), nil
}

// NewToken makes a random secret that is safe in URLs, files and headers.
func NewToken() string {
	raw := make([]byte, 20)
	_, _ = rand.Read(raw) // never fails: the program would have been ended
	return hex.EncodeToString(raw)
}

func template(name pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      name,
		NotBefore:    now.Add(-time.Hour), // clocks of containers and hosts differ
		NotAfter:     now.Add(validity),
	}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Certificate is the authority's own certificate.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }
