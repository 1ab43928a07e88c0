package access

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"crypto/sha1" // packs end with it
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	gitmemory "github.com/go-git/go-git/v5/storage/memory"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
)

// gitServer is the HTTP side of Git itself, with a login.
type gitServer struct {
	*httptest.Server
	root     string
	mu       sync.Mutex
	requests []*http.Request
}

func (s *gitServer) seen() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func run(t *testing.T, directory string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output))
}

func serveGit(t *testing.T, handler func(http.Handler) http.Handler) *gitServer {
	t.Helper()
	s := &gitServer{root: t.TempDir()}
	program := filepath.Join(run(t, s.root, "--exec-path"), "git-http-backend")
	backend := &cgi.Handler{Path: program, Env: []string{"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: io.Discard}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		handler(backend).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func withLogin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer t0ken" && (user != "user" || password != "s3cr3t") {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func open(next http.Handler) http.Handler { return next }

// history makes a repository: two commits, an annotated tag, a branch, a link, a
// program, and a commit that only the history has.
func (s *gitServer) history(t *testing.T) (first, second string) {
	t.Helper()
	bare, work := filepath.Join(s.root, "shop.git"), t.TempDir()
	run(t, s.root, "init", "-q", "--bare", "-b", "main", bare)
	run(t, work, "init", "-q", "-b", "main")
	write := func(name, text string, mode os.FileMode) {
		at := filepath.Join(work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("blueprint.yaml", "one", 0o644)
	run(t, work, "add", "-A")
	run(t, work, "commit", "-q", "-m", "one")
	first = run(t, work, "rev-parse", "HEAD")
	run(t, work, "tag", "-a", "v1", "-m", "v1")
	write("blueprint.yaml", "two", 0o644)
	write("bin/run.sh", "program", 0o755)
	if err := os.Symlink("bin/run.sh", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	run(t, work, "add", "-A")
	run(t, work, "commit", "-q", "-m", "two")
	second = run(t, work, "rev-parse", "HEAD")
	run(t, work, "push", "-q", bare, "main", "v1", "main:refs/heads/release/x")
	return first, second
}

// large makes a repository that is small on its way and larger than an archive may be.
func (s *gitServer) large(t *testing.T) {
	t.Helper()
	work := t.TempDir()
	run(t, work, "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(work, "zeros"), make([]byte, archive.DefaultLimits().Bytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, work, "add", "-A")
	run(t, work, "commit", "-q", "-m", "large")
	run(t, s.root, "clone", "-q", "--bare", work, filepath.Join(s.root, "large.git"))
}

func gitReader(s *gitServer, properties credential.Properties) *Reader {
	credentials := &credential.Store{}
	if properties != nil {
		credentials.AddConsumer(map[string]string{"type": credential.TypeGit, "hostname": strings.Split(s.URL, "://")[1]}, properties)
	}
	return &Reader{HTTP: newClient(true), Credentials: credentials}
}

func listing(t *testing.T, data []byte) string {
	t.Helper()
	unpacked, err := archive.Decompress(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for reader := tar.NewReader(unpacked); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(lines, ", ")
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %o %s%s", header.Name, header.Mode, header.Linkname, content))
	}
}

func TestGit(t *testing.T) {
	s := serveGit(t, withLogin)
	s.Start()
	first, second := s.history(t)
	const one = "blueprint.yaml 644 one"
	const two = "bin/ 755 , bin/run.sh 755 program, blueprint.yaml 644 two, link 644 bin/run.sh"
	login := credential.Properties{"username": "user", "password": "s3cr3t"}
	location := `"repository":"` + s.URL + `/shop.git"`
	cases := []struct {
		reason, access string
		properties     credential.Properties
		want, wantErr  string
	}{
		{"the default branch", `{"type":"git",` + location + `}`, login, two, ""},
		{"the name of the field in early releases, a token", `{"type":"Git/v1alpha1","repoUrl":"` + s.URL + `/shop.git"}`, credential.Properties{"token": "t0ken"}, two, ""},
		{"a token as the password of a user", `{"type":"git",` + location + `}`, credential.Properties{"username": "user", "token": "s3cr3t"}, two, ""},
		{"a branch by its short name", `{"type":"git",` + location + `,"ref":"release/x"}`, login, two, ""},
		{"an annotated tag by its full name", `{"type":"git",` + location + `,"ref":"refs/tags/v1"}`, login, one, ""},
		{"a commit that a branch points to", `{"type":"git",` + location + `,"commit":"` + second + `"}`, login, two, ""},
		{"a commit of the history of a branch", `{"type":"git",` + location + `,"ref":"main","commit":"` + first + `"}`, login, one, ""},
		{"a commit of the history of any branch", `{"type":"git",` + location + `,"commit":"` + first + `"}`, login, one, ""},
		{"a commit that is nowhere", `{"type":"git",` + location + `,"commit":"` + strings.Repeat("1", 40) + `"}`, login, "", "is not part of what the server offers"},
		{"a short commit", `{"type":"git",` + location + `,"commit":"` + first[:8] + `"}`, login, "", "not a complete commit hash"},
		{"no such branch", `{"type":"git",` + location + `,"ref":"nowhere"}`, login, "", `has no reference "nowhere"`},
		{"no such repository", `{"type":"git","repository":"` + s.URL + `/nowhere.git"}`, login, "", "no such repository"},
		{"wrong credentials", `{"type":"git",` + location + `}`, credential.Properties{"username": "user", "password": "wr0ng"}, "", "denies access"},
		{"no credentials", `{"type":"git",` + location + `}`, nil, "", "denies access"},
		{"a file of this machine", `{"type":"git","repository":"file://` + s.root + `/shop.git"}`, login, "", "can be reached by https or http"},
		{"a program of this machine", `{"type":"git","repository":"ext::sh -c id"}`, login, "", "can be reached by https or http"},
		{"SSH", `{"type":"git","repository":"ssh://git@example.org/shop.git"}`, login, "", "can be reached by https or http"},
		{"SSH in the short form", `{"type":"git","repository":"git@example.org:shop.git"}`, login, "", "can be reached by https or http"},
		{"a password in the address", `{"type":"git","repository":"https://user:s3cr3t@example.org/shop.git"}`, login, "", "holds credentials"},
	}
	for _, direct := range []bool{false, true} {
		run(t, filepath.Join(s.root, "shop.git"), "config", "uploadpack.allowReachableSHA1InWant", fmt.Sprint(direct))
		for _, test := range cases {
			data, mediaType, err := gitReader(s, test.properties).Read(t.Context(), inline(t, nil), resource(test.access), 1<<20)
			if test.wantErr != "" {
				refused := direct && strings.Contains(test.reason, "nowhere")
				if err == nil || (!refused && !strings.Contains(err.Error(), test.wantErr)) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("%s: got %v, want %q", test.reason, err, test.wantErr)
				}
				continue
			}
			if err != nil || mediaType != "application/x-tgz" {
				t.Errorf("%s (commits may be asked for: %t): %s, %v", test.reason, direct, mediaType, err)
				continue
			}
			if got := listing(t, data); got != test.want {
				t.Errorf("%s (commits may be asked for: %t): got %s", test.reason, direct, got)
			}
			again, _, err := gitReader(s, test.properties).Read(t.Context(), inline(t, nil), resource(test.access), 1<<20)
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s: the same commit gives other bytes (%v)", test.reason, err)
			}
		}
	}
}

func TestGitLimits(t *testing.T) {
	s := serveGit(t, open)
	s.Start()
	s.history(t)
	s.large(t)
	access := resource(`{"type":"git","repository":"` + s.URL + `/shop.git"}`)
	small := gitReader(s, nil)
	small.MaxBytes = 100
	shared := gitReader(s, nil)
	shared.MaxBytes = 1 << 30
	var large *archive.TooLargeError
	if _, _, err := small.Read(t.Context(), inline(t, nil), access, 1<<20); !errors.As(err, &large) {
		t.Errorf("more than the limit: %v", err)
	}
	if _, _, err := shared.Read(t.Context(), inline(t, nil), resource(`{"type":"git","repository":"`+s.URL+`/large.git"}`), 1<<30); !errors.As(err, &large) {
		t.Errorf("more than one may have of the memory that others need: %v", err)
	}
	guarded := &Reader{HTTP: newClient(false)}
	if _, _, err := guarded.Read(t.Context(), inline(t, nil), access, 1<<20); !refused(err) {
		t.Errorf("this machine must not be reached: %v", err)
	}
	if _, _, err := (&Reader{}).Read(t.Context(), inline(t, nil), access, 1<<20); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("downloads are switched off: %v", err)
	}
}

// TestGitKeepsCredentialsAtHome: a server sends us to another one.
func TestGitKeepsCredentialsAtHome(t *testing.T) {
	other := serveGit(t, open)
	other.Start()
	other.history(t)
	home := serveGit(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusFound)
		})
	})
	home.Start()
	reader := gitReader(home, credential.Properties{"username": "user", "password": "s3cr3t"})
	_, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"git","repository":"`+home.URL+`/shop.git"}`), 1<<20)
	if err != nil || len(home.seen()) == 0 || home.seen()[0].Header.Get("Authorization") == "" || len(other.seen()) < 2 {
		t.Errorf("%d and %d requests, %v", len(home.seen()), len(other.seen()), err)
	}
	for _, request := range other.seen() {
		if request.Header.Get("Authorization") != "" {
			t.Errorf("%s %s of another host saw the credentials", request.Method, request.URL)
		}
	}
}

func TestGitWithAnAuthorityOfItsOwn(t *testing.T) {
	s := serveGit(t, withLogin)
	s.StartTLS()
	s.history(t)
	access := resource(`{"type":"git","repository":"` + s.URL + `/shop.git","ref":"v1"}`)
	login := credential.Properties{"username": "user", "password": "s3cr3t"}
	if _, _, err := gitReader(s, login).Read(t.Context(), inline(t, nil), access, 1<<20); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	login["certificateAuthority"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	if _, _, err := gitReader(s, login).Read(t.Context(), inline(t, nil), access, 1<<20); err != nil {
		t.Errorf("an authority in the credentials: %v", err)
	}
}

// packOf writes a pack with one object of a type.
func packOf(kind byte, base []byte, size int, content []byte) []byte {
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	first := kind<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		pack.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	pack.WriteByte(first)
	pack.Write(base)
	writer := zlib.NewWriter(&pack)
	_, _ = writer.Write(content)
	_ = writer.Close()
	sum := sha1.Sum(pack.Bytes()) // packs end with it
	pack.Write(sum[:])
	return pack.Bytes()
}

func TestHostilePacks(t *testing.T) {
	const limit = 1 << 20
	huge := binary.AppendUvarint(binary.AppendUvarint(nil, 5), 1<<40)
	most := binary.AppendUvarint(binary.AppendUvarint(nil, 5), 1<<63-1)
	var large *archive.TooLargeError
	for _, test := range []struct {
		reason string
		pack   []byte
		wrong  bool
	}{
		{"a small file", packOf(3, nil, 5, []byte("hello")), false},
		{"a file that inflates without end", packOf(3, nil, 10<<20, make([]byte, 10<<20)), true},
		{"a file that is longer than it says", packOf(3, nil, 5, make([]byte, 10<<20)), true},
		{"a small difference with a huge result", packOf(7, make([]byte, 20), len(huge), huge), true},
		{"a difference with the largest possible result", packOf(7, make([]byte, 20), len(most), most), true},
		{"a difference whose result has no end", packOf(7, make([]byte, 20), 40, bytes.Repeat([]byte{0xff}, 40)), true},
		{"more objects than there may be, each of which takes memory of its own", []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02"), true},
		{"something else", []byte("PACKET"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := checkPack(test.pack, limit, 1)
			if (err != nil) != test.wrong {
				t.Errorf("got %v", err)
			}
			if (strings.Contains(test.reason, "result") || strings.Contains(test.reason, "more objects")) && !errors.As(err, &large) {
				t.Errorf("got %v, want the limit", err)
			}
		})
	}
}

// TestHostileTrees: names that lead out of the work tree, and a few objects that
// stand for a billion files.
func TestHostileTrees(t *testing.T) {
	s := serveGit(t, open)
	s.Start()
	for name, entries := range map[string]func(bare string) string{
		"is not allowed": func(bare string) string {
			return s.tree(t, bare, "100644 blob "+s.blob(t, bare)+"\t../../etc/passwd")
		},
		"is more than the limit": func(bare string) string {
			hash := s.tree(t, bare, "100644 blob "+s.blob(t, bare)+"\tfile")
			for range 9 {
				var lines []string
				for i := range 10 {
					lines = append(lines, fmt.Sprintf("040000 tree %s\td%d", hash, i))
				}
				hash = s.tree(t, bare, strings.Join(lines, "\n"))
			}
			return hash
		},
	} {
		t.Run(name, func(t *testing.T) {
			repository := strings.ReplaceAll(name, " ", "-") + ".git"
			bare := filepath.Join(s.root, repository)
			run(t, s.root, "init", "-q", "--bare", "-b", "main", bare)
			run(t, bare, "update-ref", "refs/heads/main", run(t, bare, "commit-tree", "-m", "x", entries(bare)))
			reader := gitReader(s, nil)
			reader.MaxBytes = 64 << 20
			_, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"git","repository":"`+s.URL+`/`+repository+`"}`), 64<<20)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want %q", err, name)
			}
		})
	}
}

