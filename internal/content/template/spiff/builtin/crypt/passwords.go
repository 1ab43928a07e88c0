package crypt

import (
	"crypto/md5"
	"crypto/subtle"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Passwords are the functions that hash and check passwords.
var Passwords = []call.Function{
	{Name: "bcrypt", Usage: "bcrypt(password [, cost])", Result: "string", Min: 1, Max: 2, Run: hashPassword,
		Doc: "The bcrypt hash of a password; the default cost is 10. Every call gives another hash."},
	{Name: "bcrypt_check", Usage: "bcrypt_check(password, hash)", Result: "bool", Min: 2, Max: 2, Run: checkPassword,
		Doc:     "Whether a password fits a bcrypt hash.",
		Example: `bcrypt_check("test", bcrypt("test", 4))`, Gives: `true`},
	{Name: "md5crypt", Usage: "md5crypt(password)", Result: "string", Min: 1, Max: 1, Run: md5Crypt,
		Doc: "The Apache `$apr1$` hash of a password. Every call gives another hash."},
	{Name: "md5crypt_check", Usage: "md5crypt_check(password, hash)", Result: "bool", Min: 2, Max: 2, Run: md5CryptCheck,
		Doc: "Whether a password fits an Apache `$apr1$` hash.", Example: `md5crypt_check("test", md5crypt("test"))`, Gives: `true`},
}

// maxCost is the highest bcrypt cost below full access; it takes about a
// second.
const maxCost = 14

func hashPassword(c *call.Call) (value.Value, error) {
	password, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	cost, err := c.IntOr(1, int64(bcrypt.DefaultCost))
	if err != nil {
		return nil, err
	}
	if cost > maxCost && c.Settings().Access < call.Full {
		return nil, c.Failf("cost must not be above %d", maxCost)
	}
	if cost < int64(bcrypt.MinCost) || cost > int64(bcrypt.MaxCost) {
		return nil, c.Failf("cost must be between %d and %d", bcrypt.MinCost, bcrypt.MaxCost)
	}
	hashed, err := bcrypt.GenerateFromPassword([]byte(password), int(cost))
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(string(hashed)), nil
}

func checkPassword(c *call.Call) (value.Value, error) {
	password, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	hashed, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	cost, err := bcrypt.Cost([]byte(hashed))
	if err != nil {
		return nil, c.Failf("second argument is not a bcrypt hash")
	}
	if cost > maxCost && c.Settings().Access < call.Full {
		return nil, c.Failf("cost of the hash is above %d", maxCost)
	}
	return value.Bool(bcrypt.CompareHashAndPassword([]byte(hashed), []byte(password)) == nil), nil
}

const (
	apacheMagic   = "$apr1$"
	cryptAlphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	saltLength    = 8
)

func md5Crypt(c *call.Call) (value.Value, error) {
	password, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltLength)
	for i := range salt {
		n, err := below(c, int64(len(cryptAlphabet)))
		if err != nil {
			return nil, err
		}
		salt[i] = cryptAlphabet[n]
	}
	return value.Text(apacheHash(password, string(salt))), nil
}

func md5CryptCheck(c *call.Call) (value.Value, error) {
	password, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	hashed, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(hashed, apacheMagic)
	salt, _, ok2 := strings.Cut(rest, "$")
	if !ok || !ok2 {
		return nil, c.Failf("second argument is no %s hash", apacheMagic)
	}
	expected := apacheHash(password, salt)
	return value.Bool(subtle.ConstantTimeCompare([]byte(expected), []byte(hashed)) == 1), nil
}

// apacheHash is the MD5 based password hash of Apache.
func apacheHash(password, salt string) string {
	if len(salt) > saltLength {
		salt = salt[:saltLength]
	}
	pw := []byte(password)
	inner := md5.Sum([]byte(password + salt + password))
	message := []byte(password + apacheMagic + salt)
	for n := len(pw); n > 0; n -= len(inner) {
		message = append(message, inner[:min(n, len(inner))]...)
	}
	for n := len(pw); n > 0; n >>= 1 {
		if n&1 == 1 {
			message = append(message, 0)
		} else {
			message = append(message, pw[0])
		}
	}
	sum := md5.Sum(message)
	for round := range 1000 {
		sum = md5.Sum(apacheRound(round, sum[:], pw, []byte(salt)))
	}
	return apacheMagic + salt + "$" + apacheEncode(sum[:])
}

func apacheRound(round int, sum, pw, salt []byte) []byte {
	var data []byte
	first, last := sum, pw
	if round%2 == 1 {
		first, last = pw, sum
	}
	data = append(data, first...)
	if round%3 != 0 {
		data = append(data, salt...)
	}
	if round%7 != 0 {
		data = append(data, pw...)
	}
	return append(data, last...)
}

// apacheEncode writes the sum in the order and alphabet of crypt.
func apacheEncode(sum []byte) string {
	var b strings.Builder
	write := func(v uint, n int) {
		for range n {
			b.WriteByte(cryptAlphabet[v&0x3f])
			v >>= 6
		}
	}
	for i := range 5 {
		third := i + 12
		if i == 4 {
			third = 5
		}
		write(uint(sum[i])<<16|uint(sum[i+6])<<8|uint(sum[third]), 4)
	}
	write(uint(sum[11]), 2)
	return b.String()
}
