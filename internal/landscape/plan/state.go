package plan

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
)

// StateKey names what one executor of an Installation stores.
type StateKey struct {
	// Prefix distinguishes executors of one name in different lists.
	Prefix   string
	Executor string
}

// Prefixes of the keys. In upstream, subinstallation executors share that of deploy executors.
const (
	DeployPrefix          = "deploy"
	ExportPrefix          = "export"
	SubinstallationPrefix = "subinst"
)

// SecretName is the name of the Secret that holds the state, which is the name that upstream gave
// it.
func (k StateKey) SecretName(installation string) string {
	sum := sha1.Sum([]byte(installation + "/" + k.Prefix + k.Executor))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// stateWord is in every template that uses its state: .state in Go templates,
// &state in spiff.
const stateWord = "state"

// StateSecretKey is the key of the state in its Secret.
const StateSecretKey = "config"

// States gives back what executors have stored; nil where there is nothing.
type States interface {
	Read(ctx context.Context, key StateKey) ([]byte, error)
}

// State is what an executor wants to store.
type State struct {
	Key     StateKey
	Content []byte
}

// newStates collects the states of one rendering.
type newStates struct{ list []State }

// execute renders one template with its state, and decodes the result.
func (p *Plan) execute(ctx context.Context, phase template.Phase, executor *v1alpha1.TemplateExecutor, states *newStates, result any) (*template.Output, error) {
	key, stateful := stateKey(phase, executor.Name)
	in := template.Input{Phase: phase, Executor: executor, Bindings: p.bindings}
	if stateful && p.in.States != nil && p.mentioned[stateWord] {
		stored, err := p.readState(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("read the state of execution %q: %w", executor.Name, err)
		}
		in.State = stored
	}
	output, err := p.engine.Execute(ctx, in)
	if err != nil {
		return nil, err // tells which template
	}
	if content := output.State(); stateful && content != nil {
		states.list = append(states.list, State{Key: key, Content: content})
	}
	return output, output.Decode(result) // tells which template
}

func stateKey(phase template.Phase, name string) (StateKey, bool) {
	switch phase {
	case template.DeployExecution:
		return StateKey{DeployPrefix, name}, true
	case template.SubinstallationExecution:
		return StateKey{SubinstallationPrefix, name}, true
	case template.ExportExecution:
		return StateKey{ExportPrefix, name}, true
	}
	return StateKey{}, false
}

// readState reads a state. The state of a subinstallation executor may be stored as upstream stores
// it, unless a deploy executor has the same name: then it is the state of that one.
func (p *Plan) readState(ctx context.Context, key StateKey) ([]byte, error) {
	stored, err := p.in.States.Read(ctx, key)
	if err != nil || stored != nil || key.Prefix != SubinstallationPrefix {
		return stored, err // the caller says what was read
	}
	taken := slices.ContainsFunc(p.in.Blueprint.Info.DeployExecutions, func(other v1alpha1.TemplateExecutor) bool { return other.Name == key.Executor })
	if taken {
		return nil, nil
	}
	return p.in.States.Read(ctx, StateKey{DeployPrefix, key.Executor}) // the caller says what was read
}
