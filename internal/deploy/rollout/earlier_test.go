package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/placement"
)

const (
	noteOne = `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: ns}}`
	noteTwo = `{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: ns}}`
	both    = "ConfigMap ns/one ConfigMap ns/two"
)

// TestMove: objects on the earlier cluster are deleted when all are on the new one, wherever the
// process ends in between, and whatever follows.
func TestMove(t *testing.T) {
	follows := map[string]struct {
		then func(w *traveller)
		want map[string]string
	}{
		"the job goes on":     {func(w *traveller) { w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) }) }, map[string]string{"a": "", "b": both}},
		"the item is deleted": {func(w *traveller) { w.until(w.remove) }, map[string]string{"a": "", "b": ""}},
		"the Target leads back": {func(w *traveller) {
			w.at = "a"
			w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) })
		}, map[string]string{"a": both, "b": ""}},
		"it leads to a third one":   {func(w *traveller) { w.at = "c"; w.until(func() ([]string, error) { return w.deploy(noteOne) }) }, map[string]string{"a": "", "b": "", "c": "ConfigMap ns/one"}},
		"back, and then it goes":    {func(w *traveller) { w.at = "a"; w.until(w.remove) }, map[string]string{"a": "", "b": ""}},
		"another, and then it goes": {func(w *traveller) { w.at = "c"; w.until(w.remove) }, map[string]string{"a": "", "b": "", "c": ""}},
	}
	for reason, follow := range follows {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s (answer lost: %t)", reason, lost), func(t *testing.T) {
				for crash := 0; ; crash++ {
					w := newTraveller(t)
					w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) })
					w.want("before", map[string]string{"a": both, "b": ""})
					w.at, w.left, w.lost = "b", crash, lost
					_, err := w.deploy(noteOne, noteTwo)
					if err != nil && !errors.Is(err, errCrash) {
						t.Fatal(err)
					}
					w.left = -1
					_ = w.end()
					follow.then(w)
					w.want(fmt.Sprintf("a crash after %d requests", crash), follow.want)
					w.working = w.status
					if earlier := w.EarlierClusters(); len(earlier) != 0 {
						t.Errorf("a crash after %d requests: recorded is %+v", crash, earlier)
					}
					if err == nil || t.Failed() {
						if crash < 5 {
							t.Errorf("only %d crashes", crash)
						}
						return
					}
				}
			})
		}
	}
}

// TestOrderOfMove: nothing is removed before all is on the new cluster; a cluster that
// does not answer holds up no other one; what is kept, or left, is not removed.
func TestOrderOfMove(t *testing.T) {
	w := newTraveller(t)
	w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) })
	w.places["b"].Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Name == "two" {
			return fakecluster.Fault{Before: errors.New("refused")}
		}
		return fakecluster.Fault{}
	}
	w.at = "b"
	if _, err := w.deploy(noteOne, noteTwo); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Fatalf("error %v", err)
	}
	w.want("half on the new one", map[string]string{"a": both, "b": "ConfigMap ns/one"})
	w.places["b"].Fault = nil
	w.at = "c"
	w.closed["a"] = true
	if _, err := w.deploy(noteOne); err == nil || !strings.Contains(err.Error(), "cluster a does not answer") {
		t.Fatalf("error %v", err)
	}
	w.want("a does not answer", map[string]string{"a": both, "b": "", "c": "ConfigMap ns/one"})
	if earlier := w.EarlierClusters(); len(earlier) != 1 || earlier[0].ID != "id-a" || len(earlier[0].ManagedResources) != 2 {
		t.Errorf("recorded is %+v", earlier)
	}
	w.leaves = "id-a"
	w.until(func() ([]string, error) { return w.deploy(noteOne) })
	w.want("a is left", map[string]string{"a": both})
	if earlier := w.EarlierClusters(); len(earlier) != 0 {
		t.Errorf("recorded is %+v", earlier)
	}
}

