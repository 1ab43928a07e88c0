package rollout

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// families drives a tree through jobs in which objects move at random.
type families struct {
	*rapid.T
	tree *tree
	// troubled says that requests go wrong and that the process dies.
	troubled bool
	// next is the number of the next new member.
	next int
	// seed is what trouble follows from, and asked how often each request was made.
	seed  uint64
	asked map[fakecluster.Request]int
	// uids are the objects at the beginning of a job.
	uids map[string]types.UID
}

var familyObjects = []string{"a", "b", "c", "d"}

// strangers are objects without an owner here. Items may want to have them as a fallback only.
var strangers = []string{"x", "y"}

// fault is what happens to a request. It follows from the request alone, as those of one attempt
// are made in any order.
func (f *families) fault(request fakecluster.Request) fakecluster.Fault {
	if !f.troubled || request.Verb == "watch" {
		return fakecluster.Fault{}
	}
	f.asked[request]++
	hash := fnv.New64a()
	_, _ = fmt.Fprint(hash, f.seed, request, f.asked[request])
	lost := fmt.Errorf("%s %s: no answer", request.Verb, request.Name)
	switch hash.Sum64() % 12 {
	case 0:
		return fakecluster.Fault{Before: lost}
	case 1:
		return fakecluster.Fault{After: lost}
	case 2:
		return fakecluster.Fault{Before: apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, request.Name, errors.New("raced"))}
	case 3:
		return fakecluster.Fault{Meanwhile: func(object *unstructured.Unstructured) {
			annotations := object.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["acme.example/seen"] = fmt.Sprint(f.asked[request])
			object.SetAnnotations(annotations)
		}}
	}
	return fakecluster.Fault{}
}

// desiredState changes what a member wants.
func (f *families) desiredState(m *member) {
	m.wants = wishes{}
	for _, name := range familyObjects {
		if rapid.IntRange(0, 2).Draw(f.T, m.name+" wants "+name) > 0 {
			continue
		}
		m.wants[name] = deployer.ManagePolicy
		if !m.chart {
			m.wants[name] = rapid.SampledFrom([]deployer.ManifestPolicy{deployer.ManagePolicy, deployer.ManagePolicy, deployer.ImmutablePolicy, deployer.FallbackPolicy}).Draw(f.T, "policy")
		}
	}
	for _, name := range strangers {
		if !m.chart && rapid.IntRange(0, 5).Draw(f.T, m.name+" would have "+name) == 0 {
			m.wants[name] = deployer.FallbackPolicy
		}
	}
}

// change is a new version of the blueprint: some items are deleted, some are created, all may want
// other objects.
func (f *families) change() {
	for _, m := range f.tree.members {
		m.end()
		m.pending = false
		switch {
		case m.leaving && rapid.Bool().Draw(f.T, m.name+" comes back"):
			m.leaving = false
		case m.leaving:
		case rapid.IntRange(0, 3).Draw(f.T, m.name+" goes") == 0:
			m.leaving = true
		case rapid.Bool().Draw(f.T, m.name+" changes"):
			f.desiredState(m)
		}
	}
	for range rapid.IntRange(0, 2).Draw(f.T, "new") {
		// Names are drawn so that an heir need not be the last one by name.
		m := &member{name: fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"l", "m", "n"}).Draw(f.T, "letter"), f.next), chart: rapid.IntRange(0, 2).Draw(f.T, "chart") == 0}
		f.next++
		m.strategy = rapid.SampledFrom(moveStrategies).Draw(f.T, "strategy")
		f.desiredState(m)
		f.tree.members = append(f.tree.members, m)
	}
	f.tree.nested = rapid.Bool().Draw(f.T, "nested")
}

// job deploys all wanted items, in steps that are mixed at random, and then removes. It may end
// in the middle.
func (f *families) job() (done bool) {
	if !f.round(func(m *member) bool { return !m.leaving }) {
		return false
	}
	f.tree.removal = true
	defer func() { f.tree.removal = false }()
	return f.round(func(m *member) bool { return m.leaving || m.pending })
}

func (f *families) round(chosen func(*member) bool) (done bool) {
	var open []*member
	for _, m := range f.tree.members {
		if chosen(m) {
			open = append(open, m)
		}
	}
	for tries := 0; len(open) > 0; tries++ {
		if tries > 400 {
			f.Fatal("a round does not end")
		}
		m := rapid.SampledFrom(open).Draw(f.T, "turn")
		switch what := rapid.IntRange(0, 9).Draw(f.T, "step"); {
		case what == 0 && f.troubled:
			m.end() // the process dies
		case what == 1 && rapid.IntRange(0, 5).Draw(f.T, "the job is ended") == 0:
			return false
		case m.work == nil:
			// What it records is stored before anything is written; another attempt follows.
			_ = f.tree.begin(context.Background(), m)
		default:
			before := slices.Clone(m.stored)
			over, err := f.tree.attempt(context.Background(), m)
			if err != nil {
				continue
			}
			if f.troubled && rapid.IntRange(0, 9).Draw(f.T, "the status is lost") == 0 {
				m.end()
				m.stored = before
				continue
			}
			if over {
				open = slices.DeleteFunc(open, func(other *member) bool { return other == m })
				if m.leaving {
					f.tree.members = slices.DeleteFunc(f.tree.members, func(other *member) bool { return other == m })
				}
			}
		}
	}
	return true
}

