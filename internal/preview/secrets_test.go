package preview

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/mask"
)

func TestHide(t *testing.T) {
	const password = "Tr0ubador&3+horse"
	known := newSecrets()
	known.add(map[string]any{"password": password, "pin": int64(4815), "on": true, "list": []any{"zq", "hunter2"}})
	known.addObject(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"user": "admin", "key": "from-a-manifest"},
		"data": map[string]any{"old": base64.StdEncoding.EncodeToString([]byte("what-it-was-before"))},
	})
	known.addObject(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"public": "not-a-secret-at-all"}})
	packed := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, test := range []struct{ reason, text, want string }{
		{"nothing", "replicas: 3", "replicas: 3"},
		{"the whole of it", "at " + password + "!", "at " + mask.Hidden + "!"},
		{"a part of it", "it begins with Tr0ubado", mask.Hidden},
		{"in capital letters", strings.ToUpper(password), mask.Hidden},
		{"base64 of it", packed(password), mask.Hidden},
		{"base64 of a text around it", packed("postgres://me:" + password + "@db"), mask.Hidden},
		{"base64 of a part, one byte later", packed("-" + password[3:13]), mask.Hidden},
		{"base64 for URLs", base64.URLEncoding.EncodeToString([]byte("??" + password)), mask.Hidden},
		{"base64 of base64 of it", packed(packed(password)), mask.Hidden},
		{"a file in the data of a machine", packed("files: [{path: /a, content: " + packed("login me:"+password+" now") + "}]"), mask.Hidden},
		{"base64 of it beside bytes that are not a text", packed("\xff\x00 " + packed(password)), mask.Hidden},
		{"three times in base64", packed(packed(packed(password))), mask.Hidden},
		{"a short secret twice in base64", packed(packed("it is hunter2")), mask.Hidden},
		{"hexadecimal in base64", packed(hex.EncodeToString([]byte(password))), mask.Hidden},
		{"base64 of base64 of something else", packed(packed("not-a-secret-at-all")), packed(packed("not-a-secret-at-all"))},
		{"a text that only looks like base64", "abcdefghijklm", "abcdefghijklm"},
		{"hexadecimal", hex.EncodeToString([]byte(password)), mask.Hidden},
		{"in a URL", "https://x/?p=" + url.QueryEscape(password), mask.Hidden},
		{"a number", "code 4815", "code " + mask.Hidden},
		{"a short secret inside of a text", "myHUNTER2now", mask.Hidden},
		{"a short secret in base64", packed("hunter2"), mask.Hidden},
		{"a very short secret as the whole text", "zq", mask.Hidden},
		{"a very short secret is not hidden in a word", "zqx", "zqx"},
		{"true is not a secret", "true", "true"},
		{"a value of a manifest of a Secret", "key: from-a-manifest", mask.Hidden},
		{"an earlier value of a Secret", "it was what-it-was-before", mask.Hidden},
		{"a user is hidden as a whole text", "admin", mask.Hidden},
		{"a user is not hidden in another word", "administrator", "administrator"},
		{"a ConfigMap holds no secrets", "not-a-secret-at-all", "not-a-secret-at-all"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := known.hide(test.text); got != test.want {
				t.Errorf("%q became %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestHideTooMuch: when there are more secrets than can be looked for, nothing is shown.
func TestHideTooMuch(t *testing.T) {
	known := newSecrets()
	known.add(strings.Repeat("x", maxKnown+1))
	if got := known.hide("a"); got != mask.Hidden {
		t.Error(got)
	}
}

// TestHideLongSecrets: of a long secret, such as a bundle of certificates, a part in the
// middle is found again.
func TestHideLongSecrets(t *testing.T) {
	known := newSecrets()
	var long strings.Builder
	for i := range 5_000 {
		long.WriteString(strconv.Itoa(i * 7919))
	}
	known.add(long.String())
	if known.hide("harmless") != "harmless" {
		t.Error("harmless text is hidden")
	}
	if got := known.hide(base64.StdEncoding.EncodeToString([]byte(long.String()[5000:5100]))); got != mask.Hidden {
		t.Error(got)
	}
}
