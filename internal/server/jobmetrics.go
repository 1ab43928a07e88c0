package server

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	clientmetrics "k8s.io/client-go/tools/metrics"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/telemetry/metrics"
)

// addTally registers the metrics of docs/operate.md, and exports jobs as traces if that is
// configured.
func addTally(ctx context.Context, to manager.Manager, config Config, dispatcher *dispatch.Dispatcher) error {
	jobs := metrics.NewJobs(config.tallied(), time.Now)
	dispatcher.OnDispatch = jobs.Dispatched
	if config.TraceEndpoint != "" && config.AddTraces != nil {
		if err := config.AddTraces(ctx, to, config.TraceEndpoint, jobs); err != nil {
			return err // says what it did
		}
	}
	if err := register(jobs, traffic.Requests, job.Panics); err != nil {
		return err
	}
	follow := manager.RunnableFunc(func(ctx context.Context) error { return jobs.Follow(ctx, to.GetCache()) })
	if err := to.Add(follow); err != nil {
		return fmt.Errorf("count jobs: %w", err)
	}
	return nil
}

func register(collectors ...prometheus.Collector) error {
	for _, collector := range collectors {
		if err := ctrlmetrics.Registry.Register(collector); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// tallied are the kinds whose jobs this process counts: only one process counts a kind, even with
// deployers in processes of their own.
//
// Items belong to the process with the Executions, whose watch has all of them; a deployer watches
// those of its type only.
func (c *Config) tallied() []string {
	var kinds []string
	if c.runs(Installations) {
		kinds = append(kinds, "Installation")
	}
	if c.runs(Executions) {
		kinds = append(kinds, "Execution", "DeployItem")
	}
	return kinds
}

// hosts replaces addresses by fixed words: users choose the addresses of target clusters, without
// limit.
type hosts struct {
	own  string
	next clientmetrics.ResultMetric
}

// Increment implements clientmetrics.ResultMetric.
func (h hosts) Increment(ctx context.Context, code, method, host string) {
	name := "resource"
	if host != h.own {
		name = "target"
		if _, err := strconv.Atoi(code); err == nil {
			// A server may answer with any status code.
			code = code[:1] + "xx"
		}
	}
	h.next.Increment(ctx, code, method, name)
}

// nameHosts keeps addresses out of the library's count of requests. It must be called before the
// first request.
func nameHosts(config *rest.Config) error {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return fmt.Errorf("read the address of the resource cluster: %w", err)
	}
	clientmetrics.RequestResult = hosts{own: base.Host, next: clientmetrics.RequestResult}
	return nil
}

// countPlans adds metrics for the plans in the work pool, whose queue is not a controller's.
func countPlans(load func() (running, waiting int)) []prometheus.Collector {
	gauge := func(state string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "landscaper_plans", ConstLabels: prometheus.Labels{"state": state},
			Help: "Installations whose components are read and whose blueprints are rendered.",
		}, func() float64 { return float64(value()) })
	}
	return []prometheus.Collector{
		gauge("running", func() int { running, _ := load(); return running }),
		gauge("waiting", func() int { _, waiting := load(); return waiting }),
	}
}
