package model

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
)

// itemType is the type of the items in the model.
const itemType = "example.org/model"

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

// itemConfig is the configuration of an item.
type itemConfig struct {
	// Without a kind, the items of an Execution would be compressed.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	Inst string `json:"inst"`
	// Sub is the subinstallation that the item is in, After the sibling whose value it
	// deploys.
	Sub    string `json:"sub,omitempty"`
	After  string `json:"after,omitempty"`
	Name   string `json:"name"`
	Behave string `json:"behave"`
	Value  int    `json:"value"`
	// Out is what the item exports at first, and nothing else does; 0 if it exports
	// nothing.
	Out int `json:"out,omitempty"`
	// Moves are the objects of the root that the item wants, which another one may have wanted
	// before.
	Moves []string `json:"moves,omitempty"`
}

// target is the cluster that items are deployed to, and the deployer for it.
type target struct {
	world *world
	// objects are what is deployed: by names of Installation and item.
	objects map[string]deployed
	// moving are the objects that move, by names of Installation and object.
	moving map[string]moving
	// failures count what goes wrong for a while.
	failures map[types.UID]int
	// shut are the items that wait for something outside; opened are those that
	// need not wait any more.
	shut   map[types.NamespacedName]*deployer.Item
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

func newTarget(w *world) *target {
	return &target{
		world: w, objects: map[string]deployed{}, moving: map[string]moving{}, failures: map[types.UID]int{},
		shut: map[types.NamespacedName]*deployer.Item{}, opened: map[types.UID]bool{}, stubborn: map[types.UID]int{}, late: map[int]int{},
		busy: map[types.UID]bool{}, last: map[types.UID]string{},
	}
}

func (t *target) parse(item *deployer.Item) itemConfig {
	var config itemConfig
	if err := json.Unmarshal(item.Spec.Configuration.Raw, &config); err != nil {
		panic(err)
	}
	return config
}

// Reconcile implements deployer.Deployer.
func (t *target) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	config, p := t.parse(item), t.world.at
	if p.ended() {
		return deployer.Result{}, errDown
	}
	t.world.checkTurn(item.DeployItem, false)
	t.world.checkFlow(item.DeployItem, config, false)
	defer t.work(item)()
	delete(t.shut, keyOf(item))
	if t.world.others(p); p.ended() {
		return deployer.Result{}, errDown
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
			t.shut[keyOf(item)] = item
			t.world.others(p)
			return deployer.WaitFor("the user to open"), nil
		}
	}
	if err := t.deployMoving(ctx, item, config); err != nil {
		return deployer.Result{}, err
	}
	if p.ended() {
		return deployer.Result{}, errDown
	}
	t.objects[config.Inst+"/"+config.key()] = deployed{uid: item.UID, value: config.Value}
	if t.failsHalfway(item, config) {
		return deployer.Result{}, errHalfway
	}
	if t.world.others(p); config.Out == 0 {
		return deployer.Done(), nil
	}
	return deployer.Done(), item.Export(ctx, t.exported(config.Out))
}

// errHalfway is how a target fails that has done a part of what it was asked for.
var errHalfway = errors.New("the target has failed half-way")

// failsHalfway reports whether the target fails now: now and then, and never often in a row.
func (t *target) failsHalfway(item *deployer.Item, config itemConfig) bool {
	if config.Behave != halfway {
		return false
	}
	t.failures[item.UID]++
	return t.failures[item.UID]%8 == 1
}

// Delete implements deployer.Deployer.
func (t *target) Delete(_ context.Context, item *deployer.Item) (deployer.Result, error) {
	config, p := t.parse(item), t.world.at
	if p.ended() {
		return deployer.Result{}, errDown
	}
	t.world.checkTurn(item.DeployItem, true)
	t.world.checkFlow(item.DeployItem, config, true)
	defer t.work(item)()
	delete(t.shut, keyOf(item))
	if item.DeletionTimestamp == nil {
		t.world.violate("item %s is uninstalled although it is not being deleted", item.Name)
	}
	if item.Target == nil {
		t.world.violate("item %s is uninstalled after its Target has gone", item.Name)
	}
	if config.Behave == stubborn {
		if t.stubborn[item.UID]++; t.stubborn[item.UID] < 3 {
			return deployer.Result{}, errors.New("a finalizer holds it")
		}
	}
	if t.world.others(p); p.ended() {
		return deployer.Result{}, errDown
	}
	defer t.world.others(p)
	name := config.Inst + "/" + config.key()
	if t.objects[name].uid == item.UID {
		delete(t.objects, name)
	}
	t.world.checkLeaving(item.DeployItem, config)
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
	w, p := t.world, t.world.at
	if t.busy[item.UID] {
		w.violate("item %s is worked on by two at the same time", item.Name)
	}
	if last := t.last[item.UID]; number(item.Status.JobID) < number(last) {
		w.violate("item %s is worked on for %s after %s", item.Name, item.Status.JobID, last)
	}
	if ended := w.answers["deployer"].ended[item.UID]; ended != "" && ended == item.Status.JobID {
		w.violate("item %s is worked on for %s, which its deployer has ended", item.Name, ended)
	}
	t.busy[item.UID], t.last[item.UID] = true, item.Status.JobID
	return func() {
		if !p.ended() {
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

// open ends the wait of an item.
func (t *target) open() {
	keys := keysOf(t.shut)
	key := keys[t.world.random.IntN(len(keys))]
	item := t.shut[key]
	delete(t.shut, key)
	t.opened[item.UID] = true
	t.world.note("open %s", key.Name)
	item.Requeue()
	t.world.lanes["deployer"].add(key)
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

// key is the name of an item within its root.
func (c itemConfig) key() string { return c.Sub + "." + c.Name }

func (c itemConfig) String() string {
	return fmt.Sprintf("%s=%d%v (%s)", c.Name, c.Value, c.Moves, c.Behave)
}
