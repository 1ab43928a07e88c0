package credential

import "testing"

// TestDockerConfigInOrder: of several mistakes the first key is named, and of two keys of one
// host the last one counts, however often the configuration is read.
func TestDockerConfigInOrder(t *testing.T) {
	for range 50 {
		err := (&Store{}).AddDockerConfig([]byte(`{"auths":{"c":{"auth":"%"},"a":{"auth":"%"},"b":{"auth":"%"}}}`))
		if want := `the Docker configuration for "a": "auth" is not base64`; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
		s := &Store{}
		if err := s.AddDockerConfig([]byte(`{"auths":{"https://example.org":{"username":"u","password":"last"},"example.org":{"username":"u","password":"first"}}}`)); err != nil {
			t.Fatal(err)
		}
		if found := s.Find(Request{Type: TypeOCIRegistry, Scheme: "https", Host: "example.org"}); found[Password] != "last" {
			t.Fatalf("got %v", found)
		}
	}
}
