package model

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// desiredSub is a subinstallation that exports a value, and may import that of a sibling.
type desiredSub struct {
	name  string
	value int
	// from is the sibling whose value it imports, and its items deploy.
	from  string
	items []desiredItem
}

// importedValue stands for what is imported where a number is written.
const importedValue = 987654321

// desireSubs makes up subinstallations. Sometimes they wait for each other in a cycle.
func (u *users) desireSubs(inst string) []desiredSub {
	var subs []desiredSub
	for _, name := range []string{"p", "q", "r"} {
		if u.world.random.IntN(4) == 0 {
			continue
		}
		u.values++
		sub := desiredSub{name: name, value: u.values, items: u.items(inst, name)}
		if len(subs) > 0 && u.world.random.IntN(3) > 0 {
			sub.from = subs[u.world.random.IntN(len(subs))].name
		}
		subs = append(subs, sub)
	}
	if len(subs) > 1 && u.world.random.IntN(12) == 0 {
		subs[0].from, subs[1].from = subs[1].name, subs[0].name
	}
	for i := range subs {
		for j := range subs[i].items {
			subs[i].items[j].After = subs[i].from
			if subs[i].from != "" {
				subs[i].items[j].Value = importedValue
			}
			if j == 0 {
				// The export of the subinstallation comes from its first item.
				subs[i].items[j].Out = subs[i].value
			}
		}
	}
	return subs
}

// anyValue is what an item deploys that depends on what another root has exported last.
const anyValue = -1

// share lets roots pass a value on: a exports it sometimes, and b imports it sometimes. What it
// returns adds that to the blueprint.
func (u *users) share(inst *v1alpha1.Installation, wanted *desired) func(map[string]any) {
	switch choice := u.world.random.IntN(4); {
	case choice > 1:
	case choice == 1:
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: given}}
		for i := range wanted.items {
			wanted.items[i].Value = importedValue
		}
		return importing
	case inst.Name == "a" || inst.Name == "c":
		u.values++
		value := u.values
		wanted.exports = value
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "shared"}}
		return func(description map[string]any) { exporting(description, value) }
	default:
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: "shared"}}
		for i := range wanted.items {
			wanted.items[i].Value = importedValue
		}
		return importing
	}
	return func(map[string]any) {}
}

// exporting lets a blueprint export a value, importing lets it import one.
func exporting(description map[string]any, value int) {
	description["exports"] = []any{map[string]any{"name": "out", "schema": map[string]any{"type": "integer"}}}
	description["exportExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": fmt.Sprintf("exports: {out: %d}", value)}}
}

// exportingLate lets it export what an item exports.
func exportingLate(description map[string]any, item string) {
	description["exportExecutions"] = []any{map[string]any{"name": "default", "type": "GoTemplate", "template": "exports: {out: {{ .deployitems." + item + ".out }}}"}}
}

func importing(description map[string]any) {
	description["imports"] = append(description["imports"].([]any), map[string]any{"name": "in", "schema": map[string]any{"type": "integer"}})
}

// values returns what the items of a subinstallation deploy.
func (w desired) values() map[string]int {
	wanted, exported := map[string]int{}, map[string]int{}
	for _, item := range w.items {
		wanted[item.key()] = item.Value
		if item.Value == importedValue {
			wanted[item.key()] = anyValue
		}
	}
	for _, sub := range w.subs {
		exported[sub.name] = sub.value
	}
	for _, sub := range w.subs {
		for _, item := range sub.items {
			wanted[item.key()] = item.Value
			if sub.from != "" {
				wanted[item.key()] = exported[sub.from]
			}
		}
	}
	for item := range w.lateValues() {
		// The value may change at any time.
		wanted[item] = anyValue
	}
	return wanted
}

// lateValues returns the items of subinstallations that deploy what an item of another one
// exports, with what that has exported at first.
func (w desired) lateValues() map[string]int {
	late, from := map[string]int{}, map[string]int{}
	for _, sub := range w.subs {
		if len(sub.items) > 0 {
			from[sub.name] = sub.items[0].Out
		}
	}
	for _, sub := range w.subs {
		for _, item := range sub.items {
			if out := from[sub.from]; out > 0 {
				late[item.key()] = out
			}
		}
	}
	return late
}

