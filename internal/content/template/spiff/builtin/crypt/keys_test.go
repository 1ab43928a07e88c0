package crypt_test

import (
	"crypto/rand"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/builtin/crypt"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

// authority has a clock that stands still, and keys that are made once.
func authority(t *testing.T) language.Language {
	t.Helper()
	l := language.Language{
		Config:   spiff.Config{Random: rand.Reader, Now: func() time.Time { return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) }},
		Bindings: map[string]any{},
	}
	for _, made := range [][2]string{
		{"key", `x509genkey("P256")`}, {"other", `x509genkey("P256")`}, {"rsa", `x509genkey(1024)`}, {"old", `x509genkey("P224")`},
		{"ca", `x509cert({"commonName"="ca", "isCA"=true, "usage"=["CertSign", "CRLSign"], "privateKey"=key})`},
		{"cert", `x509cert({"commonName"="leaf", "usage"="ServerAuth", "hosts"=["a.b", "10.0.0.1", "::1"], "privateKey"=other, "caCert"=ca, "caPrivateKey"=key})`},
	} {
		v, err := l.Process(t, made[1])
		if err != nil {
			t.Fatal(err)
		}
		l.Bindings[made[0]] = v
	}
	return l
}

func TestKeys(t *testing.T) {
	l := authority(t)
	l.Gives(t, []language.Row{
		{"a key of a curve", `split("\n", key)[0]`, `-----BEGIN EC PRIVATE KEY-----`},
		{"a key of numbers", `split("\n", rsa)[0]`, `-----BEGIN RSA PRIVATE KEY-----`},
		{"keys differ", `key == other`, `false`},
		{"the public key of a curve", `split("\n", x509publickey(key))[0]`, `-----BEGIN PUBLIC KEY-----`},
		{"the public key of numbers", `split("\n", x509publickey(rsa))[0]`, `-----BEGIN RSA PUBLIC KEY-----`},
		{"in the form for all kinds", `split("\n", x509publickey(rsa, "pkix"))[0]`, `-----BEGIN PUBLIC KEY-----`},
		{"for SSH", `split(" ", x509publickey(rsa, "ssh"))[0]`, `ssh-rsa`},
		{"a curve for SSH", `split(" ", x509publickey(key, "ssh"))[0]`, `ecdsa-sha2-nistp256`},
		{"the public key of a public key", `x509publickey(x509publickey(rsa)) == x509publickey(rsa)`, `true`},
		{"from one form into the other", `x509publickey(x509publickey(rsa, "pkix"), "pem") == x509publickey(rsa)`, `true`},
		{"from SSH back", `x509publickey(x509publickey(key, "ssh"), "pkix") == x509publickey(key)`, `true`},
		{"the public key of a certificate", `x509publickey(cert) == x509publickey(other)`, `true`},
		{"a WireGuard key has its bits set", `match("^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$", wggenkey()) != []`, `true`},
		{"a shared key is any bytes", `length(wggenkey("preshared"))`, `44`},
		{"the public key of WireGuard", `wgpublickey("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")`, `L+V9o0fNYkMVKNqsX7spBzD/9oSvxM/C7ZCZX1jLO3Q=`},
	})
	l.Fails(t, []language.Row{
		{"an unknown curve", `x509genkey("P255")`, `unknown curve "P255"`},
		{"too few bits", `x509genkey(511)`, "number of bits must be between 512 and 4096"},
		{"negative bits", `x509genkey(-2048)`, "number of bits must be between"},
		{"hostile: too many bits", `x509genkey(4097)`, "number of bits must be between"},
		{"a key is a number or a name", `x509genkey([])`, "argument 1 must be an integer"},
		{"a text that is not a key", `x509publickey("abc")`, "text is not a key or certificate in PEM format"},
		{"a block of something else", `x509publickey("-----BEGIN X-----\nAAAA\n-----END X-----\n")`, "text is not a key or certificate"},
		{"an unknown form", `x509publickey(key, "der")`, `unknown format "der", known are pem, pkix and ssh`},
		{"a curve that SSH does not know", `x509publickey(old, "ssh")`, "ssh"},
		{"an unknown kind of WireGuard key", `wggenkey("public")`, `unknown kind "public", known are private and preshared`},
		{"no WireGuard key", `wgpublickey("AAAA")`, "text is no WireGuard key"},
		{"a key of 33 bytes", `wgpublickey(base64("012345678901234567890123456789012"))`, "text is no WireGuard key"},
		{"a number is not a key", `wgpublickey(1)`, "argument 1 must be a string"},
	})
}

// TestLargestKey: who may do everything is protected from a number that was mistyped.
func TestLargestKey(t *testing.T) {
	l := language.Language{Config: spiff.Config{
		Access: spiff.AccessFull, System: struct{ spiff.System }{}, Random: rand.Reader,
	}}
	l.Fails(t, []language.Row{
		{"larger than any key", `x509genkey(16385)`, "number of bits must be between 512 and 16384"},
		{"a size whose work overflows a number", `x509genkey(4294967296)`, "number of bits must be between"},
	})
}

