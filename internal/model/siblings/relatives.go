package siblings

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/siblinggraph"
	"go.landscaper.dev/internal/model/predicates"
)

// relations are siblings with what follows from their specifications: which values they need of
// each other, which of them wait for each other in a cycle, and which export the same name.
type relations struct {
	Graph      *siblinggraph.Graph
	cycles     []siblinggraph.Cycle
	collisions []siblinggraph.Collision
}

// CycleOf returns the cycle of siblings that wait for each other which an Installation is a member
// of.
func (r *relations) CycleOf(name string) (siblinggraph.Cycle, bool) {
	at := slices.IndexFunc(r.cycles, func(cycle siblinggraph.Cycle) bool { return slices.Contains(cycle.Members, name) })
	if at < 0 {
		return siblinggraph.Cycle{}, false
	}
	return r.cycles[at], true
}

// NewRelations returns what follows from the specifications of siblings.
func NewRelations(self *v1alpha1.Installation, siblings []*v1alpha1.Installation) *relations {
	graph := siblinggraph.NewGraph(dataflow.Scope(self), siblinggraph.InstallationUnits(siblings))
	return &relations{Graph: graph, cycles: graph.Cycles(), collisions: graph.Collisions()}
}

// maxCached is how many families of siblings are remembered.
const maxCached = 16

// Cache caches the relatives of the families that were used last: all members of a wide tree
// ask for the same, which does not change meanwhile.
type Cache struct {
	mu     sync.Mutex
	seed   maphash.Seed
	recent []cacheEntry
}

// Get returns the relatives of an Installation, which is one of the siblings.
func (r *Cache) Get(self *v1alpha1.Installation, siblings []*v1alpha1.Installation) *relations {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recent == nil {
		r.seed = maphash.MakeSeed()
	}
	family := maphash.String(r.seed, self.Namespace+"/"+dataflow.Scope(self))
	said := r.fingerprint(siblings)
	at := slices.IndexFunc(r.recent, func(known cacheEntry) bool { return known.family == family })
	if at >= 0 && r.recent[at].fingerprint == said {
		return r.recent[at].relations
	}
	if at >= 0 {
		r.recent = slices.Delete(r.recent, at, at+1)
	}
	among := NewRelations(self, lean(siblings))
	r.recent = append(r.recent, cacheEntry{family, said, among})
	r.recent = r.recent[max(0, len(r.recent)-maxCached):]
	return among
}

// fingerprint identifies siblings with their imports and exports, in any order.
func (r *Cache) fingerprint(siblings []*v1alpha1.Installation) uint64 {
	sum := uint64(len(siblings))
	var text maphash.Hash
	text.SetSeed(r.seed)
	write := func(parts ...string) {
		for _, part := range parts {
			_, _ = text.WriteString(part) // never fails
			_ = text.WriteByte(0)
		}
	}
	for _, sibling := range siblings {
		text.Reset()
		write(string(sibling.UID), sibling.Name)
		for _, item := range sibling.Spec.Exports.Data {
			write("data", item.Name, item.DataRef)
		}
		for _, item := range sibling.Spec.Exports.Targets {
			write("target", item.Name, item.Target)
		}
		for i := range sibling.Spec.Imports.Data {
			write("from", sibling.Spec.Imports.Data[i].Name, sibling.Spec.Imports.Data[i].DataRef)
		}
		for i := range sibling.Spec.Imports.Targets {
			item := &sibling.Spec.Imports.Targets[i]
			write("at", item.Name, item.Target, item.TargetListReference, item.TargetMapReference)
			write(item.Targets...)
			for key, target := range item.TargetMap {
				sum += maphash.String(r.seed, item.Name+"\x00"+key+"\x00"+target) * 31
			}
		}
		sum += text.Sum64()
	}
	return sum
}

type cacheEntry struct {
	family, fingerprint uint64
	relations           *relations
}

// lean returns siblings with nothing but their names, imports and exports, so that what
// is remembered holds no objects of the past.
func lean(siblings []*v1alpha1.Installation) []*v1alpha1.Installation {
	copies := make([]*v1alpha1.Installation, len(siblings))
	for i, sibling := range siblings {
		own := &v1alpha1.Installation{}
		own.Name = strings.Clone(sibling.Name)
		sibling.Spec.Imports.DeepCopyInto(&own.Spec.Imports)
		sibling.Spec.Exports.DeepCopyInto(&own.Spec.Exports)
		copies[i] = own
	}
	return copies
}

// ImportsFrom reports whether an Installation imports something that another one exports.
func ImportsFrom(importer, exporter *v1alpha1.Installation) bool {
	if !mayImport(importer, exporter) {
		return false
	}
	among := NewRelations(exporter, []*v1alpha1.Installation{importer, exporter})
	return len(among.Graph.Predecessors(importer.Name)) > 0
}

// mayImport is the quick answer: it is false only if no name of an import can be one of
// an export. Names with a # in front are compared by the graph.
func mayImport(importer, exporter *v1alpha1.Installation) bool {
	var names []string
	for _, export := range exporter.Spec.Exports.Data {
		names = append(names, export.DataRef)
	}
	for _, export := range exporter.Spec.Exports.Targets {
		names = append(names, export.Target)
	}
	return slices.ContainsFunc(dataflow.Mentions(&importer.Spec.Imports), func(mention dataflow.Mention) bool {
		return mention.Direct || slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(name, v1alpha1.NonContextifiedPrefix) || name == mention.Written
		})
	})
}

func byName(siblings []*v1alpha1.Installation, name string) *v1alpha1.Installation {
	return siblings[slices.IndexFunc(siblings, func(sibling *v1alpha1.Installation) bool { return sibling.Name == name })]
}

// Importers returns the roots that get a job after the success of another one. It returns none
// within a cycle: the jobs would never end.
func Importers(inst *v1alpha1.Installation, siblings []*v1alpha1.Installation, among *relations) []*v1alpha1.Installation {
	names := among.Graph.Importers(inst.Name)
	if len(names) == 0 {
		return nil
	}
	cycle, _ := among.CycleOf(inst.Name)
	var found []*v1alpha1.Installation
	for _, name := range names {
		if dependent := byName(siblings, name); name != inst.Name && !slices.Contains(cycle.Members, name) && predicates.Follows(dependent) {
			found = append(found, dependent)
		}
	}
	return found
}
