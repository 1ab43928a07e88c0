package exactness

import (
	"maps"
	"slices"
)

// change is a kind of change. It changes the landscape and names what it did; "" if the
// landscape has nothing that it fits. What has to happen on a cluster it leaves to live.
type change struct {
	name   string
	weight int
	do     func(w *World, root *Root, live *[]Live) string
}

// Live is a change that another client makes to an object on a cluster.
type Live struct {
	Key Key
	// Gone removes the object, Field sets a value, Label a label.
	Gone  bool
	Field string
	Label string
}

var changes = []change{
	{"value", 4, changeValue}, {"import", 4, changeImport}, {"exported value", 3, changeExported}, {"new object", 3, addObject}, {"object gone", 4, removeObject},
	{"policy", 3, changePolicy}, {"new item", 2, addItem}, {"item gone", 3, removeItem}, {"new sub-installation", 2, addSub}, {"sub-installation gone", 3, removeSub},
	{"drift", 4, drift}, {"deleted by another client", 2, vanish}, {"strategy", 2, changeStrategy}, {"only after changes", 2, toggleOnChange},
	{"immutable", 3, changeImmutable}, {"keeps with the release", 1, keepWithRelease}, {"patch afterwards", 1, patchAfterwards}, {"ignored field", 1, ignoreField},
	{"release and templates", 2, switchRelease}, {"hook", 1, addHook}, {"export of what a server sets", 1, exportIdentity}, {"skips others", 1, toggleSkip},
	{"kind", 2, changeKind}, {"another Target", 3, leadElsewhere}, {"another release", 3, renameRelease},
}

// Change makes one random change of a root and names it.
func (w *World) Change(root *Root, live *[]Live) string {
	total, all := 0, slices.Concat(changes, moves)
	for _, change := range all {
		total += change.weight
	}
	for {
		at := w.rand.IntN(total)
		for _, change := range all {
			if at -= change.weight; at >= 0 {
				continue
			}
			if did := change.do(w, root, live); did != "" {
				return change.name + ": " + did
			}
			break
		}
	}
}

// pick chooses an item and one of its objects.
func (w *World) pick(root *Root, holds func(place, *Object) bool) (place, *Object, bool) {
	type choice struct {
		place
		object *Object
	}
	var found []choice
	for _, at := range places(root, nil) {
		for _, object := range at.item.Objects {
			if holds == nil || holds(at, object) {
				found = append(found, choice{at, object})
			}
		}
	}
	one, ok := oneOf(w.rand, found)
	return one.place, one.object, ok
}

func literal(_ place, object *Object) bool { return !object.Immutable && object.Hook == "" }

func changeValue(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, literal)
	if !ok {
		return ""
	}
	object.Values["a"] = w.text()
	return at.item.Name + "/" + object.Name
}

func changeImport(w *World, root *Root, _ *[]Live) string {
	var outside []string
	for _, name := range root.Imports {
		if _, ok := w.Data[name]; ok {
			outside = append(outside, name)
		}
	}
	name, ok := oneOf(w.rand, outside)
	if !ok {
		return ""
	}
	w.Data[name] = w.text()
	return name
}

// changeExported changes a literal that is exported, or makes one of an import.
func changeExported(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool {
		return at.item.exported(object) && !object.Immutable && object.Hook == ""
	})
	if !ok {
		return ""
	}
	for key, value := range object.Values {
		if key == "addr" || key == "url" || key == "end" || key == "out" || key == "fixed" {
			object.Values[key] = w.text()
			return at.item.Name + "/" + object.Name + " was " + value
		}
	}
	return ""
}

func addObject(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, nil))
	if !ok {
		return ""
	}
	use := ""
	if len(at.inst.Imports) > 0 {
		use = at.inst.Imports[0]
	}
	object := w.object(kinds[w.rand.IntN(len(kinds))], use)
	at.item.Objects = append(at.item.Objects, object)
	return at.item.Name + "/" + object.Name
}

func removeObject(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool { return !at.item.exported(object) && len(at.item.Objects) > 1 })
	if !ok {
		return ""
	}
	at.item.Objects = slices.DeleteFunc(at.item.Objects, func(other *Object) bool { return other == object })
	return at.item.Name + "/" + object.Name
}

