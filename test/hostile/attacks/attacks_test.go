package attacks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/landscape"
)

const (
	// slowdown is how many times as long as usual an honest Installation may take beside an attack.
	slowdown = 2
	// floor is what half of them may take in any case, and slowest each of them: the clusters, the
	// attackers' servers and the test use the same processors, and a machine may be busy with other things.
	floor, slowest = time.Second, 4 * time.Second
	// honestLimit is where a row gives up.
	honestLimit = time.Minute
	// before is how many honest Installations say what is usual, and beside how many there are for
	// each row at least.
	before, beside = 12, 5
	// window is how long a row looks at least.
	window = 3 * time.Second
	// rowLimit is how long a row looks at most. One work has 30 s.
	rowLimit = 10 * time.Second
)

// row is one attack.
type row struct {
	name, reason string
	// attack begins it in a namespace, with objects of a size. It returns those whose job must end.
	attack func(a *attacker, size int) []*v1alpha1.Installation
	// harmless is a size with which the same succeeds: so the attack fails for its size, and for no
	// mistake in its text. 0: the row has no such size.
	harmless int
	// hostile is the size of the attack, and spaces in how many namespaces it is made (0: 1).
	hostile, spaces int
	// endless is set for an attack that does not end by itself: the row does not wait.
	endless bool
}

// attacker is a tenant who attacks.
type attacker struct {
	*testing.T
	world *hostile.World
	space string
}

// target makes a Target that leads to a hostile server.
func (a *attacker) target(name string, way hostile.Way) string {
	a.Helper()
	env.CreateTarget(a.T, a.space, name, a.server(way).Kubeconfig())
	return name
}

func (a *attacker) server(way hostile.Way) *hostile.Server {
	a.Helper()
	server, err := a.world.Start(way)
	if err != nil {
		a.Fatal(err)
	}
	return server
}

// TestAttacks plays all rows against one server.
func TestAttacks(t *testing.T) {
	world := hostileWorld(t)
	server := startLimited(t, world)
	neighbour := &honest{space: env.Namespace(t)}
	// The first Installations start processes and connections.
	if _, err := neighbour.measure(t, 3, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	times, err := neighbour.measure(t, before, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	neighbour.usual = median(times)
	peak, parts := server.takePeak()
	t.Logf("without an attack: %s, of %v; %d MiB (%s)", neighbour.usual, times, peak>>20, parts)
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) { row.play(t, world, server, neighbour) })
		select {
		case <-server.Ended():
			t.Fatalf("the server has ended:\n%s", server.Tail(30))
		default:
		}
	}
}

// play attacks and compares.
func (r row) play(t *testing.T, world *hostile.World, server *limited, neighbour *honest) {
	if r.harmless > 0 {
		a := &attacker{t, world, env.Namespace(t)}
		for _, inst := range r.attack(a, r.harmless) {
			env.WaitSucceeded(t, inst)
		}
		abandon(t, a.space)
	}
	server.takePeak()
	killed, began := server.killed(), time.Now()
	var all []*v1alpha1.Installation
	var spaces []string
	for range max(r.spaces, 1) {
		a := &attacker{t, world, env.Namespace(t)}
		all = append(all, r.attack(a, r.hostile)...)
		spaces = append(spaces, a.space)
	}
	prepared := time.Since(began)
	ended, over := r.await(t, all)
	times, err := neighbour.measure(t, beside, over)
	l := line{attack: r.name, reason: r.reason, usual: neighbour.usual, ended: ended(), verdict: "ends"}
	var parts string
	for _, took := range times {
		l.slowest = max(l.slowest, took)
	}
	l.peak, parts = server.takePeak()
	fail := func(format string, args ...any) {
		l.verdict = "fails"
		t.Errorf(format, args...)
	}
	if err != nil {
		fail("an honest Installation: %v", err)
	}
	if middle := median(times); middle > max(slowdown*neighbour.usual, floor) || l.slowest > max(slowdown*neighbour.usual, slowest) {
		fail("honest Installations took %s, the slowest %s; usually %s", middle, l.slowest, neighbour.usual)
	}
	if l.peak > memoryLimit {
		fail("the server took %d MiB, it has %d MiB", l.peak>>20, memoryLimit>>20)
	}
	if more := server.killed() - killed; more > 0 {
		t.Logf("the kernel has ended %d processes for foreign work", more)
	}
	t.Logf("%d MiB (%s); made in %.1f s, %.1f s later: %s; honest: %v", l.peak>>20, parts, prepared.Seconds(), time.Since(began).Seconds()-prepared.Seconds(), l.ended, times)
	results.add(l)
	for _, space := range spaces {
		abandon(t, space)
	}
	server.endWorks(t)
}

// await follows the Installations of an attack. Ended says how the first of them has ended, and over
// whether all have, or have had their time.
func (r row) await(t *testing.T, all []*v1alpha1.Installation) (ended func() string, over func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rowLimit)
	t.Cleanup(cancel)
	var left atomic.Int64
	var how atomic.Value
	left.Store(int64(len(all)))
	for _, inst := range all {
		go func() {
			defer left.Add(-1)
			if text := outcome(ctx, inst); text != "" {
				how.CompareAndSwap(nil, text)
			}
		}()
	}
	ended = func() string {
		if text, ok := how.Load().(string); ok {
			return text
		}
		return "not yet"
	}
	until := time.Now().Add(window)
	return ended, func() bool { return (r.endless || left.Load() == 0) && !time.Now().Before(until) }
}

// outcome waits until a job has ended and says how.
func outcome(ctx context.Context, inst *v1alpha1.Installation) string {
	events, err := env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(inst.Namespace), client.MatchingFields{"metadata.name": inst.Name})
	if err != nil {
		return ""
	}
	defer events.Stop()
	last := ""
	for event := range events.ResultChan() {
		current, ok := event.Object.(*v1alpha1.Installation)
		if !ok {
			continue
		}
		if current.Status.LastError != nil {
			last = short(current.Status.LastError.Message)
		}
		if current.Status.JobID == "" || current.Status.JobIDFinished != current.Status.JobID {
			continue
		}
		if current.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded {
			return "it succeeds"
		}
		return last
	}
	return last
}

// short is the end of the first line of a message, where the cause is.
func short(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.ReplaceAll(message, "|", "/")
	if len(message) > 160 {
		message = "…" + message[len(message)-160:]
	}
	return message
}

// abandon removes what a server would work on during the rows that follow.
func abandon(t *testing.T, space string) {
	t.Helper()
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Admin.DeleteAllOf(t.Context(), &v1alpha1.DataObject{}, client.InNamespace(space)); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"Installation", "Execution", "DeployItem"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: list.Items[i].Name}}
			object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
			err := errors.Join(client.IgnoreNotFound(env.Admin.Delete(t.Context(), object)), client.IgnoreNotFound(env.Admin.Patch(t.Context(), object, release)))
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// one makes an Installation of a template, and installs it.
func (a *attacker) one(template string) []*v1alpha1.Installation {
	a.Helper()
	return []*v1alpha1.Installation{env.Create(a.T, landscape.NewInstallation(a.space, "attack", template))}
}

// described is one with the description of a blueprint.
func (a *attacker) described(description string) []*v1alpha1.Installation {
	a.Helper()
	return []*v1alpha1.Installation{env.Create(a.T, landscape.Described(a.space, "attack", description))}
}

// numbered writes so many lines.
func numbered(format string, count int) string {
	var all strings.Builder
	for i := range count {
		all.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
	}
	return all.String()
}