func TestCertificates(t *testing.T) {
	l := authority(t)
	l.Gives(t, []language.Row{
		{"an authority", `( $c=x509parsecert(ca) ) [c.commonName, c.isCA, c.usage, c.validity, c.hosts]`, `[ca, true, [CertSign, CRLSign], 8760, []]`},
		{"from now for a year", `( $c=x509parsecert(cert) ) [c.validFrom, c.validUntil]`, `["May 6 07:08:09 2031", "May 5 07:08:09 2032"]`},
		{"names and addresses", `( $c=x509parsecert(cert) ) [c.hosts, c.dnsNames, c.ipAddresses]`, `[["10.0.0.1", "::1", a.b], [a.b], ["10.0.0.1", "::1"]]`},
		{"the public key of a certificate", `x509parsecert(cert).publicKey == x509publickey(other)`, `true`},
		{"a usage in any case, alone or in a list", `x509parsecert(x509cert({"usage"="serverauth", "privateKey"=key})).usage`, `[ServerAuth]`},
		{"every kind of usage", `length(x509parsecert(x509cert({"usage"=["Signature", "Any", "OCSPSigning", "DecipherOnly"], "privateKey"=key})).usage)`, `4`},
		{"the owner of a certificate", `( $c=x509parsecert(x509cert({"organization"=["o", "p"], "country"="DE", "usage"="Any", "privateKey"=key})) ) [c.organization, c.country]`, `[[o, p], [DE]]`},
		{"a beginning and hours", `( $c=x509parsecert(x509cert({"usage"="Any", "privateKey"=key, "validFrom"="Jan 2 15:04:05 2030", "validity"=1})) ) [c.validFrom, c.validUntil]`,
			`["Jan 2 15:04:05 2030", "Jan 2 16:04:05 2030"]`},
		{"for a key that is not here", `x509publickey(x509cert({"usage"="Any", "publicKey"=x509publickey(other), "caCert"=ca, "caPrivateKey"=key})) == x509publickey(other)`, `true`},
		{"fields that are nil are not given", `x509parsecert(x509cert({"usage"="Any", "privateKey"=key, "hosts"=nil, "commonName"=nil})).hosts`, `[]`},
	})
	l.Fails(t, []language.Row{
		{"a usage is needed", `x509cert({"privateKey"=key})`, "field usage is missing"},
		{"an unknown usage", `x509cert({"usage"=["Any", "Nope"], "privateKey"=key})`, `unknown usage`},
		{"a usage is a text", `x509cert({"usage"=1, "privateKey"=key})`, "field usage must be a string or a list of strings"},
		{"a key is needed", `x509cert({"usage"="Any"})`, "privateKey, or publicKey and caPrivateKey are needed"},
		{"a public key cannot sign", `x509cert({"usage"="Any", "publicKey"=x509publickey(key)})`, "privateKey, or publicKey and caPrivateKey are needed"},
		{"a private key that is not a key", `x509cert({"usage"="Any", "privateKey"="x"})`, "field privateKey: text is not a key"},
		{"a public key that is not a key", `x509cert({"usage"="Any", "publicKey"="x", "caPrivateKey"=key})`, "field publicKey: text is not a key"},
		{"an authority's key that is not a key", `x509cert({"usage"="Any", "privateKey"=key, "caPrivateKey"="x"})`, "field caPrivateKey: text is not a key"},
		{"an authority's certificate that is not a certificate", `x509cert({"usage"="Any", "privateKey"=key, "caCert"="x", "caPrivateKey"=key})`, "field caCert: text is not a key or certificate"},
		{"the key of another authority", `x509cert({"usage"="Any", "privateKey"=other, "caCert"=ca, "caPrivateKey"=other})`, "doesn't match"},
		{"no hours", `x509cert({"usage"="Any", "privateKey"=key, "validity"=0})`, "field validity must be between 1 and 1000000 hours"},
		{"hostile: hours beyond the end of time", `x509cert({"usage"="Any", "privateKey"=key, "validity"=9223372036854775807})`, "field validity must be between 1 and 1000000 hours"},
		{"hours as text", `x509cert({"usage"="Any", "privateKey"=key, "validity"="1"})`, "field validity must be an integer"},
		{"a date of another form", `x509cert({"usage"="Any", "privateKey"=key, "validFrom"="2030-01-02"})`, "field validFrom must look like"},
		{"a name that is a number", `x509cert({"usage"="Any", "privateKey"=key, "commonName"=1})`, "field commonName must be a string, not an int"},
		{"no specification", `x509cert("x")`, "argument 1 must be a map"},
		{"a key is not a certificate", `x509parsecert(key)`, "text is not a key or certificate"},
		{"an empty text is not a certificate", `x509parsecert("")`, "text is not a key or certificate"},
	})
}

// TestKinds asks of every kind of text what it is.
func TestKinds(t *testing.T) {
	l := authority(t)
	public, err := l.Process(t, "x509publickey(key)")
	if err != nil {
		t.Fatal(err)
	}
	l.Bindings["public"] = public
	l.Bindings["text"] = "text"
	l.Bindings["garbage"] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	tests := []struct {
		name                             string
		private, public, certificate, ca bool
	}{
		{"key", true, false, false, false}, {"rsa", true, false, false, false}, {"old", true, false, false, false},
		{"public", false, true, false, false}, {"cert", false, false, true, false}, {"ca", false, false, true, true},
		{"text", false, false, false, false}, {"garbage", false, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := l.Bindings[test.name].(string)
			for what, got := range map[string][2]bool{
				"private key": {crypt.IsPrivateKey(text), test.private}, "public key": {crypt.IsPublicKey(text), test.public},
				"certificate": {crypt.IsCertificate(text), test.certificate}, "authority": {crypt.IsCA(text), test.ca},
			} {
				if got[0] != got[1] {
					t.Errorf("%s is a %s: %t", syntax.Short(text), what, got[0])
				}
			}
		})
	}
}
