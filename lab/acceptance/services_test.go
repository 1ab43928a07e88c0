package acceptance

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"go.landscaper.dev/lab/internal/report"
)

// gitIn runs Git in a directory, without the settings of the user who runs the test.
func gitIn(t *testing.T, directory string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = directory
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + directory, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=lab", "GIT_AUTHOR_EMAIL=lab@example.com", "GIT_COMMITTER_NAME=lab", "GIT_COMMITTER_EMAIL=lab@example.com",
	}, env...)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func mustGit(t *testing.T, directory string, env []string, args ...string) string {
	t.Helper()
	output, err := gitIn(t, directory, env, args...)
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, output)
	}
	return output
}

// commit makes a repository with the files in one commit on main.
func commit(t *testing.T, files map[string][]byte) string {
	t.Helper()
	directory := t.TempDir()
	mustGit(t, directory, nil, "init", "--quiet", "--initial-branch=main")
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(directory, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustGit(t, directory, nil, "add", ".")
	mustGit(t, directory, nil, "commit", "--quiet", "--message", "files")
	return directory
}

// newRepository makes a repository with a name of its own.
func newRepository(t *testing.T, l *lab) report.Repository {
	t.Helper()
	var repository report.Repository
	l.doJSON(t, &repository, "git", "create", fmt.Sprintf("repository-%d", names.Add(1)))
	return repository
}

func withPassword(t *testing.T, address, username, password string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if username != "" {
		parsed.User = url.UserPassword(username, password)
	}
	return parsed.String()
}

// sshWith is the environment in which Git uses a key and verifies the host.
func sshWith(keyFile, knownHosts string) []string {
	return []string{"GIT_SSH_COMMAND=ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -i " + keyFile + " -o UserKnownHostsFile=" + knownHosts}
}

func TestGitPushAndCloneOverBothTransports(t *testing.T) {
	git := shared.Git
	ssh := sshWith(git.PrivateKeyFile, git.KnownHostsFile)
	repository := newRepository(t, shared)
	overHTTP := withPassword(t, repository.HTTP, git.Username, git.Password)
	// Git sends this much in pieces of unknown length.
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	for i := range big {
		big[i] ^= byte(i * 7919 >> 5)
	}
	work := commit(t, map[string][]byte{"big": big})
	mustGit(t, work, nil, "push", "--quiet", overHTTP, "main")

	overSSH := filepath.Join(t.TempDir(), "clone")
	mustGit(t, t.TempDir(), ssh, "clone", "--quiet", repository.SSH, overSSH)
	if cloned, err := os.ReadFile(filepath.Join(overSSH, "big")); err != nil || !bytes.Equal(cloned, big) {
		t.Errorf("the clone over SSH does not have what was pushed over HTTP (%v)", err)
	}
	mustGit(t, overSSH, nil, "commit", "--quiet", "--allow-empty", "--message", "second")
	mustGit(t, overSSH, ssh, "push", "--quiet", repository.SSH, "main")
	head := strings.TrimSpace(mustGit(t, overSSH, nil, "rev-parse", "HEAD"))
	if listed := mustGit(t, work, nil, "ls-remote", overHTTP, "main"); !strings.HasPrefix(listed, head) {
		t.Errorf("over HTTP, main is at %q, pushed over SSH was %s", listed, head)
	}
}

// TestGitRefusesStrangers shows who may not log in over SSH or HTTP, and that a stranger is
// one no longer as soon as the key is added.
func TestGitRefusesStrangers(t *testing.T) {
	git := shared.Git
	repository := newRepository(t, shared)
	strangerKey := filepath.Join(t.TempDir(), "key")
	if output, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", strangerKey).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	noHosts := filepath.Join(t.TempDir(), "hosts")
	for _, row := range []struct {
		address string
		env     []string
		want    string
		reason  string
	}{
		{repository.HTTP, nil, "could not read Username", "a login is needed"},
		{withPassword(t, repository.HTTP, git.Username, "wrong"), nil, "Authentication failed", "the password is checked"},
		{repository.SSH, sshWith(strangerKey, git.KnownHostsFile), "Permission denied", "the key is checked"},
		{repository.SSH, sshWith(git.PrivateKeyFile, noHosts), "Host key verification failed", "the client can tell the host by its key"},
		{git.SSH + "/not-there.git", sshWith(git.PrivateKeyFile, git.KnownHostsFile), "lab git create", "the way out is told"},
	} {
		if output, err := gitIn(t, t.TempDir(), row.env, "ls-remote", row.address); err == nil || !strings.Contains(output, row.want) {
			t.Errorf("%s: git said %q (%v), want %q", row.reason, output, err, row.want)
		}
	}
	public, err := os.ReadFile(strangerKey + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.OpenFile(git.AuthorizedKeysFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := known.Write(public); err != nil {
		t.Fatal(err)
	}
	if err := known.Close(); err != nil {
		t.Fatal(err)
	}
	mustGit(t, t.TempDir(), sshWith(strangerKey, git.KnownHostsFile), "ls-remote", repository.SSH)
	mustGit(t, t.TempDir(), sshWith(git.PrivateKeyFile, git.KnownHostsFile), "ls-remote", repository.SSH)
	if _, err := run(t.Context(), shared.Name, "git", "create", "../outside"); err == nil {
		t.Error("a repository outside the directory was made")
	}
	if _, err := run(t.Context(), shared.Name, "git", "create", repository.Name); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("second repository of a name: %v", err)
	}
}

// registryClient verifies the registry's certificate with the lab's authority.
func registryClient(t *testing.T, registry *report.Registry) http.RoundTripper {
	t.Helper()
	authority, err := os.ReadFile(registry.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

func TestImagePushAndPullWithCredentialsOverTLS(t *testing.T) {
	registry := shared.Registry
	if !strings.HasPrefix(registry.URL, "https://") {
		t.Fatalf("the registry's URL is %s", registry.URL)
	}
	reference, err := name.ParseReference(registry.Address + "/team/app:v1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(4096, 3)
	if err != nil {
		t.Fatal(err)
	}
	transport := remote.WithTransport(registryClient(t, registry))
	login := remote.WithAuth(&authn.Basic{Username: registry.Username, Password: registry.Password})
	if err := remote.Write(reference, image, transport, login); err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Image(reference, transport, login)
	if err != nil {
		t.Fatal(err)
	}
	want, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pulled.Digest(); err != nil || got != want {
		t.Errorf("pulled %s (%v), pushed %s", got, err, want)
	}
	for reason, options := range map[string][]remote.Option{
		"without a login":                               {transport},
		"with a wrong password":                         {transport, remote.WithAuth(&authn.Basic{Username: registry.Username, Password: "wrong"})},
		"without believing the certificate's authority": {login},
	} {
		if _, err := remote.Image(reference, options...); err == nil {
			t.Errorf("the image was pulled %s", reason)
		}
	}
}

func TestOpenRegistryAndGitNeedNoLogin(t *testing.T) {
	t.Parallel()
	l := upForTest(t, "--clusters", "", "--with", "registry,git")
	reference, err := name.ParseReference(l.Registry.Address+"/app:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(1024, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, image); err != nil {
		t.Error(err)
	}
	if err := remote.Delete(reference.Context().Digest(digest(t, image))); err != nil {
		t.Errorf("delete the image: %v", err)
	}
	repository := newRepository(t, l)
	mustGit(t, commit(t, map[string][]byte{"file": []byte("content")}), nil, "push", "--quiet", repository.HTTP, "main")
}

func digest(t *testing.T, image v1.Image) string {
	t.Helper()
	hash, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}
