package signature

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/digitorus/timestamp"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// stamper is an authority for time stamps with its own root.
type stamper struct {
	key  *rsa.PrivateKey
	leaf *x509.Certificate
	root []byte
}

func newStamper(t *testing.T, usage ...x509.ExtKeyUsage) stamper {
	t.Helper()
	rootKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now().Add(-1000 * time.Hour)
	root := &x509.Certificate{SerialNumber: big.NewInt(10), Subject: pkix.Name{CommonName: "stamp root"}, NotBefore: begin, NotAfter: begin.Add(2000 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(11), Subject: pkix.Name{CommonName: "stamps"}, NotBefore: begin, NotAfter: begin.Add(2000 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, rootKey)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return stamper{key: key, leaf: parsed, root: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})}
}

// stamp returns a token: with its type around it, or the signed data alone.
func (s stamper) stamp(t *testing.T, d *descriptor.Digest, at time.Time, bare, withCertificate bool) string {
	t.Helper()
	sum, err := hex.DecodeString(d.Value)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&timestamp.Timestamp{
		HashAlgorithm: crypto.SHA256, HashedMessage: sum, Time: at, Policy: asn1.ObjectIdentifier{1, 2, 3}, AddTSACertificate: withCertificate,
	}).CreateResponseWithOpts(s.leaf, s.key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	var outer struct{ Status, Token asn1.RawValue }
	if _, err := asn1.Unmarshal(response, &outer); err != nil {
		t.Fatal(err)
	}
	token := outer.Token.FullBytes
	if bare {
		var typed struct {
			Type    asn1.ObjectIdentifier
			Content asn1.RawValue
		}
		if _, err := asn1.Unmarshal(token, &typed); err != nil {
			t.Fatal(err)
		}
		token = typed.Content.Bytes
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "TIMESTAMP INFO", Bytes: token}))
}

func TestTimeStamps(t *testing.T) {
	s := newSigner(t)
	block, _ := pem.Decode(s.leaf)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	inside, expired := leaf.NotBefore.Add(30*time.Minute), leaf.NotAfter.Add(time.Minute)
	authority, other := newStamper(t, x509.ExtKeyUsageTimeStamping), newStamper(t, x509.ExtKeyUsageTimeStamping)
	noStamps := newStamper(t, x509.ExtKeyUsageCodeSigning)
	elsewhere := &descriptor.Digest{Value: strings.Repeat("ab", 32)}
	trust := Trust{Authorities: append(append(append([]byte{}, s.root...), authority.root...), noStamps.root...)}
	w := newWorld(t)
	d, err := w.verifier.DescriptorDigest(t.Context(), w.root, "SHA-256", JSONv3)
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(authority.stamp(t, d, inside, false, true))
	changed[len(changed)/2] ^= 1
	overlapping := string(pem.EncodeToMemory(&pem.Block{Type: "TIMESTAMP INFO", Bytes: bytes.Repeat([]byte{0x30, 0x04}, 100)}))
	for _, test := range []struct {
		reason, stamp string
		trust         Trust
		want          string
	}{
		{"without a time stamp the beginning of the certificate's life counts", "", trust, ""},
		{"a token with its type", authority.stamp(t, d, inside, false, true), trust, ""},
		{"signed data alone, as signers write it", authority.stamp(t, d, inside, true, true), trust, ""},
		{"the certificate had expired when it was used", authority.stamp(t, d, expired, true, true), trust, "is not trusted"},
		{"the certificate was not yet valid", authority.stamp(t, d, leaf.NotBefore.Add(-time.Minute), true, true), trust, "is not trusted"},
		{"for another digest", authority.stamp(t, elsewhere, inside, true, true), trust, "something else than the digest"},
		{"of an unknown authority", other.stamp(t, d, inside, true, true), trust, "it is not trusted"},
		{"the authorities of the system do not count", authority.stamp(t, d, inside, true, true), Trust{}, "neither a public key nor a certificate authority"},
		{"of a signer who may sign code, not time", noStamps.stamp(t, d, inside, true, true), trust, "is not for time stamps"},
		{"without the certificate of its signer", authority.stamp(t, d, inside, true, false), trust, "exactly one signer"},
		{"changed on the way", string(changed), trust, "the time stamp of signature"},
		{"no PEM", "yesterday", trust, "is not PEM"},
		{"PEM of something else", string(s.leaf), trust, "the time stamp of signature"},
		{"parts that are longer than what they are in", overlapping, trust, "it is not DER"},
		{"huge", strings.Repeat("x", maxStamp+1), trust, "at most"},
		{"a key needs no certificate, and so no time", other.stamp(t, d, inside, true, true), Trust{PublicKey: s.pub}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			signed := s.sign(t, d, AlgorithmPKCS1, mediaTypePEM, "")
			signed.Timestamp = &descriptor.Timestamp{Value: test.stamp, Time: inside.Format(time.RFC3339)}
			w.root.Signatures = []descriptor.Signature{signed}
			_, err := w.verifier.Verify(t.Context(), w.root, "release", test.trust)
			if test.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzTimeStamp: whatever stands in the place of a time stamp, nothing crashes
// and nothing is believed.
func FuzzTimeStamp(f *testing.F) {
	f.Add([]byte{0x30, 0x80, 0x02, 0x01, 0x03, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		signed := &descriptor.Signature{
			Digest:    descriptor.Digest{HashAlgorithm: "SHA-256", Value: strings.Repeat("00", 32)},
			Timestamp: &descriptor.Timestamp{Value: string(pem.EncodeToMemory(&pem.Block{Type: "TIMESTAMP INFO", Bytes: data}))},
		}
		if at, err := (Trust{}).stampedAt(signed); err == nil {
			t.Errorf("%x is believed to be a time stamp of %s", data, at)
		}
	})
}
