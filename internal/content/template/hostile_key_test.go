package template

import (
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"syscall"
	"testing"
	"time"

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
		`x: (( check(imports.key, "privatekey") ? 1 :error("too large") ))`,
	}
	run := func(kind v1alpha1.TemplateType, template string) {
		t.Run(template, func(t *testing.T) {
			before := spentCPU(t)
			_, err := (&Engine{}).Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, kind, template), Bindings: bindings})
			if err == nil || !strings.Contains(err.Error(), "more than 8192 bits") && !strings.Contains(template, "check(") {
				t.Errorf("got %.500v", err)
			}
			// It took 5 to 13 seconds; two of the templates make a small key, too.
			if spent := spentCPU(t) - before; spent > 4*time.Second {
				t.Errorf("it takes %s of CPU", spent)
			}
		})
	}
	for _, template := range goTemplates {
		run(v1alpha1.GOTemplateType, template)
	}
	for _, template := range spiffTemplates {
		run(v1alpha1.SpiffTemplateType, template)
	}
}

// spentCPU is what this process has computed so far. Other than the time that passes it
// is the same on a busy machine.
func spentCPU(t *testing.T) time.Duration {
	t.Helper()
	usage := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
