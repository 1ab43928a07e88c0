package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/heap"
)

// aliases is a text that stands for 10^9 values, and one whose aliases repeat a long
// text.
func aliases() map[string]string {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	long := "long: &long " + strings.Repeat("x", 100_000) + "\nall: [" + strings.TrimSuffix(strings.Repeat("*long,", 35_000), ",") + "]\n"
	return map[string]string{"many values": bomb.String(), "a long text": long, "deep": strings.Repeat("[", 9_000), "an anchor in itself": "a: &a [*a]\n"}
}

// TestAliases: what an object that an API server stores can hold never becomes a
// document that takes a lot of memory, wherever it is read.
func TestAliases(t *testing.T) {
	readers := map[string]func(text string) error{
		"the content of a Target": func(text string) error {
			_, err := ParseContent([]byte("kubeconfig:\n" + indented(text)))
			return err
		},
		"a kubeconfig": func(text string) error { _, err := ReadKubeconfig([]byte(text)); return err },
		"a whole Secret": func(text string) error {
			_, err := SecretText(&corev1.Secret{Data: map[string][]byte{"kubeconfig": []byte(text)}}, "")
			return err
		},
		"the name of a Secret": func(text string) error {
			if name := SecretNamed(&v1alpha1.Target{Spec: v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte("kubeconfig:\n" + indented(text)))}}); name != "" {
				return errors.New(name)
			}
			return errors.New("there is no token")
		},
	}
	for where, read := range readers {
		for what, text := range aliases() {
			t.Run(where+"/"+what, func(t *testing.T) {
				var err error
				grown := heap.Peak(func() { err = read(text) })
				if err == nil || strings.Contains(err.Error(), "xxx") || grown > 64<<20 {
					t.Errorf("%v, the heap grew by %d MiB", err, grown>>20)
				}
			})
		}
	}
	// Many keys, each within the limits.
	secret := &corev1.Secret{Data: map[string][]byte{}}
	for i := range 20 {
		secret.Data[fmt.Sprint(i)] = []byte("a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 100), ",") + "]")
	}
	if _, err := SecretText(secret, ""); err == nil || !strings.Contains(err.Error(), "with its aliases the text is longer than") {
		t.Errorf("many keys: %v", err)
	}
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// kubeconfigFields says of each field of a kubeconfig what becomes of it. A field that
// a later version of the library adds fails the test until it is here.
var kubeconfigFields = map[string]string{
	"Config.Kind": "checked", "Config.APIVersion": "checked", "Config.Preferences": "ignored", "Config.Extensions": "ignored",
	"Config.Clusters": "entries", "Config.AuthInfos": "entries", "Config.Contexts": "entries", "Config.CurrentContext": "entries",
	"Cluster.Server": "copied", "Cluster.TLSServerName": "copied", "Cluster.InsecureSkipTLSVerify": "copied", "Cluster.CertificateAuthorityData": "copied",
	"Cluster.CertificateAuthority": "refused", "Cluster.ProxyURL": "refused", "Cluster.DisableCompression": "ignored", "Cluster.Extensions": "ignored",
	"AuthInfo.ClientCertificateData": "copied", "AuthInfo.ClientKeyData": "copied", "AuthInfo.Token": "copied", "AuthInfo.Username": "copied", "AuthInfo.Password": "copied",
	"AuthInfo.ClientCertificate": "refused", "AuthInfo.ClientKey": "refused", "AuthInfo.TokenFile": "refused", "AuthInfo.Impersonate": "refused",
	"AuthInfo.ImpersonateUID": "refused", "AuthInfo.ImpersonateGroups": "refused", "AuthInfo.ImpersonateUserExtra": "refused",
	"AuthInfo.AuthProvider": "refused", "AuthInfo.Exec": "refused", "AuthInfo.Extensions": "ignored",
	"Context.Cluster": "entries", "Context.AuthInfo": "entries", "Context.Namespace": "copied", "Context.Extensions": "ignored",
	// Only in memory, never in a text.
	"Cluster.LocationOfOrigin": "ignored", "AuthInfo.LocationOfOrigin": "ignored", "Context.LocationOfOrigin": "ignored",
}

