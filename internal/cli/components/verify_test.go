package components

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

const signed = `
meta: {schemaVersion: v2}
component: {name: example.org/shop, version: 1.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: []}
`

// sign returns the descriptor with a signature, and the public key.
func sign(t *testing.T, names ...string) (string, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	d, err := descriptor.Decode([]byte(signed))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := (&signature.Verifier{}).DescriptorDigest(t.Context(), &repository.Version{Descriptor: d}, "SHA-256", signature.JSONv1)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(sum.Value)
	if err != nil {
		t.Fatal(err)
	}
	value, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		d.Signatures = append(d.Signatures, descriptor.Signature{Name: name, Digest: *sum, Signature: descriptor.SignatureValue{
			Algorithm: signature.AlgorithmPKCS1, MediaType: "application/vnd.ocm.signature.rsa", Value: hex.EncodeToString(value),
		}})
	}
	text, err := d.EncodeYAML()
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

func TestVerify(t *testing.T) {
	one, key := sign(t, "shop")
	two, _ := sign(t, "shop", "audit")
	_, stranger := sign(t)
	terminaltest.WriteFiles(t, map[string]string{
		"one/d": one, "two/d": two, "changed/d": strings.Replace(one, "provider: p", "provider: q", 1), "none/d": signed,
		"key.pem": key, "stranger.pem": stranger, "no.pem": "no key",
	})
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"the only signature", "one --public-key key.pem", 0, "Verified signature shop of example.org/shop:1.0.0 (SHA-256:", ""},
		{"for programs", "one --public-key key.pem -o json", 0, `"signature": "shop"`, ""},
		{"two signatures", "two --public-key key.pem", 64, "", "choose a signature with --signature: there are shop, audit"},
		{"a signature that is not there", "one -s audit --public-key key.pem", 3, "", `has no signature "audit": there are shop`},
		{"another key", "one --public-key stranger.pem", 1, "", "was not made with this key"},
		{"a descriptor that was changed", "changed --public-key key.pem", 1, "", "does not match found digest"},
		{"no signature", "none --public-key key.pem", 3, "", "the component version example.org/shop:1.0.0 has no signature"},
		{"no key", "one", 64, "", "name the key of the signer with --public-key"},
		{"a file that is not a key", "one --public-key no.pem", 64, "", "failed parsing public key data"},
		{"a file that is not there", "one --ca-cert nowhere", 64, "", "--ca-cert: open nowhere"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := execute(t, append([]string{"verify"}, terminaltest.Fields(test.args)...)...)
			if got.code != test.code || !strings.Contains(got.out, test.out) || test.out == "" && got.out != "" || !strings.Contains(got.err, test.err) {
				t.Errorf("%+v", got)
			}
		})
	}
}
