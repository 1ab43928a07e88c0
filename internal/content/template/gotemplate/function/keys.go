package function

import (
	"encoding/base64"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// keyed are functions that read keys and certificates, with the positions of them. All other
// functions get keys from these.
var keyed = map[string][]int{
	"genCAWithKey": {2}, "genSelfSignedCertWithKey": {4}, "genSignedCertWithKey": {5}, "buildCustomCert": {0, 1},
}

// checkKeys refuses keys that would take long in one call, which nothing interrupts.
func checkKeys(name string, args []any) error {
	for _, at := range keyed[name] {
		if at >= len(args) {
			continue
		}
		given := text(args[at])
		if name == "buildCustomCert" {
			if len(given) > maxEncodedKey {
				return &failure.CallError{Name: name, Reason: "the text of the key is too long"}
			}
			decoded, err := base64.StdEncoding.DecodeString(given)
			if err != nil {
				continue
			}
			given = string(decoded)
		}
		if err := pemkey.Check(given); err != nil {
			return &failure.CallError{Name: name, Reason: err.Error()}
		}
	}
	return nil
}

// maxEncodedKey is more than the encoding of the longest text with keys.
const maxEncodedKey = 512 << 10

func text(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case operand.File:
		return string(arg)
	}
	return ""
}
