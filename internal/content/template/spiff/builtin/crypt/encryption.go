package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"

	"golang.org/x/crypto/scrypt"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Encryption are the functions that encrypt and decrypt texts.
var Encryption = []call.Function{
	{Name: "encrypt", Usage: "encrypt(value [, key [, method]])", Result: "string", Min: 1, Max: 3, Run: encrypt,
		Doc: "Encrypts any value to hexadecimal text. The methods are `3DES` (default, compatible with old files) and " +
			"`AES-GCM` (authenticated; use it for new ones). With two arguments the name of a method is the method, " +
			"anything else the key. The default key is given by the program that runs the template."},
	{Name: "decrypt", Usage: "decrypt(text [, key [, method]])", Result: "value", Min: 1, Max: 3, Run: decrypt,
		Doc: "Decrypts what `encrypt` made.", Example: `decrypt(encrypt([1, "a"], "key", "AES-GCM"), "key", "AES-GCM")`, Gives: `[1,"a"]`},
}

// cryptoMethod is a way to encrypt.
type cryptoMethod struct {
	encrypt func(random io.Reader, key string, plain []byte) ([]byte, error)
	decrypt func(key string, text []byte) ([]byte, error)
}

var methods = map[string]cryptoMethod{
	"3DES":    {encrypt3DES, decrypt3DES},
	"AES-GCM": {encryptGCM, decryptGCM},
}

var errDecrypt = errors.New("text cannot be decrypted, text or key are wrong")

// encryption reads key and method.
func encryption(c *call.Call) (key string, m cryptoMethod, err error) {
	key, m = c.Settings().Key, methods["3DES"]
	if c.Len() > 1 {
		text, err := c.Text(1)
		if err != nil {
			return "", m, err
		}
		if named, ok := methods[text]; ok && c.Len() == 2 {
			m = named
		} else {
			key = text
		}
	}
	if c.Len() > 2 {
		name, err := c.Text(2)
		if err != nil {
			return "", m, err
		}
		named, ok := methods[name]
		if !ok {
			return "", m, c.Failf("unknown method %s, known are 3DES and AES-GCM", c.Quote(name))
		}
		m = named
	}
	if key == "" {
		return "", m, c.Failf("no key is given")
	}
	return key, m, nil
}

func encrypt(c *call.Call) (value.Value, error) {
	key, m, err := encryption(c)
	if err != nil {
		return nil, err
	}
	plain, err := yamlio.YAML(c.Args[0])
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	text, err := m.encrypt(c.Settings().Random, key, []byte(plain))
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(hex.EncodeToString(text)), nil
}

func decrypt(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	key, m, err := encryption(c)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, c.Failf("%w", errDecrypt)
	}
	plain, err := m.decrypt(key, raw)
	if err != nil {
		return nil, c.Failf("%w", errDecrypt)
	}
	n, err := yamlio.ReadOne(plain, "decrypted text", false)
	if err != nil {
		return nil, c.Failf("%w", errDecrypt)
	}
	return n.Value, nil
}

// signature authenticates 3DES texts; both parts are fixed by old files.
const signature = "spiff is a cool tool"

// tripleKey stretches a key to the 24 bytes of 3DES.
func tripleKey(key string) []byte {
	nothing := md5.Sum(nil)
	long := append([]byte(key), nothing[:]...)
	return append(append([]byte(nil), long[:16]...), long[:8]...)
}

func sign(plain []byte) []byte {
	mac := hmac.New(sha256.New, []byte(signature))
	mac.Write(plain)
	return mac.Sum(nil)
}

func encrypt3DES(random io.Reader, key string, plain []byte) ([]byte, error) {
	block, err := des.NewTripleDESCipher(tripleKey(key))
	if err != nil {
		return nil, err
	}
	data := append(append([]byte(nil), plain...), sign(plain)...)
	fill := des.BlockSize - len(data)%des.BlockSize
	for range fill {
		data = append(data, byte(fill-1))
	}
	out := make([]byte, des.BlockSize+len(data))
	if _, err := io.ReadFull(random, out[:des.BlockSize]); err != nil {
		return nil, err
	}
	cipher.NewCBCEncrypter(block, out[:des.BlockSize]).CryptBlocks(out[des.BlockSize:], data) //nolint:gosec // ReadFull has filled it
	return out, nil
}

func decrypt3DES(key string, text []byte) ([]byte, error) {
	if len(text) < 2*des.BlockSize || len(text)%des.BlockSize != 0 {
		return nil, errDecrypt
	}
	block, err := des.NewTripleDESCipher(tripleKey(key))
	if err != nil {
		return nil, err
	}
	data := make([]byte, len(text)-des.BlockSize)
	cipher.NewCBCDecrypter(block, text[:des.BlockSize]).CryptBlocks(data, text[des.BlockSize:])
	fill := int(data[len(data)-1]) + 1
	end := len(data) - fill - sha256.Size
	if end < 0 {
		return nil, errDecrypt
	}
	plain := data[:end]
	if subtle.ConstantTimeCompare(sign(plain), data[end:end+sha256.Size]) != 1 {
		return nil, errDecrypt
	}
	return plain, nil
}

const (
	saltSize  = 16
	gcmWork   = 1 << 14
	gcmMemory = 8
	gcmKey    = 32
)

func gcm(key string, salt []byte) (cipher.AEAD, error) {
	derived, err := scrypt.Key([]byte(key), salt, gcmWork, gcmMemory, 1, gcmKey)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// encryptGCM writes salt, nonce and sealed text.
func encryptGCM(random io.Reader, key string, plain []byte) ([]byte, error) {
	head := make([]byte, saltSize)
	if _, err := io.ReadFull(random, head); err != nil {
		return nil, err
	}
	aead, err := gcm(key, head)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, err
	}
	head = append(head, nonce...)
	return aead.Seal(head, nonce, plain, nil), nil
}

func decryptGCM(key string, text []byte) ([]byte, error) {
	if len(text) < saltSize {
		return nil, errDecrypt
	}
	aead, err := gcm(key, text[:saltSize])
	if err != nil {
		return nil, err
	}
	text = text[saltSize:]
	if len(text) < aead.NonceSize() {
		return nil, errDecrypt
	}
	return aead.Open(nil, text[:aead.NonceSize()], text[aead.NonceSize():], nil)
}
