package credential

import "testing"

// FuzzConfigurations reads credentials. Whatever they say, those that are
// confined to TLS are found for nothing else.
func FuzzConfigurations(f *testing.F) {
	f.Add([]byte(`{"auths":{"https://r.example.org/v2/path":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`))
	f.Add([]byte("type: credentials.config.ocm.software\nconsumers: [{identity: {type: OCIRegistry, hostname: r.example.org}, credentials: [{type: Credentials, properties: {username: u}}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Store{}
		_ = s.AddDockerConfig(data)
		_, _ = s.AddOCMConfig(data)
		s.OnlyTLS("r.example.org:5000")
		if found := s.Find(Request{Type: TypeOCIRegistry, Scheme: "http", Host: "r.example.org"}); found != nil {
			t.Errorf("found %v in clear text", found)
		}
	})
}
