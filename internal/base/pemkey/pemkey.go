// Package pemkey refuses keys that are so large that working with them takes seconds, before
// anything of them is computed. A call that parses a key cannot be interrupted, and its time grows
// with the third power of the size: a key of 262144 bits takes seconds, and a text can hold larger
// keys.
package pemkey

import (
	"encoding/asn1"
	"encoding/pem"
	"fmt"
)

const (
	// MaxBits is the largest modulus of an RSA key.
	MaxBits = 8192
	// maxKey is the size of a key of MaxBits in the largest encoding, with some reserve.
	maxKey = 8 << 10
	// maxText is a text with keys or certificates. Certificates may name many hosts.
	maxText = 256 << 10
	// maxNumber is the length of a number of MaxBits, with its sign.
	maxNumber = MaxBits/8 + 1
)

// Check refuses a text in PEM format whose first block is a private or public key, or a
// certificate, that is too large. Any other text passes: its reader reports what is wrong.
func Check(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("the text of the key is longer than %d bytes", maxText)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	return CheckDER(block.Bytes)
}

// CheckDER is Check for the content of a block.
func CheckDER(der []byte) error {
	if len(der) > maxText {
		return fmt.Errorf("the key is longer than %d bytes", maxText)
	}
	numbers, err := scan(der, 0)
	if err != nil {
		return err
	}
	// A certificate is long because of its names, a key because of its numbers.
	if numbers > maxKey {
		return fmt.Errorf("the numbers of the key are longer than %d bytes", maxKey)
	}
	return nil
}

// maxDepth is how deep keys and certificates are in each other: a key in an octet
// string in a sequence.
const maxDepth = 16

// scan adds up the numbers of an encoding, and refuses one that is too large. Keys
// are also in bit and octet strings.
func scan(der []byte, depth int) (numbers int, err error) {
	for len(der) > 0 && depth < maxDepth {
		var value asn1.RawValue
		rest, err := asn1.Unmarshal(der, &value)
		if err != nil {
			return numbers, nil //nolint:nilerr // it is no encoding, which the reader of the key tells
		}
		der = rest
		inner := []byte(nil)
		switch {
		case value.IsCompound:
			inner = value.Bytes
		case value.Class == asn1.ClassUniversal && value.Tag == asn1.TagInteger:
			if len(value.Bytes) > maxNumber {
				return 0, fmt.Errorf("the key has more than %d bits", MaxBits)
			}
			numbers += len(value.Bytes)
		case value.Class == asn1.ClassUniversal && value.Tag == asn1.TagOctetString:
			inner = value.Bytes
		case value.Class == asn1.ClassUniversal && value.Tag == asn1.TagBitString && len(value.Bytes) > 0:
			inner = value.Bytes[1:]
		}
		more, err := scan(inner, depth+1)
		if err != nil {
			return 0, err
		}
		numbers += more
	}
	return numbers, nil
}

// CheckAll is CheckDER for all blocks of a text in PEM format: a private key of 65,536 bits takes a
// minute when it is parsed, and so does a signature that the key of a certificate has made.
func CheckAll(text []byte) error {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return nil
		}
		if err := CheckDER(block.Bytes); err != nil {
			return err
		}
	}
}
