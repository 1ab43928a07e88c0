package cli

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/component/credential"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/registry"
	"go.landscaper.dev/internal/component/repository"
)

func TestLocate(t *testing.T) {
	write(t, map[string]string{
		"transport/artifact-index.json": "{}", "archive/component-descriptor.yaml": "", "registry.example.org/file": "", "empty.tar": strings.Repeat("\x00", 1024), "text": "text",
	})
	const registryContext = `{"baseUrl":"r.example.org","componentNameMapping":"urlPath","subPath":"a/b","type":"OCIRegistry"}`
	for _, test := range []struct{ reason, text, kind, context, err string }{
		{"a registry", "r.example.org/a/b", repository.KindOCI, registryContext, ""},
		{"with a scheme", "https://r.example.org/a/b/", repository.KindOCI, registryContext, ""},
		{"with another", "oci://R.example.org/a/b", repository.KindOCI, registryContext, ""},
		{"without TLS", "http://localhost:5000", repository.KindOCI, `{"baseUrl":"http://localhost:5000","componentNameMapping":"urlPath","type":"OCIRegistry"}`, ""},
		{"a host with a port", "registry:5000/x", repository.KindOCI, "", ""},
		{"this machine", "localhost/x", repository.KindOCI, "", ""},
		{"a repository context", `{"type":"ociRegistry","baseUrl":"r.example.org","componentNameMapping":"sha256-digest"}`, repository.KindOCI, "", ""},
		{"a transport archive", "transport", repository.KindCTF, `{"filePath":"transport","type":"CommonTransportFormat"}`, ""},
		{"a component archive", "archive", repository.KindComponentArchive, "", ""},
		{"a directory", "registry.example.org", repository.KindLocal, "", ""},
		{"which is a registry if that is said", "https://registry.example.org", repository.KindOCI, "", ""},
		{"a tar of something else", "empty.tar", "", "", "has neither artifact-index.json nor component-descriptor.yaml"},
		{"a file of something else", "text", "", "", "the repository text is no archive of components"},
		{"a path that is not there", "../x", "", "", "there is no archive or directory ../x"},
		{"an archive that is not there", "x.tgz", "", "", "there is no archive or directory x.tgz"},
		{"neither", "transprot", "", "", "neither a file or directory that exists nor a registry: name a registry such as"},
		{"nothing", "", "", "", "the REPOSITORY is empty"},
		{"credentials in the address", "https://user:s3cr3t@r.example.org", "", "", "holds credentials"},
		{"a context that nobody knows", `{"type":"x"}`, "", "", `unknown repository type "x"`},
	} {
		got, err := locate(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s: %v", test.reason, err)
			}
			continue
		}
		if err != nil || got.spec.Kind != test.kind || test.context != "" && string(got.context) != test.context {
			t.Errorf("%s: %s %s, %v", test.reason, got.spec.Kind, got.context, err)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, test := range []struct{ reason, args, name, version, err string }{
		{"three arguments", "r.example.org/x example.org/shop 1.0.0", "example.org/shop", "1.0.0", ""},
		{"one", "r.example.org/x//example.org/shop:1.0.0+b", "example.org/shop", "1.0.0+b", ""},
		{"one with a scheme", "http://localhost:5000//example.org/shop:1.0.0", "example.org/shop", "1.0.0", ""},
		{"the scheme is no separator", "http://localhost:5000 example.org/shop 1.0.0", "example.org/shop", "1.0.0", ""},
		{"named twice", "r.example.org//example.org/shop:1.0.0 example.org/shop", "", "", "the component is named twice"},
		{"no version", "r.example.org example.org/shop", "", "", "name the component and its version: the registry r.example.org has no list of them"},
		{"a version that is none", "r.example.org example.org/shop latest", "", "", `the component version "latest" is not a semantic version`},
		{"a name that is none", "r.example.org shop 1.0.0", "", "", `the component name "shop" is not valid`},
	} {
		got, err := target(strings.Fields(test.args))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || exitCode(err, true) != ExitUsage {
				t.Errorf("%s: %v", test.reason, err)
			}
			continue
		}
		if err != nil || got.Name != test.name || got.Version != test.version {
			t.Errorf("%s: %+v, %v", test.reason, got, err)
		}
	}
}

