package trees

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// Some objects on the target move: with each change of a root, another item of its tree may
// want them. Whatever the same tree still wants has to stay.

// movingNames are the objects of each root that move.
var movingNames = []string{"m", "n", "o"}

// moving is an object on the target that may move between the items of a root.
type moving struct {
	// owner is the item that has written it last.
	owner types.UID
}

// scatter lets some items of a desired state want the objects that move.
func (u *users) scatter(wanted *desired.State) {
	var all []*desired.Config
	for i := range wanted.Items {
		all = append(all, &wanted.Items[i].Config)
	}
	for i := range wanted.Subs {
		for j := range wanted.Subs[i].Items {
			all = append(all, &wanted.Subs[i].Items[j].Config)
		}
	}
	for _, name := range movingNames {
		if len(all) > 0 && u.trees.Random.IntN(3) > 0 {
			chosen := all[u.trees.Random.IntN(len(all))]
			chosen.Moves = append(chosen.Moves, name)
		}
	}
}

// moved returns the root whose objects are to move now; nil if something else is to happen.
func (u *users) moved() *v1alpha1.Installation {
	if !u.trees.Rates.Moves || u.trees.Random.IntN(4) == 0 {
		return nil
	}
	stored, err := u.trees.Store.Get("Installation", homeOf("a"))
	if err != nil || stored.GetDeletionTimestamp() != nil {
		return nil
	}
	return stored.DeepCopyObject().(*v1alpha1.Installation)
}

// Haste is how much users wait for each other's jobs: an object that is to move must be deployed
// first.
func (u *users) Haste() float64 {
	if u.trees.Rates.Moves && u.trees.Random.IntN(4) > 0 {
		return 0.1
	}
	return 0.7
}

// behave chooses how an item behaves.
func (u *users) behave() string {
	behaviours := strings.Fields(behaviour)
	if u.trees.Rates.Moves && u.trees.Random.IntN(6) > 0 {
		return fine
	}
	return behaviours[u.trees.Random.IntN(len(behaviours))]
}

// recorded is what a deployer has recorded in the status of an item.
type recorded struct {
	ManagedResources []recordedResource `json:"managedResources"`
}

type recordedResource struct {
	Resource corev1.ObjectReference `json:"resource"`
}

// owned returns the objects that an item has written last.
func (t *target) owned(inst string, uid types.UID) []string {
	var names []string
	for _, name := range movingNames {
		if object, ok := t.moving[inst+"/"+name]; ok && object.owner == uid {
			names = append(names, name)
		}
	}
	return names
}

// deployMoving writes the objects that an item wants, whatever item had them, and removes those
// that it does not want any more, or keeps them for others.
func (t *target) deployMoving(ctx context.Context, item *deployer.Item, config desired.Config) error {
	stale := slices.DeleteFunc(t.owned(config.Inst, item.UID), func(name string) bool { return slices.Contains(config.Moves, name) })
	if err := record(ctx, item, append(slices.Clone(config.Moves), stale...)); err != nil {
		return err
	}
	p := t.trees.At
	keeps := false
	if len(stale) > 0 {
		var err error
		if keeps, err = item.MayMove(ctx); err != nil {
			return err
		}
	}
	if stored, err := t.trees.Store.Get("DeployItem", keyOf(item)); err != nil || stored.GetUID() != item.UID || stored.GetGeneration() != item.Generation || endedIn(stored, item.Status.JobID) {
		return errors.New("the job was ended")
	}
	if p.Ended() {
		return world.ErrDown
	}
	for i, name := range config.Moves {
		if i > 0 && t.failsHalfway(item, config) {
			return errHalfway
		}
		t.moving[config.Inst+"/"+name] = moving{owner: item.UID}
	}
	var kept []string
	for _, name := range stale {
		switch {
		case t.moving[config.Inst+"/"+name].owner != item.UID:
		case keeps:
			kept = append(kept, name)
		default:
			t.dropMoving(item, config, name)
		}
	}
	item.Keeps(kept...)
	return nil
}

