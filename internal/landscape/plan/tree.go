package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/model/dataflow"
)

// Node is an Installation in a tree that was worked out without a cluster.
type Node struct {
	// Path leads from the root to the Installation: root/network/dns.
	Path string
	// Imports are the values by the names of the blueprint, after defaults, mappings and import
	// executions.
	Imports map[string]any
	// Warnings list probable mistakes.
	Warnings []string
	*Children
	// Nodes are the subinstallations that could be worked out, in the order of the
	// blueprint.
	Nodes []*Node
	// Waiting are those that could not.
	Waiting []Waiting
	// Exports are set if the exports of all children are known; else Unknown says why they
	// are not, asked that there is a simulation.
	Exports *Exports
	Unknown error

	in       Input
	bindings map[string]any
}

// Installation is the Installation that was worked out.
func (n *Node) Installation() *v1alpha1.Installation { return n.in.Installation }

// Bindings returns what all templates see.
func (n *Node) Bindings() map[string]any { return maps.Clone(n.bindings) }

// Target returns the imported Target whose object has a name, or nil.
func (n *Node) Target(name string) *v1alpha1.Target {
	for _, target := range n.in.Imports.AllTargets() {
		if target.Name == name {
			return target
		}
	}
	return nil
}

// Read are the imports as they were read, before defaults and mappings.
func (n *Node) Read() dataflow.Imports { return n.in.Imports }

// Component is the component version that it comes from; nil without one.
func (n *Node) Component() *Component { return n.in.Component }

// Blueprint is what it was rendered from.
func (n *Node) Blueprint() *blueprint.Blueprint { return n.in.Blueprint }

// Name is the last part of the path.
func (n *Node) Name() string { return n.Path[strings.LastIndex(n.Path, "/")+1:] }

// Waiting is a subinstallation whose imports are not known.
type Waiting struct {
	Path string
	// Reason joins a *dataflow.MissingError for each import without a source.
	Reason error
	// From says which sibling has exports that only a job can determine, and why; nil without such a
	// sibling.
	From error
}

// unknownFor says which sibling that a subinstallation imports from has exports that only a job can
// determine.
func (n *Node) unknownFor(name string) error {
	before := n.Graph().Predecessors(name)
	for _, other := range n.Nodes {
		if slices.Contains(before, other.Name()) && other.Exports == nil && other.Unknown != nil {
			return fmt.Errorf("it imports from %s, whose exports only the job can tell: %w", other.Name(), other.Unknown)
		}
	}
	for _, waiting := range n.Waiting {
		if other := waiting.Path[strings.LastIndex(waiting.Path, "/")+1:]; slices.Contains(before, other) {
			return fmt.Errorf("it imports from %s, which is known only then", other)
		}
	}
	return nil
}

// ErrUnknown marks errors that say why only a job can determine what is exported: see Unknown.
var ErrUnknown = errors.New("only a job can tell")

// Unknown says that only a job can determine what is exported, and why.
func Unknown(reason error) error { return &unknown{reason} }

type unknown struct{ reason error }

// Error implements error.
func (u *unknown) Error() string { return u.reason.Error() }

// Is reports whether an error is ErrUnknown.
func (u *unknown) Is(target error) bool { return target == ErrUnknown }

// Unwrap returns the reason.
func (u *unknown) Unwrap() error { return u.reason }

// Simulation knows exports that only a real deployment could determine.
type Simulation interface {
	// Item returns the exports of a deploy item; nil if it has none. ErrUnknown says that only a job
	// can determine them: then nothing that follows from them is known.
	Item(ctx context.Context, node *Node, item *v1alpha1.DeployItemTemplate) (any, error)
	// Replaces reports whether the exports of an Installation are given, so that nothing below it is
	// worked out.
	Replaces(path string) bool
	// Installation returns these exports.
	Installation(ctx context.Context, node *Node) (*SimulatedExports, error)
}

// SimulatedExports are the exports of a blueprint by their names.
type SimulatedExports struct {
	Data    map[string]any `json:"dataExports"`
	Targets map[string]any `json:"targetExports"`
}

// Tree works out an Installation and all that is below it.
type Tree struct {
	// Open finds what a subinstallation consists of.
	Open func(ctx context.Context, parent Input, inst *v1alpha1.Installation) (Input, error)
	// Simulation determines exports; nil if they are unknown.
	Simulation Simulation
	// Identify gives a subinstallation the name and the UID that it has, if it exists
	// already; nil if nothing exists.
	Identify func(path string, inst *v1alpha1.Installation)
	// Maker works out each Installation; nil does it in this process.
	Maker Maker

	// used is what all Installations so far have taken.
	used Usage
}

// Grow works out the tree.
func (t *Tree) Grow(ctx context.Context, root Input) (*Node, error) {
	t.used = Usage{}
	return t.grow(ctx, root, root.Installation.Name)
}

