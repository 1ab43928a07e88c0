package login

import (
	"bytes"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSlowKeys: a key that it takes minutes to parse, or to compute with, is refused before.
func TestSlowKeys(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	one := big.NewInt(1)
	number := func(bits uint) *big.Int { n := new(big.Int).Lsh(one, bits); return n.Sub(n, one) }
	der, err := asn1.Marshal(struct {
		Version                           int
		N                                 *big.Int
		E                                 int
		D, P, Q, First, Second, Remainder *big.Int
	}{0, number(16384), 65537, number(16384), number(8192), number(8192), one, one, one})
	if err != nil {
		t.Fatal(err)
	}
	slow := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key := bytes.ReplaceAll(slow, []byte("CERTIFICATE"), []byte("RSA PRIVATE KEY"))
	small := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{0x30, 0}})
	for _, test := range []struct {
		reason                        string
		authorities, certificate, key []byte
		want                          string
	}{
		{"a private key", nil, small, key, "client-key-data of the kubeconfig: the key has more than 8192 bits"},
		{"behind another block", nil, small, append(bytes.Clone(small), key...), "client-key-data of the kubeconfig: the key has more than 8192 bits"},
		{"a certificate of the user", nil, slow, small, "client-certificate-data of the kubeconfig: the key has more than 8192 bits"},
		{"an authority", append(bytes.Clone(authority), slow...), nil, nil, "certificate-authority-data of the kubeconfig: the key has more than 8192 bits"},
	} {
		field := func(name string, text []byte) string {
			if text == nil {
				return ""
			}
			return fmt.Sprintf(", %s: %s", name, base64.StdEncoding.EncodeToString(text))
		}
		text := fmt.Sprintf(`{current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], clusters: [{name: a, cluster: {server: "https://example.org"%s}}], users: [{name: a, user: {%s}}]}`,
			field("certificate-authority-data", test.authorities), strings.TrimPrefix(field("client-certificate-data", test.certificate)+field("client-key-data", test.key), ", "))
		if _, err := ReadKubeconfig([]byte(text)); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
	config := &v1alpha1.OIDCConfig{Server: "https://example.org", CAData: append(bytes.Clone(authority), slow...), Audience: []string{"a"}}
	config.ServiceAccount.Name = "a"
	if _, err := oidcAccess(config, "space"); err == nil || !strings.HasPrefix(err.Error(), "oidcConfig.caData: the key has more than 8192 bits") {
		t.Errorf("oidcConfig: %v", err)
	}
}