// endedIn reports whether a job of an item was ended in place of its deployer.
func endedIn(item client.Object, jobID string) bool {
	_, finished, _ := jobOf(item)
	return finished == jobID
}

// record stores which objects an item may have.
func record(ctx context.Context, item *deployer.Item, names []string) error {
	if item.Status.ProviderStatus == nil && len(names) == 0 {
		return nil
	}
	status := recorded{ManagedResources: []recordedResource{}}
	for _, name := range names {
		status.ManagedResources = append(status.ManagedResources, recordedResource{corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: name}})
	}
	return item.Record(ctx, status)
}

// hasRecorded reports whether an item has recorded an object, so that others may claim it.
func hasRecorded(item *v1alpha1.DeployItem) bool {
	var status recorded
	return item.Status.ProviderStatus != nil && json.Unmarshal(item.Status.ProviderStatus.Raw, &status) == nil && len(status.ManagedResources) > 0
}

// dropMoving removes an object: never one that the root wants.
func (t *target) dropMoving(item *deployer.Item, config desired.Config, name string) {
	w := t.trees
	if root := w.rootAtWork(item.DeployItem, config); root != nil {
		if by, wanted := w.Users.wanted[root.UID][root.Status.ObservedGeneration].Moves()[name]; wanted {
			w.Violate("item %s removes %s in %s, which %s of root %s wants", item.Name, name, item.Status.JobID, by, config.Inst)
		}
	}
	w.Note("item %s removes %s", item.Name, name)
	delete(t.moving, config.Inst+"/"+name)
}

// rootAtWork returns the root of an item if the item works for the job of the root, and the root
// stays; nil if what happens to the item has another reason, such as a user.
func (t *Trees) rootAtWork(item *v1alpha1.DeployItem, config desired.Config) *v1alpha1.Installation {
	stored, err := t.Store.Get("Installation", homeOf(config.Inst))
	if err != nil || t.Users.leftBehind[config.Inst] || t.isDoubtful(item.Status.JobID) {
		return nil
	}
	root := stored.(*v1alpha1.Installation)
	if root.DeletionTimestamp != nil || root.Annotations[v1alpha1.RemoveFirstAnnotation] != "" || root.Status.JobID != job.BaseOf(item.Status.JobID) ||
		root.Status.JobIDFinished == root.Status.JobID || root.Generation != root.Status.ObservedGeneration || !t.belongs(item, root.UID) {
		// A change after the start of the job may be used already: the job fails with it.
		return nil
	}
	for object := client.Object(item); object != nil; {
		if t.Users.removed[object.GetUID()] {
			return nil
		}
		if round := t.leaving[object.GetUID()]; round != "" && job.BaseOf(round) != root.Status.JobID {
			// A user has interrupted the removal round of an earlier job: this job completes the
			// deletion, which cannot be taken back, before it begins with anything else.
			return nil
		}
		owner := metav1.GetControllerOf(object)
		if owner == nil {
			break
		}
		if object, err = t.Store.Get(store.Kind(owner.Kind), types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}); err != nil {
			break
		}
	}
	return root
}

// checkLeaving: an item that is not wanted any more is deleted when everything that is wanted has
// succeeded, if anything may want what it has.
func (t *Trees) checkLeaving(item *v1alpha1.DeployItem, config desired.Config) {
	root := t.rootAtWork(item, config)
	if root == nil || !hasRecorded(item) {
		return
	}
	wanted := t.Users.wanted[root.UID][root.Status.ObservedGeneration].All()
	if !job.IsRemoval(item.Status.JobID) && len(wanted) > 0 {
		t.Violate("item %s is deleted in %s, before the removal round", item.Name, item.Status.JobID)
	}
	for _, one := range wanted {
		for _, key := range store.KeysOf(t.Store.Objects["DeployItem"]) {
			other := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
			of := t.Target.parse(&deployer.Item{DeployItem: other})
			if !t.belongs(other, root.UID) || of.Key() != one.Key() || other.DeletionTimestamp != nil || t.stays(other) {
				continue
			}
			if job.BaseOf(other.Status.JobIDFinished) != root.Status.JobID {
				t.Violate("item %s is deleted in %s, but item %s has not ended the job: %s, finished %s", item.Name, item.Status.JobID, other.Name, other.Status.JobID, other.Status.JobIDFinished)
			}
		}
	}
}

