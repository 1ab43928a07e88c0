package build

// The library looks for each entry of a list or map among all others of it; where a patch
// has a list, for each that there is then among all of them. So what has many entries
// takes long, however few bytes each of them has.

// width is how many entries lists and maps have.
type width struct {
	// keys are the most entries of a map; in a patch, those of all its maps together.
	keys int
	// merged is the sum of the lengths of lists that can be merged, which are those of
	// objects, and squared the sum of the squares.
	merged, squared int
	// searched is the sum of the squares of all lists and maps.
	searched int
}

const (
	// entriesPerWork is how many pairs of entries are compared in a unit of work.
	entriesPerWork = 25
	// mergedPerWork is how many of them where lists are merged.
	mergedPerWork = 2
	// maxEntries bounds what is squared, and enough is more work than any limit allows: so
	// nothing overflows.
	maxEntries = 1 << 20
	enough     = 1 << 50
)

// widthOf measures what was decoded from JSON. Of a patch, which adds all it has to one
// object, the keys are added up, and those of inner maps count twice with each map around
// them: counted once, a patch of 600 keys for 100 objects was within the limit of work and
// took more than ten seconds.
func widthOf(value any, patch bool) (w width) {
	add := func(entry any) {
		other := widthOf(entry, patch)
		if w.keys = max(w.keys, other.keys); patch {
			w.keys = min(w.keys+other.keys, maxEntries)
		}
		w.merged, w.squared, w.searched = min(w.merged+other.merged, maxEntries), min(w.squared+other.squared, enough), w.searched+other.searched
	}
	switch value := value.(type) {
	case []any:
		w.searched = square(len(value))
		for _, entry := range value {
			if _, isObject := entry.(map[string]any); isObject {
				w.merged, w.squared = min(len(value), maxEntries), square(len(value))
			}
		}
		for _, entry := range value {
			add(entry)
		}
	case map[string]any:
		w.keys, w.searched = min(len(value), maxEntries), square(len(value))
		for _, entry := range value {
			add(entry)
		}
	}
	return w
}

func square(entries int) int {
	entries = min(entries, maxEntries)
	return entries * entries
}

// widths are those of the objects of a kustomization.
type widths struct {
	// widest has the most of each, sum has all of them.
	widest, sum width
}

func (w *widths) add(other widths) {
	w.widest.keys = max(w.widest.keys, other.widest.keys)
	w.widest.merged, w.widest.squared = max(w.widest.merged, other.widest.merged), max(w.widest.squared, other.widest.squared)
	w.sum.merged, w.sum.squared = min(w.sum.merged+other.sum.merged, maxEntries), min(w.sum.squared+other.sum.squared, enough)
}

// widen counts the entries of an object that a kustomization gets.
func (p *part) widen(by width) {
	p.widths.add(widths{by, by})
	p.work += by.searched / entriesPerWork
}

// countedPatch is a patch as far as its work is concerned.
type countedPatch struct {
	width
	// wide says that it may change all objects.
	wide bool
}

// search is the work for the entries of patches of some objects.
func search(patches []countedPatch, objects int, all widths) (work int, after widths) {
	for _, patch := range patches {
		of, changed := 1, &all.widest
		if patch.wide {
			of, changed = objects, &all.sum
		}
		squared := min(changed.squared+2*patch.merged*changed.merged+of*square(patch.merged), enough)
		if patch.merged > 0 {
			work += squared / mergedPerWork
		}
		work += of * patch.keys * (all.widest.keys + patch.keys) / entriesPerWork
		all.add(widths{
			width{keys: min(all.widest.keys+patch.keys, maxEntries), merged: min(all.widest.merged+patch.merged, maxEntries), squared: min(all.widest.squared+2*patch.merged*all.widest.merged+square(patch.merged), enough)},
			width{merged: of * patch.merged, squared: max(0, squared-changed.squared)},
		})
		if work > enough {
			return enough, all
		}
	}
	return work, all
}
