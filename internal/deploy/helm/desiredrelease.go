package helm

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/rollout"
)

// options are those of an operation.
func (s released) options(action release.Action) deployOptions {
	if action == release.Upgrade {
		return s.config.upgrade
	}
	return s.config.install
}

// desiredRelease renders the release that an operation deploys. The second result is the desired state
// that only reads its objects then.
func (s released) desiredRelease(ctx context.Context, item *deployer.Item, history []*storage.Record, action release.Action, marks storage.Marks) (release.DesiredState, rollout.DesiredState, error) {
	options, revision := s.options(action), 1
	if len(history) > 0 {
		revision = history[len(history)-1].Revision + 1
	}
	fail := func(err error) (release.DesiredState, rollout.DesiredState, error) {
		return release.DesiredState{}, rollout.DesiredState{}, err
	}
	at := moment{revision: revision, upgrade: action == release.Upgrade, skipSchema: options.SkipSchemaValidation}
	rendered, err := s.render(ctx, item, s.work.connection, s.work.chart, at, true)
	if err != nil {
		return fail(err)
	}
	look, err := s.look(rendered, rendered.Manifest, false)
	if err != nil {
		return fail(err)
	}
	definitions := make([]string, 0, len(rendered.Definitions))
	for _, definition := range rendered.Definitions {
		definitions = append(definitions, "# Source: "+definition.Name+"\n"+definition.Text)
	}
	return release.DesiredState{
		Options: release.Options{Atomic: options.Atomic, Wait: options.Wait, Force: options.Force, TakeOwnership: options.TakeOwnership},
		Name:    s.config.Name, Namespace: s.config.Namespace, CreateNamespace: s.config.CreateNamespace,
		Chart: s.work.chart.Chart, Values: s.config.values, Manifest: rendered.Manifest, Hooks: rendered.Hooks, Notes: rendered.Notes,
		Definitions: definitions, Rule: readiness.RuleOf(look.Readiness), Marks: marks,
		Item: item.Name, Ours: oursOf(item.Name),
	}, look, nil
}

// look is the desired state that only reads what a release has deployed.
func (s released) look(rendered *render.Result, manifest string, all bool) (rollout.DesiredState, error) {
	desiredState, err := s.checks(rendered)
	if err != nil {
		return desiredState, err
	}
	entries, err := release.Entries(manifest, s.config.Namespace)
	if err != nil {
		return desiredState, undecodable(err)
	}
	desiredState.OrphanGroups, desiredState.LookOnly, desiredState.Expected = nil, true, definitionsOf(rendered)
	// What the chart says has to be there; all else is the cluster's.
	desiredState.Strategy = apideployer.UpdateStrategyMergeOverwrite
	for _, entry := range entries {
		kind := entry.Object.GroupVersionKind().GroupKind()
		switch {
		case all || desiredState.Readiness == apideployer.ReadinessModeKstatus || readiness.IsWorkload(kind):
			desiredState.Objects = append(desiredState.Objects, entry)
		case len(desiredState.Exports)+len(desiredState.Checks) > 0:
			// Only what is waited for can be missed.
			desiredState.Unchecked = append(desiredState.Unchecked, entry)
		}
	}
	desiredState.Marked = func(object *unstructured.Unstructured) *unstructured.Unstructured {
		return release.Marked(object, s.config.Name, s.config.Namespace)
	}
	desiredState.Name, desiredState.Owner = stageName, rollout.Owner{FieldManager: fieldManager}
	return desiredState, nil
}
