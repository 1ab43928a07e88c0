package console

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"go.landscaper.dev/test/scenario"
)

// newKey writes a key of sessions to a file.
func newKey(t *testing.T, path string) {
	t.Helper()
	// Two texts, since whitespace at the ends of the file is no part of a key.
	if err := os.WriteFile(path, []byte(rand.Text()+rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRestart: the server is killed and started again while a page is open. The page says so, still
// shows what it had, and takes the connection up by itself with what has changed meanwhile. If the key of
// sessions is another one then, the page leads to the login.
func TestRestart(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	newKey(t, key)
	server, at := env.StartConsoleServer(t, "landscaper-restarted", fmt.Sprintf("{login: {token: true}, sessionKey: %q}", key), map[string]any{
		"login": map[string]any{"token": true},
	})
	space := env.Namespace(t)
	create := func(name string) {
		t.Helper()
		root := scenario.InstallationOf(space, name, scenario.ItemsOn(t, space, "host", scenario.Note(name, scenario.OnCluster, "a")))
		root.Annotations = nil // without a job: only the console is of interest
		env.Create(t, root)
	}
	kill := func() {
		t.Helper()
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	restart := func() {
		t.Helper()
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	create("before")
	page := logIn(t, at, "/", account(t, space, "reader"))
	page.AwaitText("before", "Live")
	page.Is(`window.kept = true`) // until the page is loaded again

	kill()
	page.AwaitText("Connection lost", "before")
	create("meanwhile")
	page.Photograph("restart-lost")
	restart()
	page.AwaitText("meanwhile", "Live")
	create("after")
	page.AwaitText("after")
	if !page.Is(`window.kept && document.querySelector(".counts b").textContent === "3"`) {
		t.Errorf("the page was loaded again, or lacks something: %s", page.Text())
	}

	kill()
	page.AwaitText("Connection lost")
	newKey(t, key)
	restart()
	page.Do(chromedp.WaitVisible("#token")) // on another document
	page.AwaitText("Token of the cluster")
	if !page.Is(`!window.kept && location.pathname === "/login" && !document.body.textContent.includes("meanwhile")`) {
		t.Errorf("the session is there with another key: %s", page.Text())
	}
}
