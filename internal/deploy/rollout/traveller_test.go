package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/placement"
)

// place is a cluster with an address and an ID.
type place struct {
	*fakecluster.Cluster
	address, id string
}

func (p *place) Server() string                     { return "https://" + p.address + ".example" }
func (p *place) Address() string                    { return p.address }
func (p *place) ID(context.Context) (string, error) { return p.id, nil }

// traveller is an item whose Target leads now to one cluster, now to another. Its status
// is what would be stored; everything else is lost in a crash.
type traveller struct {
	t      *testing.T
	places map[string]*place
	// at is where the Target leads; closed are clusters that cannot be reached.
	at     string
	closed map[string]bool
	// leaves is a cluster whose objects are to stay.
	leaves string
	status []byte
	// left is how many requests and writes happen before the process ends; negative for
	// all. lost says that the last one took effect nevertheless.
	left int
	lost bool
	// attempt
	working    []byte
	memory     *Rollout
	removal    *Removal
	departures *EarlierRemovals
	uninstalls []string
}

var errCrash = errors.New("the process has ended")

func newTraveller(t *testing.T) *traveller {
	w := &traveller{t: t, places: map[string]*place{}, closed: map[string]bool{}, at: "a", left: -1, departures: &EarlierRemovals{}, status: []byte(`{"kind":"ProviderStatus"}`)}
	for _, name := range []string{"a", "b", "c"} {
		cluster := fakecluster.New()
		cluster.Fault = func(fakecluster.Request) fakecluster.Fault { return w.fault() }
		w.places[name] = &place{cluster, name, "id-" + name}
	}
	return w
}

// fault counts a request.
func (w *traveller) fault() fakecluster.Fault {
	switch {
	case w.left < 0:
		return fakecluster.Fault{}
	case w.left == 0:
		return fakecluster.Fault{Before: errCrash}
	}
	w.left--
	if w.left == 0 && w.lost {
		return fakecluster.Fault{After: errCrash}
	}
	return fakecluster.Fault{}
}

func (w *traveller) store() error {
	if fault := w.fault(); fault.Before != nil {
		return fault.Before
	}
	w.status = w.working
	return nil
}

func (w *traveller) record() placement.Record {
	record, err := placement.Read(&runtime.RawExtension{Raw: w.working})
	if err != nil {
		w.t.Fatal(err)
	}
	return record
}

func (w *traveller) Checkpoint(context.Context, string) error { return nil }
func (w *traveller) Expired() bool                            { return false }
func (w *traveller) Requeue()                                 {}
func (w *traveller) Cluster(context.Context, string) (target.Cluster, error) {
	return nil, errors.New("there is no other Target")
}

func (w *traveller) Changing(context.Context, corev1.ObjectReference, *unstructured.Unstructured) (string, error) {
	return "", nil
}
func (w *traveller) Foreign([]Foreign)                            {}
func (w *traveller) Export(context.Context, map[string]any) error { return nil }

func (w *traveller) Others(context.Context) ([]*v1alpha1.DeployItem, error)    { return nil, nil }
func (w *traveller) Stays(context.Context, *v1alpha1.DeployItem) (bool, error) { return false, nil }
func (w *traveller) OthersOn(context.Context, apideployer.ClusterIdentity) ([]*v1alpha1.DeployItem, error) {
	return nil, nil
}
func (w *traveller) MayKeep(context.Context) (bool, error)               { return false, nil }
func (w *traveller) MayMove(context.Context) (bool, error)               { return false, nil }
func (w *traveller) Moved(context.Context, string, *v1alpha1.DeployItem) {}
func (w *traveller) Keeps(...string)                                     {}
func (w *traveller) KeepsInUse(...string)                                {}
func (w *traveller) Bequeath(context.Context, *v1alpha1.DeployItem, apideployer.ManagedResourceStatus) error {
	return nil
}

func (w *traveller) Yields(context.Context, string, corev1.ObjectReference) (bool, error) {
	return false, nil
}

func (w *traveller) IsNeighbor(context.Context, string) (bool, error) { return false, nil }

func (w *traveller) keep(inventory apply.Inventory) {
	record := w.record()
	record.Resources = apideployer.ManagedResourceStatusList(inventory)
	written, err := placement.WriteResources(w.working, record)
	if err != nil {
		w.t.Fatal(err)
	}
	w.working = written
}

func (w *traveller) Record(_ context.Context, inventory apply.Inventory) error {
	w.keep(inventory)
	return w.store()
}

func (w *traveller) EarlierClusters() []apideployer.EarlierCluster { return w.record().EarlierClusters }

