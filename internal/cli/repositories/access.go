// Package repositories opens repositories of components for commands: where they
// are, with which credentials, and how far a transfer is.
package repositories

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/ocmconfig"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

// Flags say how registries are reached, and with which credentials.
type Flags struct {
	registryConfig, ocmConfig string
	plainHTTP, insecure       bool
	anyWget                   bool
	caFile                    string
	plainCredentials          []string
}

// Add adds the flags to a command.
func (f *Flags) Add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.registryConfig, "registry-config", "", "Docker configuration `file` with credentials (default: $DOCKER_CONFIG/config.json, then ~/.docker/config.json); credential helpers are not run")
	flags.StringVar(&f.ocmConfig, "ocm-config", "", "OCM configuration `file` with credentials and further repositories")
	flags.StringVar(&f.ocmConfig, "cc-config", "", "same as --ocm-config")
	flags.BoolVar(&f.plainHTTP, "allow-plain-http", false, "use HTTP with registries that have no HTTPS")
	flags.StringArrayVar(&f.plainCredentials, "plain-http-credentials", nil, "`HOST:PORT` of a registry that may see the credentials for it in clear text; may be repeated")
	flags.BoolVar(&f.anyWget, "allow-any-wget", false, "let accesses of type wget use other methods than GET, send bodies, and lead to private networks")
	// In a command that reaches a cluster, the flag is about that.
	if flags.Lookup("insecure-skip-tls-verify") == nil {
		flags.BoolVar(&f.insecure, "insecure-skip-tls-verify", false, "do not check the certificates of registries")
	}
	flags.StringVar(&f.caFile, "ca-file", "", "`file` with further certificate authorities (PEM)")
	// The flag exists: it was just defined.
	_ = flags.MarkHidden("cc-config")
}

// Access is how a command reaches repositories of components.
type Access struct {
	options registry.Options
	config  *ocmconfig.Config
	shared  *component.Shared
	// helpers tells which configuration names credential helpers.
	helpers string
	// plain are the hosts with their ports that may see the credentials for them in clear text.
	plain []string
}

// cacheBytes is small: what is large is read once, and its progress is to be
// seen.
const cacheBytes = 16 << 20

// Access reads what the flags name. Warnings go to the standard error. It goes wherever
// the user could go, who names the repositories himself.
func (f *Flags) Access(streams terminal.Streams) (*Access, error) {
	return f.AccessWithin(streams, egress.Unrestricted())
}

// AccessWithin is Access for repositories that others have named.
func (f *Flags) AccessWithin(streams terminal.Streams, policy egress.Policy) (*Access, error) {
	timeouts := registry.DefaultTimeouts()
	a := &Access{
		plain:   slices.Clone(f.plainCredentials),
		options: registry.Options{Credentials: &credential.Store{}, AllowPlainHTTP: f.plainHTTP, InsecureSkipVerify: f.insecure},
		shared: &component.Shared{
			Cache: cache.New(cacheBytes, cache.DefaultValidity, time.Now), Pool: registry.NewPool(policy, timeouts),
		},
	}
	if f.caFile != "" {
		authorities, err := os.ReadFile(f.caFile)
		if err != nil {
			return nil, terminal.Usage(fmt.Errorf("--ca-file: %w", err))
		}
		a.options.Authorities = string(authorities)
	}
	var err error
	options := access.HTTPOptions{
		Egress: policy, Timeouts: timeouts, Authorities: a.options.Authorities,
		InsecureSkipVerify: a.options.InsecureSkipVerify,
	}
	if a.shared.HTTP, err = access.NewHTTPClient(options); err == nil {
		a.shared.Wget, err = access.NewWget(options, f.wget())
	}
	if err != nil {
		return nil, terminal.Usage(fmt.Errorf("--ca-file %s: %w", f.caFile, err))
	}
	if err := a.readOCMConfig(streams, f.ocmConfig); err != nil {
		return nil, terminal.Usage(fmt.Errorf("--ocm-config %s: %w", f.ocmConfig, err))
	}
	if err := a.readDockerConfig(streams, f.registryConfig); err != nil {
		return nil, err
	}
	a.confine()
	return a, nil
}

// wget returns the rules for accesses of type wget. They are written by the authors of component
// versions, also where the user names the repository.
func (f *Flags) wget() access.WgetRules {
	const remedy = "--allow-any-wget allows it"
	return access.WgetRules{AnyRequest: f.anyWget, AnyRequestRemedy: remedy, Private: f.anyWget, PrivateRemedy: remedy}
}

// confine lets credentials go over TLS only, and to their port: registries are also named by
// Contexts and by component versions, whose authors are not the owner of the credentials.
func (a *Access) confine() {
	a.options.Credentials.OnlyTLS(a.plain...)
	if a.config != nil {
		a.config.Credentials.OnlyTLS(a.plain...)
	}
}

// Named notes a registry that the user has named. If it is to be reached without TLS, it may see
// the credentials for its host and port.
func (a *Access) Named(scheme, host string) {
	if host != "" && (scheme == "http" || scheme == "" && a.options.AllowPlainHTTP) {
		a.plain = append(a.plain, host)
		a.confine()
	}
}

