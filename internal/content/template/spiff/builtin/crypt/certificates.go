// Package crypt holds the functions for hashes, random values, passwords, keys,
// certificates and encryption.
package crypt

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"time"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Certificates are the functions for X.509 certificates.
var Certificates = []call.Function{
	{Name: "x509cert", Usage: "x509cert(spec)", Result: "string", Min: 1, Max: 1, Run: makeCertificate,
		Doc: "A certificate as PEM text. Fields of the specification: `commonName`, `organization`, `country`, `isCA`, " +
			"`usage` (list, required), `validity` (hours, default 8760), `validFrom` (as `Jan 2 15:04:05 2006`), `hosts`, " +
			"`privateKey` or `publicKey`, `caCert`, `caPrivateKey`."},
	{Name: "x509parsecert", Usage: "x509parsecert(certificate)", Result: "map", Min: 1, Max: 1, Run: parseCertificate,
		Doc: "The content of a certificate: `commonName`, `organization`, `country`, `isCA`, `usage`, `validity` (hours " +
			"from now), `validFrom`, `validUntil`, `hosts`, `dnsNames`, `ipAddresses`, `publicKey`."},
}

// dateFormat is how dates stand in certificate specifications.
const dateFormat = "Jan 2 15:04:05 2006"

const defaultHours = 8760

// usage is one name of a key usage.
type usage struct {
	name     string
	key      x509.KeyUsage
	extended x509.ExtKeyUsage
	isKey    bool
}

func keyUsage(name string, u x509.KeyUsage) usage { return usage{name: name, key: u, isKey: true} }

func extUsage(name string, u x509.ExtKeyUsage) usage { return usage{name: name, extended: u} }

var usages = []usage{
	keyUsage("Signature", x509.KeyUsageDigitalSignature), keyUsage("Commitment", x509.KeyUsageContentCommitment),
	keyUsage("KeyEncipherment", x509.KeyUsageKeyEncipherment), keyUsage("DataEncipherment", x509.KeyUsageDataEncipherment),
	keyUsage("KeyAgreement", x509.KeyUsageKeyAgreement), keyUsage("CertSign", x509.KeyUsageCertSign),
	keyUsage("CRLSign", x509.KeyUsageCRLSign), keyUsage("EncipherOnly", x509.KeyUsageEncipherOnly),
	keyUsage("DecipherOnly", x509.KeyUsageDecipherOnly),
	extUsage("Any", x509.ExtKeyUsageAny), extUsage("ServerAuth", x509.ExtKeyUsageServerAuth),
	extUsage("ClientAuth", x509.ExtKeyUsageClientAuth), extUsage("CodeSigning", x509.ExtKeyUsageCodeSigning),
	extUsage("EmailProtection", x509.ExtKeyUsageEmailProtection),
	extUsage("IPSecEndSystem", x509.ExtKeyUsageIPSECEndSystem), extUsage("IPSecTunnel", x509.ExtKeyUsageIPSECTunnel),
	extUsage("IPSecUser", x509.ExtKeyUsageIPSECUser), extUsage("TimeStamping", x509.ExtKeyUsageTimeStamping),
	extUsage("OCSPSigning", x509.ExtKeyUsageOCSPSigning),
	extUsage("MicrosoftServerGatedCrypto", x509.ExtKeyUsageMicrosoftServerGatedCrypto),
	extUsage("NetscapeServerGatedCrypto", x509.ExtKeyUsageNetscapeServerGatedCrypto),
	extUsage("MicrosoftCommercialCodeSigning", x509.ExtKeyUsageMicrosoftCommercialCodeSigning),
	extUsage("MicrosoftKernelCodeSigning", x509.ExtKeyUsageMicrosoftKernelCodeSigning),
}

// spec reads the fields of a certificate specification. The first problem is
// kept.
type spec struct {
	call *call.Call
	m    *value.Map
	err  error
}

func (s *spec) problem(format string, args ...any) {
	if s.err == nil {
		s.err = s.call.Failf(format, args...)
	}
}

func (s *spec) text(field string) string {
	switch v := s.m.Field(field).(type) {
	case nil, value.Null:
	case value.String:
		return v.Text
	default:
		s.problem("field %s must be a string, not %s", field, value.A(v))
	}
	return ""
}

func (s *spec) texts(field string) []string {
	v := s.m.Field(field)
	if v == nil || value.IsNull(v) {
		return nil
	}
	c := &call.Call{Host: s.call.Host, Function: s.call.Function, Args: []value.Value{v}}
	list, err := c.Texts(0)
	if err != nil {
		s.problem("field %s must be a string or a list of strings", field)
	}
	return list
}

func (s *spec) hours() int64 {
	switch v := s.m.Field("validity").(type) {
	case nil, value.Null:
	case value.Int:
		if v > 0 && v < 1_000_000 {
			return int64(v)
		}
		s.problem("field validity must be between 1 and 1000000 hours")
	default:
		s.problem("field validity must be an integer, not %s", value.A(v))
	}
	return defaultHours
}

