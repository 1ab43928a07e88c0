package components

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestTarget(t *testing.T) {
	for _, test := range []struct{ reason, args, name, version, err string }{
		{"three arguments", "r.example.org/x example.org/shop 1.0.0", "example.org/shop", "1.0.0", ""},
		{"one argument", "r.example.org/x//example.org/shop:1.0.0+b", "example.org/shop", "1.0.0+b", ""},
		{"one argument with a scheme", "http://localhost:5000//example.org/shop:1.0.0", "example.org/shop", "1.0.0", ""},
		{"the scheme is not a separator", "http://localhost:5000 example.org/shop 1.0.0", "example.org/shop", "1.0.0", ""},
		{"named twice", "r.example.org//example.org/shop:1.0.0 example.org/shop", "", "", "the component is named twice"},
		{"no version", "r.example.org example.org/shop", "", "", "name the version of example.org/shop: landscaper-cli components list r.example.org example.org/shop"},
		{"no component", "r.example.org", "", "", "name the component and its version: the registry r.example.org has no list of them"},
		{"an invalid version", "r.example.org example.org/shop latest", "", "", `the component version "latest" is not a semantic version`},
		{"an invalid name", "r.example.org shop 1.0.0", "", "", `the component name "shop" is not valid`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := targetOf(strings.Fields(test.args))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || terminal.ExitCode(err, true) != terminal.ExitUsage {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Name != test.name || got.Version != test.version {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestRegistryThatHangs ends with the time limit, and with the user's patience.
func TestRegistryThatHangs(t *testing.T) {
	asked := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	args := []string{"components", "get", server.URL, "example.org/shop", "1.0.0"}
	c := &terminaltest.Console{}
	if code := run(t.Context(), c.Streams(), append(args, "--timeout", "50ms")); code != terminal.ExitTimeout || !strings.Contains(c.Err.String(), "the time is over: allow more with --timeout") {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	c = &terminaltest.Console{}
	if code := run(ctx, c.Streams(), args); code != terminal.ExitInterrupted || c.Err.String() != "Error: interrupted\n" {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
}

// TestRegistryWithoutTLS is reached if that is said.
func TestRegistryWithoutTLS(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, test := range []struct {
		reason string
		args   []string
		code   int
		err    string
	}{
		{"nothing is said", []string{host, "example.org/shop", "1.0.0"}, terminal.ExitFailed, "begin the address with http://, or use --allow-plain-http"},
		{"by the address", []string{server.URL + "//example.org/shop:1.0.0"}, terminal.ExitNotFound, "not found in http://" + host},
		{"by the flag", []string{host, "example.org/shop", "1.0.0", "--allow-plain-http"}, terminal.ExitNotFound, "not found in " + host},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := execute(t, append([]string{"get"}, test.args...)...); got.code != test.code || !strings.Contains(got.err, test.err) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestDownloadOutsideRegistries trusts the authority of the flag there, too.
func TestDownloadOutsideRegistries(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("from the net")) }))
	defer server.Close()
	terminaltest.WriteFiles(t, map[string]string{
		"ca.pem": pemOf(server.Certificate()),
		"d/one":  "{meta: {schemaVersion: v2}, component: {name: example.org/shop, version: 1.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: [{name: net, version: '1', type: t, relation: external, access: {type: wget, url: '" + server.URL + "'}}]}}",
	})
	if got := execute(t, "download", "d", "net", "-O", "-", "--ca-file", "ca.pem"); got.out != "from the net" {
		t.Errorf("got %+v", got)
	}
	if got := execute(t, "download", "d", "net", "-O", "-"); got.code != terminal.ExitFailed || !strings.Contains(got.err, "--ca-file") {
		t.Errorf("without the authority: %+v", got)
	}
	if got := execute(t, "download", "d", "net", "-O", "-", "--insecure-skip-tls-verify"); got.out != "from the net" {
		t.Errorf("without a check: %+v", got)
	}
}

func pemOf(certificate *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))
}

func TestCompletionOfComponents(t *testing.T) {
	for args, want := range map[string]string{
		"get --output ": "yaml\njson\ntree\n", "get --schema ": "v2\nocm.software/v3alpha1\n", "list-resources -o ": "table\nwide\njson\nyaml\n", "push --schema ": "v2\nocm.software/v3alpha1\n",
	} {
		t.Run(args, func(t *testing.T) {
			c := &terminaltest.Console{}
			line := append([]string{"__complete", "components"}, strings.Split(args, " ")...)
			if code := run(t.Context(), c.Streams(), line); code != 0 || !strings.HasPrefix(c.Out.String(), want) {
				t.Errorf("%s: code %d, %q", args, code, c.Out.String())
			}
		})
	}
	shop(t, "transport")
	for args, want := range map[string]string{
		"sign --hash ": "SHA-256\nSHA-512\n", "sign --algorithm ": "RSASSA-PSS\nRSASSA-PKCS1-V1_5\n", "sign --normalisation ": "jsonNormalisation/v1\n", "copy -o ": "json\nyaml\n",
		"verify transport ": "example.org/shop/db\nexample.org/shop/web\n:4\n", "sign transport example.org/shop/web ": "1.4.2\n:4\n", "list transport ": "example.org/shop/db\nexample.org/shop/web\n:4\n",
		"copy transport ": "example.org/shop/db\n", "copy transport example.org/shop/web 1.4.2 ": ":0\n", "copy transport//example.org/shop/web:1.4.2 ": ":0\n", "copy http://localhost:1 ": ":4\n",
		"verify registry.example.org/path ": ":4\n", "download transport example.org/shop/web 1.4.2 ": ":4\n", "sign transport --private-key ": ":0\n",
	} {
		t.Run(args, func(t *testing.T) {
			c := &terminaltest.Console{}
			line := append([]string{"__complete", "components"}, strings.Split(args, " ")...)
			got := ""
			if code := run(t.Context(), c.Streams(), line); code == 0 {
				got = c.Out.String()
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		})
	}
	c := &terminaltest.Console{}
	if code := run(t.Context(), c.Streams(), []string{"__complete", "components", "get", "here", ""}); code != 0 || !strings.Contains(c.Out.String(), ":4") {
		t.Errorf("a component is no file: %q", c.Out.String())
	}
}