func (s *gitServer) blob(t *testing.T, bare string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, bare, "hash-object", "-w", file)
}

// tree writes a tree as it is given; Git itself refuses names with a slash.
func (s *gitServer) tree(t *testing.T, bare, lines string) string {
	t.Helper()
	var raw bytes.Buffer
	for _, line := range strings.Split(lines, "\n") {
		var mode, kind, hash string
		about, name, _ := strings.Cut(line, "\t")
		if _, err := fmt.Sscan(about, &mode, &kind, &hash); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00", strings.TrimPrefix(mode, "0"), name)
		for i := 0; i < len(hash); i += 2 {
			var b byte
			if _, err := fmt.Sscanf(hash[i:i+2], "%02x", &b); err != nil {
				t.Fatal(err)
			}
			raw.WriteByte(b)
		}
	}
	file := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(file, raw.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, bare, "hash-object", "-t", "tree", "-w", "--literally", file)
}

// FuzzPack: whatever a server sends, nothing crashes and nothing grows beyond the
// limit.
func FuzzPack(f *testing.F) {
	const limit = 1 << 16
	f.Add(packOf(3, nil, 5, []byte("hello")))
	f.Add(packOf(7, make([]byte, 20), 4, []byte{5, 5, 0x90, 5}))
	f.Fuzz(func(t *testing.T, pack []byte) {
		if checkPack(pack, limit, sharedGitObjects) != nil {
			return
		}
		objects := gitmemory.NewStorage()
		_ = packfile.UpdateObjectStorage(objects, bytes.NewReader(pack))
		var total int64
		for _, found := range objects.Objects {
			total += found.Size()
		}
		if total > limit {
			t.Errorf("%d bytes came out, the limit is %d", total, limit)
		}
	})
}
