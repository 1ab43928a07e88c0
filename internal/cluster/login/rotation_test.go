package login

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// oneUser is a kubeconfig whose only user has the given fields.
func oneUser(name, user string) string {
	return `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"c","user":"` + name + `","namespace":"ns"}}],` +
		`"clusters":[{"name":"c","cluster":{` + server + `,"certificate-authority-data":"Q0E="}}],"users":[{"name":"` + name + `","user":{` + user + `}}]}`
}

// TestCheckKubeconfig: what others write may lead to their cluster, and to no access of this
// process.
func TestCheckKubeconfig(t *testing.T) {
	const refused = "it is not a kubeconfig"
	complete := kubeconfig(server, `"token":"t"`)
	for _, test := range []struct{ reason, content, want string }{
		{"a kubeconfig", complete, ""},
		{"as the field of a Target", `{"kubeconfig":` + complete + `}`, ""},
		{"nothing", "", refused},
		{"null", "null", refused},
		{"fields that are all null", `{"kubeconfig":null,"selfConfig":null}`, "no current-context"},
		{"a reference to a Secret", `{"kubeconfig":{"secretRef":{"name":"` + secretWord + `"}}}`, refused},
		{"a token of this cluster", `{"selfConfig":{"serviceAccount":{"name":"admin"}}}`, refused},
		{"a token for another one", `{"oidcConfig":{"server":"https://` + secretWord + `","serviceAccount":{"name":"admin"}}}`, refused},
		{"a kubeconfig, and a token beside it", `{"kubeconfig":` + complete + `,"selfConfig":{"serviceAccount":{"name":"admin"}}}`, refused},
		{"the second of two fields of the same name counts", `{"kubeconfig":` + complete + `,"kubeconfig":{"secretRef":{"name":"a"}}}`, refused},
		{"a program", kubeconfig(server, `"exec":{"command":"`+secretWord+`"}`), "users[0].user.exec"},
		{"no YAML", "{" + secretWord, "cannot be read as YAML or JSON"},
		{"a text", secretWord, "cannot be decoded"},
		{"levels without end", strings.Repeat("[", 100_000), "cannot be read as YAML or JSON"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := CheckKubeconfig([]byte(test.content))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), secretWord) {
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}

// TestTokenUser: a token can be replaced only where it is plain whose it is.
func TestTokenUser(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"a single user with a token", oneUser("deployer", `"token":"`+secretWord+`"`), ""},
		{"a token beside a certificate, which stays", oneUser("deployer", `"token":"`+secretWord+`","client-certificate-data":"Q0E="`), ""},
		{"two users", kubeconfig(server, `"token":"`+secretWord+`"`), "2 entries under users"},
		{"no user", `{"apiVersion":"v1","kind":"Config"}`, "0 entries under users"},
		{"a user without a token", oneUser("deployer", `"username":"a","password":"`+secretWord+`"`), "no name or no token"},
		{"an empty token", oneUser("deployer", `"token":""`), "no name or no token"},
		{"a user without a name", oneUser("", `"token":"`+secretWord+`"`), "no name or no token"},
		{"no kubeconfig", secretWord, "cannot be decoded"},
		{"a document of another kind", `{"kind":"Secret","users":[{"name":"a","user":{"token":"` + secretWord + `"}}]}`, "cannot be decoded"},
		{"a number as the token", oneUser("deployer", `"token":1`), "cannot be decoded"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			name, token, err := TokenUser([]byte(test.text))
			written, failed := WithToken([]byte(test.text), "new")
			if (err == nil) != (failed == nil) {
				t.Errorf("can be read: %v; can be written: %v", err, failed)
			}
			if test.want == "" {
				if err != nil || name != "deployer" || token != secretWord {
					t.Errorf("%q, %q, %v", name, token, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || name+token+string(written) != "" {
				t.Fatalf("%q, %q, %v, want %q", name, token, err, test.want)
			}
			if strings.Contains(err.Error()+failed.Error(), secretWord) {
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}

// TestWithToken: nothing but the token is another one, whatever the token looks like.
func TestWithToken(t *testing.T) {
	before := oneUser("deployer", `"token":"old","client-certificate-data":"Q0E="`)
	for reason, token := range map[string]string{
		"a usual one":                      "eyJhbGciOi.J9.x-_",
		"an unchanged token":               "old",
		"a token that YAML takes for yes":  "yes",
		"a token that YAML takes for null": "null",
		"a number":                         "0123",
		"with lines":                       "a\nb: c\n",
		"with quotes":                      `a"b'c`,
		"with a separator of lines":        "a\u2028b",
		"a long one":                       strings.Repeat("x", 100_000),
	} {
		t.Run(reason, func(t *testing.T) {
			written, err := WithToken([]byte(before), token)
			if err != nil {
				t.Fatal(err)
			}
			name, read, err := TokenUser(written)
			if err != nil || name != "deployer" || read != token {
				t.Errorf("%q, %.40q, %v", name, read, err)
			}
			var was, is map[string]any
			if err := json.Unmarshal([]byte(before), &was); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(written, &is); err != nil {
				t.Fatal(err)
			}
			for _, one := range []map[string]any{was, is} {
				delete(one["users"].([]any)[0].(map[string]any)["user"].(map[string]any), "token")
				delete(one, "preferences")
			}
			if diff := cmp.Diff(was, is); diff != "" {
				t.Errorf("more has changed:\n%s", diff)
			}
			again, err := WithToken(written, token)
			if err != nil || string(again) != string(written) {
				t.Errorf("written again it is another text: %v\n%s", err, cmp.Diff(string(written), string(again)))
			}
		})
	}
}

// TestSecretText reads what a Secret stands for, with or without a key.
func TestSecretText(t *testing.T) {
	bytesOf := func(texts map[string]string) map[string][]byte {
		all := map[string][]byte{}
		for key, text := range texts {
			all[key] = []byte(text)
		}
		return all
	}
	long := strings.Repeat("x", 3<<20-10)
	for _, test := range []struct {
		reason    string
		data      map[string]string
		key       string
		want, err string
	}{
		{"a key, as it is", map[string]string{"kubeconfig": "a: [", "other": secretWord}, "kubeconfig", "a: [", ""},
		{"an empty value is a value", map[string]string{"kubeconfig": ""}, "kubeconfig", "", ""},
		{"a key that is missing", map[string]string{"other": secretWord}, "kubeconfig", "", "it has no key kubeconfig"},
		{"a key of no data at all", nil, "kubeconfig", "", "it has no key kubeconfig"},
		{"in other letters", map[string]string{"Kubeconfig": secretWord}, "kubeconfig", "", "it has no key kubeconfig"},
		{"the whole, in the order of its keys", map[string]string{"b": "{c: 1}", "a": "text"}, "", `{"a":"text","b":{"c":1}}`, ""},
		{"the whole of nothing", nil, "", `{}`, ""},
		{"an empty value in the whole", map[string]string{"a": ""}, "", `{"a":null}`, ""},
		{"what is no YAML names its key and the remedy", map[string]string{"a": "{" + secretWord}, "", "", "the value of its key a cannot be read as YAML"},
		{"bytes that are not text", map[string]string{"a": "a\xc3\x28"}, "", "", "the value of its key a cannot be read as YAML"},
		{"values that are too long together", map[string]string{"a": long, "b": long}, "", "", "b"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := SecretText(&corev1.Secret{Data: bytesOf(test.data)}, test.key)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), secretWord) || len(err.Error()) > 1000 {
					t.Errorf("%.300v, want %q", err, test.err)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("%.100q, %v, want %.100q", got, err, test.want)
			}
		})
	}
}

// TestSecretNamed: who waits for a Secret must know which; what cannot be read names none.
func TestSecretNamed(t *testing.T) {
	target := func(config string) *v1alpha1.Target {
		made := &v1alpha1.Target{}
		made.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(config))
		return made
	}
	referring := &v1alpha1.Target{}
	referring.Spec.SecretRef = &v1alpha1.LocalSecretReference{Name: "outer"}
	both := target(`{"kubeconfig":{"secretRef":{"name":"inner"}}}`)
	both.Spec.SecretRef = referring.Spec.SecretRef
	for _, test := range []struct {
		reason string
		target *v1alpha1.Target
		want   string
	}{
		{"nothing said", &v1alpha1.Target{}, ""},
		{"by the Target", referring, "outer"},
		{"by the kubeconfig in it", target(`{"kubeconfig":{"secretRef":{"name":"inner","namespace":"ns"}}}`), "inner"},
		{"two values, of which the Target's counts", both, "outer"},
		{"a kubeconfig itself", target(`{"kubeconfig":"text"}`), ""},
		{"the word in a value", target(`{"kubeconfig":"\"secretRef\""}`), ""},
		{"the word at another place", target(`{"selfConfig":{"secretRef":{"name":"inner"}}}`), ""},
		{"a reference that is a text", target(`{"kubeconfig":{"secretRef":"inner"}}`), ""},
		{"no JSON", target(`{"secretRef"`), ""},
		{"null", target(`null`), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := SecretNamed(test.target); got != test.want {
				t.Errorf("names %q, want %q", got, test.want)
			}
		})
	}
}
