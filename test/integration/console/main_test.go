// Package console tests the console of a server: a real API server decides what users may see.
package console

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

var env = &scenario.World{}

func TestMain(m *testing.M) { os.Exit(env.Main(m, lab.Options{})) }

// serverUser is a server with the rules that the chart gives to one with a console.
const serverUser = "landscaper-with-console"

// start starts a server with a console, and returns its address.
func start(t *testing.T, login string) string {
	t.Helper()
	return startAs(t, serverUser, "{login: "+login+"}", map[string]any{})
}

// startAs starts a server as a user who has the rules that the chart gives for values of the console.
func startAs(t *testing.T, name, config string, values map[string]any) string {
	t.Helper()
	return env.StartConsole(t, name, config, values)
}

// tokenOf makes a ServiceAccount, and returns a token of it.
func tokenOf(t *testing.T, space, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
	if err := env.Admin.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := env.Admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// create stores objects, which are deleted at the end of the test.
func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := env.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.IgnoreNotFound(env.Admin.Delete(context.Background(), object)); err != nil {
				t.Error(err)
			}
		})
	}
}

// visitor is a user with a browser.
type visitor struct {
	t    *testing.T
	at   string
	http *http.Client
	// headers go with each request.
	headers map[string]string
}

// visit opens a console without logging in.
func visit(t *testing.T, at string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, at: at, http: &http.Client{Jar: jar, Timeout: time.Minute}}
}

// logIn logs in with a token.
func logIn(t *testing.T, at, token string) *visitor {
	t.Helper()
	v := visit(t, at)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", at)
	answer, err := v.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/" {
		said, _ := io.ReadAll(answer.Body)
		t.Fatalf("the login ends with %s at %s: %s", answer.Status, answer.Request.URL, said)
	}
	return v
}

// stream opens a view until the end of the test.
func (v *visitor) stream(path string) *bufio.Scanner {
	v.t.Helper()
	lines, leave := v.open(path)
	v.t.Cleanup(leave)
	return lines
}

// open opens a view until its reader leaves: a user has few of them at a time.
func (v *visitor) open(path string) (lines *bufio.Scanner, leave func()) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.at+"/live/"+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for name, value := range v.headers {
		request.Header.Set(name, value)
	}
	answer, err := v.http.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	leave = func() { _ = answer.Body.Close() }
	if answer.StatusCode != http.StatusOK {
		leave()
		v.t.Fatalf("%s: %s", path, answer.Status)
	}
	lines = bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	return lines, leave
}

// read reads the next state of a view.
func read[T any](t *testing.T, lines *bufio.Scanner) (view T) {
	t.Helper()
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "data: "); found {
			if err := json.Unmarshal([]byte(text), &view); err != nil {
				t.Fatal(err)
			}
			return view
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return view
}

// look reads a view once.
func look[T any](v *visitor, path string) T {
	v.t.Helper()
	lines, leave := v.open(path)
	defer leave()
	return read[T](v.t, lines)
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	address, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
