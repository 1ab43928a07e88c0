package placement

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
)

// fake is a cluster that counts requests.
type fake struct {
	address, id string
	err         error
	objects     map[string]types.UID
	asked       []string
}

func (f *fake) Server() string  { return "https://" + f.address + "?token=secret" }
func (f *fake) Address() string { return f.address }

func (f *fake) ID(context.Context) (string, error) {
	f.asked = append(f.asked, "id")
	return f.id, f.err
}

func (f *fake) Mapping(_ context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	if kind.Kind != "ConfigMap" {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	return &meta.RESTMapping{GroupVersionKind: kind, Scope: meta.RESTScopeNamespace}, nil
}

func (f *fake) Get(_ context.Context, _ *meta.RESTMapping, _, name string) (*unstructured.Unstructured, error) {
	f.asked = append(f.asked, name)
	uid, ok := f.objects[name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetUID(uid)
	return object, nil
}

func entry(name, uid string) deployer.ManagedResourceStatus {
	return deployer.ManagedResourceStatus{Policy: deployer.ManagePolicy, Resource: corev1.ObjectReference{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: name, UID: types.UID(uid),
	}}
}

func identity(address, id string) *deployer.ClusterIdentity {
	return &deployer.ClusterIdentity{Address: address, ID: id}
}

// TestSettle: which clusters are the same, and which requests that needs.
func TestSettle(t *testing.T) {
	tests := []struct {
		reason   string
		recorded *deployer.ClusterIdentity
		here     fake
		moved    bool
		// id is what is recorded afterwards, asked what the cluster was asked.
		id, asked string
	}{
		{"no cluster is recorded: the recorded objects are here", nil, fake{address: "a", id: "1"}, false, "1", "id"},
		{"the address is the recorded one: no request is needed", identity("a", "1"), fake{address: "a", id: "1"}, false, "1", ""},
		{"the address is the recorded one, without an ID", identity("a", ""), fake{address: "a", id: "1"}, false, "", ""},
		{"another address of the same cluster", identity("a", "1"), fake{address: "b", id: "1"}, false, "1", "id"},
		{"another cluster", identity("a", "1"), fake{address: "b", id: "2"}, true, "2", "id"},
		{"the ID cannot be read any more, an object is here", identity("a", "1"), fake{address: "b", objects: map[string]types.UID{"one": "u1"}}, false, "1", "id one"},
		{"the ID was never read, the second object is here", identity("a", ""), fake{address: "b", id: "1", objects: map[string]types.UID{"two": "u2"}}, false, "1", "id one two"},
		{"the ID was never read, nothing is here", identity("a", ""), fake{address: "b", id: "1"}, true, "1", "id one two"},
		{"objects of the same names are others", identity("a", "1"), fake{address: "b", objects: map[string]types.UID{"one": "x", "two": "y"}}, true, "", "id one two"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			record := Record{ClusterRecord: deployer.ClusterRecord{Cluster: test.recorded}, Resources: deployer.ManagedResourceStatusList{
				entry("one", "u1"), entry("two", "u2"), entry("unconfirmed", ""),
				{Resource: corev1.ObjectReference{APIVersion: "acme.example/v1", Kind: "Unknown", Name: "x", UID: "u3"}},
			}}
			got, moved, err := Settle(t.Context(), record, &test.here, "target")
			if err != nil || moved != test.moved {
				t.Fatalf("moved %t, error %v", moved, err)
			}
			if asked := strings.Join(test.here.asked, " "); asked != test.asked {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
			want := deployer.ClusterIdentity{Address: test.here.address, ID: test.id, Server: "https://" + test.here.address, Target: "target"}
			if *got.Cluster != want {
				t.Errorf("recorded is %+v, want %+v", *got.Cluster, want)
			}
			if earlier := len(got.EarlierClusters); earlier != map[bool]int{true: 1}[moved] || moved == (len(got.Resources) > 0) {
				t.Errorf("%d earlier clusters, objects %v", earlier, got.Resources)
			}
		})
	}
}

// TestSettleNeedsAnAnswer: without one, nothing is recorded.
func TestSettleNeedsAnAnswer(t *testing.T) {
	down := errors.New("down")
	for _, recorded := range []*deployer.ClusterIdentity{nil, identity("a", "1")} {
		if _, moved, err := Settle(t.Context(), Record{ClusterRecord: deployer.ClusterRecord{Cluster: recorded}}, &fake{address: "b", err: down}, "t"); !errors.Is(err, down) || moved {
			t.Errorf("moved %t, error %v", moved, err)
		}
	}
}

// TestMove: which objects are recorded on which cluster when a Target leads elsewhere.
func TestMove(t *testing.T) {
	a, b, c := *identity("a", "1"), *identity("b", "2"), *identity("c", "3")
	one, two := deployer.ManagedResourceStatusList{entry("one", "u1")}, deployer.ManagedResourceStatusList{entry("two", "u2")}
	release := &deployer.ReleaseReference{Name: "r", Namespace: "ns"}
	record := func(here deployer.ClusterIdentity, resources deployer.ManagedResourceStatusList, earlier ...deployer.EarlierCluster) Record {
		return Record{ClusterRecord: deployer.ClusterRecord{Cluster: &here, EarlierClusters: earlier}, Resources: resources}
	}
	withRelease := record(a, nil)
	withRelease.Release = release
	tests := []struct {
		reason   string
		from     Record
		to       deployer.ClusterIdentity
		resource int
		want     []deployer.EarlierCluster
	}{
		{"recorded objects are left behind", record(a, one), b, 0, []deployer.EarlierCluster{{ClusterIdentity: a, ManagedResources: one}}},
		{"nothing is left where nothing was", record(a, nil), b, 0, nil},
		{"a release may list no objects", withRelease, b, 0, []deployer.EarlierCluster{{ClusterIdentity: a, Release: release}}},
		{"a second move keeps the first", record(b, two, deployer.EarlierCluster{ClusterIdentity: a, ManagedResources: one}), c, 0,
			[]deployer.EarlierCluster{{ClusterIdentity: a, ManagedResources: one}, {ClusterIdentity: b, ManagedResources: two}}},
		{"the Target leads back: the objects that were left are there", record(b, two, deployer.EarlierCluster{ClusterIdentity: a, ManagedResources: one}), a, 1,
			[]deployer.EarlierCluster{{ClusterIdentity: b, ManagedResources: two}}},
		{"the Target leads back by another address", record(b, nil, deployer.EarlierCluster{ClusterIdentity: a, ManagedResources: one}), *identity("z", "1"), 1, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := test.from.Move(test.to)
			if diff := cmp.Diff(test.want, got.EarlierClusters); diff != "" || len(got.Resources) != test.resource || *got.Cluster != test.to {
				t.Errorf("%s objects %v, cluster %v", diff, got.Resources, got.Cluster)
			}
		})
	}
}

// TestStatus: a record is read as it was written, all else in a status stays, and a record of
// others is about the cluster of the Target.
func TestStatus(t *testing.T) {
	status := `{"apiVersion":"x/v1","kind":"ProviderStatus","other":1,"managedResources":[{"policy":"manage","resource":{"kind":"ConfigMap","name":"one"}}]}`
	read, err := Read(&runtime.RawExtension{Raw: []byte(status)})
	if err != nil || read.Cluster != nil || read.Resources != nil {
		t.Errorf("the status of another implementation: %+v, error %v", read, err)
	}
	record := Record{
		ClusterRecord: deployer.ClusterRecord{Cluster: identity("a", "1"), EarlierClusters: []deployer.EarlierCluster{{ClusterIdentity: *identity("b", "2"), ManagedResources: deployer.ManagedResourceStatusList{entry("two", "u2")}}}},
		Resources:     deployer.ManagedResourceStatusList{entry("one", "u1")},
	}
	written, err := WriteResources([]byte(status), record)
	if err != nil {
		t.Fatal(err)
	}
	if read, err = Read(&runtime.RawExtension{Raw: written}); err != nil || cmp.Diff(record, read) != "" {
		t.Errorf("%s error %v", cmp.Diff(record, read), err)
	}
	var fields map[string]any
	if err := json.Unmarshal(written, &fields); err != nil || fields["other"] != 1.0 || fields["kind"] != "ProviderStatus" {
		t.Errorf("%s", written)
	}
	if written, err = Write(written, deployer.ClusterRecord{Cluster: identity("a", "1")}); err != nil || strings.Contains(string(written), "earlierClusters") {
		t.Errorf("%s, error %v", written, err)
	}
	for _, broken := range []string{`{"cluster":1}`, `{"cluster":{},"managedResources":{}}`} {
		if _, err := Read(&runtime.RawExtension{Raw: []byte(broken)}); err == nil || !strings.Contains(err.Error(), "status.providerStatus") {
			t.Errorf("%s: error %v", broken, err)
		}
	}
	if _, err := Write([]byte(`[]`), record.ClusterRecord); err == nil {
		t.Error("a list is no provider status")
	}
}

// TestLeaves: an annotation counts for the clusters that it names, and for no other one.
func TestLeaves(t *testing.T) {
	for annotation, want := range map[string]bool{"": false, "1": true, "2": false, "2, 1": true, "11": false, "a": false, "true": false, ",": false} {
		if got := Leaves(annotation, *identity("a", "1")); got != want {
			t.Errorf("%q: %t", annotation, got)
		}
	}
	if !Leaves("a", *identity("a", "")) || Leaves("", deployer.ClusterIdentity{}) {
		t.Error("without an ID, the address is the key; without both the key is empty")
	}
}

// TestObjects: the remaining objects, in a text that stays short.
func TestObjects(t *testing.T) {
	list := deployer.ManagedResourceStatusList{entry("a", ""), entry("b", ""), entry("c", "")}
	list = append(list, deployer.ManagedResourceStatus{Policy: deployer.KeepPolicy, Resource: corev1.ObjectReference{Kind: "Secret", Name: "kept"}})
	for want, left := range map[string]deployer.EarlierCluster{
		"nothing": {},
		"ConfigMap ns/a, ConfigMap ns/b, ConfigMap ns/c":          {ManagedResources: list},
		"release ns/r, ConfigMap ns/a, ConfigMap ns/b and 1 more": {Release: &deployer.ReleaseReference{Name: "r", Namespace: "ns"}, ManagedResources: list},
	} {
		if got := Objects(left); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