func (s *spec) from() time.Time {
	text := s.text("validFrom")
	if text == "" {
		return s.call.Settings().Now()
	}
	t, err := time.Parse(dateFormat, text)
	if err != nil {
		s.problem("field validFrom must look like %q", dateFormat)
	}
	return t
}

func (s *spec) usages(cert *x509.Certificate) {
	names := s.texts("usage")
	if len(names) == 0 {
		s.problem("field usage is missing")
	}
	for _, name := range names {
		found := false
		for _, u := range usages {
			if !strings.EqualFold(u.name, name) {
				continue
			}
			found = true
			if u.isKey {
				cert.KeyUsage |= u.key
			} else {
				cert.ExtKeyUsage = append(cert.ExtKeyUsage, u.extended)
			}
		}
		if !found {
			s.problem("unknown usage %s", s.call.Quote(name))
		}
	}
}

func (s *spec) names(cert *x509.Certificate) {
	for _, host := range s.texts("hosts") {
		if ip := net.ParseIP(host); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, host)
		}
	}
}

// keys returns the key of the certificate and the key that signs it.
func (s *spec) keys() (public any, signer crypto.Signer) {
	if text := s.text("privateKey"); text != "" {
		key, err := parsePrivate(text)
		if err != nil {
			s.problem("field privateKey: %w", err)
			return nil, nil
		}
		public, signer = key.Public(), key
	}
	if text := s.text("publicKey"); text != "" {
		key, err := parsePublic(text)
		if err != nil {
			s.problem("field publicKey: %w", err)
			return nil, nil
		}
		public = key
	}
	if text := s.text("caPrivateKey"); text != "" {
		key, err := parsePrivate(text)
		if err != nil {
			s.problem("field caPrivateKey: %w", err)
			return nil, nil
		}
		signer = key
	}
	if public == nil || signer == nil {
		s.problem("privateKey, or publicKey and caPrivateKey are needed")
	}
	return public, signer
}

func (s *spec) parent(cert *x509.Certificate) *x509.Certificate {
	text := s.text("caCert")
	if text == "" {
		return cert
	}
	ca, err := decodeCertificate(text)
	if err != nil {
		s.problem("field caCert: %w", err)
		return cert
	}
	return ca
}

func makeCertificate(c *call.Call) (value.Value, error) {
	m, err := c.Map(0)
	if err != nil {
		return nil, err
	}
	s := &spec{call: c, m: m}
	serial, err := rand.Int(c.Settings().Random, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, c.Failf("no random data: %w", err)
	}
	cert := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			CommonName: s.text("commonName"), Organization: s.texts("organization"), Country: s.texts("country"),
		},
		NotBefore:             s.from(),
		BasicConstraintsValid: true,
		IsCA:                  value.Truth(m.Field("isCA")),
	}
	cert.NotAfter = cert.NotBefore.Add(time.Duration(s.hours()) * time.Hour)
	s.usages(cert)
	s.names(cert)
	public, signer := s.keys()
	parent := s.parent(cert)
	if s.err != nil {
		return nil, s.err
	}
	der, err := x509.CreateCertificate(c.Settings().Random, cert, parent, public, signer)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return pemText("CERTIFICATE", der), nil
}

func decodeCertificate(text string) (*x509.Certificate, error) {
	if err := pemkey.Check(text); err != nil {
		return nil, err
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errNoKey
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errNoKey
	}
	return cert, nil
}

// IsCertificate reports whether a text is a certificate in PEM format.
func IsCertificate(s string) bool {
	_, err := decodeCertificate(s)
	return err == nil
}

// IsCA reports whether a text is the certificate of an authority.
func IsCA(s string) bool {
	cert, err := decodeCertificate(s)
	return err == nil && cert.IsCA
}

func parseCertificate(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	cert, err := decodeCertificate(text)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	public, err := formatPublic(c, cert.PublicKey, "pem")
	if err != nil {
		return nil, err
	}
	var ips []string
	for _, ip := range cert.IPAddresses {
		ips = append(ips, ip.String())
	}
	return value.MapOf(
		"commonName", value.Text(cert.Subject.CommonName),
		"organization", call.TextList(cert.Subject.Organization),
		"country", call.TextList(cert.Subject.Country),
		"isCA", value.Bool(cert.IsCA),
		"usage", call.TextList(usageNames(cert)),
		"validity", value.Int(cert.NotAfter.Sub(c.Settings().Now()).Hours()),
		"validFrom", value.Text(cert.NotBefore.UTC().Format(dateFormat)),
		"validUntil", value.Text(cert.NotAfter.UTC().Format(dateFormat)),
		"hosts", call.TextList(append(append([]string(nil), ips...), cert.DNSNames...)),
		"dnsNames", call.TextList(cert.DNSNames),
		"ipAddresses", call.TextList(ips),
		"publicKey", public,
	), nil
}

func usageNames(cert *x509.Certificate) []string {
	var names []string
	for _, u := range usages {
		if u.isKey && cert.KeyUsage&u.key != 0 {
			names = append(names, u.name)
		}
	}
	for _, e := range cert.ExtKeyUsage {
		for _, u := range usages {
			if !u.isKey && u.extended == e {
				names = append(names, u.name)
			}
		}
	}
	return names
}