func changePolicy(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool {
		return at.item.Kind == manifests && !at.item.exported(object) && !object.Immutable
	})
	if !ok {
		return ""
	}
	object.Policy, _ = oneOf(w.rand, []string{"manage", "keep", "ignore", "immutable", "fallback"})
	object.Values["a"] = w.text()
	return at.item.Name + "/" + object.Name + " " + object.Policy
}

func addItem(w *World, root *Root, _ *[]Live) string {
	var insts []*Inst
	root.walk(func(_ string, inst *Inst) { insts = append(insts, inst) })
	inst, _ := oneOf(w.rand, insts)
	kind, _ := oneOf(w.rand, []string{manifests, charts, templates, kustomizations})
	target, _ := oneOf(w.rand, []string{"host", "edge"})
	use := ""
	if len(inst.Imports) > 0 {
		use = inst.Imports[0]
	}
	item := w.item(w.name("item"), kind, target, use)
	inst.Items = append(inst.Items, item)
	return inst.Name + "/" + item.Name + " " + kind
}

func removeItem(w *World, root *Root, _ *[]Live) string {
	needed := map[string]bool{}
	for _, at := range places(root, nil) {
		for _, name := range at.item.DependsOn {
			needed[name] = true
		}
	}
	at, ok := oneOf(w.rand, places(root, func(at place) bool { return len(at.item.Exports) == 0 && !needed[at.item.Name] }))
	if !ok {
		return ""
	}
	at.inst.Items = slices.DeleteFunc(at.inst.Items, func(other *Item) bool { return other == at.item })
	return at.inst.Name + "/" + at.item.Name + " " + at.item.Kind
}

func addSub(w *World, root *Root, _ *[]Live) string {
	use := ""
	sub := &Inst{Name: w.name("sub")}
	if len(root.Imports) > 0 {
		use = root.Imports[0]
		sub.Imports = []string{use}
	}
	kind, _ := oneOf(w.rand, []string{manifests, charts, templates, kustomizations})
	target, _ := oneOf(w.rand, []string{"host", "edge"})
	sub.Items = []*Item{w.item("i", kind, target, use), w.item("j", manifests, target, use)}
	root.Subs = append(root.Subs, sub)
	return sub.Name + " " + kind
}

func removeSub(w *World, root *Root, _ *[]Live) string {
	var spare []*Inst
	for _, sub := range root.Subs {
		if len(sub.Exports) == 0 {
			spare = append(spare, sub)
		}
	}
	sub, ok := oneOf(w.rand, spare)
	if !ok {
		return ""
	}
	root.Subs = slices.DeleteFunc(root.Subs, func(other *Inst) bool { return other == sub })
	return sub.Name
}

func drift(w *World, root *Root, live *[]Live) string {
	at, object, ok := w.pick(root, func(_ place, object *Object) bool {
		return object.Kind == "ConfigMap" && !object.Immutable && object.Hook == ""
	})
	if !ok {
		return ""
	}
	change := Live{Key: Key{at.item.Target, object.Kind, object.namespace(w.Space), object.Name}}
	keys := append(slices.Sorted(maps.Keys(object.Values)), "more")
	change.Field, _ = oneOf(w.rand, keys)
	if w.rand.IntN(4) == 0 {
		change.Field, change.Label = "", "example.org/foreign"
	}
	*live = append(*live, change)
	return at.item.Name + "/" + object.Name + " " + change.Field + change.Label
}

func vanish(w *World, root *Root, live *[]Live) string {
	at, object, ok := w.pick(root, func(_ place, object *Object) bool { return object.Hook == "" })
	if !ok {
		return ""
	}
	*live = append(*live, Live{Key: Key{at.item.Target, object.Kind, object.namespace(w.Space), object.Name}, Gone: true})
	return at.item.Name + "/" + object.Name
}

func changeStrategy(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, func(at place) bool { return at.item.Kind != charts }))
	if !ok {
		return ""
	}
	at.item.Strategy, _ = oneOf(w.rand, []string{"update", "patch", "merge", "mergeOverwrite", "apply"})
	at.item.Objects[0].Values["a"] = w.text()
	return at.item.Name + " " + at.item.Strategy
}

