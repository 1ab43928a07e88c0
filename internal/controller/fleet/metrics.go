package fleet

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
)

// writes counts what Fleets have done to Installations. No name is a label: users choose them.
var writes = newWrites()

func newWrites() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "landscaper_fleet_writes_total", Help: "Changes of Installations by Fleets, by what they were for.",
	}, []string{"kind"})
	for _, kind := range []fleet.Kind{fleet.Create, fleet.Update, fleet.Adopt, fleet.GoBack, fleet.Depart, fleet.Return, fleet.Release, fleet.Delete} {
		counts.WithLabelValues(string(kind))
	}
	return counts
}

var (
	targets = prometheus.NewDesc("landscaper_fleet_targets", "Targets of Fleets, by how far their Installations are.", []string{"state"}, nil)
	waves   = prometheus.NewDesc("landscaper_fleet_waves", "Waves of Fleets, by how far they are.", []string{"state"}, nil)
)

// Metrics are those of this package.
func (r *Reconciler) Metrics() []prometheus.Collector {
	return []prometheus.Collector{writes, gauge{r.Cache}}
}

// gauge sums up the status of all Fleets.
type gauge struct{ cache client.Reader }

// Describe implements prometheus.Collector.
func (gauge) Describe(out chan<- *prometheus.Desc) { out <- targets; out <- waves }

// Collect implements prometheus.Collector. A state that nothing has is 0, not absent.
func (g gauge) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all := &fleetv1alpha1.FleetList{}
	if err := g.cache.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		// The cache is not filled yet.
		return
	}
	sum := fleetv1alpha1.FleetCounts{}
	states := map[fleetv1alpha1.WaveState]int{
		fleetv1alpha1.WaveWaiting: 0, fleetv1alpha1.WaveRunning: 0, fleetv1alpha1.WaveSoaking: 0, fleetv1alpha1.WaveGated: 0,
		fleetv1alpha1.WaveStopped: 0, fleetv1alpha1.WaveGoingBack: 0, fleetv1alpha1.WaveDone: 0,
	}
	departed := int32(0)
	for i := range all.Items {
		status := &all.Items[i].Status
		counts := &status.Counts
		sum.Targets, sum.Succeeded, sum.Running = sum.Targets+counts.Targets, sum.Succeeded+counts.Succeeded, sum.Running+counts.Running
		sum.Failed, sum.Blocked, departed = sum.Failed+counts.Failed, sum.Blocked+counts.Blocked, departed+status.Departed
		for _, wave := range status.Waves {
			states[wave.State]++
		}
	}
	for state, count := range map[string]int32{
		"succeeded": sum.Succeeded, "running": sum.Running, "failed": sum.Failed, "blocked": sum.Blocked, "departed": departed,
		"waiting": sum.Targets - sum.Succeeded - sum.Running - sum.Failed - sum.Blocked,
	} {
		out <- prometheus.MustNewConstMetric(targets, prometheus.GaugeValue, float64(count), state)
	}
	for state, count := range states {
		out <- prometheus.MustNewConstMetric(waves, prometheus.GaugeValue, float64(count), string(state))
	}
}
