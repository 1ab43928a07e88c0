package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// spaces are the namespaces.
var spaces = []string{"ns", "other"}

// installations are the names that users have for their Installations. The last one is
// alone in its namespace.
var installations = []string{"a", "b", "c"}

// homeOf says where an Installation of a user is.
func homeOf(name string) types.NamespacedName {
	if name == "c" {
		return types.NamespacedName{Namespace: spaces[1], Name: name}
	}
	return types.NamespacedName{Namespace: spaces[0], Name: name}
}

// users do what users do, in the wrong order.
type users struct {
	world *world
	// left is how often they still act.
	left int
	// wanted is what they have asked for, by UID and generation.
	wanted map[types.UID]map[int64]desired
	// leftBehind are Installations whose objects may stay on the target.
	leftBehind map[string]bool
	values     int
	// given is what roots may import, asked has the requested jobs by UID.
	given int
	asked map[types.UID]request
	// removed are the parts of trees that users have deleted, which they should not do.
	removed map[types.UID]bool
	// rotations is how often a token of the garden may be renewed: users have asked for it, or it is
	// not known when that was done last. Meddling says that they have deleted what a TargetSync has
	// made.
	rotations int
	meddling  bool
}

// desired is what a generation of an Installation asks for.
type desired struct {
	items []desiredItem
	subs  []desiredSub
	// exports is the value that it exports, or 0.
	exports int
}

type desiredItem struct {
	itemConfig
	dependsOn []string
}

func newUsers(w *world) *users {
	u := &users{world: w, left: 2 + w.random.IntN(6), wanted: map[types.UID]map[int64]desired{}, leftBehind: map[string]bool{}, asked: map[types.UID]request{}, removed: map[types.UID]bool{}}
	if w.rates.moves {
		u.left *= 2
	}
	if w.rates.syncs {
		u.left += 8
		u.changeAccess()
		u.changeSync(syncNames[0])
	}
	if w.rates.shoots {
		u.left += 8
		w.seed.fill()
	}
	for _, space := range spaces {
		for _, object := range []client.Object{
			&v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: v1alpha1.DefaultContextName}},
			&v1alpha1.Target{
				ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "host"},
				Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(encoded(map[string]string{"kubeconfig": secretMark}))},
			},
		} {
			if err := w.store.create(object); err != nil {
				panic(err)
			}
		}
	}
	return u
}

// act lets a user do something.
func (u *users) act() {
	u.left--
	if u.world.rates.syncs && u.world.random.IntN(2) == 0 {
		u.actOnSyncs()
		return
	}
	if u.world.rates.shoots && u.world.random.IntN(2) == 0 {
		u.actOnShoot()
		return
	}
	switch u.world.random.IntN(5) {
	case 0:
		u.changeLate()
		return
	case 1:
		u.giveValue()
		return
	}
	if inst := u.moved(); inst != nil {
		u.change(inst, true)
		return
	}
	if subs := u.subs(); len(subs) > 0 && u.world.random.IntN(8) == 0 {
		u.meddle(subs[u.world.random.IntN(len(subs))])
		return
	}
	if executions := keysOf(u.world.store.objects["Execution"]); len(executions) > 0 && u.world.random.IntN(16) == 0 {
		u.removeExecution(executions[u.world.random.IntN(len(executions))])
		return
	}
	if items := keysOf(u.world.store.objects["DeployItem"]); len(items) > 0 && u.world.random.IntN(16) == 0 {
		u.removeItem(items[u.world.random.IntN(len(items))])
		return
	}
	name := installations[u.world.random.IntN(len(installations))]
	stored, err := u.world.store.get("Installation", homeOf(name))
	if err != nil {
		u.create(name)
		return
	}
	u.ask(name, stored.DeepCopyObject().(*v1alpha1.Installation))
}

