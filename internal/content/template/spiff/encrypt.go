package spiff

import (
	"context"
	"fmt"
	"strings"
)

// Encrypt encrypts a YAML text with the function encrypt of the language, or
// decrypts one with the function decrypt.
func Encrypt(ctx context.Context, text []byte, key, method string, decrypt bool) (string, error) {
	if key == "" {
		return "", fmt.Errorf("no key is given")
	}
	engine, err := New(Config{})
	if err != nil {
		return "", err
	}
	function := "encrypt"
	// With two arguments, an unknown method would be taken for the key.
	bindings := map[string]any{"key": key, "method": method}
	if decrypt {
		function = "decrypt"
		bindings["data"] = strings.TrimSpace(string(text))
	} else {
		doc, err := ParseData(text, "document")
		if err != nil {
			return "", err
		}
		bindings["data"] = doc.Data()
	}
	doc, err := FromData("(( "+function+"(data, key, method) ))", function)
	if err != nil {
		return "", err
	}
	result, err := engine.Process(ctx, doc, Input{Bindings: bindings}, Options{})
	if err != nil {
		return "", err
	}
	if text, ok := result.Data().(string); ok && !decrypt {
		return text + "\n", nil
	}
	return result.YAML()
}
