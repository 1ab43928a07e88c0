package signature

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// FuzzSignature reads signatures and keys. Nothing that was not signed with the key is
// accepted, and a key is not repeated.
func FuzzSignature(f *testing.F) {
	f.Add(mediaTypeRSA, AlgorithmPKCS1, "00ff", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
	f.Add(mediaTypePSS, AlgorithmPSS, "zz", "")
	f.Add(mediaTypePEM, AlgorithmPKCS1, "-----BEGIN SIGNATURE-----\nSignature Algorithm: RSASSA-PSS\n\nAAAA\n-----END SIGNATURE-----\n-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", "")
	f.Add("", "", "", "-----BEGIN hunter2hunter2-----\nAAAA\n-----END hunter2hunter2-----\n")
	f.Fuzz(func(t *testing.T, mediaType, algorithm, value, key string) {
		signed := &descriptor.Signature{Name: "a", Signature: descriptor.SignatureValue{MediaType: mediaType, Algorithm: algorithm, Value: value}}
		if raw, chain, err := decodeSignature(signed); err != nil && (raw != nil || chain != nil) {
			t.Errorf("%x, %d certificates, %v", raw, len(chain), err)
		}
		if _, err := parseKey([]byte(key)); err != nil && strings.Contains(err.Error(), "hunter2hunter2") {
			t.Error(err)
		}
	})
}
