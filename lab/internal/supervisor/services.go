package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"go.landscaper.dev/lab/internal/gitserver"
	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/ports"
	"go.landscaper.dev/lab/internal/process"
	"go.landscaper.dev/lab/internal/registry"
	"go.landscaper.dev/lab/internal/report"
	"go.landscaper.dev/lab/internal/tools"
)

// serviceUser is the user name where the registry or the Git server wants one.
const serviceUser = "lab"

// upRegistry starts the OCI registry.
func (s *Supervisor) upRegistry(ctx context.Context) error {
	built, err := s.workshop.Ensure(ctx, tools.Registry)
	if err != nil {
		return err
	}
	port, err := s.ports.Reserve()
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	config := registry.Config{Address: ports.Address(port), Directory: s.instance.Path("registry")}
	access := &report.Registry{Address: config.Address, URL: "http://" + config.Address}
	if s.config.RegistryAuth {
		config.Username, config.Password = serviceUser, pki.NewToken()
		access.Username, access.Password = config.Username, config.Password
	}
	if s.config.RegistryTLS {
		if config.CertFile, config.KeyFile, err = s.servingCertificate("registry"); err != nil {
			return err
		}
		access.URL, access.CAFile = "https://"+config.Address, s.instance.Path("ca.crt")
	}
	file, err := config.Write()
	if err != nil {
		return err
	}
	components, err := s.start(Spec{Name: "registry", Ready: accepts(config.Address), Command: process.Command{
		Program: built.Program("registry"), Args: []string{"serve", file},
		// Its default is to send traces to a collector on this machine.
		Env: append(os.Environ(), "OTEL_TRACES_EXPORTER=none"),
		Dir: config.Directory, Log: s.instance.Log("registry"),
	}})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.registry = access
	s.mu.Unlock()
	return waitReady(ctx, components)
}

// servingCertificate makes a certificate of the lab's authority.
func (s *Supervisor) servingCertificate(name string) (cert, key string, err error) {
	pair, err := s.authority.Issue(pki.Subject{Name: name, Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		return "", "", err
	}
	cert, key = s.instance.Path(name+".crt"), s.instance.Path(name+".key")
	return cert, key, writeFiles(map[string][]byte{cert: pair.Cert, key: pair.Key})
}

// upGit starts the Git server.
func (s *Supervisor) upGit(ctx context.Context) error {
	overHTTP, err := s.ports.Reserve()
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	overSSH, err := s.ports.Reserve()
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	config := gitserver.Config{
		Repositories: s.repositories(), HTTPAddress: ports.Address(overHTTP), SSHAddress: ports.Address(overSSH),
		HostKey: s.instance.Path("git", "host.key"), AuthorizedKeys: s.instance.Path("git", "authorized_keys"),
	}
	access := &report.Git{
		HTTP: "http://" + config.HTTPAddress, SSH: "ssh://git@" + config.SSHAddress,
		PrivateKeyFile: s.instance.Path("git", "client.key"), KnownHostsFile: s.instance.Path("git", "known_hosts"),
		AuthorizedKeysFile: config.AuthorizedKeys,
	}
	if s.config.GitAuth {
		config.Username, config.Password = serviceUser, pki.NewToken()
		access.Username, access.Password = config.Username, config.Password
	}
	if err := os.MkdirAll(config.Repositories, 0o700); err != nil {
		return fmt.Errorf("make the directory of repositories: %w", err)
	}
	if err := writeGitKeys(config, access); err != nil {
		return err
	}
	if err := s.startOwn(ctx, "git", config, accepts(config.HTTPAddress)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git = access
	return nil
}

func (s *Supervisor) repositories() string { return s.instance.Path("git", "repositories") }

func writeGitKeys(config gitserver.Config, access *report.Git) error {
	host, err := gitserver.NewKey("lab host")
	if err != nil {
		return err
	}
	client, err := gitserver.NewKey("lab client")
	if err != nil {
		return err
	}
	return writeFiles(map[string][]byte{
		config.HostKey: host.Private, config.AuthorizedKeys: client.Public,
		access.PrivateKeyFile: client.Private, access.KnownHostsFile: host.KnownHosts(config.SSHAddress),
	})
}

func writeFiles(files map[string][]byte) error {
	for file, content := range files {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

// startOwn starts one of the lab's own servers as a process and waits for it.
// Its kind is the last part of the component's name.
func (s *Supervisor) startOwn(ctx context.Context, name string, config any, ready func(context.Context) error) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode the configuration of %s: %w", name, err)
	}
	file := s.instance.Path(filepath.FromSlash(name) + ".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := writeFiles(map[string][]byte{file: encoded}); err != nil {
		return err
	}
	components, err := s.start(Spec{Name: name, Ready: ready, Command: process.Command{
		Program: program, Args: []string{"serve", filepath.Base(name), file},
		Env: os.Environ(), Dir: s.instance.Directory(), Log: s.instance.Log(name),
	}})
	if err != nil {
		return err
	}
	if err := waitReady(ctx, components); err != nil {
		s.remove(components[0]) // so that it can be tried again
		return errors.Join(err, components[0].retire())
	}
	return nil
}

// accepts is ready when a process listens on the address.
func accepts(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// RepositoryRequest asks for a new Git repository.
type RepositoryRequest struct {
	Name string `json:"name"`
}

func (s *Supervisor) createRepository(r *http.Request, request RepositoryRequest) (report.Repository, error) {
	s.mu.Lock()
	git := s.git
	s.mu.Unlock()
	if git == nil {
		return report.Repository{}, invalid{fmt.Errorf("lab %s has no Git server; start it with \"--with git\"", s.instance.Name)}
	}
	if err := gitserver.Create(r.Context(), s.repositories(), request.Name); err != nil {
		return report.Repository{}, invalid{err}
	}
	path := "/" + request.Name + ".git"
	return report.Repository{Name: request.Name, HTTP: git.HTTP + path, SSH: git.SSH + path}, nil
}
