// Package pages opens the console in a real browser, with a landscape that a test makes up.
package pages

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/test/console/browser"
)

// world is a landscape that a test changes.
type world struct {
	changed chan struct{}
	actor   console.Actor // nil if the user only reads

	mutex    sync.Mutex
	snapshot inspect.Snapshot
}

func newWorld(installations ...*v1alpha1.Installation) *world {
	return &world{changed: make(chan struct{}, 1), snapshot: inspect.Snapshot{Installations: installations}}
}

// Snapshot implements console.Source.
func (w *world) Snapshot() inspect.Snapshot {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.snapshot
}

// Changed implements console.Source.
func (w *world) Changed() <-chan struct{} { return w.changed }

// Disconnected implements console.Source.
func (w *world) Disconnected() error { return nil }

func (w *world) set(installations ...*v1alpha1.Installation) {
	w.mutex.Lock()
	w.snapshot = inspect.Snapshot{Installations: installations}
	w.mutex.Unlock()
	w.changed <- struct{}{}
}

func root(name string) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	inst.Status.InstallationPhase, inst.Status.JobID, inst.Status.JobIDFinished = v1alpha1.InstallationPhases.Succeeded, "1", "1"
	return inst
}

// serve answers at an address until it is closed.
func serve(t *testing.T, address string, handler http.Handler) *http.Server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return server
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// open serves a landscape, and opens it in a browser.
func open(t *testing.T, w *world) (page *browser.Tab, address string, handler http.Handler, server *http.Server) {
	t.Helper()
	address = freeAddress(t)
	entrance, err := console.NewLink(address, "secret", w.actor)
	if err != nil {
		t.Fatal(err)
	}
	handler, err = console.New(t.Context(), console.Options{Source: w, Entrance: entrance, Where: "the cluster of the test"})
	if err != nil {
		t.Fatal(err)
	}
	server = serve(t, address, handler)
	page = browser.Open(t)
	page.Visit("http://" + address + "/login?token=secret")
	return page, address, handler, server
}

// TestLostConnection: a page says that its connection is lost, connects again, and then shows what
// has changed meanwhile.
func TestLostConnection(t *testing.T) {
	w := newWorld(root("before"))
	page, address, handler, server := open(t, w)
	page.AwaitText("before", "Live")
	page.Is(`window.kept = true`)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	page.AwaitText("Connection lost", "before")
	w.set(root("before"), root("meanwhile"))
	serve(t, address, handler)
	page.AwaitText("meanwhile", "Live")
	w.set(root("after"))
	page.AwaitText("after")
	if !page.Is(`window.kept && !document.body.innerText.includes("meanwhile")`) {
		t.Error("the page was loaded again, or shows what was deleted: " + page.Text())
	}
}

// TestOverview: what has failed comes first, then what waits, each with its reason.
func TestOverview(t *testing.T) {
	of := func(name, component, version string, change func(*v1alpha1.InstallationStatus)) *v1alpha1.Installation {
		inst := root(name)
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/" + component, Version: version}}
		at := metav1.NewTime(time.Now().Add(-40 * time.Minute))
		inst.Status.PhaseTransitionTime = &at
		change(&inst.Status)
		return inst
	}
	failed := func(message string) func(*v1alpha1.InstallationStatus) {
		return func(status *v1alpha1.InstallationStatus) {
			status.InstallationPhase, status.LastError = v1alpha1.InstallationPhases.Failed, &v1alpha1.Error{Reason: "Failed", Message: message}
		}
	}
	runs := func(message string) func(*v1alpha1.InstallationStatus) {
		return func(status *v1alpha1.InstallationStatus) {
			status.InstallationPhase, status.JobID = v1alpha1.InstallationPhases.Progressing, "2"
			if message != "" {
				status.LastError = &v1alpha1.Error{Reason: "Wait", Message: message, Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnfinished}}
			}
		}
	}
	ready := func(*v1alpha1.InstallationStatus) {}
	page, _, _, _ := open(t, newWorld(
		of("catalog", "catalog", "2.4.1", ready), of("checkout", "checkout", "1.9.0", runs("waiting for Deployment shop/checkout to become ready (2 of 3 replicas)")),
		of("ledger", "ledger", "0.7.2", failed("apply Secret shop/ledger: the quota of the namespace is used up")),
		of("search", "search", "3.0.0", runs("")), of("website", "website", "5.2.0", ready),
	))
	page.AwaitText("All namespaces", "the quota of the namespace is used up", "2 of 3 replicas")
	if !page.Is(`[...document.querySelectorAll(".rows .head a")].map((link) => link.textContent).join() === "ledger,checkout,search,catalog,website"`) {
		t.Error(page.Text())
	}
	if !page.Is(`[...document.querySelectorAll("#attention ~ .rows .head a")].length === 2`) {
		t.Error(page.Text())
	}
	page.Photograph("landscape")
}

// TestWidthOfAPhone: nothing but the data flow is wider than the screen.
func TestWidthOfAPhone(t *testing.T) {
	long := root("ledger")
	long.Status.InstallationPhase = v1alpha1.InstallationPhases.Failed
	long.Status.LastError = &v1alpha1.Error{Reason: "Failed", Message: strings.Repeat("word", 25_000)}
	page, address, _, _ := open(t, newWorld(long))
	page.Do(chromedp.EmulateViewport(390, 844))
	for _, path := range []string{"/", "/n/shop/ledger"} {
		page.Visit("http://" + address + path)
		page.AwaitText("ledger", "wordword")
		if !page.Is(`document.documentElement.scrollWidth <= 390`) {
			t.Errorf("%s is wider than the screen", path)
		}
	}
}

// TestKeyboard: what a mouse reaches, a keyboard reaches.
func TestKeyboard(t *testing.T) {
	page, _, _, _ := open(t, newWorld(root("one"), root("two")))
	page.AwaitText("two")
	// A key event of the browser's protocol types its character even if the page takes the key.
	page.Is(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true})) || true`)
	page.Await(`document.activeElement?.type === "search"`)
	page.Do(chromedp.KeyEvent("two"))
	page.AwaitText("1 found for “two”")
	page.Do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	page.Await(`location.pathname === "/n/shop/two" && document.activeElement?.tagName === "H1"`)
}

// TestAddressOfNothing: the address of a deleted Installation says so.
func TestAddressOfNothing(t *testing.T) {
	page, address, _, _ := open(t, newWorld())
	page.AwaitText("There is no Installation here yet")
	page.Visit("http://" + address + "/n/shop/gone")
	page.AwaitText("There is no Installation gone in namespace shop")
}
