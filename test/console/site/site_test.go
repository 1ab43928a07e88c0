// Package site looks at the documentation site in a real browser.
package site

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"go.landscaper.dev/test/console/browser"
)

// out has the site of two versions.
var out string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if out, err = os.MkdirTemp("", "site-"); err == nil {
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the site:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(out) }()
	return m.Run()
}

func build() error {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	for _, version := range []string{"main", "v0.1.0"} {
		command := exec.CommandContext(context.Background(), "go", "run", ".", "-root", root, "-out", out, "-version", version)
		command.Dir = filepath.Join(root, "tools", "site")
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
	}
	return nil
}

// TestSite: what a reader does, from files without a server: search, go to another version, choose a theme,
// copy a command, and read on a phone.
func TestSite(t *testing.T) {
	v := browser.Open(t)
	v.Prefer("light")
	at := "file://" + filepath.Join(out, "main")

	v.Visit(at + "/index.html")
	search := func(words string) {
		t.Helper()
		v.Do(chromedp.SendKeys(chromedp.CSS("#content"), "/"))
		v.Await(`document.activeElement.id === "search"`)
		v.Evaluate(`document.activeElement.value = ""`)
		v.Do(chromedp.SendKeys(chromedp.CSS("#search"), words))
	}
	for words, want := range map[string]string{
		"PickupTimeout": "Reasons", "importDataMappings": "Installation", "--allow-writes": "Assistants", "landscaper_jobs_waiting": "Metrics", "freeze window": "When jobs may begin",
	} {
		search(words)
		v.Await(`[...document.querySelectorAll("#results b")].slice(0, 6).some((title) => title.textContent.includes("` + want + `"))`)
	}
	search("nothing-has-this-word")
	v.AwaitText("Nothing is found for")
	v.Photograph("site-home")

	search("allow the assistant to start jobs")
	v.Await(`document.querySelector("#results [aria-selected=true] a")?.href.includes("/assistants.html")`)
	v.Photograph("site-search")
	arrived := func(version string) chromedp.Action[chromedp.Void] {
		return chromedp.WaitVisible(chromedp.CSS(`body[data-url="assistants.html"][data-version="` + version + `"] main`))
	}
	v.Do(chromedp.SendKeys(chromedp.CSS("#search"), kb.Enter), arrived("main"))

	v.Evaluate(`document.querySelector("#version").value = "v0.1.0"`)
	v.Is(`document.querySelector("#version").dispatchEvent(new Event("change"))`)
	v.Do(arrived("v0.1.0"))
	if !v.Is(`document.title.endsWith("v0.1.0") && document.querySelector("#version").value === "v0.1.0"`) {
		t.Error("the page is not that of the other version")
	}
}

// TestTheme: the theme is that of the system, until the reader chooses; the choice stays.
func TestTheme(t *testing.T) {
	server := serve(t)
	v := browser.Open(t)
	background := `getComputedStyle(document.body).backgroundColor`
	v.Prefer("dark")
	v.Visit(server + "/main/operate.html")
	dark := v.Evaluate(background)
	v.Do(chromedp.Click(chromedp.CSS("#theme")))
	v.Await(background + ` !== "` + dark + `"`)
	v.Visit(server + "/main/cli.html")
	if v.Evaluate(background) == dark {
		t.Error("the choice does not stay")
	}
	v.Await(`document.querySelector("#theme")`)
	if v.Is(`getComputedStyle(document.querySelector("pre.chroma")).color === getComputedStyle(document.querySelector("pre.chroma")).backgroundColor`) {
		t.Error("code cannot be read")
	}
}

// TestCopy: a button copies a block; of the screen of a terminal, the commands.
func TestCopy(t *testing.T) {
	v := browser.Open(t)
	v.Visit(serve(t) + "/main/cli.html")
	// Without a window, a browser has no clipboard.
	v.Evaluate(`Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { window.copied = text; }}}); ""`)
	for _, test := range []struct{ reason, has, want string }{
		{"commands are copied whole", "source <(landscaper-cli completion bash)", "make build                 # bin/landscaper-cli\nsource <(landscaper-cli completion bash)"},
		{"only the command of a screen", "$ landscaper-cli inst inspect -n shop", "landscaper-cli inst inspect -n shop"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			block := `[...document.querySelectorAll(".code")].find((block) => block.querySelector("pre").textContent.includes("` + test.has + `"))`
			v.Evaluate(block + `.querySelector(".copy").click(); ""`)
			v.Await(block + `.querySelector(".copy").textContent === "Copied"`)
			if got := v.Evaluate(`window.copied`); got != test.want {
				t.Errorf("copied %q, want %q", got, test.want)
			}
		})
	}
}

// TestNarrow: on a phone, no page is wider than the screen, and the menu opens.
func TestNarrow(t *testing.T) {
	server := serve(t)
	v := browser.Open(t)
	v.Do(chromedp.EmulateViewport(360, 740))
	for _, page := range []string{"index", "cli", "operate", "reference/commands", "reference/reasons", "reference/api/installation", "reference/templates"} {
		v.Visit(server + "/main/" + page + ".html")
		if !v.Is(`document.documentElement.scrollWidth <= innerWidth`) {
			t.Errorf("%s is wider than the screen: %s", page, v.Evaluate(`String(document.documentElement.scrollWidth)`))
		}
	}
	if v.Is(`document.querySelector("nav").offsetHeight > 0`) {
		t.Error("the menu is open")
	}
	v.Do(chromedp.Click(chromedp.CSS("#menu")))
	v.Await(`document.querySelector("nav [aria-current]").offsetHeight > 0`)
	v.Photograph("site-reference")
}

// TestAccessible: axe-core finds nothing, in both themes.
func TestAccessible(t *testing.T) {
	script, err := os.ReadFile("../../../internal/console/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is not installed: run make console: %v", err)
	}
	server := serve(t)
	v := browser.Open(t)
	for _, theme := range []string{"light", "dark"} {
		v.Prefer(theme)
		for _, page := range []string{"index", "cli", "assistants", "reference/blueprints", "reference/api/installation"} {
			v.Visit(server + "/main/" + page + ".html")
			v.Evaluate(string(script) + `; ""`)
			found := v.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((result) => result.violations.flatMap((finding) =>
				finding.nodes.slice(0, 3).map((node) => finding.id + ": " + node.html.slice(0, 160) + "\n  " + node.failureSummary)).join("\n"))`)
			if strings.TrimSpace(found) != "" {
				t.Errorf("%s, %s:\n%s", page, theme, found)
			}
		}
	}
}

func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	return server.URL
}
