package crypt_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/test/language"
)

func TestBcrypt(t *testing.T) {
	seeded().Gives(t, []language.Row{
		{"a hash is for its password", `bcrypt_check("secret", bcrypt("secret", 4))`, `true`},
		{"another password does not match its bcrypt hash", `bcrypt_check("Secret", bcrypt("secret", 4))`, `false`},
		{"the empty password is one", `bcrypt_check("", bcrypt("", 4))`, `true`},
		{"a cost as text", `substr(bcrypt("a", "5"), 0, 7)`, `$2a$05$`},
		{"a hash of another program", `bcrypt_check("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")`, `true`},
		{"hashes of one password differ", `bcrypt("a", 4) == bcrypt("a", 4)`, `false`},
	})
	seeded().Fails(t, []language.Row{
		{"a cost below what is safe", `bcrypt("a", 3)`, "cost must be between 4 and 31"},
		{"a negative cost", `bcrypt("a", -1)`, "cost must be between 4 and 31"},
		{"hostile: a cost of seconds", `bcrypt("a", 15)`, "cost must not be above 14"},
		{"hostile: a hash of hours", `bcrypt_check("a", "$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")`, "cost of the hash is above 14"},
		{"a password that would be cut", `bcrypt("` + strings.Repeat("a", 73) + `", 4)`, "72"},
		{"no hash", `bcrypt_check("a", "b")`, "second argument is not a bcrypt hash"},
		{"a password is a text", `bcrypt(1)`, "argument 1 must be a string"},
		{"a hash is a text", `bcrypt_check("a", nil)`, "argument 2 must be a string"},
	})
}

func TestMD5Crypt(t *testing.T) {
	seeded().Gives(t, []language.Row{
		{"a hash is for its password", `md5crypt_check("secret", md5crypt("secret"))`, `true`},
		{"another password does not match its md5crypt hash", `md5crypt_check("secret ", md5crypt("secret"))`, `false`},
		{"the shape of a hash", `match("^\\$apr1\\$[./0-9A-Za-z]{8}\\$[./0-9A-Za-z]{22}$", md5crypt("a")) != []`, `true`},
		{"a hash of openssl", `md5crypt_check("Hällo wörld, this is more than sixteen", "$apr1$8sFt66rZ$PMoPYU6Q8wwPVQvM2FVhT.")`, `true`},
		{"a hash of openssl with a short salt and no password", `md5crypt_check("", "$apr1$abc$BfqKdn9xFDWJPa3kcp/PH0")`, `true`},
		{"a changed hash", `md5crypt_check("", "$apr1$abc$BfqKdn9xFDWJPa3kcp/PH0x")`, `false`},
		{"a salt that is too long is no salt of ours", `md5crypt_check("a", "$apr1$0123456789$x")`, `false`},
	})
	seeded().Fails(t, []language.Row{
		{"a hash of another kind", `md5crypt_check("a", "$1$abc$def")`, "second argument is no $apr1$ hash"},
		{"a hash without a salt", `md5crypt_check("a", "$apr1$abc")`, "second argument is no $apr1$ hash"},
		{"a password is a text", `md5crypt(nil)`, "argument 1 must be a string"},
	})
}