// wanted reports whether an item wants an object.
func (f *families) wanted(name string) bool {
	return slices.ContainsFunc(f.tree.members, func(m *member) bool { _, wants := m.wants[name]; return wants && !m.leaving })
}

// checkKept checks what must hold at any time of a job: no object is deleted that existed at its
// beginning and that an item wants.
func (f *families) checkKept() {
	for name, uid := range f.uids {
		if object := f.tree.cluster.Find("ConfigMap", "ns", name); f.wanted(name) && (object == nil || object.GetUID() != uid) {
			f.Fatalf("%s is wanted, was %s and is %v", name, uid, object)
		}
	}
}

// checkDone looks at what must hold after a job that has succeeded.
func (f *families) checkDone() {
	for _, name := range familyObjects {
		object := f.tree.cluster.Find("ConfigMap", "ns", name)
		switch wanted := f.wanted(name); {
		case wanted && object == nil:
			f.Fatalf("%s is wanted and does not exist", name)
		case !wanted && object != nil:
			f.Fatalf("no item wants %s, and it is left: %v", name, object.Object)
		case !wanted:
			continue
		}
		owners := ownership.Others(object, "")
		if ownership.IsReleased(object) || len(owners) != 1 {
			f.Fatalf("%s is wanted, but looks like one of %v: %v", name, owners, object.Object)
		}
		owner := f.tree.member(owners[0])
		if owner == nil {
			f.Fatalf("%s belongs to %s, which does not exist", name, owners[0])
		}
		if _, wants := owner.wants[name]; !wants || !slices.ContainsFunc(owner.stored, func(entry deployer.ManagedResourceStatus) bool { return entry.Resource.Name == name }) {
			f.Fatalf("%s belongs to %s, which wants %v and has recorded %v", name, owner.name, slices.Sorted(maps.Keys(owner.wants)), owner.stored)
		}
	}
}

func (f *families) checkStrangers(before map[string]*unstructured.Unstructured) {
	for name, object := range before {
		found := f.tree.cluster.Find("ConfigMap", "ns", name)
		if found == nil || found.GetResourceVersion() != object.GetResourceVersion() && !f.troubled {
			f.Fatalf("%s belongs to a stranger, was %v and is %v", name, object, found)
		}
		if len(ownership.Others(found, "elsewhere")) > 0 || ownership.IsReleased(found) {
			f.Fatalf("%s belongs to a stranger, and is %v", name, found)
		}
	}
}

// TestFamilies: objects move at random between items that are created, deleted and changed, in any
// order, under all policies, with charts of unknown content, with lost answers, conflicts and
// crashes. Wanted objects stay with their identity, also in jobs that end in the middle; after a
// job that succeeds, no unwanted object is left, and each object has one owner that has recorded
// it. Objects of strangers are not touched.
func TestFamilies(t *testing.T) {
	for _, troubled := range []bool{false, true} {
		t.Run(map[bool]string{false: "all goes well", true: "in trouble"}[troubled], func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { liveOn(t, troubled) })
		})
	}
}

func liveOn(t *rapid.T, troubled bool) {
	f := &families{T: t, tree: &tree{cluster: fakecluster.New()}, troubled: troubled, asked: map[fakecluster.Request]int{}, seed: rapid.Uint64().Draw(t, "seed")}
	before := map[string]*unstructured.Unstructured{}
	for i, name := range strangers {
		object := configMapNamed(name)
		if i == 0 {
			object.SetLabels(map[string]string{ownership.ManifestLabel: "elsewhere"})
		}
		before[name] = f.tree.cluster.Put(object)
	}
	f.tree.cluster.Fault = f.fault
	jobs := rapid.IntRange(2, 6).Draw(t, "jobs")
	for i := range jobs + 1 {
		f.change()
		f.uids = map[string]types.UID{}
		for _, name := range familyObjects {
			if object := f.tree.cluster.Find("ConfigMap", "ns", name); object != nil {
				f.uids[name] = object.GetUID()
			}
		}
		done := f.job()
		f.checkKept()
		if f.checkStrangers(before); done {
			f.checkDone()
		}
		if i == jobs && !done {
			// In the end, all jobs get through.
			f.settle(before)
		}
	}
}

func (f *families) settle(before map[string]*unstructured.Unstructured) {
	for range 20 {
		for _, m := range f.tree.members {
			m.end()
			m.pending = false
		}
		if f.job() {
			f.checkKept()
			f.checkStrangers(before)
			f.checkDone()
			return
		}
	}
}
