package chart

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // keys of it are read
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// slowKeyring is a key of DSA whose numbers have so many bits, with a name that it seems to have signed.
func slowKeyring(t *testing.T, bits uint) []byte {
	t.Helper()
	one := big.NewInt(1)
	odd := func(less int64) *big.Int { n := new(big.Int).Lsh(one, bits); return n.Sub(n, big.NewInt(less)) }
	made := time.Unix(1700000000, 0)
	key := packet.NewDSAPublicKey(made, &dsa.PublicKey{Parameters: dsa.Parameters{P: odd(1), Q: odd(3), G: odd(5)}, Y: odd(7)})
	var out bytes.Buffer
	if err := key.Serialize(&out); err != nil {
		t.Fatal(err)
	}
	if err := packet.NewUserId("a", "", "a@example.org").Serialize(&out); err != nil {
		t.Fatal(err)
	}
	// The end of the packet with the signature: numbers that are in the range.
	var body bytes.Buffer
	hashed := []byte{5, 2, 0x65, 0x53, 0xf1, 0x00}
	body.Write([]byte{4, 0x13, byte(packet.PubKeyAlgoDSA), 8, 0, byte(len(hashed))})
	body.Write(hashed)
	issuer := append([]byte{9, 16}, key.Fingerprint[12:20]...)
	body.Write([]byte{0, byte(len(issuer))})
	body.Write(issuer)
	body.Write([]byte{0, 0})
	for range 2 {
		n := odd(12345)
		body.Write([]byte{byte(n.BitLen() >> 8), byte(n.BitLen())})
		body.Write(n.Bytes())
	}
	length := body.Len()
	out.Write([]byte{0xc2, 0xff, byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)})
	out.Write(body.Bytes())
	return out.Bytes()
}

// TestSlowKeyrings: keys that it takes minutes to compute with are refused before that.
func TestSlowKeyrings(t *testing.T) {
	armored := func(content []byte) []byte {
		var out bytes.Buffer
		writer, err := armor.Encode(&out, openpgp.PublicKeyType, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	slow, usual := slowKeyring(t, 16384), slowKeyring(t, 2048)
	for _, test := range []struct {
		reason  string
		keyring []byte
		want    string
	}{
		{"a key of 16384 bits", slow, "has a key of 8206 bytes"},
		{"the same in armour", armored(slow), "has a key of 8206 bytes"},
		{"behind a key that cannot be used", append(slices.Clone(usual), slow...), "has a key of 8206 bytes"},
		{"a private key", []byte{0xc5, 1, 4}, "has a private key"},
		{"usual keys without end", bytes.Repeat(usual, maxKeyring/len(usual)+1), "is longer than"},
		{"as many in armour", armored(bytes.Repeat(usual, maxKeyring/len(usual)+1)), "is longer than"},
		{"a key that has no signature", usual, "holds no public keys"},
	} {
		keys, err := readKeyring(test.keyring)
		if err == nil || len(keys) > 0 || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %d keys, %v", test.reason, len(keys), err)
		}
	}
}