func (a *Access) readOCMConfig(streams terminal.Streams, name string) error {
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if text, err = inlineDockerConfigs(text, home(streams)); err != nil {
		return err
	}
	if a.config, err = ocmconfig.Parse(text); err != nil {
		return err
	}
	for _, warning := range a.config.Warnings {
		fmt.Fprintf(streams.Err, "Warning: %s: %s\n", name, warning)
	}
	a.options.Credentials.Add(a.config.Credentials)
	return nil
}

func home(streams terminal.Streams) string {
	if directory := streams.Getenv("HOME"); directory != "" {
		return directory
	}
	return streams.Getenv("USERPROFILE")
}

// readDockerConfig reads the configuration that was named, or the one of the
// user if there is one.
func (a *Access) readDockerConfig(streams terminal.Streams, name string) error {
	wanted := name != ""
	if directory := streams.Getenv("DOCKER_CONFIG"); name == "" && directory != "" {
		name = filepath.Join(directory, "config.json")
	}
	if directory := home(streams); name == "" && directory != "" {
		name = filepath.Join(directory, ".docker", "config.json")
	}
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !wanted {
		return nil
	}
	if err != nil {
		return terminal.Usage(fmt.Errorf("--registry-config: %w", err))
	}
	if err := a.options.Credentials.AddDockerConfig(text); err != nil {
		return terminal.Usage(fmt.Errorf("%s: %w: name another file with --registry-config", name, err))
	}
	var helpers struct {
		Store   string            `json:"credsStore"`
		Helpers map[string]string `json:"credHelpers"`
	}
	if json.Unmarshal(text, &helpers) == nil && (helpers.Store != "" || len(helpers.Helpers) > 0) {
		a.helpers = name
	}
	return nil
}

// Session opens a repository of components.
func (a *Access) Session(at Location) (*Session, error) {
	a.Named(at.Spec.Scheme, at.Spec.Host)
	opened := &Session{}
	options := component.Options{Tenant: "cli", Registry: a.options, Config: a.config, Default: at.Context, Files: true}
	if at.root != "" {
		root, err := os.OpenRoot(at.root)
		if err != nil {
			return nil, fmt.Errorf("open the directory %s: %w", at.root, err)
		}
		opened.root, options.Local = root, root.FS()
	}
	opened.Session = component.NewSession(a.shared, options)
	return opened, nil
}

// Session is a session together with the directory that it reads.
type Session struct {
	*component.Session
	root *os.Root
}

// Close gives up what the session holds.
func (s *Session) Close() error {
	err := s.Session.Close()
	if s.root != nil {
		err = errors.Join(err, s.root.Close())
	}
	return err
}

// Registry returns the registry of a location, to write to it.
func (a *Access) Registry(spec repository.Spec) oci.Target { return a.registry(spec) }

func (a *Access) registry(spec repository.Spec) *registry.Registry {
	a.Named(spec.Scheme, spec.Host)
	return registry.NewClient(a.shared.Pool, a.options).Registry(spec.Scheme, spec.Host)
}

// Explain gives an error the exit code that tells what it is, and says what to do
// about it.
func (a *Access) Explain(ctx context.Context, err error) error {
	var exit *terminal.ExitError
	var missing *descriptor.NotFoundError
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case errors.Is(context.Cause(ctx), terminal.ErrTimeout):
		return terminal.Exitf(terminal.ExitTimeout, "the time is over: allow more with --timeout: %w", err)
	case ctx.Err() != nil:
		return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
	case errors.Is(err, registry.ErrDenied):
		return a.explainDenial(err)
	case errors.As(err, &missing) && missing.Matches > 1:
		return terminal.Usage(err)
	case errors.As(err, &missing), errors.Is(err, oci.ErrNotFound):
		return &terminal.ExitError{Code: terminal.ExitNotFound, Err: err}
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%w: begin the address with http://, or use --allow-plain-http", err)
	case errors.Is(err, signature.ErrUntrusted):
		return fmt.Errorf("%w: name the authority of the signer with --ca-cert", err)
	case certificateError(err):
		return fmt.Errorf("%w: name the certificate authority of the registry with --ca-file", err)
	}
	return err
}

// explainDenial says which credentials a registry got.
func (a *Access) explainDenial(err error) error {
	var denied *registry.DeniedError
	switch {
	case errors.As(err, &denied) && denied.Given:
		return terminal.Exitf(terminal.ExitForbidden, "%w: the registry %s does not accept the credentials that it was given, or they do not permit this", err, denied.Host)
	case errors.As(err, &denied) && denied.Withheld:
		return terminal.Exitf(terminal.ExitForbidden, "%w: the credentials for %s are not sent there, since they go over TLS only, and without a port in their entry to the usual one: name the port in the entry, and allow clear text with --plain-http-credentials HOST:PORT if the registry has no HTTPS", err, denied.Host)
	}
	hint := "give credentials with --registry-config or --ocm-config"
	if a != nil && a.helpers != "" {
		hint += " (the credential helpers that " + a.helpers + " names are not run)"
	}
	return terminal.Exitf(terminal.ExitForbidden, "%w: %s", err, hint)
}

func certificateError(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}

// Base is what component versions of a Context are reached with besides what the Context
// says.
func (a *Access) Base() (*component.Shared, component.Options) {
	return a.shared, component.Options{Registry: a.options, Config: a.config}
}
