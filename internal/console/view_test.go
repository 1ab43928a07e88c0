package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// guest is a visitor, and the entrance that lets it in.
type guest struct {
	name  string
	view  func(namespaces []string) (View, error)
	actor Actor
}

func (guest) Host(string) bool                                       { return true }
func (guest) Posts() []string                                        { return nil }
func (guest) Open(*http.ServeMux)                                    {}
func (g guest) Enter(http.ResponseWriter, *http.Request) Visitor     { return g }
func (g guest) Name() string                                         { return g.name }
func (guest) LogsOut() bool                                          { return false }
func (g guest) Actor(*http.Request) (Actor, error)                   { return g.actor, nil }
func (g guest) View(_ context.Context, names []string) (View, error) { return g.view(names) }

// sees is a guest who may list resources, each as resource/namespace or resource for all namespaces.
func sees(places ...string) guest {
	return guest{name: "guest", view: func([]string) (View, error) {
		var view View
		for _, allowed := range places {
			name, namespace, _ := strings.Cut(allowed, "/")
			resource := v1alpha1.GroupVersion.WithResource(name).GroupResource()
			if name == "events" {
				resource = corev1.Resource(name)
			}
			view.Allow(resource, namespace)
		}
		return view, nil
	}}
}

// crowded is the landscape of the tests, and the same names in a namespace of others.
func crowded() inspect.Snapshot {
	snapshot, other := landscape(), landscape()
	for _, object := range objectsOf(&other) {
		object.SetNamespace("other")
		object.SetUID("other-" + object.GetUID())
	}
	snapshot.Installations = append(snapshot.Installations, other.Installations...)
	snapshot.Executions = append(snapshot.Executions, other.Executions...)
	snapshot.DeployItems = append(snapshot.DeployItems, other.DeployItems...)
	snapshot.Values = append(snapshot.Values, other.Values...)
	for _, space := range []string{"shop", "other"} {
		target := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Target"}, ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "garden"}}
		snapshot.Values = append(snapshot.Values, target)
		snapshot.TargetSyncs = append(snapshot.TargetSyncs, &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "shoots"}})
	}
	return snapshot
}

func objectsOf(snapshot *inspect.Snapshot) []metav1.Object {
	var objects []metav1.Object
	for _, object := range snapshot.Installations {
		objects = append(objects, object)
	}
	for _, object := range snapshot.Executions {
		objects = append(objects, object)
	}
	for _, object := range snapshot.DeployItems {
		objects = append(objects, object)
	}
	for _, object := range snapshot.Values {
		objects = append(objects, object)
	}
	return objects
}

func openFor(t *testing.T, snapshot inspect.Snapshot, visitor guest) http.Handler {
	t.Helper()
	handler, err := New(t.Context(), Options{Source: still{snapshot}, Entrance: visitor})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func overviewFor(t *testing.T, handler http.Handler, path string) Overview {
	t.Helper()
	var o Overview
	text, found := strings.CutPrefix(strings.TrimSpace(ask(handler, http.MethodGet, path).Body.String()), "data: ")
	if err := json.Unmarshal([]byte(text), &o); err != nil || !found {
		t.Fatalf("%q: %v", text, err)
	}
	return o
}

func pageFor(t *testing.T, handler http.Handler, path string) Page {
	t.Helper()
	var p Page
	text := strings.TrimPrefix(strings.TrimSpace(ask(handler, http.MethodGet, path).Body.String()), "data: ")
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}

func TestViewOfOverview(t *testing.T) {
	tests := []struct {
		reason string
		guest  guest
		// rows are the namespaces of the roots, with notes what the overview says is missing.
		rows  []string
		notes int
		found int
	}{
		{"no right: nothing is counted, found or noted", sees(), nil, 0, 0},
		{"all of one namespace", sees("installations/shop", "executions/shop", "deployitems/shop", "dataobjects/shop", "targets/shop", "targetsyncs/shop", "events/shop"), []string{"shop", "shop"}, 0, 1},
		{"parts without Installations show nothing", sees("executions", "deployitems", "dataobjects", "targets", "events"), nil, 0, 0},
		{"Installations alone: the rest is said to be missing", sees("installations/shop"), []string{"shop", "shop"}, 5, 0},
		{"rights in a namespace without Installations", sees("installations/empty"), nil, 0, 0},
		{"all namespaces", sees("installations", "executions", "deployitems", "dataobjects", "targets", "events"), []string{"other", "other", "shop", "shop"}, 0, 2},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			handler := openFor(t, crowded(), test.guest)
			o := overviewFor(t, handler, "/live/overview")
			var rows []string
			counted := 0
			for _, row := range o.Rows {
				rows = append(rows, row.Namespace)
			}
			for _, count := range o.Counts {
				counted += count
			}
			slices.Sort(rows)
			if diff := cmp.Diff(test.rows, rows); diff != "" || counted != len(test.rows) || len(o.Notes) != test.notes {
				t.Errorf("%s\n%d counted, notes %q", diff, counted, o.Notes)
			}
			if found := overviewFor(t, handler, "/live/overview?q=subnets"); len(found.Rows) != test.found {
				t.Errorf("%d found, want %d", len(found.Rows), test.found)
			}
		})
	}
}