// ask lets a user do something with an Installation that exists.
func (u *users) ask(name string, inst *v1alpha1.Installation) {
	switch u.world.random.IntN(14) {
	case 0, 1, 11, 12:
		u.change(inst, true)
	case 13:
		u.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.AbortOperation))
	case 2:
		u.change(inst, false)
	case 3:
		u.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	case 4:
		u.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ForceReconcileOperation))
	case 5:
		u.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation))
	case 6:
		u.annotate(inst, v1alpha1.DeleteWithoutUninstallAnnotation, "true")
		u.leftBehind[name] = true
		u.remove(inst)
	case 7, 8:
		u.askForUpdate(inst)
	default:
		u.remove(inst)
	}
}

func (u *users) create(name string) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: homeOf(name).Namespace, Name: name, Annotations: map[string]string{}}}
	inst.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
	if u.world.random.IntN(4) == 0 {
		inst.Annotations[v1alpha1.ReconcileIfChangedAnnotation] = "true"
	}
	if u.world.random.IntN(8) == 0 {
		inst.Annotations[v1alpha1.RemoveFirstAnnotation] = "true"
	}
	wanted := u.desire(inst)
	if err := u.world.store.create(inst); err != nil {
		panic(err)
	}
	u.wanted[inst.UID] = map[int64]desired{inst.Generation: wanted}
	u.expect(inst, v1alpha1.ReconcileOperation)
	u.world.note("user: create %s %v", name, wanted)
}

func (u *users) change(inst *v1alpha1.Installation, reconcile bool) {
	wanted := u.desire(inst)
	if reconcile {
		inst.Annotations = with(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
	}
	if err := u.world.store.update(inst, false); err != nil {
		panic(err)
	}
	u.wanted[inst.UID][inst.Generation] = wanted
	if reconcile {
		u.expect(inst, v1alpha1.ReconcileOperation)
	}
	u.world.note("user: change %s to generation %d, reconcile %t: %v", inst.Name, inst.Generation, reconcile, wanted)
}

func (u *users) annotate(inst *v1alpha1.Installation, key, value string) {
	inst.Annotations = with(inst.Annotations, key, value)
	if err := u.world.store.update(inst, false); err != nil {
		panic(err)
	}
	if key == v1alpha1.OperationAnnotation && parentOf(inst) == "-" {
		u.expect(inst, v1alpha1.Operation(value))
	}
	u.world.note("user: annotate %s %s", inst.Name, value)
}

// askForUpdate asks for a job as a deployer does that has seen another value: it says
// which Installations that is about.
func (u *users) askForUpdate(inst *v1alpha1.Installation) {
	var concerned []string
	for _, some := range append(u.subs(), types.NamespacedName{Name: inst.Name}) {
		if u.world.random.IntN(2) == 0 {
			concerned = append(concerned, some.Name)
		}
	}
	inst.Annotations = with(inst.Annotations, v1alpha1.ChangedExportsAnnotation, strings.Join(concerned, ","))
	u.annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.DataUpdateOperation))
}

