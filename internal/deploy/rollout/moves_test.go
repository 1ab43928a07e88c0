package rollout

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

type wishes = map[string]deployer.ManifestPolicy

// scene is a change of a tree: what members want before and after, in the order of their work.
type scene struct {
	reason        string
	before, after []*member
	nested        bool
	// want says whose each object is in the end, held whose it is before the removal round, if
	// that is not the same.
	want, held map[string]string
	// kept are members that keep something until the removal round.
	kept []string
}

func manages(name string, objects ...string) *member {
	m := &member{name: name, wants: wishes{}}
	for _, object := range objects {
		m.wants[object] = deployer.ManagePolicy
	}
	return m
}

func under(policy deployer.ManifestPolicy, m *member) *member {
	for name := range m.wants {
		m.wants[name] = policy
	}
	return m
}

func chart(m *member) *member   { m.chart = true; return m }
func leaving(m *member) *member { m.leaving = true; return m }

var movePolicies = []deployer.ManifestPolicy{deployer.ManagePolicy, deployer.KeepPolicy, deployer.ImmutablePolicy, deployer.FallbackPolicy}

var moveStrategies = []deployer.UpdateStrategy{
	deployer.UpdateStrategyUpdate, deployer.UpdateStrategyPatch, deployer.UpdateStrategyMerge, deployer.UpdateStrategyMergeOverwrite, deployer.UpdateStrategyApply,
}

func scenes(policy deployer.ManifestPolicy) []scene {
	return []scene{
		{
			reason: "it moves to an item that has its turn before",
			before: []*member{manages("one"), manages("two", "a")},
			after:  []*member{under(policy, manages("one", "a")), manages("two")},
			want:   map[string]string{"a": "[one]"},
		},
		{
			reason: "it moves to an item that has its turn after",
			before: []*member{manages("two", "a"), manages("one")},
			after:  []*member{manages("two"), under(policy, manages("one", "a"))},
			want:   map[string]string{"a": "[one]"},
			held:   map[bool]map[string]string{true: {"a": "[two released]"}, false: {"a": "[one]"}}[policy == deployer.ImmutablePolicy],
			kept:   []string{"two"},
		},
		{
			reason: "two items swap",
			before: []*member{manages("one", "a"), manages("two", "b")},
			after:  []*member{under(policy, manages("one", "b")), under(policy, manages("two", "a"))},
			want:   map[string]string{"a": "[two]", "b": "[one]"},
			held:   map[bool]map[string]string{true: {"a": "[one released]", "b": "[one]"}, false: {"a": "[two]", "b": "[one]"}}[policy == deployer.ImmutablePolicy],
			kept:   []string{"one"},
		},
		{
			reason: "an item is renamed",
			before: []*member{manages("two", "a", "b")},
			after:  []*member{under(policy, manages("one", "a")), leaving(manages("two", "a", "b"))},
			want:   map[string]string{"a": "[one]", "b": "deleted"},
			held:   map[bool]map[string]string{true: {"a": "[two]", "b": "[two]"}, false: {"a": "[one]", "b": "[two]"}}[policy == deployer.ImmutablePolicy],
		},
		{
			reason: "it moves to a chart",
			before: []*member{under(policy, manages("two", "a")), chart(manages("one"))},
			after:  []*member{manages("two"), chart(manages("one", "a"))},
			want:   map[string]string{"a": "[one]"},
			kept: map[bool][]string{
				// What is kept for ever needs no second look.
				true: nil, false: {"two"},
			}[policy == deployer.KeepPolicy],
		},
		{
			reason: "it moves from a chart to an item before",
			before: []*member{manages("one"), chart(manages("two", "a"))},
			after:  []*member{under(policy, manages("one", "a")), chart(manages("two"))},
			want:   map[string]string{"a": "[one]"},
		},
		{
			reason: "it moves from a chart to an item after",
			before: []*member{chart(manages("two", "a")), manages("one")},
			after:  []*member{chart(manages("two")), under(policy, manages("one", "a"))},
			want:   map[string]string{"a": "[one]"},
			held:   map[bool]map[string]string{true: {"a": "[two released]"}, false: {"a": "[one]"}}[policy == deployer.ImmutablePolicy],
			kept:   []string{"two"},
		},
		{
			reason: "it moves from a chart that goes",
			before: []*member{chart(manages("two", "a"))},
			after:  []*member{under(policy, manages("one", "a")), leaving(chart(manages("two", "a")))},
			want:   map[string]string{"a": "[one]"},
			held:   map[bool]map[string]string{true: {"a": "[two]"}, false: {"a": "[one]"}}[policy == deployer.ImmutablePolicy],
		},
		{
			reason: "another part of the tree might take it, and does not",
			nested: true,
			before: []*member{manages("two", "a")},
			after:  []*member{manages("two")},
			held:   map[string]string{"a": "[two released]"},
			want:   map[string]string{"a": "deleted"},
			kept:   []string{"two"},
		},
		{
			reason: "an item wants it that shared it before",
			before: []*member{under(policy, manages("one", "a")), manages("two", "a")},
			after:  []*member{under(policy, manages("one", "a")), manages("two")},
			want:   map[string]string{"a": "[one]"},
		},
	}
}