func toggleOnChange(w *World, root *Root, live *[]Live) string {
	at, ok := oneOf(w.rand, places(root, nil))
	if !ok {
		return ""
	}
	at.item.OnChange = !at.item.OnChange
	return at.item.Name + " with " + drift(w, root, live)
}

// changeImmutable makes an object immutable, or changes one that is.
func changeImmutable(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool {
		return at.item.Kind == manifests && !at.item.exported(object) && (object.Kind == "ConfigMap" || object.Kind == "Secret") && object.Policy == ""
	})
	if !ok {
		return ""
	}
	// What follows from an import may change later, and has to be made anew then, too.
	object.Recreate = true
	if object.Immutable {
		object.Values["a"] = w.text()
		return at.item.Name + "/" + object.Name + " is changed"
	}
	object.Immutable, object.Patch = true, nil
	return at.item.Name + "/" + object.Name
}

func keepWithRelease(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool { return at.item.Kind == charts && object.Hook == "" })
	if !ok {
		return ""
	}
	object.Stays = true
	return at.item.Name + "/" + object.Name
}

func patchAfterwards(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool {
		return at.item.Kind == manifests && object.Kind == "ConfigMap" && !object.Immutable
	})
	if !ok {
		return ""
	}
	object.Patch = map[string]string{"patched": w.text()}
	return at.item.Name + "/" + object.Name
}

func ignoreField(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool { return at.item.Kind == manifests && object.Kind == "ConfigMap" })
	if !ok {
		return ""
	}
	object.Ignored, object.Values["b"] = "b", w.text()
	return at.item.Name + "/" + object.Name
}

func switchRelease(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, func(at place) bool { return at.item.Kind == charts || at.item.Kind == templates }))
	if !ok {
		return ""
	}
	at.item.Kind = map[string]string{charts: templates, templates: charts}[at.item.Kind]
	return at.item.Name + " to " + at.item.Kind
}

// renameRelease gives an item another release, without the object that is last.
func renameRelease(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, func(at place) bool { return at.item.Kind == charts }))
	if !ok {
		return ""
	}
	before := at.item.Release
	at.item.Release = w.name("r")
	if last := len(at.item.Objects) - 1; last > 0 && !at.item.exported(at.item.Objects[last]) {
		at.item.Objects = at.item.Objects[:last]
	}
	return at.item.Name + " from " + before + " to " + at.item.Release
}

func addHook(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, func(at place) bool { return at.item.Kind == charts }))
	if !ok {
		return ""
	}
	hook := w.object("ConfigMap", "")
	hook.Hook = "pre-install,pre-upgrade"
	at.item.Objects = append(at.item.Objects, hook)
	return at.item.Name + "/" + hook.Name
}

// exportIdentity lets an exported value come from what only an API server sets: of an
// object that exists it is known.
func exportIdentity(_ *World, root *Root, _ *[]Live) string {
	for _, at := range places(root, nil) {
		for i := range at.item.Exports {
			if export := &at.item.Exports[i]; export.Path != ".metadata.uid" && export.Key != "stable" {
				export.Path = ".metadata.uid"
				return at.item.Name + " " + export.Key
			}
		}
	}
	return ""
}

func toggleSkip(w *World, root *Root, _ *[]Live) string {
	if root.Name != "base" {
		return ""
	}
	alone := w.root("alone")
	alone.Skips = !alone.Skips
	did := changeExported(w, root, nil)
	if did == "" {
		alone.Skips = !alone.Skips
	}
	return did
}

// changeKind replaces an object by one of another kind with the same name.
func changeKind(w *World, root *Root, _ *[]Live) string {
	at, object, ok := w.pick(root, func(at place, object *Object) bool {
		return !at.item.exported(object) && object.Kind == "ConfigMap" && object.Patch == nil && object.Ignored == "" && object.Hook == ""
	})
	if !ok {
		return ""
	}
	object.Kind = "Secret"
	return at.item.Name + "/" + object.Name
}

// leadElsewhere gives an item the other Target. Its objects on the earlier cluster are deleted.
func leadElsewhere(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, nil))
	if !ok {
		return ""
	}
	at.item.Target = map[string]string{"host": "edge", "edge": "host"}[at.item.Target]
	return at.inst.Name + "/" + at.item.Name + " to " + at.item.Target
}
