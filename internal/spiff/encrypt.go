package spiff

import (
	"context"
	"fmt"
	"os"
)

// Encrypt encrypts a YAML text with the function encrypt of the language, or
// decrypts one.
func Encrypt(ctx context.Context, text []byte, key, method string, decrypt bool) (string, error) {
	if key == "" {
		key = os.Getenv("SPIFF_ENCRYPTION_KEY")
	}
	return "", fmt.Errorf("todo %v %v %v %v", ctx, text, method, decrypt)
}
