package build

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// TestNothingIsFetched names addresses wherever a kustomization can name a file, in all the forms
// that the library takes for addresses. No host is asked, no program runs.
func TestNothingIsFetched(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	server.Config.ConnState = func(net.Conn, http.ConnState) { asked.Add(1) }
	// Without a path there is no git to run either; it would be an error of its own.
	t.Setenv("PATH", t.TempDir())
	host := strings.TrimPrefix(server.URL, "http://")
	addresses := []string{
		server.URL + "/x.yaml", server.URL + "/x.git", server.URL + "/a/b//c?ref=v1", "git::" + server.URL + "/a/b", "git@" + host + ":a/b.git",
		"ssh://git@" + host + "/a/b", "file:///etc", "file:///etc/hostname", "HTTP://" + host + "/x", "github.com/a/b", "github.com:a/b", "https://" + host + "/_git/x",
		host + "/a/b.git",
	}
	places := []struct{ reason, before, after string }{
		{"resources", "resources: ['", "']"}, {"bases", "bases: ['", "']"}, {"components", "components: ['", "']"},
		{"patches", "patches: [{path: '", "'}]"}, {"older patches", "patchesStrategicMerge: ['", "']"}, {"older JSON patches", "patchesJson6902: [{target: {kind: A}, path: '", "'}]"},
		{"files", "configMapGenerator: [{name: a, files: ['k=", "']}]"}, {"files without a key", "configMapGenerator: [{name: a, files: ['", "']}]"},
		{"environments", "secretGenerator: [{name: a, envs: ['", "']}]"}, {"an environment", "secretGenerator: [{name: a, env: '", "'}]"},
		{"replacements", "replacements: [{path: '", "'}]"}, {"schemas", "openapi: {path: '", "'}"}, {"transformers", "transformers: ['", "']"}, {"generators", "generators: ['", "']"},
		{"validators", "validators: ['", "']"}, {"configurations", "configurations: ['", "']"}, {"crds", "crds: ['", "']"},
	}
	for _, place := range places {
		t.Run(place.reason, func(t *testing.T) {
			for _, address := range addresses {
				got, err := built(t, files{"kustomization.yaml": place.before + address + place.after}, "{}")
				if err == nil || strings.Contains(err.Error(), "git fetch") || strings.Contains(err.Error(), "exec") {
					t.Errorf("%s: error %v\n%s", address, err, got)
				}
			}
		})
	}
	// A directory of the source that looks like an address is a directory.
	got, err := built(t, files{"kustomization.yaml": "resources: [github.com/a/b]", "github.com/a/b/x.yaml": configMap}, "{}")
	if err != nil || !strings.Contains(got, "name: a") {
		t.Errorf("error %v\n%s", err, got)
	}
	for _, config := range []string{"{path: '" + server.URL + "'}", "{components: ['" + server.URL + "/a/b']}"} {
		if _, err := built(t, files{"a.yaml": configMap}, config); err == nil {
			t.Errorf("%s is built", config)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("%d connections", asked.Load())
	}
}