// TestViewOfPage: what is hidden looks like what does not exist.
func TestViewOfPage(t *testing.T) {
	handler := openFor(t, crowded(), sees("installations/shop", "executions/shop", "deployitems/shop"))
	hidden, absent := ask(handler, http.MethodGet, "/live/n/other/root"), ask(handler, http.MethodGet, "/live/n/nowhere/root")
	if got, want := hidden.Body.String(), strings.ReplaceAll(absent.Body.String(), "nowhere", "other"); got != want || hidden.Code != absent.Code {
		t.Errorf("a hidden Installation can be told from one that does not exist:\n%s\n%s", got, want)
	}
	if p := pageFor(t, handler, "/live/n/shop/root-web"); p.Missing || len(p.Ways) != 1 || p.Imports[0].Objects[0].Fingerprint != "" {
		t.Errorf("%+v", p)
	}
	if p := pageFor(t, handler, "/live/n/shop/root"); len(p.Items) != 1 || len(p.Events) != 0 {
		t.Errorf("items %v, events %v", p.Items, p.Events)
	}
}

// TestViewOfViews: no other page says more of what is hidden than of what does not exist.
func TestViewOfViews(t *testing.T) {
	handler := openFor(t, crowded(), sees("installations/shop", "executions/shop", "deployitems/shop", "targets/shop", "targetsyncs/shop", "jobs/shop"))
	get := func(path string) string { return ask(handler, http.MethodGet, path).Body.String() }
	objects := map[string]string{"Installation": "root", "Execution": "network-exec", "DeployItem": "subnets-x", "Target": "garden", "TargetSync": "shoots"}
	for path := range views {
		for kind, name := range objects {
			at := func(namespace string) string {
				return "/live" + strings.NewReplacer("{kind}", kind, "{namespace}", namespace, "{name}", name).Replace(path)
			}
			shown, hidden, absent := get(at("shop")), get(at("other")), strings.ReplaceAll(get(at("nowhere")), "nowhere", "other")
			if !strings.Contains(path, "{namespace}") {
				if absent = shown; strings.Contains(shown, `"other"`) {
					t.Errorf("%s shows %s", path, shown)
				}
			} else if strings.HasPrefix(path, "/objects") && !strings.Contains(shown, name) {
				t.Errorf("%s of %s shows nothing: %s", path, kind, shown)
			}
			if hidden != absent {
				t.Errorf("%s of %s:\n%s\n%s", path, kind, hidden, absent)
			}
		}
	}
}

// TestViewKnowsAllKinds: of a new kind in a snapshot, a visitor sees what is allowed, and no more.
func TestViewKnowsAllKinds(t *testing.T) {
	snapshot := crowded()
	snapshot.Events = []*corev1.Event{{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "e"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "e"}}}
	parts := []string{"installations/shop"}
	for _, part := range Parts() {
		parts = append(parts, part.Resource+"/shop")
	}
	view, err := sees(parts...).view(nil)
	if err != nil {
		t.Fatal(err)
	}
	before, after := reflect.ValueOf(snapshot), reflect.ValueOf(view.of(snapshot))
	for i := range before.NumField() {
		field := before.Type().Field(i)
		if field.Name == "Unreadable" || field.Type.Kind() != reflect.Slice {
			continue
		}
		had, has := before.Field(i).Len(), after.Field(i).Len()
		if had == 0 || has*2 != had {
			t.Errorf("%d of %d %s are seen, want half", has, had, field.Name)
		}
		for j := range has {
			if object, ok := after.Field(i).Index(j).Interface().(metav1.Object); !ok || object.GetNamespace() != "shop" {
				t.Errorf("%s: %v", field.Name, object)
			}
		}
	}
}

// TestViewAsksForThePage: for a page, the rights in its namespace are asked for, whether it exists or
// not, so that the time of the answer does not say it.
func TestViewAsksForThePage(t *testing.T) {
	for _, test := range []struct {
		path string
		want []string
	}{
		{"/live/overview", []string{"other", "shop"}},
		{"/live/n/shop/root", []string{"shop"}},
		{"/live/n/nowhere/root", []string{"nowhere"}},
	} {
		var asked []string
		ask(openFor(t, crowded(), guest{view: func(namespaces []string) (View, error) {
			asked = namespaces
			return View{}, nil
		}}), http.MethodGet, test.path)
		if diff := cmp.Diff(test.want, asked); diff != "" {
			t.Errorf("%s: %s", test.path, diff)
		}
	}
}

