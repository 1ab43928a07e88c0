package rollout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	api "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/schedule"
	"go.landscaper.dev/internal/deploy/several"
)

// Options are the rules of a process for all items of a deployer.
type Options struct {
	// Readiness is the mode of the default readiness check of items that name none.
	Readiness api.ReadinessMode
	// Protected are namespaces that no deletion group may empty.
	Protected []string
}

// Settings are what the configurations of all deployers have in common that bring
// objects onto a cluster, in fields of the same names.
type Settings struct {
	UpdateStrategy                             api.UpdateStrategy
	ReadinessChecks                            api.ReadinessCheckConfiguration
	Exports                                    *api.Exports
	ContinuousReconcile                        *api.ContinuousReconcileSpec
	DeletionGroups, DeletionGroupsDuringUpdate []api.DeletionGroupDefinition
}

var strategies = []api.UpdateStrategy{"", api.UpdateStrategyUpdate, api.UpdateStrategyPatch, api.UpdateStrategyMerge, api.UpdateStrategyMergeOverwrite, api.UpdateStrategyApply}

// DesiredState returns what settings ask for; the objects come from the deployer. The error reports
// everything that is wrong, field by field and without values.
//
// It is called with each job and with each preview, and compiles everything, so that a
// configuration that is wrong ends the job before anything is written.
func (s Settings) DesiredState(options Options) (DesiredState, error) {
	var problems several.Errors
	check := func(prefix string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s%w", prefix, err))
		}
	}
	w := DesiredState{Strategy: s.UpdateStrategy, Readiness: cmp.Or(s.ReadinessChecks.Mode, options.Readiness), SkipReadiness: s.ReadinessChecks.DisableDefault}
	if !slices.Contains(strategies, s.UpdateStrategy) {
		check("", errors.New("updateStrategy has a value that does not exist: use apply, update, patch, merge or mergeOverwrite"))
	}
	_, err := schedule.Compile(s.ContinuousReconcile)
	check("", err)
	if !s.ReadinessChecks.Mode.Known() {
		check("readinessChecks.mode", errors.New(" does not exist: use legacy or kstatus"))
	}
	w.Checks, err = readiness.Compile(s.ReadinessChecks.CustomReadinessChecks)
	check("readinessChecks.", err)
	w.Exports, err = export.Compile(s.Exports)
	check("", err)
	if s.Exports != nil && w.Exports == nil {
		// No value is a value, too: an importer gets an empty map.
		w.Exports = []export.Value{}
	}
	_, err = s.Groups(options)
	check("", err)
	w.OrphanGroups, err = deletion.Compile(s.DeletionGroupsDuringUpdate, options.Protected)
	check("deletionGroupsDuringUpdate", err)
	return w, problems.OrNil()
}

// Groups returns the steps in which an item with these settings is removed.
func (s Settings) Groups(options Options) ([]deletion.Group, error) {
	groups, err := deletion.Compile(s.DeletionGroups, options.Protected)
	if err != nil {
		return nil, fmt.Errorf("deletionGroups%w", err)
	}
	return groups, nil
}
