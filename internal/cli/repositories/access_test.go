package repositories

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

func TestLocate(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
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
		{"an unknown context", `{"type":"x"}`, "", "", `unknown repository type "x"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Locate(test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Spec.Kind != test.kind || test.context != "" && string(got.Context) != test.context {
				t.Errorf("%s %s, %v", got.Spec.Kind, got.Context, err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	late, cancel := context.WithTimeoutCause(t.Context(), 0, terminal.ErrTimeout)
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	access := &Access{helpers: "/home/me/.docker/config.json"}
	for _, test := range []struct {
		reason string
		ctx    context.Context
		err    error
		code   int
		want   string
	}{
		{"denied", t.Context(), fmt.Errorf("x: %w", registry.ErrDenied), terminal.ExitForbidden, "the credential helpers that /home/me/.docker/config.json names are not run"},
		{"no such version", t.Context(), &repository.NotFoundError{Name: "a", Version: "1"}, terminal.ExitNotFound, "not found"},
		{"no such resource", t.Context(), &descriptor.NotFoundError{}, terminal.ExitNotFound, ""},
		{"several resources", t.Context(), &descriptor.NotFoundError{Matches: 2}, terminal.ExitUsage, ""},
		{"something else", t.Context(), oci.ErrDigest, terminal.ExitFailed, ""},
		{"a certificate of an unknown authority", t.Context(), fmt.Errorf("x: %w", x509.UnknownAuthorityError{}), terminal.ExitFailed, "--ca-file"},
		{"the time is over", late, errors.New("read: use of closed connection"), terminal.ExitTimeout, "allow more with --timeout"},
		{"the user has stopped it", stopped, errors.New("read: use of closed connection"), terminal.ExitInterrupted, "interrupted"},
		{"a code that was chosen stays", stopped, terminal.Exitf(terminal.ExitUsage, "x"), terminal.ExitUsage, "x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := access.Explain(test.ctx, test.err)
			if terminal.ExitCode(got, true) != test.code || !strings.Contains(got.Error(), test.want) {
				t.Errorf("%v, code %d", got, terminal.ExitCode(got, true))
			}
		})
	}
	if err := access.Explain(stopped, nil); err != nil {
		t.Errorf("what was done in time is done: %v", err)
	}
}

func TestRegistryFlags(t *testing.T) {
	const docker = `{"auths":{"r.example.org":{"username":"u","password":"s3cr3t"}},"credsStore":"desktop"}`
	const other = `{"auths":{"r.example.org":{"username":"other","password":"s3cr3t"}}}`
	directory := terminaltest.WriteFiles(t, map[string]string{
		"home/.docker/config.json": docker, "elsewhere/config.json": other, "broken.json": `{"auths": s3cr3t`, "ca.pem": "none", "broken.yaml": "a: [s3cr3t",
		"ocm.yaml":     "type: generic.config.ocm.software/v1\nconfigurations:\n- type: credentials.config.ocm.software\n  repositories: [{repository: {type: DockerConfig/v1, dockerConfigFile: ~/.docker/config.json}}]\n- type: something.else\n",
		"missing.yaml": "type: credentials.config.ocm.software\nrepositories: [{repository: {type: DockerConfig/v1, dockerConfigFile: nowhere}}]\n",
	})
	for _, test := range []struct {
		reason      string
		flags       Flags
		environment map[string]string
		user        string
		helpers     bool
		warning     string
		err         string
	}{
		{"nothing at all", Flags{}, nil, "", false, "", ""},
		{"the file of the user", Flags{}, map[string]string{"HOME": "home"}, "u", true, "", ""},
		{"no file of the user", Flags{}, map[string]string{"HOME": "elsewhere"}, "", false, "", ""},
		{"a directory in the environment", Flags{}, map[string]string{"HOME": "home", "DOCKER_CONFIG": "elsewhere"}, "other", false, "", ""},
		{"a file that was named", Flags{registryConfig: "elsewhere/config.json"}, map[string]string{"HOME": "home"}, "other", false, "", ""},
		{"an OCM configuration that names the file of the user", Flags{ocmConfig: "ocm.yaml"}, map[string]string{"HOME": filepath.Join(directory, "home"), "DOCKER_CONFIG": "none"}, "u", false,
			`Warning: ocm.yaml: the OCM configuration has a part of another type than`, ""},
		{"a file that is not there", Flags{registryConfig: "nowhere"}, nil, "", false, "", "--registry-config: open nowhere"},
		{"a file that is not a Docker configuration", Flags{registryConfig: "broken.json"}, nil, "", false, "", "broken.json: the Docker configuration is no JSON object"},
		{"an OCM configuration that is not there", Flags{ocmConfig: "nowhere"}, nil, "", false, "", "--ocm-config nowhere: open nowhere"},
		{"an invalid OCM configuration", Flags{ocmConfig: "broken.yaml"}, nil, "", false, "", "--ocm-config broken.yaml: the OCM configuration is neither YAML nor JSON"},
		{"an OCM configuration that names a file that is not there", Flags{ocmConfig: "missing.yaml"}, nil, "", false, "", "dockerConfigFile: open nowhere"},
		{"authorities that are not there", Flags{caFile: "nowhere"}, nil, "", false, "", "--ca-file: open nowhere"},
		{"authorities that are not certificates", Flags{caFile: "ca.pem"}, nil, "", false, "", "--ca-file ca.pem: the certificate authority is no PEM certificate"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{Environment: test.environment}
			got, err := test.flags.Access(c.Streams())
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t") || terminal.ExitCode(err, true) != terminal.ExitUsage {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			found := got.options.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: "r.example.org"})
			if found[credential.Username] != test.user || (got.helpers != "") != test.helpers || !strings.Contains(c.Err.String(), test.warning) {
				t.Errorf("user %q, helpers %q, %s", found[credential.Username], got.helpers, c.Err.String())
			}
		})
	}
}
