package pages

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// checker is the accessibility checker axe-core, which "make test-console" installs with what the pages
// are built with.
const checker = "../../../internal/console/web/node_modules/axe-core/axe.min.js"

// TestAccessibility: axe-core finds nothing on any page, in both themes and on a phone.
func TestAccessibility(t *testing.T) {
	script, err := os.ReadFile(checker)
	if err != nil {
		t.Fatalf("axe-core is not installed: run make console: %v", err)
	}
	v := openPlatform(t, platform())
	paths := []string{"/", "/n/shop/absent", "/targets/shop/absent", "/n/shop/platform-shop-web"}
	for _, view := range addresses {
		paths = append(paths, view.path)
	}
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 390} {
			v.Prefer(theme)
			v.Do(chromedp.EmulateViewport(width, 844))
			for _, path := range paths {
				v.Visit(v.address + path)
				v.Await(`document.querySelector("h1:not(.hint)")`)
				v.accessible(string(script), fmt.Sprintf("%s, %s, %d wide", path, theme, width))
			}
		}
	}
}

// accessible lets the checker look at the page as it is.
func (v *viewer) accessible(script, what string) {
	v.t.Helper()
	// It is no part of the page, whose policy refuses other scripts.
	v.Evaluate(script + `; ""`)
	found := v.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((result) => result.violations.flatMap((finding) =>
		finding.nodes.map((node) => finding.id + ": " + node.html.slice(0, 200) + "\n  " + node.failureSummary)).join("\n"))`)
	if found != "" {
		v.t.Errorf("%s:\n%s", what, found)
	}
}
