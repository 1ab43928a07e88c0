package shootflux

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/landscape"
)

// many is how many shoots TestManyShoots has on one seed.
var many = flag.Int("shoots", 40, "shoots of TestManyShoots")

// budgets are the most requests that a shoot may cost: until its Extension has succeeded,
// and when its configuration changes. A conflict repeats some of them.
const (
	budgetCreate = 25
	budgetChange = 16
)

// TestManyShoots counts what shoots cost: nothing while nothing happens, a bounded number of
// requests when they come or when their configuration changes, and nothing for a restart. The
// shoots sleep, so that only the extension works for them.
func TestManyShoots(t *testing.T) {
	shoots := sleepers(t, *many)
	configure(t, shoots[0], map[string]string{})
	server := extension(t, "--disable-controllers", "heartbeat", "--resync-period", "8760h")
	caller := landscape.Caller{Cluster: world.Seed, User: onSeed.Name}

	created := count(t, caller, func() {
		each(t, shoots, func(shoot *gardener.Shoot) error { return shoot.Enable(limited(t), nil) })
		each(t, shoots, func(shoot *gardener.Shoot) error { return judged(t, shoot) })
	})
	within(t, "create", created, shoots, budgetCreate)

	// A restart, and work for another shoot, cost the others nothing. What was still to be
	// done in memory ends with the first restart.
	again := func() {
		must(t, server.Restart(limited(t)))
		must(t, shoots[0].Ask(limited(t), "reconcile"))
		ready(t, shoots[0])
	}
	again()
	others := shoots[1:]
	idle := count(t, caller, again)
	within(t, "idle", idle, others, 0)

	changed := count(t, caller, func() {
		configure(t, shoots[0], map[string]string{"fluxComponents": "source-controller,kustomize-controller"})
		each(t, shoots, func(shoot *gardener.Shoot) error {
			object := managedResource(shoot, "install")
			return gardener.Wait(limited(t), world.OnSeed, object, func(seen *unstructured.Unstructured) (bool, error) { return seen.GetGeneration() > 1, nil })
		})
	})
	within(t, "change", changed, shoots, budgetChange)
}

// judged waits until a shoot is ready and its health is reported, which is the last change: no
// resource manager runs.
func judged(t *testing.T, shoot *gardener.Shoot) error {
	if _, err := shoot.Ready(limited(t)); err != nil {
		return err
	}
	return gardener.Wait(limited(t), world.OnSeed, shoot.Extension(), func(seen *unstructured.Unstructured) (bool, error) {
		return hasCondition(seen, "SystemComponentsHealthy", "Progressing", "Pending")
	})
}

// count returns the requests of a user in all namespaces while something is done.
func count(t *testing.T, caller landscape.Caller, do func()) map[string]int {
	t.Helper()
	counting, err := landscape.StartCount(limited(t), caller)
	must(t, err)
	do()
	requests, err := counting.Requests(limited(t))
	must(t, err)
	sums, kinds := map[string]int{}, map[string]int{}
	for _, request := range requests {
		namespace := request.Namespace
		if strings.HasPrefix(request.Resource, "clusters") {
			namespace = request.Name
		}
		sums[namespace]++
		kinds[request.Verb+" "+request.Resource]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%6d %s", kinds[kind], kind)
	}
	return sums
}

func within(t *testing.T, phase string, sums map[string]int, shoots []*gardener.Shoot, most int) {
	t.Helper()
	total, worst := 0, 0
	for _, shoot := range shoots {
		total += sums[shoot.Namespace()]
		worst = max(worst, sums[shoot.Namespace()])
	}
	t.Logf("%s: %.1f requests for each of %d shoots, %d at most", phase, float64(total)/float64(len(shoots)), len(shoots), worst)
	if worst > most {
		t.Errorf("%s: a shoot cost %d requests, at most %d are allowed", phase, worst, most)
	}
}

// sleepers makes shoots of one project that hibernate.
func sleepers(t *testing.T, number int) []*gardener.Shoot {
	t.Helper()
	shoots, project := make([]*gardener.Shoot, number), unique("many")
	var group sync.WaitGroup
	for i := range shoots {
		group.Go(func() {
			shoot, err := world.AddShoot(limited(t), project, fmt.Sprint("s", i))
			if err != nil {
				t.Error(err)
				return
			}
			shoots[i] = shoot
			if err := shoot.Unmanage(); err != nil {
				t.Error(err)
			}
			shoot.Object.Object["spec"].(map[string]any)["hibernation"] = map[string]any{"enabled": true}
			if err := shoot.Tell(limited(t)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return shoots
}

// each does something for all shoots, some at the same time.
func each(t *testing.T, shoots []*gardener.Shoot, do func(*gardener.Shoot) error) {
	t.Helper()
	slots := make(chan struct{}, 16)
	var group sync.WaitGroup
	for _, shoot := range shoots {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := do(shoot); err != nil {
				t.Errorf("%s: %v", shoot.Name, err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
