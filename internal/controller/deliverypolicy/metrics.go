package deliverypolicy

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

var deferred = prometheus.NewDesc("landscaper_installations_deferred", "Installations with a job that a DeliveryPolicy does not let begin yet, by the reason.", []string{"reason"}, nil)

// Metrics returns the metrics of deferred jobs.
func (r *Reconciler) Metrics() []prometheus.Collector { return []prometheus.Collector{gauge{r.Client}} }

// gauge counts what the cache of Installations shows.
type gauge struct{ cache client.Reader }

// Describe implements prometheus.Collector.
func (gauge) Describe(out chan<- *prometheus.Desc) { out <- deferred }

// Collect implements prometheus.Collector. A reason that no Installation has is 0, not absent.
func (g gauge) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all := &v1alpha1.InstallationList{}
	if err := g.cache.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		// The cache is not filled yet.
		return
	}
	counts := map[reasons.Reason]int{}
	for i := range all.Items {
		counts[reasons.DeferralOf(delivery.Deferral(all.Items[i].Status.Conditions))]++
	}
	for _, reason := range reasons.Deferrals() {
		out <- prometheus.MustNewConstMetric(deferred, prometheus.GaugeValue, float64(counts[reason]), string(reason))
	}
}
