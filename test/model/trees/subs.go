package trees

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// desireSubs makes up subinstallations. Sometimes they wait for each other in a cycle.
func (u *users) desireSubs(inst string) []desired.Sub {
	var subs []desired.Sub
	for _, name := range []string{"p", "q", "r"} {
		if u.trees.Random.IntN(4) == 0 {
			continue
		}
		u.values++
		sub := desired.Sub{Name: name, Value: u.values, Items: u.items(inst, name)}
		if len(subs) > 0 && u.trees.Random.IntN(3) > 0 {
			sub.From = subs[u.trees.Random.IntN(len(subs))].Name
		}
		subs = append(subs, sub)
	}
	if len(subs) > 1 && u.trees.Random.IntN(12) == 0 {
		subs[0].From, subs[1].From = subs[1].Name, subs[0].Name
	}
	for i := range subs {
		for j := range subs[i].Items {
			subs[i].Items[j].After = subs[i].From
			if subs[i].From != "" {
				subs[i].Items[j].Value = desired.ImportedValue
			}
			if j == 0 {
				// The export of the subinstallation comes from its first item.
				subs[i].Items[j].Out = subs[i].Value
			}
		}
	}
	return subs
}

// share lets roots pass a value on: a exports it sometimes, and b imports it sometimes. What it
// returns adds that to the blueprint.
func (u *users) share(inst *v1alpha1.Installation, wanted *desired.State) func(map[string]any) {
	switch choice := u.trees.Random.IntN(4); {
	case choice > 1:
	case choice == 1:
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: Given}}
		for i := range wanted.Items {
			wanted.Items[i].Value = desired.ImportedValue
		}
		return desired.Importing
	case inst.Name == "a" || inst.Name == "c":
		u.values++
		value := u.values
		wanted.Exports = value
		inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "shared"}}
		return func(description map[string]any) { desired.Exporting(description, value) }
	default:
		inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: "shared"}}
		for i := range wanted.Items {
			wanted.Items[i].Value = desired.ImportedValue
		}
		return desired.Importing
	}
	return func(map[string]any) {}
}

// subs returns the subinstallations that there are.
func (u *users) subs() []types.NamespacedName {
	var subs []types.NamespacedName
	for _, key := range store.KeysOf(u.trees.Store.Objects["Installation"]) {
		if world.ParentOf(u.trees.Store.Objects["Installation"][key]) != "-" {
			subs = append(subs, key)
		}
	}
	return subs
}

// meddle lets a user change a subinstallation, which users should not do.
func (u *users) meddle(key types.NamespacedName) {
	sub := u.trees.Store.Objects["Installation"][key].DeepCopyObject().(*v1alpha1.Installation)
	switch u.trees.Random.IntN(3) {
	case 0:
		u.Annotate(sub, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	case 1:
		u.Annotate(sub, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation))
	default:
		u.Remove(sub)
	}
}

// siblingsOf returns the siblings of the subinstallation that an item belongs to, by the
// names of their templates, and the subinstallation itself.
func (t *Trees) siblingsOf(item *v1alpha1.DeployItem) (all map[string]*v1alpha1.Installation, self *v1alpha1.Installation) {
	exec, err := t.Store.Get("Execution", types.NamespacedName{Namespace: item.Namespace, Name: metav1.GetControllerOf(item).Name})
	if err != nil {
		return nil, nil
	}
	owner, err := t.Store.Get("Installation", types.NamespacedName{Namespace: item.Namespace, Name: metav1.GetControllerOf(exec).Name})
	if err != nil || world.ParentOf(owner) == "-" {
		return nil, nil
	}
	self = owner.(*v1alpha1.Installation)
	all = map[string]*v1alpha1.Installation{}
	for _, key := range store.KeysOf(t.Store.Objects["Installation"]) {
		other := t.Store.Objects["Installation"][key].(*v1alpha1.Installation)
		if of := metav1.GetControllerOf(other); of != nil && of.UID == metav1.GetControllerOf(self).UID && other.UID != self.UID {
			all[other.Annotations[v1alpha1.SubinstallationNameAnnotation]] = other
		}
	}
	return all, self
}

// checkFlow: an item of a subinstallation is deployed after the sibling whose value it
// deploys has succeeded in the job, and uninstalled after the siblings that import from
// its own and go as well.
func (t *Trees) checkFlow(item *v1alpha1.DeployItem, config desired.Config, uninstall bool) {
	siblings, self := t.siblingsOf(item)
	if self == nil || t.isDoubtful(item.Status.JobID) {
		return
	}
	if !uninstall && config.After != "" && !job.IsRemoval(item.Status.JobID) {
		// The sibling may have the next job already if a user has interrupted this one and the deployer
		// has not seen that.
		before := siblings[config.After]
		if before == nil || !t.succeeded[before.UID][item.Status.JobID] {
			t.Violate("item %s deploys what %s exports, which has not succeeded in the job", item.Name, config.After)
		}
	}
	if !uninstall || self.DeletionTimestamp == nil {
		return
	}
	own := self.Annotations[v1alpha1.SubinstallationNameAnnotation]
	for name, sibling := range siblings {
		imports := sibling.Spec.Imports.Data
		if sibling.DeletionTimestamp != nil && len(imports) > 0 && imports[0].DataRef == "of-"+own && !inCycle(self, sibling) {
			t.Violate("item %s is uninstalled before subinstallation %s, which imports from its own", item.Name, name)
		}
	}
}

// inCycle reports whether two subinstallations import from each other.
func inCycle(a, b *v1alpha1.Installation) bool {
	imports := a.Spec.Imports.Data
	return len(imports) > 0 && imports[0].DataRef == "of-"+b.Annotations[v1alpha1.SubinstallationNameAnnotation]
}
