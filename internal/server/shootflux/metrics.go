package shootflux

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// newDurations measures how long shoots take to come up.
func newDurations() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "shoot_flux_bootstrap_duration_seconds", Help: "Time from the creation of an Extension until its shoot came up with Flux.",
		Buckets: []float64{15, 30, 60, 120, 300, 600, 1200, 3600},
	})
}

// clusters counts the shoots with an Extension.
type clusters struct {
	client      client.Reader
	description *prometheus.Desc
}

func newClusters(from client.Reader) *clusters {
	return &clusters{from, prometheus.NewDesc("shoot_flux_clusters", "Shoots with Flux, by what was configured.", []string{"mode", "version", "origin"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *clusters) Describe(to chan<- *prometheus.Desc) { to <- c.description }

// Collect implements prometheus.Collector. It reads from the cache only.
func (c *clusters) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all := &gardener.ExtensionList{}
	if err := c.client.List(ctx, all); err != nil {
		return // the cache is not filled yet
	}
	counts := map[state.Status]float64{}
	for i := range all.Items {
		e := &all.Items[i]
		if e.Spec.Type == lifecycle.Type && e.Status.ProviderStatus != nil {
			s := state.ReadStatus(e)
			counts[state.Status{SyncMode: s.SyncMode, Version: s.Version, Origin: s.Origin}]++
		}
	}
	for s, count := range counts {
		to <- prometheus.MustNewConstMetric(c.description, prometheus.GaugeValue, count, s.SyncMode, s.Version, s.Origin)
	}
}