// checkMoves: when a root has succeeded, each object is where it is wanted, and nothing is held.
func (t *Trees) checkMoves(inst *v1alpha1.Installation) {
	if t.Users.leftBehind[inst.Name] || t.missesPart(inst) || t.keepsForNextJob(inst) {
		return
	}
	wanted, found := t.Users.wanted[inst.UID][inst.Status.ObservedGeneration].Moves(), map[string]string{}
	for _, key := range store.KeysOf(t.Store.Objects["DeployItem"]) {
		item := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if !t.belongs(item, inst.UID) {
			continue
		}
		config := t.Target.parse(&deployer.Item{DeployItem: item})
		for _, name := range t.Target.owned(inst.Name, item.UID) {
			found[name] = config.Key()
		}
		if kept := job.Pending(item.Status.Conditions); kept != nil {
			t.Violate("Installation %s has succeeded, but item %s keeps something: %s", inst.Name, item.Name, kept.Message)
		}
	}
	there := 0
	for name := range t.Target.moving {
		if strings.HasPrefix(name, inst.Name+"/") {
			there++
		}
	}
	for name, by := range wanted {
		if found[name] != by {
			t.Violate("Installation %s has succeeded with generation %d, in which %s wants %s, but %q has it", inst.Name, inst.Status.ObservedGeneration, by, name, found[name])
		}
	}
	if there != len(wanted) {
		t.Violate("Installation %s has succeeded with %d objects that move, but wants %v", inst.Name, there, wanted)
	}
	t.checkNothingHeld(inst)
}

// keepsForNextJob reports whether a user has deleted an item that keeps something, after its part of the
// job. No removal round reaches it, since what it uninstalls is wanted and would be missing: it waits with
// all its objects for the next job, which writes it anew, and the root has to say that until then.
func (t *Trees) keepsForNextJob(root *v1alpha1.Installation) bool {
	for _, key := range store.KeysOf(t.Store.Objects["DeployItem"]) {
		item := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item.DeletionTimestamp == nil || !t.waitsForNextJob(item) || job.Pending(item.Status.Conditions) == nil || !t.belongs(item, root.UID) {
			continue
		}
		if job.Pending(root.Status.Conditions) == nil {
			t.Violate("Installation %s has succeeded, and does not say that item %s keeps something", root.Name, item.Name)
		}
		return true
	}
	return false
}

// checkNothingHeld: nothing below a root that has succeeded is held or kept.
func (t *Trees) checkNothingHeld(root *v1alpha1.Installation) {
	for _, key := range store.KeysOf(t.Store.Objects["Installation"]) {
		inst := t.Store.Objects["Installation"][key].(*v1alpha1.Installation)
		if (inst.UID == root.UID || t.belongs(inst, root.UID)) && (job.Pending(inst.Status.Conditions) != nil || inst.Status.SubInstCache != nil && inst.UID != root.UID && len(inst.Status.SubInstCache.OrphanedSubs) > 0 && !t.stays(inst)) {
			t.Violate("Installation %s has succeeded, but Installation %s keeps something", root.Name, inst.Name)
		}
	}
	for _, key := range store.KeysOf(t.Store.Objects["Execution"]) {
		if exec := t.Store.Objects["Execution"][key].(*v1alpha1.Execution); t.belongs(exec, root.UID) && job.Pending(exec.Status.Conditions) != nil {
			t.Violate("Installation %s has succeeded, but Execution %s keeps something", root.Name, exec.Name)
		}
	}
}
