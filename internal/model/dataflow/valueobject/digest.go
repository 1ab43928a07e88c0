package valueobject

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// MaxEncoded bounds a value in the form that is hashed. Far more than any object
// holds becomes of a short text that is nested deeply: each level indents all lines
// below it.
const MaxEncoded = 16 << 20

// ErrTooDeep says that a value cannot be hashed within bounds.
var ErrTooDeep = fmt.Errorf("the value is too large or nested too deeply: written with one field in a line it has more than %d bytes", MaxEncoded)

// EncodeData returns a value in the form that is hashed: sorted keys, indented by two
// blanks.
func EncodeData(value any) ([]byte, error) {
	compact, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode data: %w", err)
	}
	if !indentable(compact) {
		return nil, ErrTooDeep
	}
	var raw bytes.Buffer
	if err := json.Indent(&raw, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("encode data: %w", err)
	}
	return raw.Bytes(), nil
}

// indentable reports whether a JSON text stays within its bound when it is indented.
func indentable(compact []byte) bool {
	size, depth := len(compact), 0
	inText, escaped := false, false
	for _, c := range compact {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{', c == '[':
			depth++
			size += 1 + 2*depth
		case c == '}', c == ']':
			depth--
			size += 1 + 2*depth
		case c == ',':
			size += 1 + 2*depth
		}
		if size > MaxEncoded {
			return false
		}
	}
	return true
}

// EncodeJSON returns a JSON text in the form of EncodeData. Numbers keep their
// digits. Errors do not quote the value.
func EncodeJSON(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return EncodeData(nil)
	}
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return nil, errors.New("the value is not JSON")
	}
	return EncodeData(value)
}

// DataHash identifies the value of a DataObject. An annotation is ignored: a user may have edited
// the object by hand.
func DataHash(object *v1alpha1.DataObject) (string, error) {
	raw, err := EncodeJSON(object.Data.RawMessage)
	if err != nil {
		return "", fmt.Errorf("decode DataObject %s: %w", object.Name, err)
	}
	return Hash(raw), nil
}

// TargetHash identifies the content of a Target.
func TargetHash(spec *v1alpha1.TargetSpec) string {
	switch {
	case spec.Configuration != nil:
		return Hash(spec.Configuration.RawMessage)
	case spec.SecretRef != nil:
		raw, err := json.Marshal(map[string]any{"secretRef": spec.SecretRef})
		if err == nil {
			return Hash(raw)
		}
	}
	return Hash(nil)
}

// Hash returns the digest that annotations and the status show.
//
// It shows whether a value has changed, and protects nothing: SHA-1 is what upstream writes in
// these places. Values that must not be guessed are salted.
func Hash(raw []byte) string {
	sum := sha1.Sum(raw)
	return hex.EncodeToString(sum[:])
}

// SaltedHash returns a digest that confirms no guess to those who do not know the salt.
// Without a salt it is Hash.
func SaltedHash(salt string, raw []byte) string {
	if salt == "" {
		return Hash(raw)
	}
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil))
}
