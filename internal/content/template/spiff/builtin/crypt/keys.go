package crypt

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Keys are the functions for key pairs.
var Keys = []call.Function{
	{Name: "x509genkey", Usage: `x509genkey([bits or "P224", "P256", "P384", "P521"])`, Result: "string", Min: 0, Max: 1, Run: genKey,
		Doc: "A new private key as PEM text, by default RSA with 2048 bits."},
	{Name: "x509publickey", Usage: `x509publickey(key or certificate [, "pem", "pkix" or "ssh"])`, Result: "string", Min: 1, Max: 2, Run: publicKey,
		Doc: "The public key of a private key, public key or certificate."},
	{Name: "wggenkey", Usage: `wggenkey(["private" or "preshared"])`, Result: "string", Min: 0, Max: 1, Run: wireguardKey,
		Doc: "A new WireGuard key.", Example: `length(wggenkey())`, Gives: `44`},
	{Name: "wgpublickey", Usage: "wgpublickey(key)", Result: "string", Min: 1, Max: 1, Run: wireguardPublic,
		Doc: "The public key of a WireGuard private key.", Example: `length(wgpublickey(wggenkey()))`, Gives: `44`},
}

// Bounds of RSA keys. One of the largest takes some minutes with full access, which a caller can
// plan with; and a typing mistake never blocks for ever.
const (
	minBits     = 512
	maxBits     = 4096
	maxBitsFull = 16384
)

var curves = map[string]elliptic.Curve{
	"P224": elliptic.P224(), "P256": elliptic.P256(), "P384": elliptic.P384(), "P521": elliptic.P521(),
}

func genKey(c *call.Call) (value.Value, error) {
	if name, ok := c.Arg(0).(value.String); ok {
		curve := curves[name.Text]
		if curve == nil {
			return nil, c.Failf("unknown curve %s", c.Show(name))
		}
		key, err := ecdsa.GenerateKey(curve, c.Settings().Random)
		if err != nil {
			return nil, c.Failf("%w", err)
		}
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return nil, c.Failf("%w", err)
		}
		return pemText("EC PRIVATE KEY", der), nil
	}
	bits, err := c.IntOr(0, 2048)
	if err != nil {
		return nil, err
	}
	most := int64(maxBits)
	if c.Settings().Access >= call.Full {
		most = maxBitsFull
	}
	if bits < minBits || bits > most {
		return nil, c.Failf("number of bits must be between %d and %d", minBits, most)
	}
	// The work grows with the fourth power of the size.
	key, err := rsa.GenerateKey(c.Settings().Random, int(bits))
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return pemText("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), nil
}

func pemText(kind string, der []byte) value.Value {
	return value.Text(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

var errNoKey = errors.New("text is not a key or certificate in PEM format")

// parsePrivate reads a private key in PEM format.
func parsePrivate(text string) (crypto.Signer, error) {
	if err := pemkey.Check(text); err != nil {
		return nil, err
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errNoKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
	return nil, errNoKey
}

// parsePublic reads the public key of a key or certificate in PEM format.
func parsePublic(text string) (any, error) {
	if err := pemkey.Check(text); err != nil {
		return nil, err
	}
	if key, err := parsePrivate(text); err == nil {
		return key.Public(), nil
	}
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
		if k, ok := key.(ssh.CryptoPublicKey); ok {
			return k.CryptoPublicKey(), nil
		}
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errNoKey
	}
	if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
		return cert.PublicKey, nil
	}
	if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, errNoKey
}

func publicKey(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	format := "pem"
	if c.Len() == 2 {
		if format, err = c.Text(1); err != nil {
			return nil, err
		}
	}
	key, err := parsePublic(text)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return formatPublic(c, key, format)
}

func formatPublic(c *call.Call, key any, format string) (value.Value, error) {
	switch format {
	case "ssh":
		converted, err := ssh.NewPublicKey(key)
		if err != nil {
			return nil, c.Failf("%w", err)
		}
		return value.Text(string(ssh.MarshalAuthorizedKey(converted))), nil
	case "pem":
		if k, ok := key.(*rsa.PublicKey); ok {
			return pemText("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(k)), nil
		}
	case "pkix":
	default:
		return nil, c.Failf("unknown format %s, known are pem, pkix and ssh", c.Quote(format))
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return pemText("PUBLIC KEY", der), nil
}

// IsPrivateKey reports whether a text is a private key in PEM format.
func IsPrivateKey(s string) bool {
	if _, err := parsePrivate(s); err == nil {
		return true
	}
	if pemkey.Check(s) != nil {
		return false
	}
	block, _ := pem.Decode([]byte(s))
	// Old keys are too short or too odd for the library, but they are keys.
	return block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") && isSequence(block.Bytes)
}

// IsPublicKey reports whether a text is a public key in PEM format.
func IsPublicKey(s string) bool {
	if pemkey.Check(s) != nil {
		return false
	}
	block, _ := pem.Decode([]byte(s))
	if block == nil {
		return false
	}
	if _, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
		return true
	}
	if _, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
		return true
	}
	return strings.HasSuffix(block.Type, "PUBLIC KEY") && isSequence(block.Bytes)
}

// isSequence reports whether DER data is one sequence that fills the data.
func isSequence(der []byte) bool {
	const sequence = 0x30
	return len(der) > 2 && der[0] == sequence && (der[1]&0x80 != 0 || int(der[1]) == len(der)-2)
}

const wireguardSize = 32

func wireguardKey(c *call.Call) (value.Value, error) {
	kind := "private"
	if c.Len() == 1 {
		var err error
		if kind, err = c.Text(0); err != nil {
			return nil, err
		}
	}
	key := make([]byte, wireguardSize)
	if _, err := io.ReadFull(c.Settings().Random, key); err != nil {
		return nil, c.Failf("no random data: %w", err)
	}
	switch kind {
	case "preshared":
	case "private":
		key[0] &= 248
		key[31] = key[31]&127 | 64
	default:
		return nil, c.Failf("unknown kind %s, known are private and preshared", c.Quote(kind))
	}
	return value.Text(base64.StdEncoding.EncodeToString(key)), nil
}

func wireguardPublic(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != wireguardSize {
		return nil, c.Failf("text is no WireGuard key")
	}
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return nil, c.Failf("text is no WireGuard key")
	}
	return value.Text(base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())), nil
}
