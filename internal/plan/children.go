package plan

import (
	"context"
	"maps"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
)

// Children are what an Installation brings up.
type Children struct {
	Subinstallations []Subinstallation
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
	subs, err := p.subinstallations(ctx, states)
	if err != nil {
		return nil, err
	}
	items, err := p.deployItems(ctx, states)
	if err != nil {
		return nil, err
	}
	return &Children{Subinstallations: subs, DeployItems: items, States: states.list}, nil
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
	data, err := dataflow.DataCopies(p.in.Installation, p.Imports)
	if err != nil {
		return dataflow.Exports{}, err //nolint:wrapcheck // names the import
	}
	targets, err := dataflow.TargetCopies(p.in.Installation, p.Imports)
	return dataflow.Exports{DataObjects: data, Targets: targets}, err //nolint:wrapcheck // names the import
}

// Installation is the Installation that the plan is for.
func (p *Plan) Installation() *v1alpha1.Installation { return p.in.Installation }

// Bindings returns what all templates see.
func (p *Plan) Bindings() map[string]any { return maps.Clone(p.bindings) }
