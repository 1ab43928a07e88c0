package plan

import (
	"context"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/siblinggraph"
)

// Children are what an Installation brings up.
type Children struct {
	Subinstallations []Subinstallation
	// Held names the subinstallations that cannot run, because they wait for each other in a cycle or
	// export the same; nil without such. All others can run.
	Held error
	// DeployItems are the items of its Execution.
	DeployItems v1alpha1.DeployItemTemplateList
	// States are to be stored before any child sees the result: they may hold
	// what was generated for it.
	States []State
}

// Children renders the children. Templates may use the time and random values, so
// that this is done once per job.
func (p *Plan) Children(ctx context.Context) (*Children, error) {
	states := &newStates{}
	subs, held, err := p.subinstallations(ctx, states)
	if err != nil {
		return nil, &SubinstallationError{err}
	}
	if err := p.in.Tree.checkChildren(len(subs)); err != nil {
		return nil, &SubinstallationError{err}
	}
	items, err := p.deployItems(ctx, states)
	if err != nil {
		return nil, err
	}
	return &Children{Subinstallations: subs, Held: held, DeployItems: items, States: states.list}, nil
}

// SubinstallationError says that it is the subinstallations which cannot be worked
// out, and not the deploy items.
type SubinstallationError struct{ error }

// NewSubinstallationError says it of an error.
func NewSubinstallationError(cause error) *SubinstallationError { return &SubinstallationError{cause} }

// Unwrap returns what is wrong with them.
func (e *SubinstallationError) Unwrap() error { return e.error }

// Graph says which subinstallation needs what of which other one.
func (c *Children) Graph() *siblinggraph.Graph {
	templates := make([]*v1alpha1.InstallationTemplate, len(c.Subinstallations))
	for i, sub := range c.Subinstallations {
		templates[i] = sub.Template
	}
	return siblinggraph.NewGraph(templateScope, siblinggraph.TemplateUnits(templates))
}

// templateScope stands for the scope of the Installation: the names of templates
// mean something only among themselves.
const templateScope = "parent"

// inOrder returns the subinstallations in the order of their data. There are no cycles: they have
// been checked.
func (c *Children) inOrder() []Subinstallation {
	byName := make(map[string]Subinstallation, len(c.Subinstallations))
	for _, sub := range c.Subinstallations {
		byName[sub.Name] = sub
	}
	order, _ := c.Graph().Order()
	subs := make([]Subinstallation, len(order))
	for i, name := range order {
		subs[i] = byName[name]
	}
	return subs
}

// StatesOf returns the states of one kind of executors by their names.
func (c *Children) StatesOf(prefix string) map[string][]byte {
	states := map[string][]byte{}
	for _, state := range c.States {
		if state.Key.Prefix == prefix {
			states[state.Key.Executor] = state.Content
		}
	}
	return states
}

// Copies are the imports as objects in the scope of the Installation, where its
// children and tools find them.
func (p *Plan) Copies() (dataflow.Exports, error) {
	copies, err := dataflow.DataCopies(p.in.Installation, p.Imports)
	if err != nil {
		return dataflow.Exports{}, err // names the import
	}
	copies.Targets, err = dataflow.TargetCopies(p.in.Installation, p.Imports)
	if err != nil {
		return dataflow.Exports{}, err // names the import
	}
	return copies, p.in.Tree.add(copies).check()
}
