package shoot

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
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
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

// Start starts the two controllers of the extension with an empty memory.
func (s *Seed) Start() (extension, health reconcile.Reconciler) {
	w := s.world
	cached, live := w.Connect("extension")
	r := &lifecycle.Reconciler{
		Client: cached, Events: &world.Events{World: w}, Now: time.Now,
		Systems: lifecycle.Systems{GardenIdentity: "garden", Shoots: &access.Shoots{
			Seed: cached, Pool: cluster.NewPool(cluster.PoolOptions{WrapTransport: func(http.RoundTripper) http.RoundTripper { return s }}),
		}},
		Flux:         lifecycle.Flux{Manifests: manifests{}, DefaultVersion: "v2.4.0"},
		Schedule:     lifecycle.Schedule{Resync: 24 * time.Hour, Spread: time.Second, Random: func() float64 { return 1 }},
		Bootstrapped: func(time.Duration) {},
	}
	skip := true
	m := &world.Manager{Client: cached, Live: live, Events: &world.Events{World: w}}
	if _, err := r.SetupWithManager(m, controller.Options{SkipNameValidation: &skip}); err != nil {
		panic(err)
	}
	s.controller = r
	return r, &lifecycle.Health{Reconciler: r}
}

// Tell passes an event to the controllers of the extension.
func (s *Seed) Tell(name string, c store.Change) {
	l := s.world.Lanes[name]
	switch {
	case name == "health" && c.Kind == "Extension":
		l.Add(c.Key)
	case name == "health":
		l.Add(extensionKey)
	case c.Kind == "Extension":
		s.world.Handle(s.controller.OnExtension(), c, world.ToLane{Lane: l})
	case c.Kind == "ManagedResource":
		s.world.Handle(s.controller.OnManagedResource(), c, world.ToLane{Lane: l})
	case strings.HasPrefix(c.Key.Name, gardener.ReferencePrefix), c.Key.Name == access.TokenSecret:
		s.world.Handle(s.controller.OnReference(), c, world.ToLane{Lane: l})
	}
}

// LookAgain lets the time pass until the extension has looked again into a shoot that was not ready:
// nothing tells it of a change there.
func (s *Seed) LookAgain() {
	l := s.world.Lanes["extension"]
	for _, key := range store.KeysOf(l.Timers) {
		if due := l.Timers[key]; time.Until(due) < time.Hour {
			s.world.Ring(l, key, due)
		}
	}
	s.world.Settle()
}

// CheckExtension looks at a write to an Extension.
func (s *Seed) CheckExtension(c store.Change) {
	before, _ := c.Before.(*gardener.Extension)
	after, _ := c.After.(*gardener.Extension)
	switch {
	case after == nil && before == nil:
	case after == nil:
		s.checkLeft(before)
	case before != nil:
		s.checkReached(before, after)
	}
	if after != nil {
		s.world.Note("  Extension: version %s generation %d annotations %v finalizers %d deleted %t, %+v, state %s", after.ResourceVersion, after.Generation, after.Annotations, len(after.Finalizers), after.DeletionTimestamp != nil, after.Status.LastOperation, raw(after.Status.State))
	}
}

// checkReached: what was reached once stays known, and a success is one.
func (s *Seed) checkReached(before, after *gardener.Extension) {
	was, err := state.Read(before)
	is, errAfter := state.Read(after)
	if err != nil || errAfter != nil || was.Bootstrapped && !is.Bootstrapped {
		s.world.Violate("the Extension has forgotten that its shoot has come up: %+v after %+v (%v, %v)", is, was, err, errAfter)
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
		s.world.Violate("the Extension has succeeded with generation %d, and has observed %d", after.Generation, after.Status.ObservedGeneration)
	}
	if s.applied = s.wanted; !s.hibernates {
		s.checkShoot()
	}
}

