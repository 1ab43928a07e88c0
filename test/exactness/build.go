package exactness

import (
	"fmt"
	"math/rand/v2"
)

// World is a landscape in a namespace.
type World struct {
	Space string
	Roots []*Root
	// Data are the values that come from outside.
	Data map[string]string

	rand *rand.Rand
	made int
}

// NewWorld makes a landscape: base with sub-installations of all types that import from
// each other, and roots that follow it.
func NewWorld(space string, random *rand.Rand) *World {
	w := &World{Space: space, rand: random, Data: map[string]string{"setting": "s0", "other": "o0"}}
	net := w.item("core", manifests, "host", "setting")
	net.Objects[0].Values["addr"] = "@setting"
	net.Exports = []Export{{"addr", net.Objects[0].Name, ".data.addr"}}
	far := w.item("far", manifests, "edge", "setting")
	fixed := w.object("ConfigMap", "")
	fixed.Values["fixed"] = "f0"
	far.Objects = append(far.Objects, fixed)
	far.Exports = []Export{{"stable", fixed.Name, ".data.fixed"}}
	chart := w.item("chart", charts, "host", "addr")
	chart.Objects[0].Values["url"] = "@addr"
	chart.Exports = []Export{{"url", chart.Objects[0].Name, ".data.url"}}
	kustom := w.item("kustom", kustomizations, "edge", "url")
	kustom.Objects[0].Values["end"] = "@url"
	kustom.Exports = []Export{{"pub", kustom.Objects[0].Name, ".data.end"}}
	top := w.item("top", manifests, "host", "setting")
	late := w.item("late", templates, "edge", "setting")
	late.DependsOn = []string{"top"}
	once := w.item("once", manifests, "host", "")
	once.OnChange = true
	front, tail, alone := w.item("front", manifests, "host", "pub"), w.item("tail", charts, "edge", "out"), w.item("alone", manifests, "host", "stable")
	front.Objects[0].Values["out"] = "@pub"
	front.Exports = []Export{{"out", front.Objects[0].Name, ".data.out"}}
	w.Roots = []*Root{
		{Inst: &Inst{Name: "base", Imports: []string{"setting"}, Exports: []string{"pub", "stable"}, Items: []*Item{top, late, once}, Subs: []*Inst{
			{Name: "net", Imports: []string{"setting"}, Exports: []string{"addr", "stable"}, Items: []*Item{net, far}},
			{Name: "app", Imports: []string{"addr"}, Exports: []string{"url"}, Items: []*Item{chart}},
			{Name: "ext", Imports: []string{"url"}, Exports: []string{"pub"}, Items: []*Item{kustom}},
			{Name: "side", Imports: []string{"setting"}, Items: []*Item{w.item("side", charts, "host", "setting"), w.item("more", templates, "edge", "")}},
		}}},
		{Inst: &Inst{Name: "front", Imports: []string{"pub"}, Exports: []string{"out"}, Items: []*Item{front}}},
		{Inst: &Inst{Name: "tail", Imports: []string{"out", "other"}, Items: []*Item{tail}}},
		{Inst: &Inst{Name: "alone", Imports: []string{"stable"}, Items: []*Item{alone}}},
	}
	return w
}

// name returns a name that nothing has had.
func (w *World) name(prefix string) string {
	w.made++
	return fmt.Sprintf("%s-%d", prefix, w.made)
}

func (w *World) text() string {
	w.made++
	return fmt.Sprintf("v%d", w.made)
}

var kinds = []string{"ConfigMap", "ConfigMap", "ConfigMap", "Secret", "Service", "ServiceAccount", "Role", "CronJob", "NetworkPolicy", "ClusterRole"}

// item makes an item with some objects. The first one is a ConfigMap, of which one value
// is an import.
func (w *World) item(name, kind, target, imported string) *Item {
	item := &Item{Name: name, Kind: kind, Target: target, Release: w.name("r")}
	item.Objects = append(item.Objects, w.object("ConfigMap", imported))
	for range 1 + w.rand.IntN(3) {
		use := ""
		if w.rand.IntN(2) == 0 {
			use = imported
		}
		item.Objects = append(item.Objects, w.object(kinds[w.rand.IntN(len(kinds))], use))
	}
	return item
}

func (w *World) object(kind, imported string) *Object {
	object := &Object{Kind: kind, Name: w.name("o"), Values: map[string]string{"a": w.text(), "b": w.text()}}
	if kind == "ClusterRole" {
		object.Name = w.Space + "-" + object.Name
	}
	if imported != "" {
		object.Values["c"] = "@" + imported
	}
	return object
}

// root returns a root by its name.
func (w *World) root(name string) *Root {
	for _, root := range w.Roots {
		if root.Name == name {
			return root
		}
	}
	return nil
}

// place is an item with where it is.
type place struct {
	inst *Inst
	item *Item
}

// places are the items of a root that a condition holds for.
func places(root *Root, holds func(place) bool) []place {
	var found []place
	root.walk(func(_ string, inst *Inst) {
		for _, item := range inst.Items {
			if at := (place{inst, item}); holds == nil || holds(at) {
				found = append(found, at)
			}
		}
	})
	return found
}

func oneOf[T any](random *rand.Rand, list []T) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[random.IntN(len(list))], true
}

// exported reports whether the item exports a value of an object.
func (i *Item) exported(object *Object) bool {
	for _, export := range i.Exports {
		if export.Object == object.Name {
			return true
		}
	}
	return false
}