func TestEveryFieldOfAKubeconfig(t *testing.T) {
	for _, of := range []any{
		clientcmdv1.Config{}, clientcmdv1.Cluster{}, clientcmdv1.AuthInfo{}, clientcmdv1.Context{},
		clientcmdapi.Config{}, clientcmdapi.Cluster{}, clientcmdapi.AuthInfo{}, clientcmdapi.Context{},
	} {
		for i := range reflect.TypeOf(of).NumField() {
			field := reflect.TypeOf(of).Field(i)
			if kubeconfigFields[reflect.TypeOf(of).Name()+"."+field.Name] == "" {
				t.Errorf("%T has a new field %s: decide whether it is copied, refused or ignored", of, field.Name)
			}
		}
	}
	for name, want := range kubeconfigFields {
		if want != "refused" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			config := clientcmdv1.Config{
				CurrentContext: "x", Contexts: []clientcmdv1.NamedContext{{Name: "x", Context: clientcmdv1.Context{Cluster: "c", AuthInfo: "u"}}},
				Clusters:  []clientcmdv1.NamedCluster{{Name: "c", Cluster: clientcmdv1.Cluster{Server: "https://api.example.org"}}, {Name: "unused"}},
				AuthInfos: []clientcmdv1.NamedAuthInfo{{Name: "u"}, {Name: "unused"}},
			}
			// An entry that is not in use counts as well.
			entry := reflect.ValueOf(&config.Clusters[1].Cluster).Elem()
			if strings.HasPrefix(name, "AuthInfo") {
				entry = reflect.ValueOf(&config.AuthInfos[1].AuthInfo).Elem()
			}
			fill(entry.FieldByName(name[strings.Index(name, ".")+1:]))
			text, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ReadKubeconfig(text); err == nil || !strings.Contains(err.Error(), "[1].") || strings.Contains(err.Error(), secretWord) {
				t.Errorf("%v", err)
			}
		})
	}
}

// fill sets a value to something.
func fill(value reflect.Value) {
	switch value.Kind() {
	case reflect.String:
		value.SetString(secretWord)
	case reflect.Slice:
		value.Set(reflect.ValueOf([]string{secretWord}))
	case reflect.Map:
		value.Set(reflect.ValueOf(map[string][]string{"a": {secretWord}}))
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
	default:
		panic(value.Kind())
	}
}

// TestCopiedFields compares with what the library makes of the same text.
func TestCopiedFields(t *testing.T) {
	ca := testCertificate(t)
	text := kubeconfig(server+`,"tls-server-name":"n","certificate-authority-data":"`+ca+`"`, `"username":"a","password":"b"`)
	taken, err := ReadKubeconfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := taken.rest(); !reflect.DeepEqual(got, theirs) {
		t.Errorf("got %v, the library has %v", got, theirs)
	}
}

func testCertificate(t *testing.T) string {
	t.Helper()
	api := httptest.NewTLSServer(nil)
	defer api.Close()
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
}

