package trees

import (
	"cmp"
	"context"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// exported is what an item exports now.
func (t *target) exported(out int) map[string]any {
	return map[string]any{"out": cmp.Or(t.late[out], out)}
}

// Repetition implements deployer.Repeating: whatever is exported is watched.
func (t *target) Repetition(item *v1alpha1.DeployItem) deployer.Repetition {
	return deployer.Repetition{Watch: t.parse(&deployer.Item{DeployItem: item}).Out > 0}
}

// Drift implements deployer.Repeating.
func (t *target) Drift(context.Context, *deployer.Item) ([]string, error) { return nil, nil }

// ExportWatcher implements deployer.Repeating.
func (t *target) ExportWatcher(_ context.Context, item *deployer.Item) (deployer.ExportWatcher, error) {
	return &exportWatcher{target: t, out: t.parse(item).Out}, nil
}

// exportWatcher sees what an item exports.
type exportWatcher struct {
	target     *target
	out, known int
}

// Values implements deployer.ExportWatcher.
func (l *exportWatcher) Values(context.Context) (map[string]any, error) {
	now := cmp.Or(l.target.late[l.out], l.out)
	if now == l.known {
		return nil, nil
	}
	l.known = now
	return l.target.exported(l.out), nil
}

// Close implements deployer.ExportWatcher.
func (l *exportWatcher) Close() error { return nil }

// ChangeLate lets an item export something else, without a job.
func (u *users) ChangeLate() {
	var items []*v1alpha1.DeployItem
	for _, key := range store.KeysOf(u.trees.Store.Objects["DeployItem"]) {
		item, _ := u.trees.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if u.trees.Target.parse(&deployer.Item{DeployItem: item}).Out > 0 {
			items = append(items, item)
		}
	}
	if len(items) == 0 || len(u.trees.Target.late) > 1 {
		return
	}
	item := items[u.trees.Random.IntN(len(items))]
	u.values++
	u.trees.Target.late[u.trees.Target.parse(&deployer.Item{DeployItem: item}).Out] = u.values
	u.trees.Note("user: item %s exports %d", item.Name, u.values)
	u.trees.Lanes["deployer"].Add(keyOf(&deployer.Item{DeployItem: item}))
}

// missesPart reports whether users have deleted a part of a root: until the next job of the root,
// the exports of that part are not passed on any more.
func (t *Trees) missesPart(root *v1alpha1.Installation) bool {
	for _, k := range []store.Kind{"Installation", "Execution"} {
		for _, key := range store.KeysOf(t.Store.Objects[k]) {
			if object := t.Store.Objects[k][key]; object.GetDeletionTimestamp() != nil && t.Users.removed[object.GetUID()] && t.belongs(object, root.UID) {
				return true
			}
		}
	}
	return false
}

// losesExporter reports whether users have deleted the item of a root that exports something: until
// the next job of the root, nothing looks at what a deleted item exports.
func (t *Trees) losesExporter(root *v1alpha1.Installation, out int) bool {
	for _, key := range store.KeysOf(t.Store.Objects["DeployItem"]) {
		item := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item.DeletionTimestamp != nil && t.waitsForNextJob(item) && t.belongs(item, root.UID) && t.Target.parse(&deployer.Item{DeployItem: item}).Out == out {
			return true
		}
	}
	return false
}

// checkLate: what has changed after a job has reached all who import it, when everything
// has come to rest well.
func (t *Trees) checkLate() {
	for _, key := range store.KeysOf(t.Store.Objects["Installation"]) {
		inst, _ := t.Store.Objects["Installation"][key].(*v1alpha1.Installation)
		status := &inst.Status
		if world.ParentOf(inst) != "-" || inst.DeletionTimestamp != nil || status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || t.Users.leftBehind[inst.Name] || t.missesPart(inst) {
			continue
		}
		found := t.Target.of(inst.Name)
		for item, out := range t.Users.wanted[inst.UID][status.ObservedGeneration].LateValues() {
			if want := cmp.Or(t.Target.late[out], out); found[item] != want && !t.losesExporter(inst, out) {
				t.Violate("Installation %s has come to rest with %d in %s, but %d is exported", inst.Name, found[item], item, want)
			}
		}
	}
}
