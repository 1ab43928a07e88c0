package shoot

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// extensionKey is where the Extension of the shoot is.
var extensionKey = types.NamespacedName{Namespace: world.SeedSpace, Name: "flux"}

// order is what the owner of a shoot asks for.
type order struct {
	mode, deletion, version string
	source, secret          bool
	// asks is the operation that an annotation of the Shoot asks for once.
	asks string
}

// provider is the provider configuration.
func (w order) provider() []byte {
	config := map[string]any{
		"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxConfig", "syncMode": w.mode, "deletionPolicy": w.deletion,
		"flux": map[string]any{"version": w.version},
	}
	if w.source {
		config["source"] = map[string]any{"template": map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
			"spec": map[string]any{"url": "https://git.example.org/lab", "ref": map[string]any{"branch": "main"}},
		}}
		config["kustomization"] = map[string]any{"template": map[string]any{"spec": map[string]any{"path": "./", "prune": true, "interval": "1m"}}}
	}
	if w.secret {
		config["additionalSecretResources"] = []any{map[string]any{"name": "extra"}}
	}
	return store.Encoded(config)
}

// newOrder makes up what an owner asks for. A source stays: that it goes is an error.
func (s *Seed) newOrder() order {
	random := s.world.Random
	return order{
		mode: []string{"Once", "ManifestsOnly", "Always"}[random.IntN(3)], deletion: []string{"Orphan", "Delete"}[random.IntN(2)],
		version: []string{"v2.4.0", "v2.5.0"}[random.IntN(2)], source: s.wanted.source || random.IntN(2) == 0, secret: random.IntN(2) == 0,
	}
}

// extension is the stored Extension, or nil.
func (s *Seed) extension() *gardener.Extension {
	e, _ := s.world.Store.Objects["Extension"][extensionKey].(*gardener.Extension)
	return e
}

// Act lets the owner of the shoot do something, which gardenlet passes on.
func (s *Seed) Act() {
	w := s.world
	e := s.extension()
	switch {
	case e == nil && s.kept != nil:
		s.arrive()
		return
	case e == nil:
		s.enable(s.newOrder())
		return
	case e.DeletionTimestamp != nil || isMigrating(e):
		return
	}
	switch w.Random.IntN(9) {
	case 0, 1, 2:
		asks := s.wanted.asks
		s.wanted = s.newOrder()
		s.wanted.asks = asks
		s.ask(gardener.OperationReconcile)
	case 3:
		s.ask(gardener.OperationReconcile)
	case 4, 5:
		if !s.hibernates {
			s.leave()
		}
	case 6:
		if !s.hibernates {
			s.ask(gardener.OperationMigrate)
		}
	case 7:
		s.hibernates = !s.hibernates
		s.describe()
		s.ask(gardener.OperationReconcile)
	case 8:
		s.wanted.asks = []string{"", lifecycle.RequestUpgrade, lifecycle.RequestRebootstrap}[w.Random.IntN(3)]
		s.describe()
		s.ask(gardener.OperationReconcile)
	}
}

func isMigrating(e *gardener.Extension) bool {
	last := e.Status.LastOperation
	return e.Annotations[gardener.OperationAnnotation] == gardener.OperationMigrate || last != nil && last.Type == gardener.Migrate
}

// stamp is when gardenlet writes. The clock of a history stands still while it does: two requests have
// two times nevertheless, as those of a real gardenlet have, or the second one would not be seen.
func (s *Seed) stamp() string {
	s.asked++
	return time.Now().Add(time.Duration(s.asked)).UTC().Format(time.RFC3339Nano)
}

// enable creates the Extension of a shoot that had none.
func (s *Seed) enable(wanted order) {
	s.wanted = wanted
	s.describe()
	world.Must(s.world.Store.Create(s.made(gardener.OperationReconcile)))
	s.world.Note("user: enable the extension: %+v", wanted)
}

func (s *Seed) made(operation string) *gardener.Extension {
	e := &gardener.Extension{}
	e.Namespace, e.Name = extensionKey.Namespace, extensionKey.Name
	e.Annotations = map[string]string{gardener.OperationAnnotation: operation, gardener.TimestampAnnotation: s.stamp()}
	e.Spec.Type = lifecycle.Type
	e.Spec.ProviderConfig = rawOf(s.wanted.provider())
	return e
}

// ask passes a change on, or asks for an operation.
func (s *Seed) ask(operation string) {
	e := s.extension().DeepCopy()
	e.Spec.ProviderConfig = rawOf(s.wanted.provider())
	e.Annotations = world.With(world.With(e.Annotations, gardener.OperationAnnotation, operation), gardener.TimestampAnnotation, s.stamp())
	world.Must(s.world.Store.Update(e, false))
	s.world.Note("user: %s the shoot: %+v, hibernated %t", operation, s.wanted, s.hibernates)
}

// leave disables the extension.
func (s *Seed) leave() {
	s.world.Note("user: disable the extension")
	e := s.extension().DeepCopy()
	e.Annotations = world.With(e.Annotations, gardener.TimestampAnnotation, s.stamp())
	world.Must(s.world.Store.Update(e, false))
	world.Must(s.world.Store.Remove(e, nil))
}

// End disables the extension of a shoot that is awake.
func (s *Seed) End() {
	if e := s.extension(); e != nil && e.DeletionTimestamp == nil {
		s.hibernates = false
		s.describe()
		s.leave()
	}
}

// depart keeps the state of a shoot that was migrated, and deletes its Extension.
func (s *Seed) depart() {
	e := s.extension()
	s.world.Note("gardenlet: the shoot leaves the seed")
	s.kept = e.Status.DeepCopy()
	world.Must(s.world.Store.Remove(e, nil))
}

// departed reports whether the Extension of a migrated shoot can be deleted.
func (s *Seed) departed() bool {
	e := s.extension()
	if e == nil || e.DeletionTimestamp != nil || len(e.Finalizers) > 0 || e.Annotations[gardener.OperationAnnotation] != "" {
		return false
	}
	last := e.Status.LastOperation
	return last != nil && last.Type == gardener.Migrate && last.State == gardener.Succeeded
}

// arrive restores a shoot on another seed: gardenlet writes its state before it asks for that.
func (s *Seed) arrive() {
	s.world.Note("gardenlet: the shoot arrives at a seed, with the state %s", raw(s.kept.State))
	world.Must(s.world.Store.Create(s.made(gardener.OperationWaitForState)))
	if e := s.extension().DeepCopy(); s.kept.State != nil {
		e.Status.State, e.Status.Resources = s.kept.State, s.kept.Resources
		world.Must(s.world.Store.Update(e, true))
	}
	s.kept = nil
	s.ask(gardener.OperationRestore)
}

// String shows an order in a trace.
func (w order) String() string {
	return fmt.Sprintf("%s %s %s source %t secret %t asks %q", w.mode, w.deletion, w.version, w.source, w.secret, w.asks)
}
