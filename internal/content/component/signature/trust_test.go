package signature

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
)

func TestSameName(t *testing.T) {
	release := pkix.Name{CommonName: "release", Organization: []string{"shop"}, Country: []string{"DE"}}
	for _, test := range []struct {
		reason, issuer string
		subject        pkix.Name
		want           bool
	}{
		{"the whole name", "CN=release,O=shop,C=DE", release, true},
		{"in another order, with spaces", "C=DE, O=shop , CN=release", release, true},
		{"parts of it", "O=shop", release, true},
		{"the common name alone", "release", release, true},
		{"another common name", "other", release, false},
		{"one part matches and another does not", "CN=release,O=other", release, false},
		{"a part that is not there", "CN=release,OU=x", release, false},
		{"the beginning of a part", "CN=rel", release, false},
		{"another case: names are compared as they are", "CN=Release", release, false},
		{"an empty part", "CN=release,", release, false},
		{"a part of a name with several values", "CN=release,OU=b", pkix.Name{CommonName: "release", OrganizationalUnit: []string{"a", "b"}}, true},
		{"a comma that belongs to the name", `O=Shop\, Inc.`, pkix.Name{Organization: []string{"Shop, Inc."}, CommonName: "x"}, true},
		{"hostile: an organization that has the wanted name in it", "CN=release", pkix.Name{CommonName: "evil", Organization: []string{"x,CN=release"}}, false},
		{"hostile: the same with a plus", "CN=release", pkix.Name{CommonName: "evil", Organization: []string{"x+CN=release+"}}, false},
		{"hostile: with a backslash of its own in front", "CN=release", pkix.Name{CommonName: "evil", Organization: []string{`x\,CN=release`}}, false},
		{"hostile: a common name that is written like a whole name", "CN=release,O=shop", pkix.Name{CommonName: "CN=release,O=shop"}, false},
		{"hostile: spaces around", "CN=release", pkix.Name{CommonName: "evil", Organization: []string{"x, CN=release ,y"}}, false},
		{"a certificate without a name", "CN=release", pkix.Name{}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := sameName(test.issuer, &x509.Certificate{Subject: test.subject}); got != test.want {
				t.Errorf("%q is taken for %q: %t", test.subject.String(), test.issuer, got)
			}
		})
	}
}

func TestSigningIsChecked(t *testing.T) {
	good := Signing{Algorithm: AlgorithmPSS, Hash: "SHA-256", Normalisation: JSONv3}
	for _, test := range []struct {
		reason  string
		change  func(*Signing)
		message string
	}{
		{"all is known", func(*Signing) {}, ""},
		{"the older algorithm", func(s *Signing) { s.Algorithm = AlgorithmPKCS1 }, ""},
		{"no algorithm", func(s *Signing) { s.Algorithm = "" }, `the algorithm "" is not known: use RSASSA-PSS or RSASSA-PKCS1-V1_5`},
		{"an algorithm in small letters is another name on the wire", func(s *Signing) { s.Algorithm = "rsassa-pss" }, "is not known"},
		{"a hash that is broken", func(s *Signing) { s.Hash = "SHA-1" }, "SHA-1"},
		{"no hash", func(s *Signing) { s.Hash = "" }, "hash"},
		{"an unknown normal form", func(s *Signing) { s.Normalisation = "jsonNormalisation/v9" }, "jsonNormalisation/v9"},
		{"no normal form", func(s *Signing) { s.Normalisation = "" }, "normalisation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			how := good
			test.change(&how)
			if err := how.Check(); (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v, want %q", err, test.message)
			}
		})
	}
}

// TestSlowKeys: a certificate of a signature is refused before anything is computed with its key.
func TestSlowKeys(t *testing.T) {
	signed := &descriptor.Signature{Name: "s"}
	signed.Signature.MediaType = mediaTypePEM
	signed.Signature.Value = string(pem.EncodeToMemory(&pem.Block{Type: "SIGNATURE", Bytes: []byte{1}})) + strings.ReplaceAll(string(slowKey(t)), "PUBLIC KEY", "CERTIFICATE")
	if _, _, err := decodeSignature(signed); err == nil || !strings.Contains(err.Error(), "the key has more than 8192 bits") {
		t.Error(err)
	}
}