// TestAccessIsRefused has what newAccess must not admit.
func TestAccessIsRefused(t *testing.T) {
	tests := []struct{ reason, content, want string }{
		{"a token without encryption", kubeconfig(`"server":"http://api.example.org"`, `"token":"`+secretWord+`"`), "use https://"},
		{"a password without encryption", kubeconfig(`"server":"http://api.example.org"`, `"username":"a","password":"`+secretWord+`"`), "use https://"},
		{"two kinds of credentials", kubeconfig(server, `"token":"`+secretWord+`","password":"p"`), "leave one of them"},
		{"a token for everybody", `{"oidcConfig":{"server":"https://edge.example.org","serviceAccount":{"name":"a"}}}`, "oidcConfig.audience"},
		{"an audience that is empty", `{"oidcConfig":{"server":"https://edge.example.org","audience":["x",""],"serviceAccount":{"name":"a"}}}`, "oidcConfig.audience"},
		{"a requested token without encryption", `{"oidcConfig":{"server":"http://edge.example.org","audience":["x"],"serviceAccount":{"name":"a"}}}`, "use https://"},
		{"an authority that is not valid", `{"oidcConfig":{"server":"https://edge.example.org","caData":"eA==","audience":["x"],"serviceAccount":{"name":"a"}}}`, "oidcConfig.caData"},
		{"a switch of the operator", kubeconfig(server+`,"insecure-skip-tls-verify":true`, ""), "egress.denyInsecureTLS"},
		{"an authority and none at all", kubeconfig(server+`,"insecure-skip-tls-verify":true,"certificate-authority-data":"eA=="`, ""), "insecure-skip-tls-verify"},
		{"two users of one name, of which readers choose different ones", strings.Replace(kubeconfig(server, ""), `"name":"other"`, `"name":"u"`, 1), "2 entries fit"},
		{"a query in the address", kubeconfig(`"server":"https://api.example.org/?`+secretWord+`"`, ""), "is not the address of an API server"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			config, err := ParseContent([]byte(test.content))
			if err != nil {
				t.Fatal(err)
			}
			_, err = Of(config, "shop", Terms{DenyInsecure: true})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestTokensForOthers: a token that the resource cluster accepts is not sent to another one, nor is
// a token that could not be checked.
func TestTokensForOthers(t *testing.T) {
	answer := http.StatusUnauthorized
	resource := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer of-the-account" || request.URL.Path != "/apis/authentication.k8s.io/v1/selfsubjectreviews" {
			t.Errorf("%s with %q", request.URL.Path, request.Header.Get("Authorization"))
		}
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(answer)
		_, _ = io.WriteString(out, `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`)
	}))
	defer resource.Close()
	self := &rest.Config{Host: resource.URL, BearerToken: "of-the-server", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	for _, test := range []struct {
		reason string
		self   *rest.Config
		answer int
		sent   bool
	}{
		{"the resource cluster does not know it", self, http.StatusUnauthorized, true},
		{"the resource cluster accepts it", self, http.StatusCreated, false},
		{"a token that is accepted without permissions is not sent", self, http.StatusForbidden, false},
		{"the resource cluster fails", self, http.StatusInternalServerError, false},
		{"a token that cannot be checked is not sent", nil, http.StatusUnauthorized, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			answer = test.answer
			source := &tokens{spec: tokenSpec{Namespace: "shop", Name: "edge", Audience: []string{"x"}}, now: time.Now, foreign: refusedBy(test.self),
				request: func(_ context.Context, _, _ string, request *authenticationv1.TokenRequest) error {
					request.Status = authenticationv1.TokenRequestStatus{Token: "of-the-account", ExpirationTimestamp: metav1.NewTime(time.Now().Add(time.Hour))}
					return nil
				}}
			token, err := source.get(t.Context())
			if (err == nil) != test.sent || (token != "") != test.sent {
				t.Errorf("%q, %v", token, err)
			}
			if err != nil && !clustererror.IsConnection(err) {
				t.Errorf("the reason is not told: %v", err)
			}
		})
	}
	if err := clustererror.Explain(clustererror.ErrOpensOurs, "op", "s"); job.OutcomeOf(err) != job.Terminal || job.Codes(err)[0] != v1alpha1.ErrorConfigurationProblem {
		t.Errorf("%v", err)
	}
}

func FuzzParseContent(f *testing.F) {
	for _, text := range append([]string{kubeconfig(server, `"token":"t"`), "kubeconfig: {secretRef: {name: s}}", `{"selfConfig":{"serviceAccount":{"name":"a"}}}`, "oidcConfig: {caData: [x]}"}, values(aliases())...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := ParseContent(text)
		if err != nil {
			checkRepeats(t, text, err)
			return
		}
		if _, err := Of(config, "shop", Terms{}); err != nil {
			checkRepeats(t, text, err)
		}
	})
}

func FuzzKubeconfig(f *testing.F) {
	for _, text := range append([]string{kubeconfig(server, `"token":"t"`), kubeconfig(server, `"exec":{"command":"x"}`), "", "null", "[]"}, values(aliases())...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		taken, err := ReadKubeconfig(text)
		if err != nil {
			checkRepeats(t, text, err)
			return
		}
		// What is accepted is a connection, and comes back the same from a text.
		written, err := taken.WithUser("u", &clientcmdapi.AuthInfo{Token: taken.token})
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadKubeconfig(written)
		if isEncrypted(taken.server) && (err != nil || again.server != taken.server || again.token != taken.token) {
			t.Errorf("%+v became %+v, %v", taken, again, err)
		}
	})
}

func values(texts map[string]string) []string {
	var list []string
	for _, text := range texts {
		list = append(list, text)
	}
	return list
}

// checkRepeats demands that a message does not repeat a long word of a text.
func checkRepeats(t *testing.T, text []byte, err error) {
	t.Helper()
	for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n\t\"'{}[],:", r) }) {
		if len(word) > 24 && strings.Contains(err.Error(), word) && !strings.Contains("certificate-authority-data insecure-skip-tls-verify", word) {
			t.Errorf("%v repeats %q", err, word)
		}
	}
}

// TestCorpora: the fuzz targets have inputs that were found once.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzParseContent", "FuzzKubeconfig"} {
		if entries, err := os.ReadDir("testdata/fuzz/" + name); err != nil || len(entries) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