// TestViewFailsClosed: without an answer about rights, nothing is shown.
func TestViewFailsClosed(t *testing.T) {
	answer := ask(openFor(t, crowded(), guest{view: func([]string) (View, error) { return Unrestricted(), errors.New("secret") }}), http.MethodGet, "/live/overview")
	if answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "secret") || strings.Contains(answer.Body.String(), "shop") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestViewKey(t *testing.T) {
	installations := Installations
	view := func(places ...place) string {
		var v View
		for _, p := range places {
			v.Allow(p.resource, p.namespace)
		}
		return v.key()
	}
	everywhere, shop, other := place{installations, ""}, place{installations, "shop"}, place{installations, "other"}
	if view(everywhere) != view(shop, everywhere) || view(shop, other) != view(other, shop) {
		t.Error("views that show the same have different keys")
	}
	keys := []string{Unrestricted().key(), view(), view(everywhere), view(shop), view(other), view(shop, other), view(place{schema.GroupResource{Resource: "installations"}, "shop"})}
	if slices.Sort(keys); len(slices.Compact(keys)) != 7 {
		t.Errorf("views that show something else have the same key: %q", keys)
	}
}

// busy is a landscape in which the namespace "other" changes.
type busy struct {
	still
	changed chan struct{}
}

// Changed implements Source.
func (b busy) Changed() <-chan struct{} { return b.changed }

// TestChangesOfOthers: a visitor does not even get to know that something happens elsewhere, and
// gets what changes by new rights.
func TestChangesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const collects = time.Second
		source := busy{still{crowded()}, make(chan struct{})}
		visitor := sees("installations/shop")
		rights := visitor.view
		visitor.view = func(namespaces []string) (View, error) { return rights(namespaces) }
		handler, err := New(t.Context(), Options{Source: source, Entrance: &visitor, Collect: collects})
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		answer := httptest.NewRecorder()
		left := make(chan struct{})
		go func() {
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/live/overview", nil))
			close(left)
		}()
		synctest.Wait()
		first := answer.Body.Len()
		for range 3 {
			source.still.snapshot.Installations[len(source.still.snapshot.Installations)-1].Labels = map[string]string{"changed": "x"}
			source.changed <- struct{}{}
			<-time.After(collects)
			synctest.Wait()
		}
		if first == 0 || answer.Body.Len() != first {
			t.Errorf("changes of others are sent: %q", answer.Body.String()[first:])
		}
		rights = sees().view
		<-time.After(refresh)
		synctest.Wait()
		if !strings.Contains(answer.Body.String()[first:], `"rows":[]`) {
			t.Errorf("rights were taken away, and the page still shows %q", answer.Body.String()[first:])
		}
		rights = func([]string) (View, error) { return View{}, errors.New("logged out") }
		<-time.After(refresh)
		<-left
		leave()
	})
}

// TestStreamsOfOne: one visitor does not take the places of all.
func TestStreamsOfOne(t *testing.T) {
	b := newBoard(Options{})
	var ends []func()
	for range maxStreamsOfOne {
		end, _ := b.begin("one")
		ends = append(ends, end)
	}
	if end, most := b.begin("one"); end != nil || most != maxStreamsOfOne {
		t.Errorf("more than %d pages of one visitor are open", maxStreamsOfOne)
	}
	if end, _ := b.begin("other"); end == nil {
		t.Error("another visitor has no place")
	}
	ends[0]()
	if end, _ := b.begin("one"); end == nil {
		t.Error("a page that was closed still has its place")
	}
	for i := 0; b.all < maxStreams; i++ {
		b.begin(string(rune('A' + i)))
	}
	if end, most := b.begin("late"); end != nil || most != maxStreams {
		t.Errorf("more than %d pages are open", maxStreams)
	}
}

// TestStreamsOutliveLimits: the limits of a server for answers of a moment end no stream.
func TestStreamsOutliveLimits(t *testing.T) {
	source := busy{still{crowded()}, make(chan struct{})}
	visitor := sees("installations")
	var looks atomic.Int32
	visitor.view = func([]string) (View, error) {
		if looks.Add(1) > 1 {
			return View{}, nil
		}
		return Unrestricted(), nil
	}
	handler, err := New(t.Context(), Options{Source: source, Entrance: visitor})
	if err != nil {
		t.Fatal(err)
	}
	const limit = 50 * time.Millisecond
	server := httptest.NewUnstartedServer(handler)
	server.Config.ReadTimeout, server.Config.WriteTimeout = limit, limit
	server.Start()
	defer server.Close()
	answer, err := http.Get(server.URL + "/live/overview")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	events := bufio.NewScanner(answer.Body)
	if !events.Scan() || !strings.Contains(events.Text(), "shop") {
		t.Fatalf("%q, %v", events.Text(), events.Err())
	}
	<-time.After(3 * limit)
	source.changed <- struct{}{}
	for events.Scan() {
		if strings.Contains(events.Text(), `"rows":[]`) {
			return
		}
	}
	t.Errorf("the stream has ended: %v", events.Err())
}
