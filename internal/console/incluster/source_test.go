package incluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"go.landscaper.dev/api/v1alpha1"
)

// caches have the objects of a client.
type caches struct {
	cache.Cache
	client.Reader
	informers []*informer
	broken    error
}

// informer is one that a test fills.
type informer struct {
	cache.Informer
	synced  bool
	handler toolscache.ResourceEventHandler
}

func (i *informer) HasSynced() bool { return i.synced }
func (i *informer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.handler = handler
	return nil, nil
}

func (c *caches) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return c.Reader.Get(ctx, key, into, options...)
}

func (c *caches) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if c.broken != nil {
		return c.broken
	}
	return c.Reader.List(ctx, list, options...)
}

func (c *caches) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	one := &informer{synced: true}
	c.informers = append(c.informers, one)
	return one, nil
}

func newCaches(t *testing.T) *caches {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{v1alpha1.DataObjectHashAnnotation: "digest"}}
	}
	secret := v1alpha1.NewAnyJSON([]byte(`"s3cret"`))
	return &caches{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1alpha1.Installation{ObjectMeta: named("root")}, &v1alpha1.Execution{ObjectMeta: named("root")}, &v1alpha1.DeployItem{ObjectMeta: named("item")},
		&v1alpha1.DataObject{ObjectMeta: named("value"), Data: secret},
		&v1alpha1.Target{ObjectMeta: named("host"), Spec: v1alpha1.TargetSpec{Configuration: &secret}},
		&corev1.Event{ObjectMeta: named("event")},
	).Build()}
}

// TestSnapshot: all kinds, and no value of a DataObject or Target.
func TestSnapshot(t *testing.T) {
	from := newCaches(t)
	source, err := New(t.Context(), from, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	s := source.Snapshot()
	if len(s.Installations) != 1 || len(s.Executions) != 1 || len(s.DeployItems) != 1 || len(s.Events) != 1 || len(s.Values) != 2 || len(s.Unreadable) != 0 || s.Now.IsZero() {
		t.Fatalf("%+v", s)
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("a value is in the snapshot: %v", err)
	}
	for i, kind := range []string{"DataObject", "Target"} {
		if got := s.Values[i]; got.Kind != kind || got.Annotations[v1alpha1.DataObjectHashAnnotation] != "digest" {
			t.Errorf("%+v", got)
		}
	}
}

// TestIncomplete: what the server has not read is said to be missing, without the reason of the server.
func TestIncomplete(t *testing.T) {
	from := newCaches(t)
	source, err := New(t.Context(), from, func() error { return errors.New("away") })
	if err != nil {
		t.Fatal(err)
	}
	from.informers[0].synced = false
	if s := source.Snapshot(); len(s.Installations) != 0 || len(s.Unreadable) != 1 || s.Unreadable[0].Resource.Resource != "installations" {
		t.Errorf("%+v", s)
	}
	from.broken = errors.New("internal: 10.0.0.1")
	s := source.Snapshot()
	if len(s.Unreadable) != len(kinds()) || strings.Contains(s.Unreadable[5].Error(), "10.0.0.1") {
		t.Errorf("%v", s.Unreadable)
	}
	if source.Disconnected() == nil {
		t.Error("the caches may be out of date")
	}
}

// TestChanged: many changes come as one.
func TestChanged(t *testing.T) {
	from := newCaches(t)
	source, err := New(t.Context(), from, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range from.informers {
		one.handler.OnAdd(&v1alpha1.Installation{}, false)
		one.handler.OnUpdate(nil, &v1alpha1.Installation{})
		one.handler.OnDelete(&v1alpha1.Installation{})
	}
	if len(source.Changed()) != 1 {
		t.Error("no change")
	}
}
