package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
	"go.landscaper.dev/internal/landscape/inspect"
)

const (
	// manyInstallations are in so many namespaces, and seen on so many pages of so many users.
	manyInstallations, manySpaces, manyPages, manyUsers = 10_000, 100, 200, 20
	// mostMemory is what pages may take of a server.
	mostMemory = 100 << 20
	// changes are how often something changes while the pages are open.
	changes = 5
	// loadServer names the process that serves.
	loadServer = "LANDSCAPER_CONSOLE_LOAD"
)

// TestLoad: 200 pages on 10,000 Installations take at most 100 MiB of a process that does nothing else.
// A page gets each change of what it shows. The figures are in the log.
func TestLoad(t *testing.T) {
	if os.Getenv(loadServer) != "" {
		serveLoad(t)
		return
	}
	server := startLoad(t)
	before := server.ask("heap")
	var group sync.WaitGroup
	pages := make([]*bufio.Scanner, manyPages)
	for i := range pages {
		group.Go(func() { pages[i] = openPage(t, server.at, i) })
	}
	group.Wait()
	opened := server.ask("heap")
	var took []time.Duration
	for i := range changes {
		begun := time.Now()
		server.ask("change")
		// The page of this Installation, and every overview.
		if text := next(t, pages[1], fmt.Sprintf("change %d", i)); text == "" {
			t.Fatal("a page does not get a change")
		}
		took = append(took, time.Since(begun))
		// The next change comes after a quiet time, as by hand.
		server.ask("quiet")
	}
	after := server.ask("heap")
	slices.Sort(took)
	t.Logf("%d pages on %d Installations: %d MiB with the landscape, %d MiB more with the pages open, %d MiB more after %d changes; a change is on a page after %v (median; slowest %v); %d questions about rights of %d users",
		manyPages, manyInstallations, before.Heap>>20, (int64(opened.Heap)-int64(before.Heap))>>20, (int64(after.Heap)-int64(before.Heap))>>20, changes,
		took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), after.Reviews, manyUsers)
	if grown := int64(max(opened.Heap, after.Heap)) - int64(before.Heap); grown > mostMemory {
		t.Errorf("the pages take %d MiB", grown>>20)
	}
}

// figures are what the serving process says of itself.
type figures struct {
	Heap    uint64
	Reviews int64
}

// process is the serving process.
type process struct {
	t     *testing.T
	at    string
	write func(string)
	lines *bufio.Scanner
}

func startLoad(t *testing.T) *process {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run", "^TestLoad$", "-test.timeout", "5m")
	command.Env = append(os.Environ(), loadServer+"=1")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // ends it
		if err := command.Wait(); err != nil {
			t.Errorf("the process that serves: %v", err)
		}
	})
	p := &process{t: t, lines: bufio.NewScanner(out), write: func(line string) { fmt.Fprintln(in, line) }}
	if !p.lines.Scan() {
		t.Fatal("the process does not serve")
	}
	p.at = p.lines.Text()
	return p
}

// ask asks for figures, or for a change.
func (p *process) ask(what string) (f figures) {
	p.t.Helper()
	p.write(what)
	if !p.lines.Scan() {
		p.t.Fatal("the process has ended")
	}
	if err := json.Unmarshal(p.lines.Bytes(), &f); err != nil {
		p.t.Fatalf("%s: %v", p.lines.Text(), err)
	}
	return f
}

// openPage opens the overview, or the page of an Installation, as one of the users, and reads it once.
func openPage(t *testing.T, at string, number int) *bufio.Scanner {
	t.Helper()
	path := "/live/overview"
	if number%2 == 1 {
		path = fmt.Sprintf("/live/n/space-%d/root-%d", number%manySpaces, number%manySpaces)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	request.Header.Set("User", fmt.Sprintf("user-%d", number%manyUsers))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 8<<20)
	next(t, lines, `"name":`)
	return lines
}

// next reads until a page shows a text.
func next(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	for lines != nil && lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	return ""
}

// crowd is a landscape that is changed from outside.
type crowd struct {
	changed chan struct{}

	mutex    sync.Mutex
	snapshot inspect.Snapshot
	count    int
}

func newCrowd() *crowd {
	c := &crowd{changed: make(chan struct{}, 1)}
	for i := range manyInstallations {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("space-%d", i%manySpaces), Name: fmt.Sprintf("root-%d", i), UID: types.UID(fmt.Sprint(i))}}
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/app", Version: "1.0.0"}}
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: "in"}}
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "out"}}
		inst.Status.InstallationPhase, inst.Status.JobID, inst.Status.JobIDFinished = v1alpha1.InstallationPhases.Succeeded, "1", "1"
		c.snapshot.Installations = append(c.snapshot.Installations, inst)
	}
	return c
}

// change lets an Installation fail with another message.
func (c *crowd) change() {
	c.mutex.Lock()
	changed := c.snapshot.Installations[1].DeepCopy()
	changed.Status.InstallationPhase = v1alpha1.InstallationPhases.Failed
	changed.Status.LastError = &v1alpha1.Error{Message: fmt.Sprintf("change %d", c.count)}
	c.count++
	c.snapshot.Installations = slices.Clone(c.snapshot.Installations)
	c.snapshot.Installations[1] = changed
	c.mutex.Unlock()
	c.changed <- struct{}{}
}

// Snapshot implements console.Source.
func (c *crowd) Snapshot() inspect.Snapshot {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	snapshot := c.snapshot
	snapshot.Now = time.Now()
	return snapshot
}

// Changed implements console.Source.
func (c *crowd) Changed() <-chan struct{} { return c.changed }

// Disconnected implements console.Source.
func (c *crowd) Disconnected() error { return nil }

// counter is the API server: it counts the questions about rights.
type counter struct{ reviews atomic.Int64 }

func (c *counter) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	c.reviews.Add(1)
	review.Status.Allowed = true
	return review, nil
}

// gate lets everyone in under a name.
type gate struct{ rights *access.Rights }

func (gate) Host(string) bool    { return true }
func (gate) Posts() []string     { return nil }
func (gate) Open(*http.ServeMux) {}
func (d gate) Enter(_ http.ResponseWriter, r *http.Request) console.Visitor {
	return user{d.rights, r.Header.Get("User")}
}

type user struct {
	rights *access.Rights
	name   string
}

func (u user) Name() string                             { return u.name }
func (user) LogsOut() bool                              { return false }
func (user) Actor(*http.Request) (console.Actor, error) { return nil, nil }
func (u user) View(ctx context.Context, namespaces []string) (console.View, error) {
	return u.rights.View(ctx, access.User{Username: u.name}, namespaces)
}

// serveLoad serves until its input ends.
func serveLoad(t *testing.T) {
	landscape, api := newCrowd(), &counter{}
	handler, err := console.New(t.Context(), console.Options{Source: landscape, Entrance: gate{access.New(api)}, Collect: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	fmt.Println(server.URL)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var f figures
		switch lines.Text() {
		case "change":
			landscape.change()
		case "quiet":
			<-time.After(time.Second)
		case "heap":
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			f = figures{Heap: memory.HeapInuse + memory.StackInuse, Reviews: api.reviews.Load()}
		}
		_ = json.NewEncoder(os.Stdout).Encode(f)
	}
	server.CloseClientConnections()
	server.Close()
}
