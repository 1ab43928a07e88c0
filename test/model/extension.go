package model

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

func rawOf(text []byte) *runtime.RawExtension { return &runtime.RawExtension{Raw: text} }

// raw is a text as it is in a trace.
func raw(of *runtime.RawExtension) string {
	if of == nil {
		return ""
	}
	return string(of.Raw)
}

// manifests are those of a Flux with one Deployment.
type manifests struct{}

// Manifests implements lifecycle.Manifests.
func (manifests) Manifests(_ context.Context, o install.Options) ([]*unstructured.Unstructured, error) {
	return []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": o.Namespace, "name": "source-controller"},
		"spec": map[string]any{"version": o.Version},
	}}}, nil
}

// newExtension starts the two controllers of the extension with an empty memory.
func newExtension(w *world) (extension, health reconcile.Reconciler) {
	cached, live := w.connect("extension")
	r := &lifecycle.Reconciler{
		Client: cached, Events: &events{world: w}, Now: time.Now,
		Systems: lifecycle.Systems{GardenIdentity: "garden", Shoots: &access.Shoots{
			Seed: cached, Pool: cluster.NewPool(cluster.PoolOptions{WrapTransport: func(http.RoundTripper) http.RoundTripper { return w.seed }}),
		}},
		Flux:         lifecycle.Flux{Manifests: manifests{}, DefaultVersion: "v2.4.0"},
		Schedule:     lifecycle.Schedule{Resync: 24 * time.Hour, Spread: time.Second, Random: func() float64 { return 1 }},
		Bootstrapped: func(time.Duration) {},
	}
	skip := true
	m := &capturing{client: cached, live: live, events: &events{world: w}}
	if _, err := r.SetupWithManager(m, controller.Options{SkipNameValidation: &skip}); err != nil {
		panic(err)
	}
	w.extension = r
	return r, &lifecycle.Health{Reconciler: r}
}