// slowKey is a public key of 262,144 bits.
func slowKey(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 262144), big.NewInt(1)), E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func TestTrustIsChecked(t *testing.T) {
	s := newSigner(t)
	for _, test := range []struct {
		reason  string
		trust   Trust
		message string
	}{
		{"a key", Trust{PublicKey: s.pub}, ""},
		{"the key of a certificate", Trust{PublicKey: s.leaf}, ""},
		{"an authority", Trust{Authorities: s.root}, ""},
		{"no key and no authority", Trust{}, ErrNoTrust.Error()},
		{"blank space", Trust{Authorities: []byte("\n\t ")}, ErrNoTrust.Error()},
		{"a text for a key", Trust{PublicKey: []byte("s3cr3t")}, "failed parsing public key data: it is not PEM"},
		{"a private key in the wrong place is not repeated", Trust{PublicKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("s3cr3t")})}, "neither a PKIX nor a PKCS #1 public key"},
		{"a key that takes a minute to compute with", Trust{PublicKey: slowKey(t)}, "failed parsing public key data: the key has more than 8192 bits"},
		{"an authority with one", Trust{Authorities: append(bytes.Clone(s.root), slowKey(t)...)}, "failed parsing ca cert data: the key has more than 8192 bits"},
		{"authorities without a certificate", Trust{Authorities: s.pub}, "it has no PEM certificate"},
		{"an invalid key, beside an authority, does not fall back to the authority", Trust{PublicKey: []byte("x"), Authorities: s.root}, "it is not PEM"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := test.trust.Check()
			if (err == nil) != (test.message == "") || err != nil && (!strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("got %v, want %q", err, test.message)
			}
		})
	}
}

// private returns the signer's key in both forms.
func (s signer) private(t *testing.T) (pkcs1, pkcs8 []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key)}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// TestSignedIsVerified signs in all ways, and verifies what came of it.
func TestSignedIsVerified(t *testing.T) {
	s := newSigner(t)
	pkcs1, pkcs8 := s.private(t)
	for _, test := range []struct {
		reason string
		how    Signing
		trust  Trust
		issuer string
	}{
		{"the usual way", Signing{Name: "release", Key: pkcs8, Algorithm: AlgorithmPSS, Hash: "SHA-256", Normalisation: JSONv3}, Trust{PublicKey: s.pub}, ""},
		{"the older key, algorithm and form", Signing{Name: "release", Key: pkcs1, Algorithm: AlgorithmPKCS1, Hash: "SHA-512", Normalisation: JSONv1}, Trust{PublicKey: s.pub}, ""},
		{"with a certificate", Signing{Name: "release", Key: pkcs8, Certificates: s.leaf, Algorithm: AlgorithmPSS, Hash: "SHA-256", Normalisation: JSONv2}, Trust{Authorities: s.root, Issuer: "CN=release"}, "CN=release,O=shop"},
		{"with a certificate and the older algorithm", Signing{Name: "release", Key: pkcs1, Certificates: append(slices.Clone(s.leaf), s.root...), Algorithm: AlgorithmPKCS1, Hash: "SHA-256", Normalisation: JSONv4Alpha1}, Trust{Authorities: s.root}, "CN=release,O=shop"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.root.Signatures = []descriptor.Signature{{Name: "before"}, {Name: "release", Signature: descriptor.SignatureValue{Value: "old"}}, {Name: "behind"}}
			for range 2 { // a second time replaces the first
				signed, err := w.verifier.Sign(t.Context(), w.root, test.how)
				if err != nil {
					t.Fatal(err)
				}
				if signed.Signature.Issuer != test.issuer {
					t.Errorf("it is of %q", signed.Signature.Issuer)
				}
			}
			var names []string
			for _, signed := range w.root.Signatures {
				names = append(names, signed.Name)
			}
			if !slices.Equal(names, []string{"before", "release", "behind"}) {
				t.Errorf("signatures are %v", names)
			}
			closure, err := w.verifier.Verify(t.Context(), w.root, "release", test.trust)
			if err != nil {
				t.Fatal(err)
			}
			if len(closure) != 2 {
				t.Errorf("it covers %d component versions", len(closure))
			}
			if digest := w.root.Resources[0].Digest; digest == nil || digest.Value == "" || w.root.References[0].Digest == nil {
				t.Errorf("the digests that were signed are not in the descriptor: %+v", digest)
			}
			w.files["two"].Data = []byte("evil!!")
			if _, err := w.verifier.Verify(t.Context(), w.root, "release", test.trust); err == nil {
				t.Error("content behind the reference may change")
			}
		})
	}
}