// TestMoves: what the tree still wants stays with its identity, whatever the policy of the item
// that wants it now and however that changes objects, and only that item has it then.
func TestMoves(t *testing.T) {
	for _, policy := range movePolicies {
		for _, strategy := range moveStrategies {
			for _, scene := range scenes(policy) {
				t.Run(string(policy)+"/"+string(strategy)+"/"+scene.reason, func(t *testing.T) {
					play(t, scene, strategy, func(*tree) {})
				})
			}
		}
	}
}

// TestMovesInterrupted: the process dies with each request of a move in turn, with and without
// effect of the request. What follows is the same.
func TestMovesInterrupted(t *testing.T) {
	for _, policy := range movePolicies {
		for _, strategy := range []deployer.UpdateStrategy{deployer.UpdateStrategyUpdate, deployer.UpdateStrategyApply} {
			for at := range scenes(policy) {
				reason := scenes(policy)[at].reason
				for _, lost := range []bool{false, true} {
					for died, requests := true, 1; died && !t.Failed(); requests++ {
						t.Run(fmt.Sprintf("%s/%s/%s/request %d/%t", policy, strategy, reason, requests, lost), func(t *testing.T) {
							var seen *tree
							play(t, scenes(policy)[at], strategy, func(tree *tree) {
								seen = tree
								tree.dieAfter(requests, lost)
							})
							died = seen.left <= 0
						})
					}
				}
			}
		}
	}
}

func play(t *testing.T, scene scene, strategy deployer.UpdateStrategy, trouble func(*tree)) {
	tree := &tree{cluster: fakecluster.New(), nested: scene.nested, members: scene.before}
	asIs := func(order []*member) []*member { return order }
	for _, m := range scene.before {
		m.strategy = strategy
	}
	if err := errors.Join(tree.round(t.Context(), scene.before...), tree.removalRound(t.Context(), asIs)); err != nil {
		t.Fatal(err)
	}
	uids := map[string]any{}
	for name := range scene.want {
		uids[name] = tree.cluster.Find("ConfigMap", "ns", name).GetUID()
	}
	var wanted []*member
	for _, m := range scene.after {
		if old := tree.member(m.name); old != nil {
			m.stored = old.stored
		}
		m.strategy = strategy
		if !m.leaving {
			wanted = append(wanted, m)
		}
	}
	tree.members = scene.after
	trouble(tree)
	if err := tree.round(t.Context(), wanted...); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, m := range wanted {
		if m.pending {
			kept = append(kept, m.name)
		}
	}
	if !slices.Equal(kept, scene.kept) {
		t.Errorf("%v keep something, want %v", kept, scene.kept)
	}
	for name, want := range scene.held {
		if got := tree.ownerOf(name); got != want {
			t.Errorf("before the removal round, %s belongs to %s, want %s", name, got, want)
		}
	}
	if err := tree.removalRound(t.Context(), asIs); err != nil {
		t.Fatal(err)
	}
	for name, want := range scene.want {
		if got := tree.ownerOf(name); got != want {
			t.Errorf("%s belongs to %s, want %s", name, got, want)
		}
		if object := tree.cluster.Find("ConfigMap", "ns", name); object != nil && object.GetUID() != uids[name] {
			t.Errorf("%s is another one", name)
		}
	}
	// The owner removes it in the end.
	for _, m := range tree.members {
		m.leaving = true
		for name, policy := range m.wants {
			if policy == deployer.KeepPolicy {
				delete(scene.want, name)
			}
		}
	}
	if err := tree.removalRound(t.Context(), asIs); err != nil {
		t.Fatal(err)
	}
	for name := range scene.want {
		if got := tree.ownerOf(name); got != "deleted" {
			t.Errorf("in the end, %s belongs to %s", name, got)
		}
	}
}
