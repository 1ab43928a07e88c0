package lifecycle

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

// TestAnswerDuringARun: the resource manager answers as soon as a ManagedResource is
// written. That the Extension waits for it is not told by then, and later not in the cache.
func TestAnswerDuringARun(t *testing.T) {
	s := newSeed(t, extension(), cluster(plainShoot))
	s.clock = noon.Add(time.Hour)
	before := s.stored(t)
	enqueued := func() int {
		return len(s.waiting(t.Context(), &gardener.ManagedResource{ObjectMeta: before.ObjectMeta}))
	}
	during := -1
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if shown, is := list.(*gardener.ExtensionList); is {
				shown.Items = []gardener.Extension{*before}
				return nil
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			err := c.Create(ctx, object, options...)
			if _, is := object.(*gardener.ManagedResource); is {
				during = enqueued()
			}
			return err
		},
	})
	s.writer.Client = s.Client
	if enqueued() != 0 {
		t.Error("no Extension waits yet")
	}
	if _, err := s.look(t); err != nil {
		t.Fatal(err)
	}
	if last := s.stored(t).Status.LastOperation; last.State != gardener.Processing {
		t.Fatalf("it waits for nothing: %+v", last)
	}
	if during != 1 {
		t.Errorf("an answer during the run enqueues %d", during)
	}
	if after := enqueued(); after != 1 {
		t.Errorf("an answer before the cache shows that it waits enqueues %d", after)
	}
	before = s.stored(t)
	if shown := enqueued(); shown != 1 || s.writing.in(at.Namespace) {
		t.Errorf("an answer afterwards enqueues %d", shown)
	}
}

// TestAnswerWithoutAWrite: after a run without a write, answers do not enqueue the Extension,
// because the owner of the shoot can cause any number of them.
func TestAnswerWithoutAWrite(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	for _, applied := range []string{"", InstallName, DataName, ConfigName} {
		if applied != "" {
			s.apply(t, applied)
		}
		if _, err := s.look(t); err != nil {
			t.Fatal(err)
		}
	}
	s.clock = noon.Add(time.Hour)
	asked, enqueued, before := 0, 0, s.stored(t)
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			asked, enqueued = asked+1, enqueued+len(s.waiting(ctx, &gardener.ManagedResource{ObjectMeta: before.ObjectMeta}))
			return c.Get(ctx, key, object, options...)
		},
	})
	s.writer.Read.Cache, s.extensionsNow.Cache = s.Client, s.Client
	if _, err := s.look(t); err != nil || asked == 0 || enqueued != 0 {
		t.Errorf("of %d answers %d wake: %v", asked, enqueued, err)
	}
}
