package observe_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// dataIn is a DataObject of a namespace.
func dataIn(namespace, name, value string) *v1alpha1.DataObject {
	object := testbuilders.DataOf(name, value)
	object.Namespace = namespace
	return object
}

// scoped is a DataObject in a scope, written by a job.
func scoped(name, scope, jobID, value string) *v1alpha1.DataObject {
	object := testbuilders.DataOf(name, value)
	object.Labels = map[string]string{v1alpha1.DataObjectContextLabel: scope, v1alpha1.DataObjectJobIDLabel: jobID}
	return object
}

// TestConfirming: a cache is trusted, but not that something is missing, nor objects of an earlier
// job of a subinstallation.
func TestConfirming(t *testing.T) {
	root := testbuilders.InstallationOf(t, "{}")
	sub := testbuilders.InstallationOf(t, "{}")
	testbuilders.Alter(sub, testbuilders.Sub)
	for _, test := range []struct {
		reason       string
		inst         *v1alpha1.Installation
		cached, live objects
		want         string // empty if it is not found
		asks         bool
	}{
		{"an object in the cache is used without a request for a newer one", root, objects{testbuilders.DataOf("x", "1")}, objects{testbuilders.DataOf("x", "2")}, "1", false},
		{"an object in the cache was deleted since: its watch will report that", root, objects{testbuilders.DataOf("x", "1")}, nil, "1", false},
		{"an object was created a moment ago", root, nil, objects{testbuilders.DataOf("x", "2")}, "2", true},
		{"an object does not exist at all", root, nil, nil, "", true},
		{"an object of the name in another namespace is something else", root, objects{dataIn("other", "x", "1")}, objects{dataIn("other", "x", "1")}, "", true},
		{"an object that the parent has written for this job", sub, objects{scoped("x", "Inst.parent", "job-2", "1")}, objects{scoped("x", "Inst.parent", "job-2", "2")}, "1", false},
		{"an object that the parent has written for the last job: its status came faster", sub, objects{scoped("x", "Inst.parent", "job-1", "1")}, objects{scoped("x", "Inst.parent", "job-2", "2")}, "2", true},
		{"an object of an earlier job was deleted since", sub, objects{scoped("x", "Inst.parent", "job-1", "1")}, nil, "", true},
		{"a parent that writes no job with the values that it passes", sub, objects{scoped("x", "Inst.parent", "", "1")}, objects{scoped("x", "Inst.parent", "job-2", "2")}, "2", true},
		{"the scope of another parent has jobs of its own", sub, objects{scoped("x", "Inst.other", "job-1", "1")}, objects{scoped("x", "Inst.other", "job-2", "2")}, "1", false},
		{"a name that begins like the scope is another scope", sub, objects{scoped("x", "Inst.parent-2", "job-1", "1")}, objects{scoped("x", "Inst.parent-2", "job-2", "2")}, "1", false},
		{"data that was written by hand has no labels", sub, objects{testbuilders.DataOf("x", "1")}, objects{testbuilders.DataOf("x", "2")}, "1", false},
		{"roots have no scope: nothing of theirs is from an earlier job", root, objects{scoped("x", "", "job-1", "1")}, objects{scoped("x", "", "job-2", "2")}, "1", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, test.cached, test.live)
			data := &v1alpha1.DataObject{}
			err := observe.Reading(w.Cached, w.Live, test.inst).Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "x"}, data)
			if client.IgnoreNotFound(err) != nil || (err == nil) != (test.want != "") || err == nil && string(data.Data.RawMessage) != test.want {
				t.Errorf("%q, %v", data.Data.RawMessage, err)
			}
			if asked := len(w.server.Calls) > 0; asked != test.asks || len(w.server.Calls) > 1 {
				t.Errorf("the API server was asked %v", w.server.Calls)
			}
		})
	}
}

// TestConfirmingFaults: after an error of a cache the API server is not asked; and its own errors
// are passed as they are.
func TestConfirmingFaults(t *testing.T) {
	broken := errors.New("the reflector has stopped")
	forbidden := apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("dataobjects").GroupResource(), "x", errors.New("no"))
	for _, test := range []struct {
		reason string
		// fault is the error of the cache or of the API server.
		fault   error
		inCache bool
		asked   int
	}{
		{"the cache fails", broken, true, 0},
		{"the cache does not have the object, and the API server fails", broken, false, 1},
		{"the cache does not have the object, and the API server forbids the read", forbidden, false, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, nil, objects{testbuilders.DataOf("x", "1")})
			faulty := w.server
			if test.inCache {
				faulty = w.cache
			}
			faulty.At, faulty.Err = 0, test.fault
			err := observe.ConfirmingReader{Reader: w.Cached, Live: w.Live}.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "x"}, &v1alpha1.DataObject{})
			if !errors.Is(err, test.fault) {
				t.Errorf("%v", err)
			}
			if len(w.server.Calls) != test.asked {
				t.Errorf("the API server was asked %v", w.server.Calls)
			}
		})
	}
}

// TestConfirmingLists: a list of a cache does not report what it lacks. Only values that a parent
// passes are imported by lists, so roots make no request.
func TestConfirmingLists(t *testing.T) {
	known := objects{testbuilders.TargetOf("one", "example.org/x"), testbuilders.TargetOf("two", "example.org/x")}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    int
		server  int
	}{
		{"a root trusts the cache", nil, 1, 0},
		{"a subinstallation does not trust the cache", []testbuilders.Option{testbuilders.Sub}, 2, 1},
		{"an Installation of another system is a root", []testbuilders.Option{testbuilders.ForeignOwner}, 1, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, known[:1], known)
			inst := testbuilders.InstallationOf(t, "{}")
			testbuilders.Alter(inst, test.options...)
			list := &v1alpha1.TargetList{}
			if err := observe.Reading(w.Cached, w.Live, inst).List(t.Context(), list, client.InNamespace("team-a")); err != nil || len(list.Items) != test.want {
				t.Errorf("%d Targets, %v", len(list.Items), err)
			}
			if len(w.server.Calls) != test.server {
				t.Errorf("the API server was asked %v", w.server.Calls)
			}
		})
	}
}