// checkShoot: the shoot has what a success says.
func (s *Seed) checkShoot() {
	wanted := []string{place("Deployment", "flux-system", "source-controller"), place("ConfigMap", "flux-system", "shoot-info")}
	if s.wanted.source && s.wanted.mode != "Once" { // once the shoot has come up, its owner looks after it
		wanted = append(wanted, place("GitRepository", "flux-system", "flux-system"), place("Kustomization", "flux-system", "flux-system"))
	}
	if s.wanted.secret {
		wanted = append(wanted, place("Secret", "flux-system", "extra"))
	}
	for _, at := range wanted {
		if _, exists := s.shoot[at]; !exists {
			s.world.Violate("the Extension has succeeded, but the shoot has no %s: %v", at, s.shoot)
		}
	}
	if text := s.shoot[wanted[0]].text; s.wanted.mode == "Always" && !strings.Contains(text, s.wanted.version) {
		s.world.Violate("the Extension has succeeded with %s, but the shoot has %s", s.wanted.version, text)
	}
}

// checkReleased: a seed that a shoot leaves manages nothing of it any more.
func (s *Seed) checkReleased(operation string) {
	if left := store.KeysOf(s.world.Store.Objects["ManagedResource"]); len(left) > 0 {
		s.world.Violate("%s has succeeded, but there are %v", operation, left)
	}
}

// checkLeft: when an Extension disappears, nothing of it is left, except what moves with the shoot.
func (s *Seed) checkLeft(before *gardener.Extension) {
	s.checkReleased("the deletion")
	if s.kept != nil || isMigrating(before) || before.Status.LastOperation == nil || s.applied.deletion != "Delete" || s.wanted.deletion != "Delete" {
		return
	}
	for at, object := range s.shoot {
		if object.by != "" {
			s.world.Violate("the Extension is deleted, and the shoot still has %s", at)
		}
	}
}

// checkReplaced: what was left to the owner of a shoot is not changed without a request.
func (s *Seed) checkReplaced(by, at string, before placed, text string, existed bool) {
	if !existed || before.text == text || by != lifecycle.InstallName && by != lifecycle.ConfigName {
		return
	}
	e := s.extension()
	if e == nil || s.wanted.mode != "Once" || s.applied.mode != "Once" || s.wanted.asks != "" || s.applied.asks != "" {
		return
	}
	if remembered, err := state.Read(e); err == nil && remembered.Bootstrapped && before.by == "" {
		s.world.Violate("%s is changed from %s to %s, although it was left to the owner of the shoot", at, before.text, text)
	}
}

// checkDropped: objects are removed from a shoot only when that is wanted, and Flux after what needs it.
func (s *Seed) checkDropped(resource *gardener.ManagedResource) {
	e := s.extension()
	if e == nil || e.DeletionTimestamp == nil || isMigrating(e) {
		s.world.Violate("the objects of %s are removed, although the extension stays", resource.Name)
	}
	if s.wanted.deletion == "Orphan" && s.applied.deletion == "Orphan" {
		s.world.Violate("the objects of %s are removed, although they are to stay", resource.Name)
	}
	order := []string{lifecycle.ConfigName, lifecycle.DataName, lifecycle.InstallName}
	for _, before := range order[:slices.Index(order, resource.Name)] {
		key := client.ObjectKey{Namespace: world.SeedSpace, Name: before}
		if s.world.Store.Objects["ManagedResource"][key] != nil {
			s.world.Violate("the objects of %s are removed before those of %s", resource.Name, before)
		}
	}
}

// CheckSettled looks at the shoot when nothing happens by itself any more.
func (s *Seed) CheckSettled() {
	w, e := s.world, s.extension()
	switch {
	case !w.Rates.Shoots:
		return
	case e == nil:
		for _, key := range store.KeysOf(w.Store.Objects["Secret"]) {
			secret := w.Store.Objects["Secret"][key]
			if key.Namespace == world.SeedSpace && (secret.GetLabels()[managed.ManagerLabel] == managed.Manager || key.Name == access.TokenSecret) {
				w.Violate("Secret %s is left without an Extension", key.Name)
			}
		}
		s.checkReleased("the deletion")
		return
	}
	last := e.Status.LastOperation
	if asked := e.Annotations[gardener.OperationAnnotation]; asked != "" || e.DeletionTimestamp != nil || last == nil || last.State != gardener.Succeeded {
		w.Violate("the Extension is asked for %q, deleted %t, and has %+v, %+v, and nothing will wake it", asked, e.DeletionTimestamp != nil, last, e.Status.LastError)
	}
	if e.Status.ObservedGeneration != e.Generation {
		w.Violate("the Extension has generation %d, and has observed %d", e.Generation, e.Status.ObservedGeneration)
	}
	if !s.hibernates {
		s.checkShoot()
	}
}