func TestExplain(t *testing.T) {
	late, cancel := context.WithTimeoutCause(t.Context(), 0, errTimeout)
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	access := &registryAccess{helpers: "/home/me/.docker/config.json"}
	for _, test := range []struct {
		reason string
		ctx    context.Context
		err    error
		code   int
		want   string
	}{
		{"denied", t.Context(), fmt.Errorf("x: %w", registry.ErrDenied), ExitForbidden, "the credential helpers that /home/me/.docker/config.json names are not run"},
		{"no such version", t.Context(), &repository.NotFoundError{Name: "a", Version: "1"}, ExitNotFound, "not found"},
		{"no such resource", t.Context(), &descriptor.NotFoundError{}, ExitNotFound, ""},
		{"several resources", t.Context(), &descriptor.NotFoundError{Matches: 2}, ExitUsage, ""},
		{"something else", t.Context(), oci.ErrDigest, ExitFailed, ""},
		{"a certificate that nobody knows", t.Context(), fmt.Errorf("x: %w", x509.UnknownAuthorityError{}), ExitFailed, "--ca-file"},
		{"the time is over", late, errors.New("read: use of closed connection"), ExitTimeout, "allow more with --timeout"},
		{"the user has stopped it", stopped, errors.New("read: use of closed connection"), ExitInterrupted, "interrupted"},
		{"a code that was chosen stays", stopped, exitf(ExitUsage, "x"), ExitUsage, "x"},
	} {
		got := access.explain(test.ctx, test.err)
		if exitCode(got, true) != test.code || !strings.Contains(got.Error(), test.want) {
			t.Errorf("%s: %v, code %d", test.reason, got, exitCode(got, true))
		}
	}
	if err := access.explain(stopped, nil); err != nil {
		t.Errorf("what was done in time is done: %v", err)
	}
}

