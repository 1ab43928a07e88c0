package installation

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job"
)

// lateData is a cache that shows no DataObject before it has arrived.
type lateData struct {
	client.Client
	late bool
}

// Get implements client.Reader.
func (c *lateData) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*v1alpha1.DataObject); ok && c.late {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "dataobjects"}, key.Name)
	}
	return c.Client.Get(ctx, key, object, options...)
}

// asked is an API server that counts reads.
type asked struct {
	client.Reader
	gets int
	// of are the kinds that were asked for.
	of map[string]int
}

// Get implements client.Reader.
func (a *asked) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	a.gets++
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.of[fmt.Sprintf("%T", object)]++
	return a.Reader.Get(ctx, key, object, options...)
}

// chainOf describes subinstallations of which each imports what the one before exports.
func chainOf(count int) string {
	text := "subinstallations:\n"
	for i := range count {
		imports, wired := "", ""
		if i > 0 {
			imports, wired = `imports: [{name: v, schema: {type: integer}}]\n`, fmt.Sprintf("  imports: {data: [{name: v, dataRef: value-%d}]}\n", i-1)
		}
		text += fmt.Sprintf("- name: part-%d\n  blueprint: {filesystem: {blueprint.yaml: \"%sexports: [{name: x, schema: {type: integer}}]\\nexportExecutions: [{name: e, type: GoTemplate, template: 'exports: {x: %d}'}]\\n\"}}\n  exports: {data: [{name: x, dataRef: value-%d}]}\n%s", i, imports, i, i, wired)
	}
	return text
}

// TestLateCacheCostsNoRequests: on a busy machine the cache of DataObjects is behind that of
// Installations. A subinstallation whose turn has come waits for the exports of the one before,
// however often it is reconciled meanwhile, and asks the API server only when that takes long.
func TestLateCacheCostsNoRequests(t *testing.T) {
	const hops, looks = 40, 6
	for _, test := range []struct {
		reason string
		// lag is how long the cache is behind.
		lag time.Duration
		// most is how many reads a chain costs.
		most int
	}{
		{"milliseconds", 20 * time.Millisecond, 3},
		{"more than a second", 1500 * time.Millisecond, hops + 3},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				objects := installed(t)
				testbuilders.Describe(t, objects[0], chainOf(hops))
				b := newBench(t, objects...)
				cache, server := &lateData{Client: b.api}, &asked{Reader: b.api}
				b.Client, b.Reader = cache, server
				b.Now = time.Now
				b.reconcile(t)
				server.gets = 0
				for i := range hops {
					sub := b.sub(t, fmt.Sprintf("part-%d", i))
					cache.late = i > 0
					for range looks {
						b.lookLate(t, sub, test.lag/looks)
					}
					if cache.late = false; i > 0 {
						for _, enqueued := range b.arrived(t.Context(), b.exported(t, i-1)) {
							b.lookLate(t, &v1alpha1.Installation{ObjectMeta: objectMeta(enqueued)}, 0)
						}
					}
					if now := b.sub(t, fmt.Sprintf("part-%d", i)); now.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
						t.Fatalf("%s: %+v, %+v", now.Name, now.Status, now.Status.LastError)
					}
				}
				t.Logf("%d reads in a chain of %d", server.gets, hops)
				if server.gets > test.most {
					t.Errorf("%d reads in a chain of %d, want at most %d", server.gets, hops, test.most)
				}
			})
		})
	}
}

// lookLate reconciles a subinstallation, and lets some time pass.
func (b *bench) lookLate(t *testing.T, sub *v1alpha1.Installation, pause time.Duration) {
	t.Helper()
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(sub)}); err != nil {
		t.Fatal(err)
	}
	<-time.After(pause)
}

// exported is what a part of the chain has exported.
func (b *bench) exported(t *testing.T, part int) *v1alpha1.DataObject {
	t.Helper()
	list := &v1alpha1.DataObjectList{}
	if err := b.api.List(t.Context(), list, client.MatchingLabels{v1alpha1.DataObjectKeyLabel: fmt.Sprintf("value-%d", part)}); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Labels[v1alpha1.DataObjectContextLabel] == v1alpha1.InstallationScope(shop.Name) {
			return &list.Items[i]
		}
	}
	t.Fatalf("value-%d is not exported", part)
	return nil
}

func objectMeta(of ctrl.Request) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}
}

// lateSubs is a cache that shows no subinstallation, beside an API server that is too busy for
// one of them.
type lateSubs struct {
	client.Client
	late bool
	busy string
}

// Create implements client.Writer.
func (c *lateSubs) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if c.late && object.GetName() == c.busy {
		return apierrors.NewTooManyRequests("busy", 1)
	}
	return c.Client.Create(ctx, object, options...)
}

// List implements client.Reader.
func (c *lateSubs) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*v1alpha1.InstallationList); ok && c.late {
		return nil
	}
	return c.Client.List(ctx, list, options...)
}

// TestLateSubinstallationsCostNoRequests: a root is reconciled many times while the cache does not
// show the subinstallations that it has created, because the API server was too busy for one of
// them. It waits for them: none is created or read again.
func TestLateSubinstallationsCostNoRequests(t *testing.T) {
	const subs, attempts, most = 40, 6, 3
	synctest.Test(t, func(t *testing.T) {
		objects := installed(t)
		testbuilders.Describe(t, objects[0], chainOf(subs))
		b := newBench(t, objects...)
		cache, server := &lateSubs{Client: b.api, late: true, busy: job.ChildName("uid-2", fmt.Sprintf("part-%d", subs-1), 0)}, &asked{Reader: b.api}
		b.Client, b.Reader, b.Now = cache, server, time.Now
		creates := 0
		for range attempts {
			b.writes = nil
			if result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err == nil && result.RequeueAfter <= 0 {
				t.Fatalf("an end without a wake: %+v", result)
			}
			for _, write := range b.writes {
				if write == "create Installation" {
					creates++
				}
			}
			<-time.After(20 * time.Millisecond)
		}
		t.Logf("%d reads (%v) and %d creates for %d subinstallations", server.gets, server.of, creates, subs)
		if server.gets > most || creates > subs {
			t.Errorf("%d reads, want at most %d; %d creates for %d subinstallations", server.gets, most, creates, subs)
		}
		cache.late = false
		<-time.After(time.Second)
		b.settle(t)
		if inst := b.installation(t); inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || len(inst.Status.SubInstCache.ActiveSubs) != subs {
			t.Errorf("%+v", inst.Status)
		}
	})
}
