package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// MinKeySize is how many bytes the key of the cookies has at least.
const MinKeySize = 32

// maxCookie is what browsers keep of a cookie, less its name and attributes.
const maxCookie = 3800

var errTooLarge = errors.New("what a session needs to know of the user is too large for a cookie")

// sealer encrypts and authenticates what browsers keep for the console.
type sealer struct{ aead cipher.AEAD }

func newSealer(secret []byte) (*sealer, error) {
	if len(secret) < MinKeySize {
		return nil, fmt.Errorf("the key of sessions has %d bytes: it needs at least %d", len(secret), MinKeySize)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "landscaper console", 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key of sessions: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use the key of sessions: %w", err)
	}
	return &sealer{aead}, nil
}

// seal returns a value of a cookie. It can be opened under the same name only: a login that has begun
// is no session.
func (s *sealer) seal(name string, content any) (string, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("write a cookie: %w", err)
	}
	value := base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(name))) //nolint:gosec // this AEAD makes a random nonce itself
	if len(value) > maxCookie {
		return "", errTooLarge
	}
	return value, nil
}

// open reads what seal has written.
func (s *sealer) open(name, value string, into any) bool {
	if len(value) > maxCookie {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return false
	}
	text, err := s.aead.Open(nil, nil, sealed, []byte(name))
	return err == nil && json.Unmarshal(text, into) == nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