func TestRegistryFlags(t *testing.T) {
	const docker = `{"auths":{"r.example.org":{"username":"u","password":"s3cr3t"}},"credsStore":"desktop"}`
	const other = `{"auths":{"r.example.org":{"username":"other","password":"s3cr3t"}}}`
	directory := write(t, map[string]string{
		"home/.docker/config.json": docker, "elsewhere/config.json": other, "broken.json": `{"auths": s3cr3t`, "ca.pem": "none", "broken.yaml": "a: [s3cr3t",
		"ocm.yaml":     "type: generic.config.ocm.software/v1\nconfigurations:\n- type: credentials.config.ocm.software\n  repositories: [{repository: {type: DockerConfig/v1, dockerConfigFile: ~/.docker/config.json}}]\n- type: something.else\n",
		"missing.yaml": "type: credentials.config.ocm.software\nrepositories: [{repository: {type: DockerConfig/v1, dockerConfigFile: nowhere}}]\n",
	})
	for _, test := range []struct {
		reason      string
		flags       registryFlags
		environment map[string]string
		user        string
		helpers     bool
		warning     string
		err         string
	}{
		{"nothing at all", registryFlags{}, nil, "", false, "", ""},
		{"the file of the user", registryFlags{}, map[string]string{"HOME": "home"}, "u", true, "", ""},
		{"no file of the user", registryFlags{}, map[string]string{"HOME": "elsewhere"}, "", false, "", ""},
		{"a directory in the environment", registryFlags{}, map[string]string{"HOME": "home", "DOCKER_CONFIG": "elsewhere"}, "other", false, "", ""},
		{"a file that was named", registryFlags{registryConfig: "elsewhere/config.json"}, map[string]string{"HOME": "home"}, "other", false, "", ""},
		{"an OCM configuration that names the file of the user", registryFlags{ocmConfig: "ocm.yaml"}, map[string]string{"HOME": filepath.Join(directory, "home"), "DOCKER_CONFIG": "none"}, "u", false,
			`Warning: ocm.yaml: the OCM configuration has a part of type "something.else"`, ""},
		{"a file that is not there", registryFlags{registryConfig: "nowhere"}, nil, "", false, "", "--registry-config: open nowhere"},
		{"a file that is none", registryFlags{registryConfig: "broken.json"}, nil, "", false, "", "broken.json: the Docker configuration is no JSON object"},
		{"an OCM configuration that is not there", registryFlags{ocmConfig: "nowhere"}, nil, "", false, "", "--ocm-config nowhere: open nowhere"},
		{"an OCM configuration that is none", registryFlags{ocmConfig: "broken.yaml"}, nil, "", false, "", "--ocm-config broken.yaml: the OCM configuration is neither YAML nor JSON"},
		{"an OCM configuration that names a file that is not there", registryFlags{ocmConfig: "missing.yaml"}, nil, "", false, "", "dockerConfigFile: open nowhere"},
		{"authorities that are not there", registryFlags{caFile: "nowhere"}, nil, "", false, "", "--ca-file: open nowhere"},
		{"authorities that are none", registryFlags{caFile: "ca.pem"}, nil, "", false, "", "--ca-file ca.pem: the file has no PEM certificate"},
	} {
		c := &console{environment: test.environment}
		got, err := test.flags.access(c.streams())
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t") || exitCode(err, true) != ExitUsage {
				t.Errorf("%s: %v", test.reason, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.reason, err)
			continue
		}
		found := got.options.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: "r.example.org"})
		if found[credential.Username] != test.user || (got.helpers != "") != test.helpers || !strings.Contains(c.err.String(), test.warning) {
			t.Errorf("%s: user %q, helpers %q, %s", test.reason, found[credential.Username], got.helpers, c.err.String())
		}
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
	c := &console{}
	if code := Run(t.Context(), c.streams(), append(args, "--timeout", "50ms")); code != ExitTimeout || !strings.Contains(c.err.String(), "the time is over: allow more with --timeout") {
		t.Errorf("code %d: %s", code, c.err.String())
	}
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	c = &console{}
	if code := Run(ctx, c.streams(), args); code != ExitInterrupted || c.err.String() != "Error: interrupted\n" {
		t.Errorf("code %d: %s", code, c.err.String())
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
		{"nothing is said", []string{host, "example.org/shop", "1.0.0"}, ExitFailed, "begin the address with http://, or use --allow-plain-http"},
		{"by the address", []string{server.URL + "//example.org/shop:1.0.0"}, ExitNotFound, "not found in http://" + host},
		{"by the flag", []string{host, "example.org/shop", "1.0.0", "--allow-plain-http"}, ExitNotFound, "not found in " + host},
	} {
		if got := execute(t, append([]string{"get"}, test.args...)...); got.code != test.code || !strings.Contains(got.err, test.err) {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
}

// TestDownloadOutsideRegistries trusts the authority of the flag there, too.
func TestDownloadOutsideRegistries(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("from the net")) }))
	defer server.Close()
	write(t, map[string]string{
		"ca.pem": pemOf(server.Certificate()),
		"d/one":  "{meta: {schemaVersion: v2}, component: {name: example.org/shop, version: 1.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: [{name: net, version: '1', type: t, relation: external, access: {type: wget, url: '" + server.URL + "'}}]}}",
	})
	if got := execute(t, "download", "d", "net", "-O", "-", "--ca-file", "ca.pem"); got.out != "from the net" {
		t.Errorf("got %+v", got)
	}
	if got := execute(t, "download", "d", "net", "-O", "-"); got.code != ExitFailed || !strings.Contains(got.err, "--ca-file") {
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
		c := &console{}
		line := append([]string{"__complete", "components"}, strings.Split(args, " ")...)
		if code := Run(t.Context(), c.streams(), line); code != 0 || !strings.HasPrefix(c.out.String(), want) {
			t.Errorf("%s: code %d, %q", args, code, c.out.String())
		}
	}
	c := &console{}
	if code := Run(t.Context(), c.streams(), []string{"__complete", "components", "get", "here", ""}); code != 0 || !strings.Contains(c.out.String(), ":4") {
		t.Errorf("a component is no file: %q", c.out.String())
	}
}
