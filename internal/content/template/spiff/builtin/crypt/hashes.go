package crypt

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"regexp/syntax"

	"crypto/rand"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Hashes are the functions for hashes and random values.
var Hashes = []call.Function{
	{Name: "md5", Usage: "md5(text)", Result: "string", Min: 1, Max: 1, Run: hashMD5,
		Doc: "Old form of `hash(text, \"md5\")`.", Example: `md5("alice")`, Gives: `6384e2b2184bcbf58eccf10ca7a6563c`},
	{Name: "hash", Usage: "hash(text [, kind])", Result: "string", Min: 1, Max: 2, Run: hash,
		Doc: "A hash in hexadecimal: md5, sha1, sha224, sha256 (default), sha384, sha512, sha512/224, sha512/256. " +
			"md4 is a historical value that is not a hash.",
		Example: `substr(hash("alice"), 0, 8)`, Gives: `2bd806c9`},
	{Name: "rand", Usage: "rand(), rand(n), rand(bool) or rand(set [, length])", Result: "value", Min: 0, Max: 2, Run: random,
		Doc: "A random integer (from 0 up to but not n; for negative n down to but not n), a random boolean, or a " +
			"random text of characters of the regular expression set `[set]`.",
		Example: `length(rand("a-z", 12))`, Gives: `12`},
}

func hashMD5(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	sum := md5.Sum([]byte(s))
	return value.Text(hex.EncodeToString(sum[:])), nil
}

func hash(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	kind := "sha256"
	if c.Len() == 2 {
		if kind, err = c.Text(1); err != nil {
			return nil, err
		}
	}
	sum := sumOf(kind, []byte(s))
	if sum == nil {
		return nil, c.Failf("unknown kind %s", c.Quote(kind))
	}
	return value.Text(hex.EncodeToString(sum)), nil
}

func sumOf(kind string, data []byte) []byte {
	switch kind {
	case "md4":
		// Old templates got this result under this name: the data and the checksum of an empty text.
		empty, _ := hex.DecodeString("31d6cfe0d16ae931b73c59d7e0c089c0")
		return append(append([]byte(nil), data...), empty...)
	case "md5":
		sum := md5.Sum(data)
		return sum[:]
	case "sha1":
		sum := sha1.Sum(data)
		return sum[:]
	case "sha224":
		sum := sha256.Sum224(data)
		return sum[:]
	case "sha256":
		sum := sha256.Sum256(data)
		return sum[:]
	case "sha384":
		sum := sha512.Sum384(data)
		return sum[:]
	case "sha512":
		sum := sha512.Sum512(data)
		return sum[:]
	case "sha512/224":
		sum := sha512.Sum512_224(data)
		return sum[:]
	case "sha512/256":
		sum := sha512.Sum512_256(data)
		return sum[:]
	}
	return nil
}

// below draws a random number from [0,n).
func below(c *call.Call, n int64) (int64, error) {
	r, err := rand.Int(c.Settings().Random, big.NewInt(n))
	if err != nil {
		return 0, c.Failf("no random data: %w", err)
	}
	return r.Int64(), nil
}

func random(c *call.Call) (value.Value, error) {
	switch v := c.Arg(0).(type) {
	case nil:
		n, err := below(c, 1<<63-1)
		return value.Int(n), err
	case value.Bool:
		n, err := below(c, 2)
		return value.Bool(n == 1), err
	case value.Int:
		return randomInt(c, int64(v))
	case value.String:
		return randomText(c, v.Text)
	}
	return nil, c.Wrong(0, "an integer, a boolean or a character set")
}

func randomInt(c *call.Call, n int64) (value.Value, error) {
	switch {
	case n == 0:
		return nil, c.Failf("limit must not be 0")
	case n > 0:
		r, err := below(c, n)
		return value.Int(r), err
	case n == -1<<63:
		n++
	}
	r, err := below(c, -n)
	return value.Int(-r), err
}

func randomText(c *call.Call, set string) (value.Value, error) {
	length, err := c.IntOr(1, 1)
	if err != nil {
		return nil, err
	}
	if length <= 0 {
		return nil, c.Failf("length must be positive")
	}
	parsed, err := pattern.Parse("[" + set + "]")
	if err != nil || parsed.Op != syntax.OpCharClass && parsed.Op != syntax.OpLiteral {
		return nil, c.Failf("%s is not a character set", c.Quote(set))
	}
	ranges := parsed.Rune
	if parsed.Op == syntax.OpLiteral {
		if len(parsed.Rune) != 1 { // several sets behind each other
			return nil, c.Failf("%s is not a character set", c.Quote(set))
		}
		ranges = []rune{parsed.Rune[0], parsed.Rune[0]}
	}
	ranges, total := validRunes(ranges)
	if total == 0 {
		return nil, c.Failf("character set %s is empty", c.Quote(set))
	}
	var text []rune // it grows: a length of any size may be asked for
	for range length {
		n, err := below(c, total)
		if err != nil {
			return nil, err
		}
		text = append(text, pick(ranges, n))
	}
	return value.Text(string(text)), nil
}

// validRunes cuts the surrogates, which are no characters, out of ranges.
func validRunes(ranges []rune) (valid []rune, total int64) {
	add := func(from, to rune) {
		if from <= to {
			valid = append(valid, from, to)
			total += int64(to-from) + 1
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		if to < 0xd800 || from > 0xdfff {
			add(from, to)
			continue
		}
		add(from, min(to, 0xd7ff))
		add(max(from, 0xe000), to)
	}
	return valid, total
}

// pick returns the n-th character of ranges.
func pick(ranges []rune, n int64) rune {
	for i := 0; i+1 < len(ranges); i += 2 {
		size := int64(ranges[i+1]-ranges[i]) + 1
		if n < size {
			return ranges[i] + rune(n) //nolint:gosec // below the size of a range of characters
		}
		n -= size
	}
	return ranges[0]
}
