// Package browser drives a real browser in tests of the console.
package browser

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// limit bounds a wait for what a page shows; a wait ends with the change of the page, long before.
const limit = 30 * time.Second

// browsers are the names of the program; CHROMIUM names another one.
var browsers = []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"}

func findBrowser() (string, error) {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium: install it (Debian: apt-get install chromium), or name its program in CHROMIUM")
}

// Tab is a page of a browser.
type Tab struct {
	context.Context

	t *testing.T
}

// Open starts a browser that ends with the test. It trusts the keys of these certificates besides those of the
// machine.
func Open(t *testing.T, trusted ...*x509.Certificate) *Tab {
	t.Helper()
	program, err := findBrowser()
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1200, 900))
	var keys []string
	for _, certificate := range trusted {
		sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
		keys = append(keys, base64.StdEncoding.EncodeToString(sum[:]))
	}
	if len(keys) > 0 {
		options = append(options, chromedp.Flag("ignore-certificate-errors-spki-list", strings.Join(keys, ",")))
	}
	if os.Getuid() == 0 {
		// Chromium refuses to sandbox its processes for root, as whom containers of CI run.
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	page := &Tab{ctx, t}
	// The browser lives as long as the context of the first call, so this one has no limit.
	if err := chromedp.Do(page, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("%s does not start: %v", program, err)
	}
	return page
}

// Do carries actions out, each of which ends by itself.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p, limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v; the page shows:\n%s", err, p.Text())
	}
}

// Text is what the page shows.
func (p *Tab) Text() string {
	text, err := chromedp.Run(p, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Await waits until an expression is true on the page.
func (p *Tab) Await(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p, chromedp.Poll[bool](`!!(`+expression+`)`, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(limit))); err != nil {
		p.t.Fatalf("waiting for %s: %v; the page shows:\n%s", expression, err, p.Text())
	}
}

// Visit goes to an address, and returns when the console is there.
func (p *Tab) Visit(address string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("main")))
}

// AwaitText waits until the page shows texts.
func (p *Tab) AwaitText(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.Await(`document.body.innerText.includes(` + quoted(text) + `)`)
	}
}

// Is tells whether an expression is true now.
func (p *Tab) Is(expression string) bool {
	p.t.Helper()
	yes, err := chromedp.Run(p, chromedp.Evaluate[bool](`!!(`+expression+`)`))
	if err != nil {
		p.t.Fatal(err)
	}
	return yes
}

// Follow clicks on the first link with a text in a part of the page.
func (p *Tab) Follow(part, text string) {
	p.t.Helper()
	link := `[...document.querySelectorAll(` + quoted(part+" a") + `)].find((link) => link.textContent.trim() === ` + quoted(text) + ` || link.querySelector("text.title")?.textContent === ` + quoted(text) + `)`
	p.Await(link)
	p.Is(link + `.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`)
}

func quoted(text string) string { return "`" + strings.ReplaceAll(text, "`", "\\`") + "`" }

// Evaluate returns the text that an expression is; what it waits for is awaited.
func (p *Tab) Evaluate(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p, limit)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// Prefer lets the browser prefer the theme light or dark.
func (p *Tab) Prefer(theme string) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
	if _, err := chromedp.Call(p, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatal(err)
	}
}

// Photograph stores pictures of a page in the folder that SCREENSHOTS names, if it is set: light and
// dark, and on a phone.
func (p *Tab) Photograph(name string) {
	p.t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1200, 900}, {"dark", "dark", 1200, 900}, {"phone", "light", 390, 844}} {
		p.Prefer(look.scheme)
		p.Do(chromedp.EmulateViewport(look.width, look.height))
		picture, err := chromedp.Run(p, chromedp.FullScreenshot(100))
		if err != nil {
			p.t.Fatal(err)
		}
		p.Do(chromedp.EmulateViewport(1200, 900))
		if err := os.WriteFile(filepath.Join(folder, name+"-"+look.name+".png"), picture, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}
