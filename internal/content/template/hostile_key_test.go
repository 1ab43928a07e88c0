package template

import (
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// hugeKey is an RSA key of 262144 bits: parsing it takes long even without two primes.
func hugeKey(t *testing.T) string {
	t.Helper()
	const bits = 262144
	one := big.NewInt(1)
	half := new(big.Int).Lsh(one, bits/2-1)
	half.Add(half, one)
	modulus := new(big.Int).Mul(half, half)
	der, err := asn1.Marshal(struct {
		Version                      int
		N                            *big.Int
		E                            int
		D, P, Q, ModP, ModQ, Inverse *big.Int
	}{0, modulus, 65537, new(big.Int).Sub(modulus, one), half, half, one, one, one})
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der}))
}

// TestHugeKeys gives keys to all functions that read some. None of the calls can be
// interrupted, so they must refuse.
func TestHugeKeys(t *testing.T) {
	key := hugeKey(t)
	bindings := map[string]any{"imports": map[string]any{"key": key, "encoded": base64.StdEncoding.EncodeToString([]byte(key))}}
	goTemplates := []string{
		`{{ genCAWithKey "ca" 365 .imports.key }}`,
		`{{ genSelfSignedCertWithKey "cn" nil nil 365 .imports.key }}`,
		`{{ genSignedCertWithKey "cn" nil nil 365 (genCA "ca" 365) .imports.key }}`,
		`{{ $ca := genCA "ca" 365 }}{{ buildCustomCert ($ca.Cert | b64enc) .imports.encoded }}`,
	}
	spiffTemplates := []string{
		`x: (( x509publickey(imports.key) ))`,
		`x: (( x509cert({"commonName"="a", "usage"=["CertSign"], "isCA"=true, "privateKey"=imports.key}) ))`,
		`x: (( x509cert({"commonName"="a", "usage"=["CertSign"], "publicKey"=imports.key, "privateKey"=x509genkey("P256")}) ))`,
		`x: (( x509cert({"commonName"="a", "usage"=["CertSign"], "publicKey"=x509publickey(x509genkey("P256")), "caPrivateKey"=imports.key}) ))`,
		`x: (( x509parsecert(imports.key) ))`,
	}
	attacks := func(templates []string) (all []attack) {
		for _, template := range templates {
			all = append(all, attack{template, template, "more than 8192 bits"})
		}
		return all
	}
	ended(t, execution{Type: v1alpha1.GOTemplateType, Bindings: bindings}, attacks(goTemplates))
	ended(t, execution{Type: v1alpha1.SpiffTemplateType, Bindings: bindings}, append(attacks(spiffTemplates), attack{"a check", `x: (( check(imports.key, "privatekey") ? 1 :error("too large") ))`, "too large"}))
}
