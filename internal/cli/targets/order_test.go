package targets

import (
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestFilesInOrder: of several files the first one is named each time.
func TestFilesInOrder(t *testing.T) {
	config := &clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{"c": {CertificateAuthority: "x"}, "a": {CertificateAuthority: "x"}, "b": {CertificateAuthority: "x"}}}
	users := &clientcmdapi.Config{AuthInfos: map[string]*clientcmdapi.AuthInfo{"c": {TokenFile: "x"}, "a": {TokenFile: "x"}, "b": {TokenFile: "x"}}}
	for range 50 {
		if err := worksElsewhere(config); err == nil || !strings.HasPrefix(err.Error(), `cluster "a"`) {
			t.Fatalf("got %v", err)
		}
		if err := worksElsewhere(users); err == nil || !strings.HasPrefix(err.Error(), `user "a"`) {
			t.Fatalf("got %v", err)
		}
	}
}
