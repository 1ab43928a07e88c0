package crypt_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

// seeded gives the same random bytes in every run.
func seeded() language.Language {
	return language.Language{Config: spiff.Config{Random: rand.NewChaCha8([32]byte{1})}}
}

// exhausted has no random bytes at all.
func exhausted() language.Language {
	return language.Language{Config: spiff.Config{Random: iotest.ErrReader(errors.New("no entropy"))}}
}

func TestHash(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"md5 of nothing", `md5("")`, `d41d8cd98f00b204e9800998ecf8427e`},
		{"md5 by its name", `hash("abc", "md5") == md5("abc")`, `true`},
		{"sha1", `hash("abc", "sha1")`, `a9993e364706816aba3e25717850c26c9cd0d89d`},
		{"sha224", `hash("abc", "sha224")`, `23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7`},
		{"sha256 is the default", `hash("abc")`, `ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad`},
		{"sha256 by its name", `hash("", "sha256")`, `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`},
		{"sha384 has 96 digits", `length(hash("abc", "sha384"))`, `96`},
		{"sha512", `substr(hash("abc", "sha512"), 0, 16)`, `ddaf35a193617aba`},
		{"sha512/224", `hash("abc", "sha512/224")`, `4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa`},
		{"sha512/256", `hash("abc", "sha512/256")`, `53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23`},
		{"md4 is not a hash, but what old templates got", `hash("ab", "md4")`, `"616231d6cfe0d16ae931b73c59d7e0c089c0"`},
		{"bytes count, not characters", `md5("ä")`, `8419b71c87a225a2c70b50486fbee545`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"an unknown kind", `hash("a", "sha3")`, `unknown kind "sha3"`},
		{"kinds are written in lower case", `hash("a", "SHA256")`, `unknown kind "SHA256"`},
		{"a kind is a text", `hash("a", 256)`, "argument 2 must be a string"},
		{"a number is not hashed", `hash(1)`, "argument 1 must be a string"},
		{"nil is not hashed", `md5(nil)`, "argument 1 must be a string"},
	})
}

func TestRand(t *testing.T) {
	seeded().Gives(t, []language.Row{
		{"below a limit", `length(filter[map[[1..300]|i|->rand(3)]|n|->n < 0 -or n > 2])`, `0`},
		{"every number below the limit comes", `sort(uniq(map[[1..300]|i|->rand(3)]))`, `[0, 1, 2]`},
		{"above a negative limit", `sort(uniq(map[[1..300]|i|->rand(-3)]))`, `[-2, -1, 0]`},
		{"only zero is below one", `rand(1)`, `0`},
		{"only zero is above minus one", `rand(-1)`, `0`},
		{"the whole range", `rand() >= 0`, `true`},
		{"the largest limit", `rand(9223372036854775807) >= 0`, `true`},
		{"the smallest limit", `rand(-9223372036854775808) <= 0`, `true`},
		{"a random boolean has both values", `length(uniq(map[[1..100]|i|->rand(true)]))`, `2`},
		{"the argument of a boolean does not count", `length(uniq(map[[1..100]|i|->rand(false)]))`, `2`},
		{"one character of a set", `match("^[a-c]$", rand("a-c")) != []`, `true`},
		{"characters of a set", `match("^[0-9a-f]{40}$", rand("0-9a-f", 40)) != []`, `true`},
		{"every character of a set comes", `length(uniq(split("", rand("a-cx", 300))))`, `4`},
		{"a set of one", `rand("x", 3)`, `xxx`},
		{"a set of what is not in it", `match("^[^a-z]+$", rand("^a-z", 50)) != []`, `true`},
		{"a set of a class", `match("^\\p{Greek}{20}$", rand("\\p{Greek}", 20)) != []`, `true`},
		{"a set outside of the first plane", `length(split("", rand("😀-😂", 10)))`, `10`},
		{"a set around what is no character", `length(split("", rand("\\x{d7ff}-\\x{e000}", 20)))`, `20`},
	})
	seeded().Fails(t, []language.Row{
		{"nothing is below zero", `rand(0)`, "limit must not be 0"},
		{"no characters", `rand("a", 0)`, "length must be positive"},
		{"less than none", `rand("a", -1)`, "length must be positive"},
		{"an empty set", `rand("")`, "is not a character set"},
		{"a set with its bounds reversed", `rand("b-a")`, "is not a character set"},
		{"more than a set", `rand("a]+[b")`, "is not a character set"},
		{"two sets instead of one", `rand("a][b")`, "is not a character set"},
		{"a set of half characters only", `rand("\\x{d800}-\\x{dfff}")`, "is empty"},
		{"a list is no set", `rand(["a"])`, "argument 1 must be an integer, a boolean or a character set"},
		{"nil is no limit", `rand(nil)`, "argument 1 must be"},
		{"a float is no limit", `rand(1.5)`, "argument 1 must be"},
	})
	exhausted().Fails(t, []language.Row{
		{"a number without random bytes", `rand(5)`, "no random data"},
		{"a text without random bytes", `rand("a-z", 5)`, "no random data"},
		{"a password without random bytes", `md5crypt("a")`, "no random data"},
		{"a key without random bytes", `wggenkey()`, "no random data"},
		{"encryption without random bytes", `encrypt("a", "k")`, "no entropy"},
		{"authenticated encryption without random bytes", `encrypt("a", "k", "AES-GCM")`, "no entropy"},
		{"a certificate without random bytes", `x509cert({})`, "no random data"},
	})
}
