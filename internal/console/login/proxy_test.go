package login

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func httptestHost(b *browser, host string) int {
	request := httptest.NewRequest(http.MethodGet, site+"/session", nil)
	request.Host = host
	for name, value := range b.cookies {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	b.handler.ServeHTTP(recorder, request)
	return recorder.Code
}

func bySecret() *Proxy {
	return &Proxy{UserHeader: "X-User", GroupsHeader: "X-Groups", SecretHeader: "X-Proof", Secret: []byte("proof")}
}

func certificate(name string, verified bool) *tls.ConnectionState {
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: name}}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	if verified {
		state.VerifiedChains = [][]*x509.Certificate{{leaf}}
	}
	return state
}

// TestProxy: headers count in requests of the proxy only.
func TestProxy(t *testing.T) {
	byCertificate := &Proxy{UserHeader: "X-User", CertificateNames: []string{"front"}}
	both := bySecret()
	both.CertificateNames = []string{"front"}
	tests := []struct {
		reason  string
		proxy   *Proxy
		headers [][2]string
		tls     *tls.ConnectionState
		want    int
		user    string
	}{
		{"the proxy", bySecret(), [][2]string{{"X-Proof", "proof"}, {"X-User", "jane"}}, nil, 200, "jane"},
		{"headers of anyone", bySecret(), [][2]string{{"X-User", "jane"}}, nil, 401, ""},
		{"a wrong secret", bySecret(), [][2]string{{"X-Proof", "guess"}, {"X-User", "jane"}}, nil, 401, ""},
		{"an empty secret", bySecret(), [][2]string{{"X-Proof", ""}, {"X-User", "jane"}}, nil, 401, ""},
		{"another secret beside the right one", bySecret(), [][2]string{{"X-Proof", "proof"}, {"X-Proof", "guess"}, {"X-User", "jane"}}, nil, 401, ""},
		{"a secret beside another", bySecret(), [][2]string{{"X-Proof", "guess"}, {"X-Proof", "proof"}, {"X-User", "jane"}}, nil, 401, ""},
		{"a name beside that of the client", bySecret(), [][2]string{{"X-Proof", "proof"}, {"X-User", "admin"}, {"X-User", "jane"}}, nil, 401, ""},
		{"no name", bySecret(), [][2]string{{"X-Proof", "proof"}}, nil, 401, ""},
		{"a name of Kubernetes", bySecret(), [][2]string{{"X-Proof", "proof"}, {"X-User", "system:admin"}}, nil, 401, ""},
		{"a certificate", byCertificate, [][2]string{{"X-User", "jane"}}, certificate("front", true), 200, "jane"},
		{"a certificate that was not verified", byCertificate, [][2]string{{"X-User", "jane"}}, certificate("front", false), 401, ""},
		{"a certificate of another client", byCertificate, [][2]string{{"X-User", "jane"}}, certificate("other", true), 401, ""},
		{"a certificate without a name", byCertificate, [][2]string{{"X-User", "jane"}}, certificate("", true), 401, ""},
		{"no certificate", byCertificate, [][2]string{{"X-User", "jane"}}, nil, 401, ""},
		{"both are needed where both are configured", both, [][2]string{{"X-Proof", "proof"}, {"X-User", "jane"}}, nil, 401, ""},
		{"both", both, [][2]string{{"X-Proof", "proof"}, {"X-User", "jane"}}, certificate("front", true), 200, "jane"},
		{"a proxy that nothing proves", &Proxy{UserHeader: "X-User"}, [][2]string{{"X-User", "jane"}}, nil, 401, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			b := open(t, people(), func(o *Options) { o.Tokens, o.Proxy = nil, test.proxy })
			request := httptest.NewRequest(http.MethodGet, site+"/session", nil)
			for _, header := range test.headers {
				request.Header.Add(header[0], header[1])
			}
			request.TLS = test.tls
			recorder := httptest.NewRecorder()
			b.handler.ServeHTTP(recorder, request)
			if recorder.Code != test.want || test.user != "" && !strings.Contains(recorder.Body.String(), `"`+test.user+`"`) {
				t.Errorf("%d %s", recorder.Code, recorder.Body)
			}
			if recorder.Code == http.StatusOK && !strings.Contains(recorder.Body.String(), `"logsOut":false`) {
				t.Errorf("a log-out that the proxy undoes: %s", recorder.Body)
			}
			if len(recorder.Result().Cookies()) > 0 {
				t.Error("a session that the proxy cannot end")
			}
		})
	}
}

func TestNames(t *testing.T) {
	prefixed := Names{UserPrefix: "sso:", GroupsPrefix: "sso:"}
	tests := []struct {
		reason string
		names  Names
		name   string
		groups []string
		want   []string
	}{
		{"a user of groups", Names{}, "jane", []string{"dev", ""}, []string{"jane", authenticated, "dev"}},
		{"prefixes", prefixed, "jane", []string{"dev"}, []string{"sso:jane", authenticated, "sso:dev"}},
		{"groups of Kubernetes are left out", Names{}, "jane", []string{"system:masters", "dev"}, []string{"jane", authenticated, "dev"}},
		{"with a prefix they are others", prefixed, "system:admin", []string{"system:masters"}, []string{"sso:system:admin", authenticated, "sso:system:masters"}},
		{"a user of Kubernetes", Names{}, "system:serviceaccount:a:b", nil, nil},
		{"a prefix that makes one", Names{UserPrefix: "system:"}, "admin", nil, nil},
		{"no name, whatever the prefix", prefixed, "", nil, nil},
		{"control characters", Names{}, "jane\nadmin", nil, nil},
		{"too many groups", Names{}, "jane", make([]string, maxGroups+1), nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			user, err := test.names.user(test.name, test.groups)
			if (err == nil) != (test.want != nil) {
				t.Fatalf("%v", err)
			}
			if err == nil {
				if diff := cmp.Diff(test.want, append([]string{user.Username}, user.Groups...)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestGroupsOfHeaders: a comma divides groups only where the operator says so, because names of
// directories have commas.
func TestGroupsOfHeaders(t *testing.T) {
	for separator, want := range map[string][]string{"": {authenticated, "cn=a,ou=b", "dev"}, ",": {authenticated, "cn=a", "ou=b", "dev"}} {
		proxy := bySecret()
		proxy.GroupsSeparator = separator
		request := httptest.NewRequest(http.MethodGet, site, nil)
		request.Header.Set("X-User", "jane")
		request.Header.Add("X-Groups", "cn=a,ou=b")
		request.Header.Add("X-Groups", " dev ")
		user, err := proxy.user(request)
		if diff := cmp.Diff(want, user.Groups); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
}