func (t *Tree) grow(ctx context.Context, in Input, path string) (*Node, error) {
	in.Tree = t.used
	in.Tree.Depth = strings.Count(path, "/")
	replaced := t.Simulation != nil && t.Simulation.Replaces(path)
	made, err := t.maker().Make(ctx, in, Want{Shown: true, Replaced: replaced})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	node := &Node{Path: path, Imports: made.Imports, Warnings: slices.Concat(made.Warnings, made.Later), Children: made.Children, in: in, bindings: made.Bindings}
	if replaced {
		node.Children = &Children{}
		return node, t.replace(ctx, node, made.Stored)
	}
	if node.Held != nil {
		return nil, fmt.Errorf("%s: %w", path, node.Held)
	}
	t.used.Installations += len(node.Subinstallations)
	t.used = t.used.add(made.Copies)
	scope := newScope(made.Copies)
	if err := t.growChildren(ctx, node, scope); err != nil {
		return nil, err
	}
	if len(node.Waiting) > 0 {
		node.Unknown = fmt.Errorf("%s waits for other exports", node.Waiting[0].Path)
		return node, nil
	}
	if t.Simulation == nil {
		return node, nil
	}
	node.Exports, err = t.exports(ctx, node, scope, made.Stored)
	if errors.Is(err, ErrUnknown) {
		node.Unknown = err
		return node, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return node, nil
}

func (t *Tree) maker() Maker {
	if t.Maker == nil {
		return Here{}
	}
	return t.Maker
}

// replace takes the exports of an Installation from the simulation.
func (t *Tree) replace(ctx context.Context, node *Node, stored []byte) error {
	given, err := t.Simulation.Installation(ctx, node)
	if err != nil {
		return err // names the template
	}
	values := map[string]any{}
	dataflow.MergeExports(values, given.Data)
	dataflow.MergeExports(values, given.Targets)
	if node.Exports, err = t.finish(ctx, node, stored, Results{Replaced: values}); err != nil {
		return fmt.Errorf("%s: %w", node.Path, err)
	}
	return nil
}

// finish works out the exports of an Installation as at the end of a job.
func (t *Tree) finish(ctx context.Context, node *Node, stored []byte, results Results) (*Exports, error) {
	with := Surroundings{Functions: node.in.Functions, States: node.in.States, NamedTargets: node.in.NamedTargets, Shown: true,
		Open: func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
			return node.in.Component, nil
		}}
	return t.maker().Exports(ctx, node.in.Installation, stored, with, func() (Results, error) { return results, nil })
}

// growChildren works out the subinstallations in the order of their data: each one
// when those before it have given what it imports.
func (t *Tree) growChildren(ctx context.Context, node *Node, scope *scope) error {
	for _, sub := range node.inOrder() {
		inst := child(node.in.Installation, sub)
		if t.Identify != nil {
			t.Identify(node.Path+"/"+sub.Name, inst)
		}
		imports, err := dataflow.Read(ctx, inst, scope)
		var missing *dataflow.MissingError
		if errors.As(err, &missing) {
			node.Waiting = append(node.Waiting, Waiting{Path: node.Path + "/" + sub.Name, Reason: err, From: node.unknownFor(sub.Name)})
			continue
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", node.Path, sub.Name, err)
		}
		if err := t.growChild(ctx, node, sub.Name, inst, imports, scope); err != nil {
			return err
		}
	}
	place := make(map[string]int, len(node.Subinstallations))
	for i, sub := range node.Subinstallations {
		place[node.Path+"/"+sub.Name] = i
	}
	slices.SortFunc(node.Nodes, func(a, b *Node) int { return place[a.Path] - place[b.Path] })
	slices.SortFunc(node.Waiting, func(a, b Waiting) int { return place[a.Path] - place[b.Path] })
	return nil
}

func (t *Tree) growChild(ctx context.Context, parent *Node, name string, inst *v1alpha1.Installation, imports dataflow.Imports, scope *scope) error {
	path := parent.Path + "/" + name
	in, err := t.Open(ctx, parent.in, inst)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	in.Installation, in.Imports = inst, imports
	node, err := t.grow(ctx, in, path)
	if err != nil {
		return err
	}
	parent.Nodes = append(parent.Nodes, node)
	if node.Exports != nil {
		scope.add(node.Exports.Exports)
	}
	return nil
}

// child returns the object of a subinstallation with what the writer of a real one
// adds.
func child(parent *v1alpha1.Installation, sub Subinstallation) *v1alpha1.Installation {
	inst := sub.Installation.DeepCopy()
	inst.Name = sub.Name
	// A value that is in a Secret is only read if both objects have the same owner, known by
	// its UID; so even what exists nowhere needs one.
	inst.UID = types.UID(string(parent.UID) + "/" + sub.Name)
	inst.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(parent, v1alpha1.GroupVersion.WithKind("Installation"))}
	return inst
}

// exports works out the exports from those of all children. Without a stored plan there is nothing to export.
func (t *Tree) exports(ctx context.Context, node *Node, scope *scope, stored []byte) (*Exports, error) {
	results, err := t.results(ctx, node, scope)
	if err != nil || stored == nil {
		return &Exports{Values: map[string]any{}}, err
	}
	return t.finish(ctx, node, stored, results)
}

func (t *Tree) results(ctx context.Context, node *Node, scope *scope) (Results, error) {
	data, targets, err := dataflow.ScopeValues(slices.Collect(maps.Values(scope.data)), slices.Collect(maps.Values(scope.secrets)), slices.Collect(maps.Values(scope.targets)))
	if err != nil {
		return Results{}, err // names the object
	}
	results := Results{DeployItems: map[string]any{}, DataObjects: data, Targets: targets, Scope: slices.Collect(maps.Values(scope.targets))}
	for i := range node.DeployItems {
		exports, err := t.Simulation.Item(ctx, node, &node.DeployItems[i])
		if err != nil {
			return results, err // names the template
		}
		results.DeployItems[node.DeployItems[i].Name] = exports
	}
	return results, nil
}
