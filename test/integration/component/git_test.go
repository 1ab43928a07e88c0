package component

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
)

// commit puts a file into a repository of the lab's Git server and returns the
// commit.
func commit(t *testing.T, address, text string) string {
	t.Helper()
	work := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0")
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, output)
		}
		return strings.TrimSpace(string(output))
	}
	if err := os.WriteFile(filepath.Join(work, "blueprint.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	git("push", "-q", address, "main")
	return git("rev-parse", "HEAD")
}

// TestBlueprintFromGit reads a resource from a Git server with a login.
func TestBlueprintFromGit(t *testing.T) {
	made, err := started.CreateRepository(t.Context(), "blueprints")
	if err != nil {
		t.Fatal(err)
	}
	server := started.Git
	withLogin, err := url.Parse(made.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	plain := *withLogin
	plain.User = nil
	withLogin.User = url.UserPassword(server.Username, server.Password)
	at := commit(t, withLogin.String(), "kind: Blueprint")

	text := `{meta: {schemaVersion: v2}, component: {name: example.org/shop/git, version: 1.0.0, provider: p, resources: [
	  {name: blueprint, type: blueprint, version: 1.0.0, access: {type: git, repository: "` + plain.String() + `", ref: main, commit: ` + at + `}}]}}`
	for _, test := range []struct {
		reason   string
		password string
		wantErr  string
	}{
		{"a login in the OCM configuration", server.Password, ""},
		{"a wrong one", "wr0ng", "denies access"},
	} {
		d, err := descriptor.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		store := &credential.Store{}
		store.AddConsumer(map[string]string{"type": "Git", "hostname": plain.Host}, credential.Properties{"username": server.Username, "password": test.password})
		common := shared()
		common.HTTP = newClient(true, time.Minute)
		session := component.NewSession(common, component.Options{Registry: registry.Options{Credentials: store}})
		reference, err := session.SetInline(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		version, err := session.Resolve(t.Context(), reference)
		if err != nil {
			t.Fatal(err)
		}
		data, mediaType, err := session.Reader().Read(t.Context(), version, &version.Resources[0], 1<<20)
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) || strings.Contains(err.Error(), test.password) {
				t.Errorf("%s: got %v", test.reason, err)
			}
			continue
		}
		if err != nil || mediaType != "application/x-tgz" {
			t.Fatalf("%s: %s, %v", test.reason, mediaType, err)
		}
		var found string
		err = archive.Walk(bytes.NewReader(data), archive.DefaultLimits(), func(entry archive.Entry) error {
			content, err := archive.ReadAll(entry.Content, 100)
			found = entry.Path + ": " + string(content)
			return err
		})
		if err != nil || found != "blueprint.yaml: kind: Blueprint" {
			t.Errorf("%s: got %s, %v", test.reason, found, err)
		}
		// The server process does not reach this machine.
		guarded := component.NewShared()
		inner := component.NewSession(guarded, component.Options{})
		if _, err := inner.Reader().Resource(t.Context(), version, &version.Resources[0]); !errors.As(err, new(*egress.Refused)) {
			t.Errorf("an address of this machine: %v", err)
		}
	}
}

// BenchmarkResolve resolves one component version a thousand times at the lab's
// registry and counts what reaches it.
func BenchmarkResolve(b *testing.B) {
	push(b, map[string]any{"subPath": "benchmark"})
	front, count := counted(b)
	host := strings.TrimPrefix(front.URL, "http://")
	at := repositoryContext(b, map[string]any{"baseUrl": front.URL, "subPath": "benchmark"})
	common := shared()
	store := credentials(b, host, server.Username, server.Password)
	resolve := func(namespace string) {
		session := component.NewSession(common, component.Options{Tenant: namespace, Default: at, Registry: registry.Options{Credentials: store}})
		if _, err := session.Resolve(b.Context(), component.Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"}); err != nil {
			b.Fatal(err)
		}
	}
	resolve("first")
	b.ReportAllocs()
	namespaces := 0
	count.Store(0)
	for b.Loop() {
		// Each round is a namespace of its own, with its own check.
		namespaces++
		namespace := strings.Repeat("n", namespaces)
		for range 1000 {
			resolve(namespace)
		}
	}
	perNamespace := float64(count.Load()) / float64(namespaces)
	b.ReportMetric(perNamespace, "requests/op")
	if periods := float64(b.Elapsed()/time.Minute) + 1; perNamespace > periods {
		b.Errorf("a namespace makes %.1f requests to resolve the same component version 1,000 times, want one for each period", perNamespace)
	}
}

func newClient(internal bool, answer time.Duration) *http.Client {
	client, err := access.NewHTTPClient(access.HTTPOptions{Egress: egress.Policy{AllowLoopback: internal}, Timeouts: registry.Timeouts{Connect: answer, Answer: answer, Stall: answer}})
	if err != nil {
		panic(err)
	}
	return client
}
