// Package gitserver serves bare Git repositories over smart HTTP and SSH.
package gitserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// Config is the configuration of a server, as JSON.
type Config struct {
	// Repositories is the directory that holds NAME.git for each repository.
	Repositories string `json:"repositories"`
	HTTPAddress  string `json:"httpAddress"`
	SSHAddress   string `json:"sshAddress"`
	// Username and Password, if set, are demanded over HTTP.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// HostKey is the SSH server's private key, AuthorizedKeys the public keys that may
	// log in; both as files. The latter is read at each login, so that keys may be added
	// and taken away.
	HostKey        string `json:"hostKey"`
	AuthorizedKeys string `json:"authorizedKeys"`
}

// Serve serves until the context ends or a listener fails.
func Serve(ctx context.Context, config Config) error {
	overHTTP, err := net.Listen("tcp", config.HTTPAddress)
	if err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	overSSH, err := net.Listen("tcp", config.SSHAddress)
	if err != nil {
		return fmt.Errorf("listen for SSH: %w", err)
	}
	handler, err := newHTTPHandler(config)
	if err != nil {
		return err
	}
	ssh, err := newSSHServer(config)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(overHTTP) }()
	go func() { ended <- ssh.serve(overSSH) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	return errors.Join(err, server.Close(), overSSH.Close())
}

var validRepository = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Create makes an empty repository whose default branch is main.
func Create(ctx context.Context, repositories, name string) error {
	if !validRepository.MatchString(name) {
		return fmt.Errorf("repository name %q: use up to 100 letters, digits, dots, hyphens and underscores", name)
	}
	directory := filepath.Join(repositories, name+".git")
	if _, err := os.Stat(directory); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("repository %s exists already", name)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", directory},
		// The server decides who may push; Git by itself would ask for a login.
		{"-C", directory, "config", "http.receivepack", "true"},
		{"-C", directory, "config", "uploadpack.allowAnySHA1InWant", "true"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = environment()
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("create repository %s: %w: %s", name, err, output)
		}
	}
	return nil
}

// environment keeps the user's own Git settings out of the server.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		// The repositories may belong to another user in a container.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
}