// tellExtension passes an event to the controllers of the extension.
func (w *world) tellExtension(name string, c change) {
	l := w.lanes[name]
	switch {
	case name == "health" && c.kind == "Extension":
		l.add(c.key)
	case name == "health":
		l.add(extensionKey)
	case c.kind == "Extension":
		w.handle(w.extension.OnExtension(), c, toLane{lane: l})
	case c.kind == "ManagedResource":
		w.handle(w.extension.OnManagedResource(), c, toLane{lane: l})
	case strings.HasPrefix(c.key.Name, gardener.ReferencePrefix), c.key.Name == access.TokenSecret:
		w.handle(w.extension.OnReference(), c, toLane{lane: l})
	}
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (t toLane) AddAfter(request reconcile.Request, pause time.Duration) {
	if due, waits := t.lane.timers[request.NamespacedName]; !waits || time.Until(due) > pause {
		t.lane.timers[request.NamespacedName] = time.Now().Add(pause)
	}
}

// lookAgain lets the time pass until the extension has looked again into a shoot that was not ready:
// nothing tells it of a change there.
func (w *world) lookAgain() {
	l := w.lanes["extension"]
	for _, key := range keysOf(l.timers) {
		if due := l.timers[key]; time.Until(due) < time.Hour {
			w.ring(l, key, due)
		}
	}
	w.settle()
}

// checkExtension looks at a write to an Extension.
func (w *world) checkExtension(c change) {
	before, _ := c.before.(*gardener.Extension)
	after, _ := c.after.(*gardener.Extension)
	switch {
	case after == nil && before == nil:
	case after == nil:
		w.seed.checkLeft(before)
	case before != nil:
		w.seed.checkReached(before, after)
	}
	if after != nil {
		w.note("  Extension: version %s generation %d annotations %v finalizers %d deleted %t, %+v, state %s", after.ResourceVersion, after.Generation, after.Annotations, len(after.Finalizers), after.DeletionTimestamp != nil, after.Status.LastOperation, raw(after.Status.State))
	}
}

// checkReached: what was reached once stays known, and a success is one.
func (s *seed) checkReached(before, after *gardener.Extension) {
	was, err := state.Read(before)
	is, errAfter := state.Read(after)
	if err != nil || errAfter != nil || was.Bootstrapped && !is.Bootstrapped {
		s.world.violate("the Extension has forgotten that its shoot has come up: %+v after %+v (%v, %v)", is, was, err, errAfter)
	}
	last := after.Status.LastOperation
	if last == nil || last.State != gardener.Succeeded || before.Status.LastOperation != nil && *before.Status.LastOperation == *last {
		return
	}
	if last.Type == gardener.Delete || last.Type == gardener.Migrate {
		s.checkReleased(string(last.Type))
		return
	}
	if after.Status.ObservedGeneration != after.Generation {
		s.world.violate("the Extension has succeeded with generation %d, and has observed %d", after.Generation, after.Status.ObservedGeneration)
	}
	if s.applied = s.wanted; !s.hibernates {
		s.checkShoot()
	}
}

// checkShoot: the shoot has what a success says.
func (s *seed) checkShoot() {
	wanted := []string{place("Deployment", "flux-system", "source-controller"), place("ConfigMap", "flux-system", "shoot-info")}
	if s.wanted.source && s.wanted.mode != "Once" { // once the shoot has come up, its owner looks after it
		wanted = append(wanted, place("GitRepository", "flux-system", "flux-system"), place("Kustomization", "flux-system", "flux-system"))
	}
	if s.wanted.secret {
		wanted = append(wanted, place("Secret", "flux-system", "extra"))
	}
	for _, at := range wanted {
		if _, exists := s.shoot[at]; !exists {
			s.world.violate("the Extension has succeeded, but the shoot has no %s: %v", at, s.shoot)
		}
	}
	if text := s.shoot[wanted[0]].text; s.wanted.mode == "Always" && !strings.Contains(text, s.wanted.version) {
		s.world.violate("the Extension has succeeded with %s, but the shoot has %s", s.wanted.version, text)
	}
}

// checkReleased: a seed that a shoot leaves manages nothing of it any more.
func (s *seed) checkReleased(operation string) {
	if left := keysOf(s.world.store.objects["ManagedResource"]); len(left) > 0 {
		s.world.violate("%s has succeeded, but there are %v", operation, left)
	}
}

// checkLeft: when an Extension disappears, nothing of it is left, except what moves with the shoot.
func (s *seed) checkLeft(before *gardener.Extension) {
	s.checkReleased("the deletion")
	if s.kept != nil || isMigrating(before) || before.Status.LastOperation == nil || s.applied.deletion != "Delete" || s.wanted.deletion != "Delete" {
		return
	}
	for at, object := range s.shoot {
		if object.by != "" {
			s.world.violate("the Extension is deleted, and the shoot still has %s", at)
		}
	}
}

// checkReplaced: what was left to the owner of a shoot is not changed without a request.
func (s *seed) checkReplaced(by, at string, before placed, text string, existed bool) {
	if !existed || before.text == text || by != lifecycle.InstallName && by != lifecycle.ConfigName {
		return
	}
	e := s.extension()
	if e == nil || s.wanted.mode != "Once" || s.applied.mode != "Once" || s.wanted.asks != "" || s.applied.asks != "" {
		return
	}
	if remembered, err := state.Read(e); err == nil && remembered.Bootstrapped && before.by == "" {
		s.world.violate("%s is changed from %s to %s, although it was left to the owner of the shoot", at, before.text, text)
	}
}

// checkDropped: objects are removed from a shoot only when that is wanted, and Flux after what needs it.
func (s *seed) checkDropped(resource *gardener.ManagedResource) {
	e := s.extension()
	if e == nil || e.DeletionTimestamp == nil || isMigrating(e) {
		s.world.violate("the objects of %s are removed, although the extension stays", resource.Name)
	}
	if s.wanted.deletion == "Orphan" && s.applied.deletion == "Orphan" {
		s.world.violate("the objects of %s are removed, although they are to stay", resource.Name)
	}
	order := []string{lifecycle.ConfigName, lifecycle.DataName, lifecycle.InstallName}
	for _, before := range order[:slices.Index(order, resource.Name)] {
		key := client.ObjectKey{Namespace: seedSpace, Name: before}
		if s.world.store.objects["ManagedResource"][key] != nil {
			s.world.violate("the objects of %s are removed before those of %s", resource.Name, before)
		}
	}
}

// checkExtensionSettled looks at the shoot when nothing happens by itself any more.
func (w *world) checkExtensionSettled() {
	s := w.seed
	e := s.extension()
	switch {
	case !w.rates.shoots:
		return
	case e == nil:
		for _, key := range keysOf(w.store.objects["Secret"]) {
			secret := w.store.objects["Secret"][key]
			if key.Namespace == seedSpace && (secret.GetLabels()[managed.ManagerLabel] == managed.Manager || key.Name == access.TokenSecret) {
				w.violate("Secret %s is left without an Extension", key.Name)
			}
		}
		s.checkReleased("the deletion")
		return
	}
	last := e.Status.LastOperation
	if asked := e.Annotations[gardener.OperationAnnotation]; asked != "" || e.DeletionTimestamp != nil || last == nil || last.State != gardener.Succeeded {
		w.violate("the Extension is asked for %q, deleted %t, and has %+v, %+v, and nothing will wake it", asked, e.DeletionTimestamp != nil, last, e.Status.LastError)
	}
	if e.Status.ObservedGeneration != e.Generation {
		w.violate("the Extension has generation %d, and has observed %d", e.Generation, e.Status.ObservedGeneration)
	}
	if !s.hibernates {
		s.checkShoot()
	}
}
