package crypt_test

import (
	"encoding/hex"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

func TestEncryption(t *testing.T) {
	withKey := seeded()
	withKey.Key = "the key of the host"
	withKey.Gives(t, []language.Row{
		{"the key of the host", `decrypt(encrypt([1, "a"]))`, `[1, a]`},
		{"a name of a method is not a key", `decrypt(encrypt("a", "AES-GCM"), "AES-GCM")`, `a`},
		{"a name of a method beside a method is a key", `decrypt(encrypt("a", "AES-GCM", "3DES"), "AES-GCM", "3DES")`, `a`},
		{"a key of the template goes before that of the host", `catch(decrypt(encrypt("a", "other"))).valid`, `false`},
		{"any kind of value", `decrypt(encrypt({"a"=[nil, true, 1.5, {}]}, "k"), "k")`, `{a: [~, true, 1.5, {}]}`},
		{"no value", `decrypt(encrypt(nil, "k"), "k")`, `~`},
		{"a long key", `decrypt(encrypt("a", "0123456789012345678901234567890"), "0123456789012345678901234567890")`, `a`},
		{"texts of one value differ", `encrypt("a", "k") == encrypt("a", "k")`, `false`},
		{"what old files hold", `decrypt("` + oldText + `", "key")`, `{user: alice}`},
	})
	withKey.Fails(t, []language.Row{
		{"an unknown method", `encrypt("a", "k", "ROT13")`, `unknown method "ROT13", known are 3DES and AES-GCM`},
		{"an empty key counts as missing", `encrypt("a", "")`, "no key is given"},
		{"a key is a text", `encrypt("a", 1)`, "argument 2 must be a string"},
		{"a method is a text", `encrypt("a", "k", 1)`, "argument 3 must be a string"},
		{"another key", `decrypt(encrypt("a", "k"), "l")`, "text cannot be decrypted, text or key are wrong"},
		{"another key, authenticated", `decrypt(encrypt("a", "k", "AES-GCM"), "l", "AES-GCM")`, "text cannot be decrypted"},
		{"another method", `decrypt(encrypt("a", "k"), "k", "AES-GCM")`, "text cannot be decrypted"},
		{"no hexadecimal text", `decrypt("xyz", "k")`, "text cannot be decrypted"},
		{"nothing to decrypt", `decrypt("", "k")`, "text cannot be decrypted"},
		{"less than a block", `decrypt("00", "k")`, "text cannot be decrypted"},
		{"less than a block, authenticated", `decrypt("00", "k", "AES-GCM")`, "text cannot be decrypted"},
		{"two blocks of nothing", `decrypt("00000000000000000000000000000000", "k")`, "text cannot be decrypted"},
		{"a number is no encrypted text", `decrypt(1, "k")`, "argument 1 must be a string"},
	})
	seeded().Fails(t, []language.Row{
		{"a host without a key", `encrypt("a")`, "no key is given"},
		{"a host without a key, and only a method", `encrypt("a", "AES-GCM")`, "no key is given"},
	})
}

// oldText is {user: alice} under the key "key", made with openssl from the description
// of the format: initial vector 0001…07, 3DES in CBC mode, HMAC and padding as in TLS.
const oldText = "000102030405060795622ddc6cca88424f36ebb42ffc39c12218cd769d89f4624b2a03f480fa75224b4a708b72eb5b36fc019b35a9bd8ee6"

// TestChangedTextsAreRefused flips every bit of encrypted texts.
func TestChangedTextsAreRefused(t *testing.T) {
	for _, method := range []string{"3DES", "AES-GCM"} {
		t.Run(method, func(t *testing.T) {
			l := seeded()
			encrypted, err := l.Process(t, `encrypt({"user"="alice"}, "key", "`+method+`")`)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := hex.DecodeString(encrypted.(string))
			if err != nil {
				t.Fatal(err)
			}
			step := 1
			if method == "AES-GCM" {
				step = 27 // deriving the key of each takes milliseconds
			}
			for i := 0; i < len(raw); i += step {
				changed := append([]byte(nil), raw...)
				changed[i] ^= 1 << (i % 8)
				got, err := l.Process(t, `decrypt("`+hex.EncodeToString(changed)+`", "key", "`+method+`")`)
				if err == nil && i < len(raw)-8 {
					t.Errorf("byte %d may be changed: %v", i, got)
				}
			}
		})
	}
}

// TestTextsSurviveEncryption encrypts texts that mean something to YAML.
func TestTextsSurviveEncryption(t *testing.T) {
	l := language.Language{Config: spiff.Config{Random: seeded().Random, Key: "k"}}
	for _, text := range language.Texts(60) {
		t.Run(syntax.Quote(text), func(t *testing.T) {
			if got, err := l.Process(t, "decrypt(encrypt("+syntax.Quote(text)+"))"); got != text || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
