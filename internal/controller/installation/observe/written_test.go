package observe_test

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestWrittenIsReadOnce: objects that were written just now are read from the API server, once for
// all callers, and each caller may change its copy.
func TestWrittenIsReadOnce(t *testing.T) {
	w := newWorld(t, objects{testbuilders.DataOf("x", "1"), testbuilders.DataOf("y", "1"), testbuilders.TargetOf("x", "example.org/old")}, objects{testbuilders.DataOf("x", "2"), testbuilders.DataOf("y", "2"), testbuilders.TargetOf("x", "example.org/new")})
	after := w.AfterWrites(map[observe.ObjectKey]bool{{Name: "x"}: true, {Target: true, Name: "x"}: true})
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: "team-a", Name: name} }
	for range 3 {
		data, target := &v1alpha1.DataObject{}, &v1alpha1.Target{}
		if err := errors.Join(after.Get(t.Context(), key("x"), data), after.Get(t.Context(), key("x"), target)); err != nil {
			t.Fatal(err)
		}
		if string(data.Data.RawMessage) != "2" || target.Spec.Type != "example.org/new" {
			t.Errorf("%s, %s", data.Data.RawMessage, target.Spec.Type)
		}
		data.Data.RawMessage[0], target.Spec.Type = '9', "example.org/spoilt"
	}
	other := &v1alpha1.DataObject{}
	if err := after.Get(t.Context(), key("y"), other); err != nil || string(other.Data.RawMessage) != "1" {
		t.Errorf("what was not written comes from the cache: %s, %v", other.Data.RawMessage, err)
	}
	if asked := strings.Join(w.server.Calls, ", "); asked != "get DataObject, get Target" {
		t.Errorf("the API server was asked: %s", asked)
	}
	if list := (&v1alpha1.DataObjectList{}); after.List(t.Context(), list) != nil || len(list.Items) != 2 || len(w.server.Calls) != 2 {
		t.Errorf("a list comes from the cache: %d, %v", len(list.Items), w.server.Calls)
	}
}

// TestWrittenForgetsFaults: an object that could not be read is not remembered as if it were read.
func TestWrittenForgetsFaults(t *testing.T) {
	w := newWorld(t, objects{testbuilders.DataOf("x", "1")}, objects{testbuilders.DataOf("x", "2")})
	w.server.At, w.server.Err = 0, errors.New("try again later")
	after := w.AfterWrites(map[observe.ObjectKey]bool{{Name: "x"}: true})
	data := &v1alpha1.DataObject{}
	if err := after.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "x"}, data); !errors.Is(err, w.server.Err) {
		t.Fatalf("an old value instead of the fault: %s, %v", data.Data.RawMessage, err)
	}
	if err := after.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "x"}, data); err != nil || string(data.Data.RawMessage) != "2" {
		t.Errorf("%s, %v", data.Data.RawMessage, err)
	}
}

// TestWrittenKnowsKinds: an Installation exports DataObjects and Targets only. A Secret is neither,
// whatever the name of an export is.
func TestWrittenKnowsKinds(t *testing.T) {
	nameless := testbuilders.InstallationOf(t, `exports: {data: [{name: a, dataRef: ""}, {name: b, dataRef: "#"}]}`)
	_, secret := testbuilders.Concealed("s", "first")
	_, second := testbuilders.Concealed("s2", "second")
	w := same(t, secret, second)
	after := w.AfterWrites(observe.ExportsOf(nameless))
	for _, want := range []string{"first", "second"} {
		_, into := testbuilders.Concealed("", "")
		name := map[string]string{"first": "s", "second": "s2"}[want]
		if err := after.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, into); err != nil || string(into.Data["value"]) != want {
			t.Errorf("Secret %s: %q, %v", name, into.Data["value"], err)
		}
	}
}