// templatesOf returns the installation templates, the last one first: their order says
// nothing.
func templatesOf(subs []desiredSub) []any {
	var templates []any
	for i := len(subs) - 1; i >= 0; i-- {
		sub := subs[i]
		description := describe(sub.items)
		exporting(description, sub.value)
		if len(sub.items) > 0 {
			exportingLate(description, sub.items[0].Name)
		}
		wired := map[string]any{"targets": []any{map[string]any{"name": "cluster", "target": "cluster"}}}
		if sub.from != "" {
			importing(description)
			wired["data"] = []any{map[string]any{"name": "in", "dataRef": "of-" + sub.from}}
		}
		templates = append(templates, map[string]any{
			"name": sub.name, "blueprint": map[string]any{"filesystem": filesystem(description)}, "imports": wired,
			"exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": "of-" + sub.name}}},
		})
	}
	return templates
}

// subs returns the subinstallations that there are.
func (u *users) subs() []types.NamespacedName {
	var subs []types.NamespacedName
	for _, key := range keysOf(u.world.store.objects["Installation"]) {
		if parentOf(u.world.store.objects["Installation"][key]) != "-" {
			subs = append(subs, key)
		}
	}
	return subs
}

// meddle lets a user change a subinstallation, which users should not do.
func (u *users) meddle(key types.NamespacedName) {
	sub := u.world.store.objects["Installation"][key].DeepCopyObject().(*v1alpha1.Installation)
	switch u.world.random.IntN(3) {
	case 0:
		u.annotate(sub, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	case 1:
		u.annotate(sub, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation))
	default:
		u.remove(sub)
	}
}

// siblingsOf returns the siblings of the subinstallation that an item belongs to, by the
// names of their templates, and the subinstallation itself.
func (w *world) siblingsOf(item *v1alpha1.DeployItem) (all map[string]*v1alpha1.Installation, self *v1alpha1.Installation) {
	exec, err := w.store.get("Execution", types.NamespacedName{Namespace: item.Namespace, Name: metav1.GetControllerOf(item).Name})
	if err != nil {
		return nil, nil
	}
	owner, err := w.store.get("Installation", types.NamespacedName{Namespace: item.Namespace, Name: metav1.GetControllerOf(exec).Name})
	if err != nil || parentOf(owner) == "-" {
		return nil, nil
	}
	self = owner.(*v1alpha1.Installation)
	all = map[string]*v1alpha1.Installation{}
	for _, key := range keysOf(w.store.objects["Installation"]) {
		other := w.store.objects["Installation"][key].(*v1alpha1.Installation)
		if of := metav1.GetControllerOf(other); of != nil && of.UID == metav1.GetControllerOf(self).UID && other.UID != self.UID {
			all[other.Annotations[v1alpha1.SubinstallationNameAnnotation]] = other
		}
	}
	return all, self
}

// checkFlow: an item of a subinstallation is deployed after the sibling whose value it
// deploys has succeeded in the job, and uninstalled after the siblings that import from
// its own and go as well.
func (w *world) checkFlow(item *v1alpha1.DeployItem, config itemConfig, uninstall bool) {
	siblings, self := w.siblingsOf(item)
	if self == nil || w.isDoubtful(item.Status.JobID) {
		return
	}
	if !uninstall && config.After != "" && !job.IsRemoval(item.Status.JobID) {
		// The sibling may have the next job already if a user has interrupted this one and the deployer
		// has not seen that.
		before := siblings[config.After]
		if before == nil || !w.succeeded[before.UID][item.Status.JobID] {
			w.violate("item %s deploys what %s exports, which has not succeeded in the job", item.Name, config.After)
		}
	}
	if !uninstall || self.DeletionTimestamp == nil {
		return
	}
	own := self.Annotations[v1alpha1.SubinstallationNameAnnotation]
	for name, sibling := range siblings {
		imports := sibling.Spec.Imports.Data
		if sibling.DeletionTimestamp != nil && len(imports) > 0 && imports[0].DataRef == "of-"+own && !inCycle(self, sibling) {
			w.violate("item %s is uninstalled before subinstallation %s, which imports from its own", item.Name, name)
		}
	}
}

// inCycle reports whether two subinstallations import from each other.
func inCycle(a, b *v1alpha1.Installation) bool {
	imports := a.Spec.Imports.Data
	return len(imports) > 0 && imports[0].DataRef == "of-"+b.Annotations[v1alpha1.SubinstallationNameAnnotation]
}
