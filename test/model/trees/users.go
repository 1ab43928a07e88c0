package trees

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// installations are the names that users have for their Installations. The last one is
// alone in its namespace.
var installations = []string{"a", "b", "c"}

// homeOf says where an Installation of a user is.
func homeOf(name string) types.NamespacedName {
	if name == "c" {
		return types.NamespacedName{Namespace: world.Spaces[1], Name: name}
	}
	return types.NamespacedName{Namespace: world.Spaces[0], Name: name}
}

// users do what users do, in the wrong order.
type users struct {
	trees *Trees
	// wanted is what they have asked for, by UID and generation.
	wanted map[types.UID]map[int64]desired.State
	// leftBehind are Installations whose objects may stay on the target.
	leftBehind map[string]bool
	values     int
	// given is what roots may import, asked has the requested jobs by UID.
	given int
	asked map[types.UID]request
	// removed are the parts of trees that users have deleted, which they should not do.
	removed map[types.UID]bool
	// removedNames are the names of Executions that they have deleted.
	removedNames map[string]bool
}

// ask lets a user do something with an Installation that exists.
func (u *users) ask(name string, inst *v1alpha1.Installation) {
	switch u.trees.Random.IntN(14) {
	case 0, 1, 11, 12:
		u.change(inst, true)
	case 13:
		u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.AbortOperation))
	case 2:
		u.change(inst, false)
	case 3:
		u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	case 4:
		u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ForceReconcileOperation))
	case 5:
		u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation))
	case 6:
		u.Annotate(inst, v1alpha1.DeleteWithoutUninstallAnnotation, "true")
		u.leftBehind[name] = true
		u.Remove(inst)
	case 7, 8:
		u.askForUpdate(inst)
	default:
		u.Remove(inst)
	}
}

func (u *users) create(name string) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: homeOf(name).Namespace, Name: name, Annotations: map[string]string{}}}
	inst.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
	if u.trees.Random.IntN(4) == 0 {
		inst.Annotations[v1alpha1.ReconcileIfChangedAnnotation] = "true"
	}
	if u.trees.Random.IntN(8) == 0 {
		inst.Annotations[v1alpha1.RemoveFirstAnnotation] = "true"
	}
	wanted := u.desire(inst)
	if err := u.trees.Store.Create(inst); err != nil {
		panic(err)
	}
	u.Expect(inst, wanted)
	u.expect(inst, v1alpha1.ReconcileOperation)
	u.trees.Note("user: create %s %v", name, wanted)
}

// Expect notes what the first generation of an Installation asks for.
func (u *users) Expect(inst *v1alpha1.Installation, wanted desired.State) {
	u.wanted[inst.UID] = map[int64]desired.State{inst.Generation: wanted}
}

func (u *users) change(inst *v1alpha1.Installation, reconcile bool) {
	wanted := u.desire(inst)
	if reconcile {
		inst.Annotations = world.With(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	}
	if err := u.trees.Store.Update(inst, false); err != nil {
		panic(err)
	}
	u.wanted[inst.UID][inst.Generation] = wanted
	if reconcile {
		u.expect(inst, v1alpha1.ReconcileOperation)
	}
	u.trees.Note("user: change %s to generation %d, reconcile %t: %v", inst.Name, inst.Generation, reconcile, wanted)
}

// Annotate sets an annotation of an Installation: most of them ask for something.
func (u *users) Annotate(inst *v1alpha1.Installation, key, value string) {
	inst.Annotations = world.With(inst.Annotations, key, value)
	if err := u.trees.Store.Update(inst, false); err != nil {
		panic(err)
	}
	if key == v1alpha1.OperationAnnotation && world.ParentOf(inst) == "-" {
		u.expect(inst, v1alpha1.Operation(value))
	}
	u.trees.Note("user: annotate %s %s", inst.Name, value)
}

// askForUpdate asks for a job as a deployer does that has seen another value: it says
// which Installations that is about.
func (u *users) askForUpdate(inst *v1alpha1.Installation) {
	var concerned []string
	for _, some := range append(u.subs(), types.NamespacedName{Name: inst.Name}) {
		if u.trees.Random.IntN(2) == 0 {
			concerned = append(concerned, some.Name)
		}
	}
	inst.Annotations = world.With(inst.Annotations, v1alpha1.ChangedExportsAnnotation, strings.Join(concerned, ","))
	u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.DataUpdateOperation))
}