func (u *users) remove(inst *v1alpha1.Installation) {
	u.world.note("user: delete %s", inst.Name)
	if stored, err := u.world.store.get("Installation", client.ObjectKeyFromObject(inst)); err == nil && len(stored.GetFinalizers()) == 0 {
		u.world.note("user: it was never picked up")
	}
	u.removed[inst.UID] = true
	if err := u.world.store.remove(inst, nil); err != nil {
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
	u.world.note("user: delete Execution %s", key.Name)
	u.removed[u.world.store.objects["Execution"][key].GetUID()] = true
	if err := u.world.store.remove(u.world.store.objects["Execution"][key], nil); err != nil {
		panic(err)
	}
}

// removeItem deletes an item, also while a job deploys it, which users should not do: the next job of
// its Execution completes the deletion.
func (u *users) removeItem(key types.NamespacedName) {
	u.world.note("user: delete DeployItem %s", key.Name)
	u.removed[u.world.store.objects["DeployItem"][key].GetUID()] = true
	if err := u.world.store.remove(u.world.store.objects["DeployItem"][key], nil); err != nil {
		panic(err)
	}
}

func with(annotations map[string]string, key, value string) map[string]string {
	changed := map[string]string{key: value}
	for k, v := range annotations {
		if k != key {
			changed[k] = v
		}
	}
	return changed
}

// desire makes up what an Installation asks for, and writes it into it.
func (u *users) desire(inst *v1alpha1.Installation) desired {
	wanted := desired{items: u.items(inst.Name, "")}
	if u.world.random.IntN(3) == 0 || u.world.rates.moves && u.world.random.IntN(2) == 0 {
		wanted.subs = u.desireSubs(inst.Name)
	}
	inst.Spec.Imports, inst.Spec.Exports = v1alpha1.InstallationImports{Targets: []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}}}, v1alpha1.InstallationExports{}
	u.scatter(&wanted)
	shares := u.share(inst, &wanted)
	description := describe(wanted.items)
	shares(description)
	if len(wanted.subs) > 0 {
		description["subinstallations"] = templatesOf(wanted.subs)
	}
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(encoded(filesystem(description)))}}
	if u.world.rates.outside {
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: v1alpha1.NewAnyJSONPointer(aComponent)}
	}
	return wanted
}

// aComponent is asked for by plans that need something outside.
var aComponent = encoded(map[string]any{
	"meta": map[string]any{"schemaVersion": "v2"},
	"component": map[string]any{
		"name": "example.org/model", "version": "1.0.0", "provider": "example",
		"repositoryContexts": []any{map[string]any{"type": "ociRegistry", "baseUrl": "registry.example.org"}},
		"sources":            []any{}, "componentReferences": []any{}, "resources": []any{},
	},
})

// items makes up items of an Installation, or of a subinstallation of it.
func (u *users) items(inst, sub string) []desiredItem {
	var items []desiredItem
	for _, name := range []string{"x", "y", "z"} {
		if u.world.random.IntN(3) == 0 {
			continue
		}
		u.values++
		item := desiredItem{itemConfig: itemConfig{APIVersion: "example.org/v1", Kind: "Item", Inst: inst, Sub: sub, Name: name, Value: u.values, Behave: u.behave()}}
		for _, other := range items {
			if u.world.random.IntN(2) == 0 {
				item.dependsOn = append(item.dependsOn, other.Name)
			}
		}
		items = append(items, item)
	}
	return items
}

// describe returns the description of a blueprint with items.
func describe(items []desiredItem) map[string]any {
	var templates []map[string]any
	for _, item := range items {
		templates = append(templates, map[string]any{
			"name": item.Name, "type": itemType, "target": map[string]any{"import": "cluster"},
			"dependsOn": append([]string{}, item.dependsOn...), "config": item.itemConfig,
		})
	}
	// The order in which items are written says nothing.
	slices.Reverse(templates)
	template := strings.ReplaceAll(string(encoded(map[string]any{"deployItems": templates})), fmt.Sprint(importedValue), "{{ .imports.in }}")
	return map[string]any{
		"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint",
		"imports":          []any{map[string]any{"name": "cluster", "type": "target", "targetType": v1alpha1.KubernetesClusterTargetType}},
		"deployExecutions": []any{map[string]any{"name": "default", "type": "GoTemplate", "template": template}},
	}
}

// filesystem returns the files of an inline blueprint.
func filesystem(description map[string]any) map[string]string {
	return map[string]string{"blueprint.yaml": string(encoded(description))}
}

func encoded(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

// String shows what is asked for in a trace.
func (w desired) String() string {
	var items []string
	for _, item := range w.items {
		items = append(items, fmt.Sprintf("%s after %v", item.itemConfig, item.dependsOn))
	}
	for _, sub := range w.subs {
		items = append(items, fmt.Sprintf("%s from %q: %v", sub.name, sub.from, desired{items: sub.items}))
	}
	return "[" + strings.Join(items, "; ") + "]"
}
