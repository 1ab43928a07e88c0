package targetsync

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// runs counts synchronisations. Neither a source nor a namespace is a label: users choose both.
var runs = newRuns()

func newRuns() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "landscaper_targetsync_runs_total", Help: "Synchronisations of TargetSyncs.",
	}, []string{"result"})
	// A result that never happened is 0, not absent: an alert needs an earlier value.
	for _, result := range []string{resultSucceeded, resultFailed} {
		counts.WithLabelValues(result)
	}
	return counts
}

const (
	resultSucceeded = "succeeded"
	resultFailed    = "failed"
)

// count records the result of a run.
func (o *outcome) count() {
	if o.ok() {
		runs.WithLabelValues(resultSucceeded).Inc()
	} else {
		runs.WithLabelValues(resultFailed).Inc()
	}
}

// stateOfTargets describes the gauge.
var stateOfTargets = prometheus.NewDesc("landscaper_targetsync_targets", "Targets of TargetSyncs.", []string{"state"}, nil)

// Metrics are those of this package.
func (r *Reconciler) Metrics() []prometheus.Collector {
	return []prometheus.Collector{runs, gauge{r.Client}}
}

// gauge sums up the status of all TargetSyncs.
type gauge struct{ cache client.Reader }

// Describe implements prometheus.Collector.
func (gauge) Describe(out chan<- *prometheus.Desc) { out <- stateOfTargets }

// Collect implements prometheus.Collector.
func (g gauge) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all := &v1alpha1.TargetSyncList{}
	if err := g.cache.List(ctx, all); err != nil {
		// The cache is not filled yet.
		return
	}
	var synced, skipped, failed int32
	for i := range all.Items {
		status := &all.Items[i].Status
		synced, skipped, failed = synced+status.SyncedTargets, skipped+status.SkippedTargets, failed+status.FailedTargets
	}
	for state, count := range map[string]int32{"synced": synced, "skipped": skipped, "failed": failed} {
		out <- prometheus.MustNewConstMetric(stateOfTargets, prometheus.GaugeValue, float64(count), state)
	}
}
