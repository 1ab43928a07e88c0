package trees

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// How an item behaves.
const (
	fine      = "fine"
	broken    = "broken"
	flaky     = "flaky"
	patient   = "patient"
	stubborn  = "stubborn"
	halfway   = "halfway"
	behaviour = "fine fine fine broken flaky patient stubborn halfway"
)

// target is the cluster that items are deployed to, and the deployer for it.
type target struct {
	trees *Trees
	// objects are what is deployed: by names of Installation and item.
	objects map[string]deployed
	// moving are the objects that move, by names of Installation and object.
	moving map[string]moving
	// failures count what goes wrong for a while.
	failures map[types.UID]int
	// Shut are the items that wait for something outside; opened are those that
	// need not wait any more.
	Shut   map[types.NamespacedName]*deployer.Item
	opened map[types.UID]bool
	// stubborn counts the attempts to delete what does not want to go at first.
	stubborn map[types.UID]int
	// late is what items export that export something else by now.
	late map[int]int
	// busy are the items that are worked on, and last the last job of each.
	busy map[types.UID]bool
	last map[types.UID]string
}

// deployed is an object on the target.
type deployed struct {
	uid   types.UID
	value int
}

func newTarget(t *Trees) *target {
	return &target{
		trees: t, objects: map[string]deployed{}, moving: map[string]moving{}, failures: map[types.UID]int{},
		Shut: map[types.NamespacedName]*deployer.Item{}, opened: map[types.UID]bool{}, stubborn: map[types.UID]int{}, late: map[int]int{},
		busy: map[types.UID]bool{}, last: map[types.UID]string{},
	}
}

func (t *target) parse(item *deployer.Item) desired.Config {
	var config desired.Config
	if err := json.Unmarshal(item.Spec.Configuration.Raw, &config); err != nil {
		panic(err)
	}
	return config
}

// Reconcile implements deployer.Deployer.
func (t *target) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	config, p := t.parse(item), t.trees.At
	if p.Ended() {
		return deployer.Result{}, world.ErrDown
	}
	t.trees.checkTurn(item.DeployItem, false)
	t.trees.checkFlow(item.DeployItem, config, false)
	defer t.work(item)()
	delete(t.Shut, keyOf(item))
	if t.trees.Others(p); p.Ended() {
		return deployer.Result{}, world.ErrDown
	}
	switch config.Behave {
	case broken:
		return deployer.Result{}, job.NewError("deploy", "Broken", "this item is broken", v1alpha1.ErrorConfigurationProblem)
	case flaky:
		if t.failures[item.UID]++; t.failures[item.UID]%3 != 0 {
			return deployer.Result{}, errors.New("the target does not answer")
		}
	case patient:
		if !t.opened[item.UID] {
			t.Shut[keyOf(item)] = item
			t.trees.Others(p)
			return deployer.WaitFor("the user to open"), nil
		}
	}
	if err := t.deployMoving(ctx, item, config); err != nil {
		return deployer.Result{}, err
	}
	if p.Ended() {
		return deployer.Result{}, world.ErrDown
	}
	t.objects[config.Inst+"/"+config.Key()] = deployed{uid: item.UID, value: config.Value}
	if t.failsHalfway(item, config) {
		return deployer.Result{}, errHalfway
	}
	if t.trees.Others(p); config.Out == 0 {
		return deployer.Done(), nil
	}
	return deployer.Done(), item.Export(ctx, t.exported(config.Out))
}

// errHalfway is how a target fails that has done a part of what it was asked for.
var errHalfway = errors.New("the target has failed half-way")

// failsHalfway reports whether the target fails now: now and then, and never often in a row.
func (t *target) failsHalfway(item *deployer.Item, config desired.Config) bool {
	if config.Behave != halfway {
		return false
	}
	t.failures[item.UID]++
	return t.failures[item.UID]%8 == 1
}

// Delete implements deployer.Deployer.
func (t *target) Delete(_ context.Context, item *deployer.Item) (deployer.Result, error) {
	config, p := t.parse(item), t.trees.At
	if p.Ended() {
		return deployer.Result{}, world.ErrDown
	}
	t.trees.checkTurn(item.DeployItem, true)
	t.trees.checkFlow(item.DeployItem, config, true)
	defer t.work(item)()
	delete(t.Shut, keyOf(item))
	if item.DeletionTimestamp == nil {
		t.trees.Violate("item %s is uninstalled although it is not being deleted", item.Name)
	}
	if item.Target == nil {
		t.trees.Violate("item %s is uninstalled after its Target has gone", item.Name)
	}
	if config.Behave == stubborn {
		if t.stubborn[item.UID]++; t.stubborn[item.UID] < 3 {
			return deployer.Result{}, errors.New("a finalizer holds it")
		}
	}
	if t.trees.Others(p); p.Ended() {
		return deployer.Result{}, world.ErrDown
	}
	defer t.trees.Others(p)
	name := config.Inst + "/" + config.Key()
	if t.objects[name].uid == item.UID {
		delete(t.objects, name)
	}
	t.trees.checkLeaving(item.DeployItem, config)
	if t.failsHalfway(item, config) {
		return deployer.Result{}, errHalfway
	}
	for _, name := range t.owned(config.Inst, item.UID) {
		t.dropMoving(item, config, name)
	}
	return deployer.Done(), nil
}

// work begins the work on an item; the returned function ends it. No other worker works on the item
// meanwhile, and jobs come in their order.
func (t *target) work(item *deployer.Item) (end func()) {
	w, p := t.trees, t.trees.At
	if t.busy[item.UID] {
		w.Violate("item %s is worked on by two at the same time", item.Name)
	}
	if last := t.last[item.UID]; number(item.Status.JobID) < number(last) {
		w.Violate("item %s is worked on for %s after %s", item.Name, item.Status.JobID, last)
	}
	if ended := w.Ended("deployer", item.UID); ended != "" && ended == item.Status.JobID {
		w.Violate("item %s is worked on for %s, which its deployer has ended", item.Name, ended)
	}
	t.busy[item.UID], t.last[item.UID] = true, item.Status.JobID
	return func() {
		if !p.Ended() {
			delete(t.busy, item.UID)
		}
	}
}

// number is how many jobs there were before one, and it.
func number(jobID string) int {
	var n int
	_, _ = fmt.Sscanf(jobID, "job-%d", &n)
	return n
}

func keyOf(item *deployer.Item) types.NamespacedName {
	return types.NamespacedName{Namespace: item.Namespace, Name: item.Name}
}

// Open ends the wait of an item.
func (t *target) Open() {
	keys := store.KeysOf(t.Shut)
	key := keys[t.trees.Random.IntN(len(keys))]
	item := t.Shut[key]
	delete(t.Shut, key)
	t.opened[item.UID] = true
	t.trees.Note("open %s", key.Name)
	item.Requeue()
	t.trees.Lanes["deployer"].Add(key)
}

// of returns what is deployed for an Installation.
func (t *target) of(inst string) map[string]int {
	found := map[string]int{}
	for name, object := range t.objects {
		if rest, ok := strings.CutPrefix(name, inst+"/"); ok {
			found[rest] = object.value
		}
	}
	return found
}
