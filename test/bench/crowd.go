package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
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

// foreign says that a request is not for the crowd, but for another namespace or for the
// Context that each namespace gets.
func (c *crowd) foreign(r landscape.Request) bool {
	return r.Namespace != c.space || strings.HasPrefix(r.Resource, "contexts")
}

// phase is what it costs that something happens to all Installations of a crowd.
type phase struct {
	size int
	took time.Duration
	// half is when it had happened to half of them.
	half time.Duration
	cpu  time.Duration
	// requests are those of our users to both clusters, and work is that of the API server
	// of the resource cluster.
	requests []landscape.Request
	work     landscape.Work
}

// perSecond is how many there were in a second.
func (p phase) perSecond() float64 { return float64(p.size) / p.took.Seconds() }

// each divides among all.
func (p phase) each(all float64) float64 { return all / float64(p.size) }

// happened reports whether an event is the one that an Installation is waited for.
type happened func(watch.EventType, *v1alpha1.Installation) (bool, error)

// measure lets something begin for each Installation, by its number, and waits until it
// has happened to all.
func (c *crowd) measure(ctx context.Context, begin func(ctx context.Context, i int) error, happened happened) (phase, error) {
	ctx, cancel := context.WithTimeout(ctx, crowdLimit)
	defer cancel()
	counted, err := c.count(ctx)
	if err != nil {
		return phase{}, err
	}
	before, err := c.spentSoFar(ctx)
	if err != nil {
		return phase{}, err
	}
	events, err := c.watch(ctx)
	if err != nil {
		return phase{}, err
	}
	defer events.Stop()
	began := time.Now()
	begun := make(chan error, 1)
	go func() {
		begun <- inParallel(c.size, creators, func(i int) error { return begin(ctx, i) })
	}()
	at, err := c.follow(events, began, happened)
	if err != nil {
		return phase{}, err
	}
	if err := <-begun; err != nil {
		return phase{}, err
	}
	after, err := c.spentSoFar(ctx)
	if err != nil {
		return phase{}, err
	}
	requests, err := counted.Requests(ctx)
	return phase{
		size: c.size, took: at[c.size-1], half: at[(c.size-1)/2],
		cpu: after.cpu - before.cpu, work: after.work.Minus(before.work), requests: requests,
	}, err
}

// spentSoFar is what the server and the API server have done so far.
func (c *crowd) spentSoFar(ctx context.Context) (phase, error) {
	cpu, err := c.server.CPU()
	if err != nil {
		return phase{}, err
	}
	work, err := landscape.APIServer(ctx, c.resource().Kubeconfig)
	return phase{cpu: cpu, work: work}, err
}

// watch watches all from now on. It resumes where it was when the API server ends it, which it does
// if we are too slow for it.
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

// silence is the time without any event after which the missing events are reported.
const silence = time.Minute

// follow returns when it had happened to each, in order.
func (c *crowd) follow(events watch.Interface, began time.Time, happened happened) ([]time.Duration, error) {
	at := map[string]time.Duration{}
	for len(at) < c.size {
		var event watch.Event
		var open bool
		select {
		case event, open = <-events.ResultChan():
		case <-time.After(silence):
			if err := c.tell(at); err != nil {
				return nil, err
			}
			continue
		}
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

// tell writes what is not there yet, as an API server shows it: a watch that shows nothing
// may be what is wrong.
func (c *crowd) tell(at map[string]time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	fmt.Fprintf(os.Stderr, "bench: nothing has happened for %s, to %d of %d Installations it has; see %s\n", silence, len(at), c.size, c.lab.Directory)
	installations, executions, items := &v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}
	for _, list := range []client.ObjectList{installations, executions, items} {
		if err := c.admin.List(ctx, list, client.InNamespace(c.space)); err != nil {
			return err
		}
	}
	line := func(kind string, object client.Object, phase any, jobID, finished string, last *v1alpha1.Error) {
		if last == nil {
			last = &v1alpha1.Error{}
		}
		fmt.Fprintf(os.Stderr, "  %s %s version %s: %v, job %s, finished %s, %s\n", kind, object.GetName(), object.GetResourceVersion(), phase, jobID, finished, last.Message)
	}
	for i := range installations.Items {
		if inst := &installations.Items[i]; at[inst.Name] == 0 {
			line("Installation", inst, inst.Status.InstallationPhase, inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.LastError)
		}
	}
	for i := range executions.Items {
		if exec := &executions.Items[i]; at[exec.Name] == 0 {
			line("Execution", exec, exec.Status.ExecutionPhase, exec.Status.JobID, exec.Status.JobIDFinished, exec.Status.LastError)
		}
	}
	for i := range items.Items {
		if item := &items.Items[i]; !item.Status.Phase.IsFinal() || job.Unfinished(item.Status.JobID, item.Status.JobIDFinished) {
			line("DeployItem", item, item.Status.Phase, item.Status.JobID, item.Status.JobIDFinished, item.Status.LastError)
		}
	}
	return nil
}

// crowdLabel is on all that belong to a crowd.
const crowdLabel = "bench.example.org/crowd"

func (c *crowd) installation(i int) *v1alpha1.Installation {
	inst := c.make(c.space, fmt.Sprintf("unit-%04d", i))
	inst.Labels = map[string]string{crowdLabel: "yes"}
	return inst
}

// come creates all.
func (c *crowd) come(ctx context.Context, happened happened) (phase, error) {
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Create(ctx, c.installation(i)) }, happened)
}

// again asks all for another job.
func (c *crowd) again(ctx context.Context, happened happened) (phase, error) {
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"reconcile"}}}`, v1alpha1.OperationAnnotation))
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Patch(ctx, c.installation(i), patch) }, happened)
}

// leave deletes all Installations.
func (c *crowd) leave(ctx context.Context) (phase, error) {
	gone := func(event watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		if inst.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed {
			return false, fmt.Errorf("installation %s: %+v", inst.Name, inst.Status.LastError)
		}
		return event == watch.Deleted, nil
	}
	return c.measure(ctx, func(ctx context.Context, i int) error { return c.admin.Delete(ctx, c.installation(i)) }, gone)
}

// ended waits for the next job of each to end in a phase.
func (c *crowd) ended(wanted v1alpha1.InstallationPhase) happened {
	return func(_ watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		id := inst.Status.JobID
		if id == "" || inst.Status.JobIDFinished != id || id == c.last[inst.Name] {
			return false, nil
		}
		if inst.Status.InstallationPhase != wanted {
			return false, fmt.Errorf("installation %s is %s: %+v", inst.Name, inst.Status.InstallationPhase, inst.Status.LastError)
		}
		c.last[inst.Name] = id
		return true, nil
	}
}

// succeeded waits for the next job of each to succeed.
func (c *crowd) succeeded() happened { return c.ended(v1alpha1.InstallationPhases.Succeeded) }
