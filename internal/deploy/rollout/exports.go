package rollout

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/fieldpath"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// exports are the exported values of a roll-out.
type exports struct {
	// readings are those under way, one for each value.
	readings     []*export.Reading
	limits       []*limit.Limit
	read, stored bool
}

func (e *exports) close() {
	for i, reading := range e.readings {
		reading.Close()
		e.limits[i].End()
	}
	e.readings, e.limits = nil, nil
}

// clusterOf returns the cluster of another Target, or that of the item.
func (r *Rollout) clusterOf(ctx context.Context, targetName string) (target.Cluster, error) {
	if targetName == "" {
		return r.cluster, nil
	}
	return r.job.Cluster(ctx, targetName)
}

// readExports waits until all values are there. All are looked for at the same
// time; the first one that is missing names the checkpoint.
func (r *Rollout) readExports(ctx context.Context) ([]string, error) {
	if r.exports.readings == nil {
		if err := r.beginExports(ctx); err != nil {
			return nil, err
		}
	}
	missing, failure := r.lookAtExports(ctx)
	if err := r.lateExport(missing); err != nil {
		return nil, err
	}
	if again, err := r.applyAgain(ctx, missesOneOf(r.exports.readings)); err != nil || again {
		return nil, err
	}
	if failure != nil || len(missing) == 0 {
		r.exports.read = failure == nil
		return nil, failure
	}
	var waiting []string
	for i, reading := range r.exports.readings {
		if missing[i] == "" {
			continue
		}
		if err := r.job.Checkpoint(ctx, exportCheckpoint(reading.Value())); err != nil {
			return nil, err
		}
		waiting = append(waiting, fmt.Sprintf("%s, to export %s", r.missingExport(reading, missing[i]), reading.Value().Name))
	}
	return waiting, nil
}

// lookAtExports looks for all values, and returns for each what is missing; nil if all are
// there.
//
// The first error ends it: what could not be looked at is looked at by the next attempt.
func (r *Rollout) lookAtExports(ctx context.Context) (missing []string, err error) {
	all, size, places := true, int64(0), 0
	missing = make([]string, len(r.exports.readings))
	for i, reading := range r.exports.readings {
		found, err := reading.Look(ctx)
		if err != nil {
			return missing, fmt.Errorf("export %s: %w", reading.Value().Name, err)
		}
		if places += reading.Places(); places > fieldpath.MaxPlaces {
			return missing, fieldpath.TooManyPlaces("export " + reading.Value().Name)
		}
		if size += reading.Size(); size > export.MaxValues {
			return missing, export.TooLarge("the values up to key " + reading.Value().Name)
		}
		if missing[i] = found; found == "" {
			r.exports.limits[i].End()
			continue
		}
		all = false
	}
	if all {
		return nil, nil
	}
	return missing, nil
}

// lateExport is the error about the first value that is missing and whose time is over.
func (r *Rollout) lateExport(missing []string) error {
	for i := range missing {
		if missing[i] != "" && (r.job.Expired() || r.exports.limits[i].Reached()) {
			reading := r.exports.readings[i]
			return notExportedInTime(reading.Value(), r.missingExport(reading, missing[i]))
		}
	}
	return nil
}

func (r *Rollout) beginExports(ctx context.Context) error {
	if len(r.desired.Exports) == 0 {
		return nil
	}
	if err := r.job.Checkpoint(ctx, r.desired.Name+": before reading export values"); err != nil {
		return err
	}
	readings, limits := make([]*export.Reading, 0, len(r.desired.Exports)), make([]*limit.Limit, 0, len(r.desired.Exports))
	for _, value := range r.desired.Exports {
		cluster, err := r.clusterOf(ctx, value.TargetName)
		if err != nil {
			return err
		}
		readings = append(readings, value.Begin(cluster, r.job.Requeue))
	}
	for _, value := range r.desired.Exports {
		limits = append(limits, limit.New(value.Timeout, r.job.Requeue))
	}
	r.exports.readings, r.exports.limits = readings, limits
	return nil
}

// storeExports stores the values. A configuration without exports removes those of an earlier one.
//
// It runs when all values exist: importers never see a value of this job beside one of the last
// job.
func (r *Rollout) storeExports(ctx context.Context) error {
	var values map[string]any
	if r.desired.Exports != nil {
		values = export.Copy(r.desired.Given)
		for _, reading := range r.exports.readings {
			reading.Value().Put(values, reading.Result())
		}
	}
	if err := r.job.Export(ctx, values); err != nil {
		return err
	}
	r.exports.stored = true
	return nil
}

func exportCheckpoint(value export.Value) string {
	return "deployer: during export - key: " + value.Name
}

// notExportedInTime says which value was not there when the time was over.
func notExportedInTime(value export.Value, missing string) error {
	err := job.NewError(published.Export, reasons.ProgressingTimeout, fmt.Sprintf("timeout at: %q: it waited for %s", exportCheckpoint(value), missing), v1alpha1.ErrorTimeout)
	return job.Wrap(err, published.ReconcileManifests, reasons.ReadExportValues, "")
}
