package model

import (
	"cmp"
	"context"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
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

// changeLate lets an item export something else, without a job.
func (u *users) changeLate() {
	var items []*v1alpha1.DeployItem
	for _, key := range keysOf(u.world.store.objects["DeployItem"]) {
		item, _ := u.world.store.objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if u.world.target.parse(&deployer.Item{DeployItem: item}).Out > 0 {
			items = append(items, item)
		}
	}
	if len(items) == 0 || len(u.world.target.late) > 1 {
		return
	}
	item := items[u.world.random.IntN(len(items))]
	u.values++
	u.world.target.late[u.world.target.parse(&deployer.Item{DeployItem: item}).Out] = u.values
	u.world.note("user: item %s exports %d", item.Name, u.values)
	u.world.lanes["deployer"].add(keyOf(&deployer.Item{DeployItem: item}))
}

// missesPart reports whether users have deleted a part of a root: until the next job of the root,
// the exports of that part are not passed on any more.
func (w *world) missesPart(root *v1alpha1.Installation) bool {
	for _, k := range []kind{"Installation", "Execution"} {
		for _, key := range keysOf(w.store.objects[k]) {
			if object := w.store.objects[k][key]; object.GetDeletionTimestamp() != nil && w.users.removed[object.GetUID()] && w.belongs(object, root.UID) {
				return true
			}
		}
	}
	return false
}

// losesExporter reports whether users have deleted the item of a root that exports something: until
// the next job of the root, nothing looks at what a deleted item exports.
func (w *world) losesExporter(root *v1alpha1.Installation, out int) bool {
	for _, key := range keysOf(w.store.objects["DeployItem"]) {
		item := w.store.objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item.DeletionTimestamp != nil && w.waitsForNextJob(item) && w.belongs(item, root.UID) && w.target.parse(&deployer.Item{DeployItem: item}).Out == out {
			return true
		}
	}
	return false
}

// checkLate: what has changed after a job has reached all who import it, when everything
// has come to rest well.
func (w *world) checkLate() {
	for _, key := range keysOf(w.store.objects["Installation"]) {
		inst, _ := w.store.objects["Installation"][key].(*v1alpha1.Installation)
		status := &inst.Status
		if parentOf(inst) != "-" || inst.DeletionTimestamp != nil || status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || w.users.leftBehind[inst.Name] || w.missesPart(inst) {
			continue
		}
		found := w.target.of(inst.Name)
		for item, out := range w.users.wanted[inst.UID][status.ObservedGeneration].lateValues() {
			if want := cmp.Or(w.target.late[out], out); found[item] != want && !w.losesExporter(inst, out) {
				w.violate("Installation %s has come to rest with %d in %s, but %d is exported", inst.Name, found[item], item, want)
			}
		}
	}
}
