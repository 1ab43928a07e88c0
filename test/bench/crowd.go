package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// crowdLimit bounds what a crowd may take for one thing.
const crowdLimit = 15 * time.Minute

// crowd are Installations of one namespace that are measured together.
type crowd struct {
	*bench
	space string
	size  int
	// make returns one of them.
	make func(space, name string) *v1alpha1.Installation
	// last are the jobs that have ended last.
	last map[string]string
}

// newCrowd returns Installations that are not there yet.
func (b *bench) newCrowd(ctx context.Context, size int, make func(space, name string) *v1alpha1.Installation) (*crowd, error) {
	space, err := b.namespace(ctx)
	return &crowd{bench: b, space: space, size: size, make: make, last: map[string]string{}}, err
}

// Phase is what it costs that something happens to all Installations of a crowd.
type Phase struct {
	Seconds      float64 `json:"seconds"`
	PerSecond    float64 `json:"perSecond"`
	CPUMillis    float64 `json:"cpuMsPerInstallation"`
	RequestsEach float64 `json:"requestsPerInstallation"`
	// Requests are all of them by cluster, verb and kind.
	Requests map[string]int `json:"requests"`
	// EventsEach and BytesEach are what one watch of all our kinds gets for each.
	EventsEach  float64 `json:"watchEventsPerInstallation"`
	BytesEach   float64 `json:"watchBytesPerInstallation"`
	FirstHalfAt float64 `json:"firstHalfFinishedAtShare"`
}

// happened tells of an event whether it is what an Installation is waited for.
type happened func(watch.EventType, *v1alpha1.Installation) (bool, error)

// measure lets something begin for each Installation, by its number, and waits until it
// has happened to all.
func (c *crowd) measure(ctx context.Context, begin func(ctx context.Context, i int) error, happened happened) (Phase, error) {
	ctx, cancel := context.WithTimeout(ctx, crowdLimit)
	defer cancel()
	counted, err := c.count(ctx)
	if err != nil {
		return Phase{}, err
	}
	traffic, err := landscape.StartTraffic(ctx, c.lab.Clusters["resource"].Kubeconfig, c.space)
	if err != nil {
		return Phase{}, err
	}
	defer traffic.Stop()
	cpuBefore, err := c.server.CPU()
	if err != nil {
		return Phase{}, err
	}
	events, err := c.watch(ctx)
	if err != nil {
		return Phase{}, err
	}
	defer events.Stop()
	began := time.Now()
	begun := make(chan error, 1)
	go func() {
		begun <- inParallel(c.size, creators, func(i int) error { return begin(ctx, i) })
	}()
	at, err := c.follow(events, began, happened)
	if err != nil {
		return Phase{}, err
	}
	if err := <-begun; err != nil {
		return Phase{}, err
	}
	cpu, err := c.server.CPU()
	if err != nil {
		return Phase{}, err
	}
	counts, err := c.requests(ctx, counted)
	if err != nil {
		return Phase{}, err
	}
	size, last := float64(c.size), at[c.size-1]
	sent, bytes := traffic.Stop()
	return Phase{
		EventsEach: float64(sent) / size, BytesEach: float64(bytes) / size,
		Seconds: last.Seconds(), PerSecond: size / last.Seconds(), CPUMillis: float64((cpu - cpuBefore).Microseconds()) / 1000 / size,
		RequestsEach: float64(total(counts)) / size, Requests: counts, FirstHalfAt: at[(c.size-1)/2].Seconds() / last.Seconds(),
	}, nil
}

// watch watches all from now on. It goes on where it was when the API server ends it,
// which it does if we are too slow for it.
func (c *crowd) watch(ctx context.Context) (watch.Interface, error) {
	now := &v1alpha1.InstallationList{}
	if err := c.admin.List(ctx, now, client.InNamespace(c.space)); err != nil {
		return nil, err
	}
	open := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return c.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(c.space), &client.ListOptions{Raw: &options})
	}
	return toolswatch.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &toolscache.ListWatch{WatchFuncWithContext: open})
}

// follow returns when it had happened to each, in order.
func (c *crowd) follow(events watch.Interface, began time.Time, happened happened) ([]time.Duration, error) {
	at := map[string]time.Duration{}
	for len(at) < c.size {
		event, open := <-events.ResultChan()
		if !open {
			return nil, fmt.Errorf("the watch ended after %d of %d Installations", len(at), c.size)
		}
		inst, ok := event.Object.(*v1alpha1.Installation)
		if !ok || inst.Labels[crowdLabel] == "" {
			continue
		}
		done, err := happened(event.Type, inst)
		if err != nil {
			return nil, err
		}
		if _, known := at[inst.Name]; done && !known {
			at[inst.Name] = time.Since(began)
		}
	}
	return slices.Sorted(maps.Values(at)), nil
}

// crowdLabel is on all that belong to a crowd.
const crowdLabel = "bench.example.org/crowd"

func (c *crowd) installation(i int) *v1alpha1.Installation {
	inst := c.make(c.space, fmt.Sprintf("unit-%04d", i))
	inst.Labels = map[string]string{crowdLabel: "yes"}
	return inst
}

// come creates all.
func (c *crowd) come(ctx context.Context, happened happened) (Phase, error) {
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Create(ctx, c.installation(i)) }, happened)
}

// again asks all for another job.
func (c *crowd) again(ctx context.Context, happened happened) (Phase, error) {
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"reconcile"}}}`, v1alpha1.OperationAnnotation))
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Patch(ctx, c.installation(i), patch) }, happened)
}

// leave deletes all.
func (c *crowd) leave(ctx context.Context) (Phase, error) {
	gone := func(event watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		if inst.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed {
			return false, fmt.Errorf("installation %s: %+v", inst.Name, inst.Status.LastError)
		}
		return event == watch.Deleted, nil
	}
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Delete(ctx, c.installation(i)) }, gone)
}

// ended waits for the next job of each to end in a phase.
func (c *crowd) ended(phase v1alpha1.InstallationPhase) happened {
	return func(_ watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		id := inst.Status.JobID
		if id == "" || inst.Status.JobIDFinished != id || id == c.last[inst.Name] {
			return false, nil
		}
		if inst.Status.InstallationPhase != phase {
			return false, fmt.Errorf("installation %s is %s: %+v", inst.Name, inst.Status.InstallationPhase, inst.Status.LastError)
		}
		c.last[inst.Name] = id
		return true, nil
	}
}

// succeeded waits for the next job of each to succeed.
func (c *crowd) succeeded() happened { return c.ended(v1alpha1.InstallationPhases.Succeeded) }
