package login

import (
	"encoding/base64"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const secretWord = "top-secret-word"

// kubeconfig returns a kubeconfig whose cluster and user have the given fields.
func kubeconfig(cluster, user string) string {
	return `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],` +
		`"clusters":[{"name":"c","cluster":{` + cluster + `}}],"users":[{"name":"u","user":{` + user + `}},{"name":"other","user":{}}]}`
}

const server = `"server":"https://api.example.org"`

func TestParseKubeconfig(t *testing.T) {
	tests := []struct{ reason, text, want string }{
		{"a token", kubeconfig(server, `"token":"t"`), ""},
		{"a user and a password", kubeconfig(server, `"username":"a","password":"b"`), ""},
		{"no user at all", kubeconfig(server, ``), ""},
		{"a server certificate without verification is allowed", kubeconfig(server+`,"insecure-skip-tls-verify":true`, `"token":"t"`), ""},
		{"a plugin", kubeconfig(server, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"`+secretWord+`"}`), "users[0].user.exec"},
		{"a plugin of a user that is not used", strings.Replace(kubeconfig(server, ""), `"name":"other","user":{}`, `"name":"other","user":{"exec":{"command":"x"}}`, 1), "users[1].user.exec"},
		{"an auth provider", kubeconfig(server, `"auth-provider":{"name":"`+secretWord+`"}`), "users[0].user.auth-provider"},
		{"a certificate file", kubeconfig(server, `"client-certificate":"`+secretWord+`"`), "users[0].user.client-certificate"},
		{"a key file", kubeconfig(server, `"client-key":"`+secretWord+`"`), "users[0].user.client-key"},
		{"a token file", kubeconfig(server, `"tokenFile":"`+secretWord+`"`), "users[0].user.tokenFile"},
		{"impersonation", kubeconfig(server, `"as":"`+secretWord+`"`), "users[0].user.as"},
		{"impersonation of groups", kubeconfig(server, `"as-groups":["`+secretWord+`"]`), "users[0].user.as-groups"},
		{"impersonation by identity", kubeconfig(server, `"as-uid":"`+secretWord+`"`), "users[0].user.as-uid"},
		{"impersonation with further properties", kubeconfig(server, `"as-user-extra":{"a":["`+secretWord+`"]}`), "users[0].user.as-user-extra"},
		{"a file with the authority", kubeconfig(server+`,"certificate-authority":"`+secretWord+`"`, ``), "clusters[0].cluster.certificate-authority"},
		{"a password in the address", kubeconfig(`"server":"https://a:`+secretWord+`@api.example.org"`, ``), "clusters[0].cluster.server"},
		{"an address that is not valid", kubeconfig(`"server":"`+secretWord+`"`, ``), "https://api.example.org:6443"},
		{"no address: the library would take localhost", kubeconfig(``, ``), "https://api.example.org:6443"},
		{"an address with another scheme", kubeconfig(`"server":"file:///`+secretWord+`"`, ``), "https://api.example.org:6443"},
		{"a key that is not valid", kubeconfig(server, `"client-certificate-data":"`+base64.StdEncoding.EncodeToString([]byte(secretWord))+`"`), "check the certificates"},
		{"no current context", `{"apiVersion":"v1","kind":"Config"}`, "no current-context"},
		{"a context that does not exist", `{"apiVersion":"v1","kind":"Config","current-context":"` + secretWord + `"}`, "no context with the name"},
		{"a cluster that does not exist", `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"` + secretWord + `"}}]}`, "no cluster with the name"},
		{"a user that does not exist", strings.Replace(kubeconfig(server, ""), `"user":"u"`, `"user":"`+secretWord+`"`, 1), "no user with the name"},
		{"a document of another kind", `{"apiVersion":"v1","kind":"Secret","data":"` + secretWord + `"}`, "cannot be decoded"},
		{"no document", secretWord + ": [", "cannot be decoded"},
		{"nothing", "", "no current-context"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := ReadKubeconfig([]byte(test.text))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			case err != nil && strings.Contains(err.Error(), secretWord):
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}

func TestNewAccess(t *testing.T) {
	self := &rest.Config{Host: "https://self.example.org", BearerToken: secretWord, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}
	tests := []struct{ reason, content, host, token, err string }{
		{"a kubeconfig goes before all others", `{"kubeconfig":` + kubeconfig(server, "") + `,"selfConfig":{"serviceAccount":{"name":"a"}}}`, "https://api.example.org", "", ""},
		{"a bare kubeconfig", kubeconfig(server, ""), "https://api.example.org", "", ""},
		{"the resource cluster itself", `{"selfConfig":{"serviceAccount":{"name":"a"}}}`, "https://self.example.org", "shop/a", ""},
		{"a cluster that trusts our tokens", `{"oidcConfig":{"server":"https://edge.example.org","audience":["edge"],"serviceAccount":{"name":"a"}}}`, "https://edge.example.org", "shop/a", ""},
		{"a cluster without an address", `{"oidcConfig":{"serviceAccount":{"name":"a"}}}`, "", "", "oidcConfig.server"},
		{"oidcConfig without a ServiceAccount", `{"oidcConfig":{"server":"https://edge.example.org"}}`, "", "", "oidcConfig.serviceAccount.name"},
		{"selfConfig without a ServiceAccount", `{"selfConfig":{}}`, "", "", "selfConfig.serviceAccount.name"},
		{"an empty kubeconfig still counts", `{"kubeconfig":{}}`, "", "", "no current-context"},
		{"nothing", `null`, "", "", "set one of kubeconfig, oidcConfig and selfConfig"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			config, err := ParseContent([]byte(test.content))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Of(config, "shop", Terms{Self: self})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			token := ""
			if got.Token != nil {
				token = got.Token.Namespace + "/" + got.Token.Name
			}
			if got.Config.Host != test.host || token != test.token || got.Config.BearerToken != "" {
				t.Errorf("host %s, token of %s", got.Config.Host, token)
			}
		})
	}
}

func TestAccessKeys(t *testing.T) {
	key := func(content, namespace string) string {
		config, err := ParseContent([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		access, err := Of(config, namespace, Terms{Self: &rest.Config{Host: "https://self.example.org"}})
		if err != nil {
			t.Fatal(err)
		}
		return access.Key
	}
	if key(kubeconfig(server, ""), "a") != key(kubeconfig(server, ""), "b") {
		t.Error("the same kubeconfig is the same access, wherever the Target is")
	}
	if key(kubeconfig(server, ""), "a") == key(kubeconfig(server, `"token":"t"`), "a") {
		t.Error("other credentials are another access")
	}
	if self := `{"selfConfig":{"serviceAccount":{"name":"a"}}}`; key(self, "a") == key(self, "b") {
		t.Error("a ServiceAccount of another namespace is another access")
	}
}
