package gitserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// sshServer runs git-upload-pack and git-receive-pack for clients that have one of the keys, and
// nothing else.
type sshServer struct {
	config       *ssh.ServerConfig
	repositories string
}

func newSSHServer(config Config) (*sshServer, error) {
	hostKey, err := os.ReadFile(config.HostKey)
	if err != nil {
		return nil, fmt.Errorf("read the host key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(hostKey)
	if err != nil {
		return nil, fmt.Errorf("parse the host key: %w", err)
	}
	server := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
			return nil, authorized(config.AuthorizedKeys, offered)
		},
	}
	server.AddHostKey(signer)
	return &sshServer{config: server, repositories: config.Repositories}, nil
}

// authorized says whether a key is one of those in a file.
func authorized(file string, offered ssh.PublicKey) error {
	rest, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the authorized keys: %w", err)
	}
	for len(bytes.TrimSpace(rest)) > 0 {
		var key ssh.PublicKey
		if key, _, _, rest, err = ssh.ParseAuthorizedKey(rest); err != nil {
			return fmt.Errorf("parse the authorized keys: %w", err)
		}
		if bytes.Equal(offered.Marshal(), key.Marshal()) {
			return nil
		}
	}
	return errors.New("this key is not authorized")
}

func (s *sshServer) serve(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := s.connection(connection); err != nil {
				slog.Info("SSH connection refused", "error", err)
			}
		}()
	}
}

func (s *sshServer) connection(raw net.Conn) error {
	connection, channels, requests, err := ssh.NewServerConn(raw, s.config)
	if err != nil {
		return err
	}
	defer connection.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return err
		}
		go s.session(channel, requests)
	}
	return nil
}

// session handles one channel: settings of environment variables, then one
// command.
func (s *sshServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	var protocol string
	for request := range requests {
		switch request.Type {
		case "env":
			var variable struct{ Name, Value string }
			if ssh.Unmarshal(request.Payload, &variable) == nil && variable.Name == "GIT_PROTOCOL" {
				protocol = variable.Value
			}
			_ = request.Reply(true, nil)
		case "exec":
			var command struct{ Line string }
			_ = request.Reply(ssh.Unmarshal(request.Payload, &command) == nil, nil)
			status := s.run(channel, command.Line, protocol)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			return
		default:
			_ = request.Reply(false, nil)
		}
	}
}

// run runs a Git program on a repository and returns its exit code.
func (s *sshServer) run(channel ssh.Channel, line, protocol string) uint32 {
	program, repository, err := s.parse(line)
	if err != nil {
		fmt.Fprintln(channel.Stderr(), err)
		return 1
	}
	cmd := exec.Command("git", program, repository)
	cmd.Env = append(environment(), "GIT_PROTOCOL="+protocol)
	cmd.Stdout = channel
	cmd.Stderr = channel.Stderr()
	input, err := cmd.StdinPipe()
	if err != nil {
		fmt.Fprintln(channel.Stderr(), err)
		return 1
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(channel.Stderr(), err)
		return 1
	}
	go func() { // ends with the channel, not before: Wait must not wait for it
		_, _ = io.Copy(input, channel)
		_ = input.Close()
	}()
	if err := cmd.Wait(); err != nil {
		return 1
	}
	return 0
}

// parse reads a command line such as git-upload-pack '/name.git'.
func (s *sshServer) parse(line string) (program, repository string, err error) {
	command, argument, _ := strings.Cut(line, " ")
	program = strings.TrimPrefix(command, "git-")
	if program != "upload-pack" && program != "receive-pack" {
		return "", "", fmt.Errorf("%q: only git-upload-pack and git-receive-pack are served", command)
	}
	name := strings.TrimSuffix(path.Base(strings.Trim(argument, "'")), ".git")
	if !validRepository.MatchString(name) {
		return "", "", fmt.Errorf("%s is no repository name", argument)
	}
	repository = filepath.Join(s.repositories, name+".git")
	if _, err := os.Stat(repository); err != nil {
		return "", "", fmt.Errorf("there is no repository %s; make it with \"lab git create %s\"", name, name)
	}
	return program, repository, nil
}
