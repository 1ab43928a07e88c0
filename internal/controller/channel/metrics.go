package channel

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

// Results of polls.
const (
	resultChanged   = "changed"
	resultUnchanged = "unchanged"
	resultShared    = "shared"
	resultFailed    = "failed"
)

// polled counts polls. Neither a registry nor a component is a label: users choose both.
var polled = newPolled()

func newPolled() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "landscaper_channel_polls_total", Help: "Polls of Channels.",
	}, []string{"result"})
	// A result that never happened is 0, not absent: an alert needs an earlier value.
	for _, result := range []string{resultChanged, resultUnchanged, resultShared, resultFailed} {
		counts.WithLabelValues(result)
	}
	return counts
}

// count records the result of a poll.
func (o *outcome) count() {
	result := resultUnchanged
	switch {
	case o.err != nil:
		result = resultFailed
	case o.changed:
		result = resultChanged
	case !o.asked:
		result = resultShared
	}
	polled.WithLabelValues(result).Inc()
}

var channels = prometheus.NewDesc("landscaper_channels", "Channels, by whether they are ready.", []string{"ready"}, nil)

// Metrics are those of this package.
func (r *Reconciler) Metrics() []prometheus.Collector {
	return []prometheus.Collector{polled, gauge{r.Client}}
}

// gauge counts Channels.
type gauge struct{ cache client.Reader }

// Describe implements prometheus.Collector.
func (gauge) Describe(out chan<- *prometheus.Desc) { out <- channels }

// Collect implements prometheus.Collector.
func (g gauge) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all := &fleetv1alpha1.ChannelList{}
	if err := g.cache.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		// The cache is not filled yet.
		return
	}
	ready := 0
	for i := range all.Items {
		if meta.IsStatusConditionTrue(all.Items[i].Status.Conditions, fleetv1alpha1.ReadyCondition) {
			ready++
		}
	}
	for label, count := range map[string]int{"true": ready, "false": len(all.Items) - ready} {
		out <- prometheus.MustNewConstMetric(channels, prometheus.GaugeValue, float64(count), label)
	}
}