func (w *traveller) SetEarlierCluster(left apideployer.EarlierCluster) error {
	record := w.record()
	record.EarlierClusters = placement.Update(record.EarlierClusters, left)
	written, err := placement.WriteResources(w.working, record)
	w.working = written
	return err
}

func (w *traveller) Retains(earlier apideployer.EarlierCluster) bool {
	return w.leaves == earlier.Key()
}

func (w *traveller) Recorded() (apideployer.ClusterIdentity, apideployer.ManagedResourceStatusList) {
	record := w.record()
	return *record.Cluster, record.Resources
}

func (w *traveller) Reach(_ context.Context, earlier apideployer.EarlierCluster) (target.Cluster, error) {
	if w.closed[earlier.Address] {
		return nil, errors.New("cluster " + earlier.Address + " does not answer")
	}
	return w.places[earlier.Address].Cluster, nil
}

func (w *traveller) ExplainEarlier(_ apideployer.EarlierCluster, err error) error { return err }

func (w *traveller) Uninstall(_ context.Context, _ target.Cluster, earlier apideployer.EarlierCluster) (Uninstallation, error) {
	return &uninstalling{w, earlier.Release.Name + " on " + earlier.Address, false}, nil
}

// uninstalling waits once and is done then.
type uninstalling struct {
	of     *traveller
	name   string
	waited bool
}

func (u *uninstalling) SetJob(*deployer.Item) {}
func (u *uninstalling) Close() error          { return nil }
func (u *uninstalling) Continue(context.Context) ([]string, error) {
	if !u.waited {
		u.waited = true
		return []string{"the end of release " + u.name}, nil
	}
	u.of.uninstalls = append(u.of.uninstalls, u.name)
	return nil, nil
}

// settle is what an attempt begins with.
func (w *traveller) settle() error {
	w.working = append([]byte(nil), w.status...)
	record, moved, err := placement.Settle(w.t.Context(), w.record(), w.places[w.at], "target")
	if err != nil {
		return err
	}
	if !moved {
		record.Resources = w.record().Resources
		w.working, err = placement.WriteResources(w.working, record)
		return err
	}
	if w.working, err = placement.WriteResources(w.working, record); err != nil {
		return err
	}
	_ = w.end()
	return w.store()
}

func (w *traveller) end() error {
	w.memory, w.removal, w.departures = nil, nil, &EarlierRemovals{}
	return nil
}

// deploy makes an attempt of a job.
func (w *traveller) deploy(texts ...string) (waiting []string, err error) {
	if err := w.settle(); err != nil {
		return nil, err
	}
	desiredState := wishFor(objects(w.t, texts...))
	if w.memory == nil {
		if w.memory, err = Begin(w.t.Context(), w, w.places[w.at].Cluster, desiredState, apply.Inventory(w.record().Resources)); err != nil {
			return nil, err
		}
	}
	w.memory.SetJob(w)
	waiting, err = w.memory.Continue(w.t.Context())
	w.keep(w.memory.Inventory())
	if err == nil && len(waiting) == 0 {
		waiting, err = w.departures.Continue(w.t.Context(), w, Teardown{Owner: desiredState.Owner})
	}
	return waiting, errors.Join(err, w.store())
}

// remove makes an attempt of the deletion.
func (w *traveller) remove() (waiting []string, err error) {
	if err := w.settle(); err != nil {
		return nil, err
	}
	owner := wishFor(nil).Owner
	if w.removal == nil {
		if w.removal, err = BeginRemoval(w.t.Context(), w, w.places[w.at].Cluster, Teardown{Owner: owner}, apply.Inventory(w.record().Resources)); err != nil {
			return nil, err
		}
	}
	w.removal.SetJob(w)
	waiting, err = w.removal.Continue(w.t.Context())
	w.keep(w.removal.Inventory())
	if err == nil && len(waiting) == 0 {
		waiting, err = w.departures.Continue(w.t.Context(), w, Teardown{Owner: owner})
	}
	return waiting, errors.Join(err, w.store())
}

// until makes attempts until one is done.
func (w *traveller) until(attempt func() ([]string, error)) {
	w.t.Helper()
	for range 10 {
		waiting, err := attempt()
		if err != nil {
			w.t.Fatal(err)
		}
		if len(waiting) == 0 {
			return
		}
	}
	w.t.Fatal("it never ends")
}

func (w *traveller) want(what string, on map[string]string) {
	w.t.Helper()
	for name, want := range on {
		if got := strings.Join(w.places[name].Names(), " "); got != want {
			w.t.Errorf("%s: on cluster %s there are %q, want %q", what, name, got, want)
		}
	}
}
