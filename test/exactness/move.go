package exactness

import (
	"slices"
	"strings"
)

// moves are the kinds of changes after which another item wants an object.
var moves = []change{
	{"object moves", 5, moveObject}, {"item renamed", 3, renameItem}, {"item moves", 2, moveItem}, {"sub-installation renamed", 2, renameSub},
	{"item of another type", 3, convertItem},
}

// fits reports whether an Installation has everything that some objects use.
func (i *Inst) fits(objects ...*Object) bool {
	for _, object := range objects {
		for _, value := range object.Values {
			if name, isImport := strings.CutPrefix(value, "@"); isImport && !slices.Contains(i.Imports, name) {
				return false
			}
		}
	}
	return true
}

// moveObject gives an object to another item on the same cluster.
func moveObject(w *World, root *Root, _ *[]Live) string {
	from, object, ok := w.pick(root, func(at place, object *Object) bool {
		return !at.item.exported(object) && object.Hook == "" && len(at.item.Objects) > 1
	})
	if !ok {
		return ""
	}
	to, ok := oneOf(w.rand, places(root, func(at place) bool {
		return at.item != from.item && at.item.Target == from.item.Target && at.inst.fits(object)
	}))
	if !ok {
		return ""
	}
	from.item.Objects = slices.DeleteFunc(from.item.Objects, func(other *Object) bool { return other == object })
	to.item.Objects = append(to.item.Objects, object)
	return object.Name + " from " + from.String() + " to " + to.String()
}

// String names the place.
func (p place) String() string { return p.inst.Name + "/" + p.item.Name + " (" + p.item.Kind + ")" }

func (w *World) rename(inst *Inst, item *Item) {
	before := item.Name
	item.Name = w.name("item")
	for _, other := range inst.Items {
		for i, name := range other.DependsOn {
			if name == before {
				other.DependsOn[i] = item.Name
			}
		}
	}
}

// renameItem gives an item another name. What it deploys stays, a release with its name.
func renameItem(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, nil))
	if !ok {
		return ""
	}
	did := at.String()
	w.rename(at.inst, at.item)
	return did + " to " + at.item.Name
}

// spare reports whether nothing else of its Installation needs an item.
func (p place) spare() bool {
	return len(p.item.Exports) == 0 && len(p.item.DependsOn) == 0 && !slices.ContainsFunc(p.inst.Items, func(other *Item) bool {
		return slices.Contains(other.DependsOn, p.item.Name)
	})
}

// moveItem gives an item to another Installation of the tree.
func moveItem(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, place.spare))
	if !ok {
		return ""
	}
	var others []*Inst
	root.walk(func(_ string, inst *Inst) {
		if inst != at.inst && inst.fits(at.item.Objects...) {
			others = append(others, inst)
		}
	})
	to, ok := oneOf(w.rand, others)
	if !ok {
		return ""
	}
	did := at.String()
	at.inst.Items = slices.DeleteFunc(at.inst.Items, func(other *Item) bool { return other == at.item })
	at.item.Name = w.name("item")
	to.Items = append(to.Items, at.item)
	return did + " to " + to.Name
}

// renameSub gives a sub-installation another name.
func renameSub(w *World, root *Root, _ *[]Live) string {
	sub, ok := oneOf(w.rand, root.Subs)
	if !ok {
		return ""
	}
	before := sub.Name
	sub.Name = w.name("sub")
	return before + " to " + sub.Name
}

// convertItem lets another deployer have the objects of an item, which is another item then:
// the type of one cannot change.
func convertItem(w *World, root *Root, _ *[]Live) string {
	at, ok := oneOf(w.rand, places(root, func(at place) bool {
		return !slices.ContainsFunc(at.item.Objects, func(object *Object) bool { return object.Hook != "" })
	}))
	if !ok {
		return ""
	}
	kinds := slices.DeleteFunc([]string{manifests, charts, templates, kustomizations}, func(kind string) bool { return itemType(kind) == itemType(at.item.Kind) })
	did := at.String()
	at.item.Kind, _ = oneOf(w.rand, kinds)
	w.rename(at.inst, at.item)
	return did + " to " + at.String()
}