// TestHeldBack: what a finalizer holds on the earlier cluster is waited for, and said with
// the cluster.
func TestHeldBack(t *testing.T) {
	w := newTraveller(t)
	heldText := `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: ns, finalizers: [acme.example/hold]}}`
	w.until(func() ([]string, error) { return w.deploy(heldText) })
	w.at = "b"
	waiting, err := w.deploy(heldText)
	if want := "the end of ConfigMap ns/one (finalizer acme.example/hold) on the earlier cluster https://a.example"; err != nil || len(waiting) != 1 || waiting[0] != want {
		t.Fatalf("waiting %q, error %v", waiting, err)
	}
	w.places["a"].Remove("ConfigMap", "ns", "one")
	if waiting, err := w.deploy(heldText); err != nil || len(waiting) != 0 {
		t.Errorf("waiting %q, error %v", waiting, err)
	}
}

// TestLeftRelease: a release is deleted before the objects, together with its record.
func TestLeftRelease(t *testing.T) {
	w := newTraveller(t)
	w.until(func() ([]string, error) { return w.deploy(noteOne) })
	record, err := placement.Read(&runtime.RawExtension{Raw: w.status})
	if err != nil {
		t.Fatal(err)
	}
	record.Release = &apideployer.ReleaseReference{Name: "app", Namespace: "ns"}
	record.Resources = append(record.Resources, apideployer.ManagedResourceStatus{Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "two"}})
	if w.status, err = placement.WriteResources(w.status, record.Move(apideployer.ClusterIdentity{Address: "b", ID: "id-b"})); err != nil {
		t.Fatal(err)
	}
	foreign := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two","namespace":"ns"}}`), foreign); err != nil {
		t.Fatal(err)
	}
	w.places["a"].Put(foreign)
	w.at = "b"
	_ = w.end()
	if waiting, err := w.deploy(noteOne); err != nil || len(waiting) != 1 || !strings.Contains(waiting[0], "the end of release app on a on the earlier cluster") {
		t.Fatalf("waiting %q, error %v", waiting, err)
	}
	w.want("the release is not gone", map[string]string{"a": both})
	w.until(func() ([]string, error) { return w.deploy(noteOne) })
	if got := strings.Join(w.uninstalls, " "); got != "app on a" {
		t.Errorf("uninstalled are %q", got)
	}
	w.want("the objects of the release are its own", map[string]string{"a": "ConfigMap ns/two", "b": "ConfigMap ns/one"})
}

// TestUnknownIDs: where no ID can be read, an object shows that both clusters are the same one, and
// then nothing that is wanted is deleted.
func TestUnknownIDs(t *testing.T) {
	w := newTraveller(t)
	for _, one := range w.places {
		one.id = ""
	}
	w.places["b"].Cluster = w.places["a"].Cluster
	w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) })
	t.Run("the recorded objects are there", func(t *testing.T) {
		w.at = "b"
		w.until(func() ([]string, error) { return w.deploy(noteOne, noteTwo) })
		w.want("moved", map[string]string{"a": both})
	})
	t.Run("they were removed meanwhile", func(t *testing.T) {
		w.places["a"].Remove("ConfigMap", "ns", "one")
		w.places["a"].Remove("ConfigMap", "ns", "two")
		w.at = "a"
		w.until(func() ([]string, error) { return w.deploy(noteOne) })
		w.want("moved", map[string]string{"a": "ConfigMap ns/one"})
	})
}

// TestHereOnly: groups for another Target have nothing to do with a cluster that is left.
func TestHereOnly(t *testing.T) {
	other := deletion.Group{All: true, TargetName: "other"}
	named := deletion.Group{Nature: apideployer.NamespacedResources}
	for reason, test := range map[string]struct {
		groups []deletion.Group
		want   string
	}{
		"none are the default ones":      {nil, ""},
		"that of another Target goes":    {[]deletion.Group{other, named}, "namespaced-resources"},
		"no group is not the same":       {[]deletion.Group{other}, "empty"},
		"all others stay in their order": {[]deletion.Group{named, {Nature: apideployer.CRDResources}}, "namespaced-resources crds"},
	} {
		var got []string
		for _, group := range hereOnly(test.groups) {
			got = append(got, string(group.Nature))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", reason, got, test.want)
		}
	}
}