// Remove deletes an Installation.
func (u *users) Remove(inst *v1alpha1.Installation) {
	u.trees.Note("user: delete %s", inst.Name)
	if stored, err := u.trees.Store.Get("Installation", client.ObjectKeyFromObject(inst)); err == nil && len(stored.GetFinalizers()) == 0 {
		u.trees.Note("user: it was never picked up")
	}
	u.removed[inst.UID] = true
	if err := u.trees.Store.Remove(inst, nil); err != nil {
		panic(err)
	}
	// A deletion is a generation of its own.
	if wanted, ok := u.wanted[inst.UID]; ok {
		wanted[inst.Generation+1] = wanted[inst.Generation]
	}
}

// removeExecution deletes an Execution, which users should not do: the next job of its Installation
// completes the deletion.
func (u *users) removeExecution(key types.NamespacedName) {
	u.trees.Note("user: delete Execution %s", key.Name)
	u.removed[u.trees.Store.Objects["Execution"][key].GetUID()], u.removedNames[key.Name] = true, true
	if err := u.trees.Store.Remove(u.trees.Store.Objects["Execution"][key], nil); err != nil {
		panic(err)
	}
}

// removeItem deletes an item, also while a job deploys it, which users should not do: the next job of
// its Execution completes the deletion.
func (u *users) removeItem(key types.NamespacedName) {
	u.trees.Note("user: delete DeployItem %s", key.Name)
	u.removed[u.trees.Store.Objects["DeployItem"][key].GetUID()] = true
	if err := u.trees.Store.Remove(u.trees.Store.Objects["DeployItem"][key], nil); err != nil {
		panic(err)
	}
}

// desire makes up what an Installation asks for, and writes it into it.
func (u *users) desire(inst *v1alpha1.Installation) desired.State {
	wanted := desired.State{Items: u.items(inst.Name, "")}
	if u.trees.Random.IntN(3) == 0 || u.trees.Rates.Moves && u.trees.Random.IntN(2) == 0 {
		wanted.Subs = u.desireSubs(inst.Name)
	}
	inst.Spec.Imports, inst.Spec.Exports = v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}}, v1alpha1.InstallationExports{}
	u.scatter(&wanted)
	shares := u.share(inst, &wanted)
	description := desired.Describe(wanted.Items)
	shares(description)
	if len(wanted.Subs) > 0 {
		description["subinstallations"] = desired.TemplatesOf(wanted.Subs)
	}
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(store.Encoded(desired.Filesystem(description)))}}
	if u.trees.Rates.Outside {
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: v1alpha1.NewAnyJSONPointer(desired.AComponent)}
	}
	return wanted
}

// items makes up items of an Installation, or of a subinstallation of it.
func (u *users) items(inst, sub string) []desired.Item {
	var items []desired.Item
	for _, name := range []string{"x", "y", "z"} {
		if u.trees.Random.IntN(3) == 0 {
			continue
		}
		u.values++
		item := desired.Item{Config: desired.Config{APIVersion: "example.org/v1", Kind: "Item", Inst: inst, Sub: sub, Name: name, Value: u.values, Behave: u.behave()}}
		for _, other := range items {
			if u.trees.Random.IntN(2) == 0 {
				item.DependsOn = append(item.DependsOn, other.Name)
			}
		}
		items = append(items, item)
	}
	return items
}

// Act lets a user do something.
func (u *users) Act() {
	switch u.trees.Random.IntN(5) {
	case 0:
		u.ChangeLate()
		return
	case 1:
		u.giveValue()
		return
	}
	if inst := u.moved(); inst != nil {
		u.change(inst, true)
		return
	}
	if subs := u.subs(); len(subs) > 0 && u.trees.Random.IntN(8) == 0 {
		u.meddle(subs[u.trees.Random.IntN(len(subs))])
		return
	}
	if executions := store.KeysOf(u.trees.Store.Objects["Execution"]); len(executions) > 0 && u.trees.Random.IntN(16) == 0 {
		u.removeExecution(executions[u.trees.Random.IntN(len(executions))])
		return
	}
	if items := store.KeysOf(u.trees.Store.Objects["DeployItem"]); len(items) > 0 && u.trees.Random.IntN(16) == 0 {
		u.removeItem(items[u.trees.Random.IntN(len(items))])
		return
	}
	name := installations[u.trees.Random.IntN(len(installations))]
	stored, err := u.trees.Store.Get("Installation", homeOf(name))
	if err != nil {
		u.create(name)
		return
	}
	u.ask(name, stored.DeepCopyObject().(*v1alpha1.Installation))
}
