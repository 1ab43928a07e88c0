package pemkey

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"syscall"
	"testing"
	"time"
)

// huge returns a private key in the encoding of PKCS #1 with a modulus of a number of bits. Its
// numbers do not form a key, which only a computation with them shows.
func huge(bits int) []byte {
	one := big.NewInt(1)
	number := func(bits int) *big.Int { n := new(big.Int).Lsh(one, uint(bits-1)); return n.Add(n, one) }
	der, err := asn1.Marshal(struct {
		Version                    int
		N                          *big.Int
		E                          int
		D, P, Q, ModP, ModQ, Again *big.Int
	}{0, number(bits), 65537, number(bits), number(bits / 2), number(bits / 2), one, one, one})
	if err != nil {
		panic(err)
	}
	return der
}

func text(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestCheck(t *testing.T) {
	ec := must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	small := must(rsa.GenerateKey(rand.Reader, 2048))
	wrapped := func(der []byte) []byte {
		return must(asn1.Marshal(struct {
			Version int
			Kind    pkix.AlgorithmIdentifier
			Key     []byte
		}{0, pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}, Parameters: asn1.NullRawValue}, der}))
	}
	public := func(bits uint) []byte {
		return must(x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), bits-1), E: 65537}))
	}
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("host-%d.example.org", i)
	}
	certificate := must(x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names}, &x509.Certificate{}, small.Public(), small))
	tests := []struct {
		reason, text string
		refused      string
	}{
		{"RSA", text("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(small)), ""},
		{"RSA in PKCS #8", text("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(small))), ""},
		{"the largest that is allowed", text("RSA PRIVATE KEY", huge(MaxBits)), ""},
		{"elliptic curves", text("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(ec))), ""},
		{"elliptic curves in PKCS #8", text("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(ec))), ""},
		{"Edwards curves", text("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(edwards))), ""},
		{"a public key", text("PUBLIC KEY", public(4096)), ""},
		{"a certificate with many names", text("CERTIFICATE", certificate), ""},
		{"a text that is not a key passes", "hello", ""},
		{"a broken key passes", text("RSA PRIVATE KEY", []byte{0x30, 0x82, 1}), ""},

		{"one bit too many", text("RSA PRIVATE KEY", huge(MaxBits+8)), "more than 8192 bits"},
		{"the key of the attack", text("RSA PRIVATE KEY", huge(262144)), "more than 8192 bits"},
		{"under a name that nothing follows from", text("ANYTHING", huge(262144)), "more than 8192 bits"},
		{"in PKCS #8", text("PRIVATE KEY", wrapped(huge(262144))), "more than 8192 bits"},
		{"a public key", text("PUBLIC KEY", public(262144)), "more than 8192 bits"},
		{"behind other text", "hello\n" + text("RSA PRIVATE KEY", huge(262144)), "more than 8192 bits"},
		{"many numbers of allowed size", text("RSA PRIVATE KEY", must(asn1.Marshal(slicesOf(20)))), "numbers"},
		{"a long text", strings.Repeat("a", 1<<20), "longer"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			before := spentCPU(t)
			err := Check(test.text)
			if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
			if spent := spentCPU(t) - before; spent > 4*time.Second {
				t.Errorf("it takes %s of CPU", spent)
			}
		})
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

// slicesOf returns numbers of the largest size.
func slicesOf(count int) []*big.Int {
	numbers := make([]*big.Int, count)
	for i := range numbers {
		numbers[i] = new(big.Int).Lsh(big.NewInt(1), MaxBits-1)
	}
	return numbers
}

// FuzzCheck: whatever the bytes are, the check ends and does not crash.
func FuzzCheck(f *testing.F) {
	f.Add(huge(2048))
	f.Add([]byte{0x30, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, der []byte) {
		if err := CheckDER(der); err != nil && len(der) <= maxNumber {
			t.Errorf("%d bytes are refused: %v", len(der), err)
		}
	})
}
