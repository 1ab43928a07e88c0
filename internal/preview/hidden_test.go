package preview

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/mask"
)

// seeded is the same in every run.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// secretOf makes a secret of a length, of characters that mean something elsewhere.
func secretOf(r *rand.Rand, length int) string {
	const alphabet = "abcXYZ0123456789+/=&?%$ é-_.~\"\\"
	runes := []rune(alphabet)
	text := make([]rune, length)
	for i := range text {
		text[i] = runes[r.IntN(len(runes))]
	}
	return strings.TrimSpace("s" + string(text) + "t")
}

// TestNoFormOfASecretIsShown hides secrets of all lengths in the forms in which
// templates put values into objects.
func TestNoFormOfASecretIsShown(t *testing.T) {
	forms := map[string]func(string) string{
		"as it is":                         func(s string) string { return s },
		"in a text":                        func(s string) string { return "a=" + s + ";" },
		"in capital letters":               strings.ToUpper,
		"in small letters":                 strings.ToLower,
		"base64":                           func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 without padding":           func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
		"base64 for URLs":                  func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"base64 of more, one byte before":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("-" + s + "-----")) },
		"base64 of more, two bytes before": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("--" + s + "-----")) },
		"hexadecimal":                      func(s string) string { return hex.EncodeToString([]byte(s)) },
		"large hexadecimal":                func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"in a query":                       func(s string) string { return "https://h/?q=" + url.QueryEscape(s) },
		"in a path":                        func(s string) string { return "https://h/" + url.PathEscape(s) + "/x" },
		"with line breaks around":          func(s string) string { return "\n" + s + "\n" },
	}
	r := seeded()
	for _, length := range []int{3, 4, 6, 7, 8, 11, 12, 19, 20, 40, 300} {
		for range 8 {
			secret := secretOf(r, length)
			known := newSecrets()
			known.add(map[string]any{"list": []any{secret}})
			for reason, form := range forms {
				t.Run(fmt.Sprintf("%s: %q", reason, secret), func(t *testing.T) {
					if shown := known.hide(form(secret)); strings.Contains(strings.ToLower(shown), strings.ToLower(form(secret))) {
						t.Errorf("it shows %q", shown)
					}
				})
			}
		}
	}
}

// TestHarmlessTextStays has texts that share nothing with the secrets.
func TestHarmlessTextStays(t *testing.T) {
	known := newSecrets()
	r := seeded()
	for range 50 {
		known.add("Q" + strings.ToUpper(hex.EncodeToString([]byte(secretOf(r, 10)))))
	}
	for _, text := range []string{
		"", " ", "apiVersion: apps/v1", "replicas: 3", "image: registry.example.org/shop/web:1.2.3", "kubernetes.io/hostname", "true", "null", "0",
		"The quick brown fox jumps over the lazy dog", strings.Repeat("harmless ", 100),
	} {
		t.Run(text, func(t *testing.T) {
			if got := known.hide(text); got != text {
				t.Errorf("it became %q", got)
			}
		})
	}
}

func TestSecretsOfOtherTypes(t *testing.T) {
	known := newSecrets()
	known.add([]any{12345678.5, 0.000001234567, int64(987654321), json.Number("123456789012345678901234567890"), nil, true, "", "  "})
	for text, secret := range map[string]bool{
		"12345678.5": true, "1.23456785e+07": true, "n=0.000001234567": true, "1.234567e-06": true, "987654321": true,
		"123456789012345678901234567890": true, "true": false, "nil": false, "": false, "1e+07": false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := known.repeats(text); got != secret {
				t.Errorf("it is secret: %t", got)
			}
		})
	}
}

func TestObjectsThatAreNoSecrets(t *testing.T) {
	for reason, object := range map[string]map[string]any{
		"nothing":                 nil,
		"another kind":            {"apiVersion": "v1", "kind": "ConfigMap", "stringData": map[string]any{"a": "long-enough-value"}},
		"a Secret of others":      {"apiVersion": "example.org/v1", "kind": "Secret", "stringData": map[string]any{"a": "long-enough-value"}},
		"data that is not a map":  {"apiVersion": "v1", "kind": "Secret", "data": "long-enough-value"},
		"data that is no base64":  {"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": "long-enough-value!"}},
		"data that is not a text": {"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": int64(5)}},
		"a value that is missing": {"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"a": nil}},
	} {
		t.Run(reason, func(t *testing.T) {
			known := newSecrets()
			known.addObject(object)
			if known.repeats("long-enough-value") {
				t.Error("a text is hidden")
			}
		})
	}
}

func TestConceal(t *testing.T) {
	known := newSecrets()
	known.add("correct horse battery")
	cause := errors.New("cannot log in with correct horse battery")
	got := known.conceal(cause)
	if !errors.Is(got, cause) || strings.Contains(got.Error(), "horse") || !strings.Contains(got.Error(), mask.Hidden) {
		t.Errorf("%v", got)
	}
	harmless := errors.New("no route to host")
	if got := known.conceal(harmless); !errors.Is(got, harmless) || got.Error() != harmless.Error() || known.conceal(nil) != nil {
		t.Error("what is harmless changes")
	}
}

func TestCredentials(t *testing.T) {
	const kubeconfig = `apiVersion: v1\nclusters: [{name: c, cluster: {server: \"https://api.example.org\"}}]\nusers: `
	for _, test := range []struct {
		reason, config string
		secret, public []string
	}{
		{"a token of a user", `{"kubeconfig":"` + kubeconfig + `[{name: operator, user: {token: token-of-a-user}}]"}`, []string{"token-of-a-user"}, []string{"https://api.example.org", "operator"}},
		{"no users: all of it", `{"kubeconfig":"` + kubeconfig + `[]"}`, []string{"https://api.example.org"}, nil},
		{"a kubeconfig that cannot be read: all of it", `{"kubeconfig":"users: ["}`, []string{"users: ["}, nil},
		{"a kubeconfig that is not a text: all of it", `{"kubeconfig":{"secretRef":"name-of-a-secret"}}`, []string{"name-of-a-secret"}, nil},
		{"no JSON: all of it", `password-without-JSON`, []string{"password-without-JSON"}, nil},
		{"another configuration: all of it", `{"address":"https://x","password":"hunter22hunter"}`, []string{"hunter22hunter"}, nil},
		{"an account has no credentials", `{"oidcConfig":{"server":"https://api.example.org"}}`, nil, []string{"https://api.example.org"}},
		{"the own cluster has none", `{"selfConfig":{"serviceAccount":{"name":"deployer-account"}}}`, nil, []string{"deployer-account"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			known := newSecrets()
			known.add(credentialsOf([]byte(test.config)))
			for _, text := range test.secret {
				if !known.repeats(text) {
					t.Errorf("%s is shown", text)
				}
			}
			for _, text := range test.public {
				if known.repeats(text) {
					t.Errorf("%s is hidden", text)
				}
			}
		})
	}
}