func TestSignRefuses(t *testing.T) {
	s := newSigner(t)
	_, key := s.private(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason  string
		change  func(*Signing, *world)
		message string
	}{
		{"no key", func(how *Signing, _ *world) { how.Key = nil }, "the private key is not PEM"},
		{"a text", func(how *Signing, _ *world) { how.Key = []byte("s3cr3t") }, "the private key is not PEM"},
		{"a block that is not a key", func(how *Signing, _ *world) {
			how.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("s3cr3t")})
		}, `a PEM block "PRIVATE KEY" is neither`},
		{"a key with a password", func(how *Signing, _ *world) {
			how.Key = pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("s3cr3t")})
		}, "without a password"},
		{"a public key", func(how *Signing, _ *world) { how.Key = s.pub }, "neither a PKCS #8 nor a PKCS #1 private key"},
		{"another kind of key", func(how *Signing, _ *world) {
			how.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		}, "must be one of RSA: it is one of ECDSA"},
		{"the certificate of another key", func(how *Signing, _ *world) { how.Certificates = s.root }, "the first certificate is not for this key: the signer's goes first"},
		{"the authority in front", func(how *Signing, _ *world) { how.Certificates = append(slices.Clone(s.root), s.leaf...) }, "the signer's goes first"},
		{"an invalid certificate", func(how *Signing, _ *world) { how.Certificates = []byte("s3cr3t") }, "no PEM certificate"},
		{"a key in the place of the certificate", func(how *Signing, _ *world) { how.Certificates = key }, "no PEM certificate"},
		{"a broken certificate", func(how *Signing, _ *world) {
			how.Certificates = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("s3cr3t")})
		}, "the certificate: "},
		{"an unknown hash, before the key is looked at", func(how *Signing, _ *world) { how.Hash, how.Key = "MD5", nil }, "unknown hash algorithm"},
		{"a content that is not there", func(_ *Signing, w *world) { delete(w.files, "two") }, "sign component version example.org/shop/web:1.0.0"},
		{"a content that does not have its digest", func(_ *Signing, w *world) {
			w.root.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: "00"}
		}, "mismatches existing digest (00)"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			how := Signing{Name: "release", Key: key, Algorithm: AlgorithmPSS, Hash: "SHA-256", Normalisation: JSONv3}
			test.change(&how, w)
			signed, err := w.verifier.Sign(t.Context(), w.root, how)
			if err == nil || signed != nil || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v, want %q", err, test.message)
			}
			if len(w.root.Signatures) != 0 {
				t.Error("the component version has a signature nevertheless")
			}
		})
	}
}

// TestPEMSignatures reads signatures that other programs have written.
func TestPEMSignatures(t *testing.T) {
	s := newSigner(t)
	block := func(algorithm string) string {
		headers := map[string]string{}
		if algorithm != "" {
			headers["Signature Algorithm"] = algorithm
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "SIGNATURE", Headers: headers, Bytes: []byte("value")}))
	}
	for _, test := range []struct {
		reason, text string
		certificates int
		message      string
	}{
		{"a signature alone", block(AlgorithmPSS), 0, ""},
		{"without its algorithm", block(""), 0, ""},
		{"with certificates", block(AlgorithmPSS) + string(s.leaf) + string(s.root), 2, ""},
		{"certificates in front", string(s.leaf) + block(AlgorithmPSS), 1, ""},
		{"text and blocks of other kinds around", "hello\n" + string(s.pub) + block(AlgorithmPSS) + "bye", 0, ""},
		{"another algorithm than the descriptor says", block(AlgorithmPKCS1), 0, `its algorithm is "RSASSA-PSS" and in its text "RSASSA-PKCS1-V1_5"`},
		{"no signature in it", string(s.leaf), 0, "has no block SIGNATURE"},
		{"nothing", "", 0, "has no block SIGNATURE"},
		{"a broken certificate", block(AlgorithmPSS) + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0, "a certificate in signature"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			value, chain, err := decodeSignature(&descriptor.Signature{Name: "release", Signature: descriptor.SignatureValue{MediaType: mediaTypePEM, Algorithm: AlgorithmPSS, Value: test.text}})
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if err == nil && (string(value) != "value" || len(chain) != test.certificates) {
				t.Errorf("%q with %d certificates", value, len(chain))
			}
		})
	}
	if _, _, err := decodeSignature(&descriptor.Signature{Signature: descriptor.SignatureValue{MediaType: mediaTypeRSA, Value: "xyz"}}); err == nil || errors.Is(err, errNothing) {
		t.Errorf("got %v", err)
	}
}
