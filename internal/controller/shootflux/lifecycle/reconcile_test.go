package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// manifests are those of a Flux with one object, or an error.
type manifests struct{ err error }

func (m manifests) Manifests(_ context.Context, o install.Options) ([]*unstructured.Unstructured, error) {
	return []*unstructured.Unstructured{object("Namespace", "", o.Namespace+"-"+o.Version)}, m.err
}

// seed is a seed in memory, with one Extension, whose controller and resource manager are
// looked after by the test.
type seed struct {
	*Reconciler
	clock        time.Time
	bootstrapped int
	events       *events.FakeRecorder
}

var at = client.ObjectKey{Namespace: "shoot--lab", Name: "flux"}

func newSeed(t *testing.T, e *gardener.Extension, objects ...client.Object) *seed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), gardener.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	e.Namespace, e.Name, e.CreationTimestamp = at.Namespace, at.Name, metav1.NewTime(noon.Add(-time.Minute))
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, e)...).WithStatusSubresource(&gardener.Extension{}).Build()
	s := &seed{clock: noon, events: events.NewFakeRecorder(100)}
	s.Reconciler = &Reconciler{
		Client: api, Systems: Systems{Shoots: &access.Shoots{Seed: api}}, Events: s.events, Flux: Flux{Manifests: manifests{}, DefaultVersion: "v2.4.0"},
		Schedule: Schedule{Resync: time.Hour, Random: func() float64 { return 0 }}, Now: func() time.Time { return s.clock },
		Bootstrapped: func(time.Duration) { s.bootstrapped++ },
	}
	s.readFrom(api)
	return s
}

// cluster is what the seed knows of the shoot.
func cluster(shoot string) *gardener.Cluster {
	c := &gardener.Cluster{ObjectMeta: metav1.ObjectMeta{Name: at.Namespace}}
	c.Spec.Shoot = runtime.RawExtension{Raw: []byte(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","metadata":{"name":"lab","namespace":"garden-lab"` + shoot + `}`)}
	return c
}

const plainShoot = `},"spec":{}`

func (s *seed) look(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	return s.Reconcile(t.Context(), ctrl.Request{NamespacedName: at})
}

func (s *seed) stored(t *testing.T) *gardener.Extension {
	t.Helper()
	e := &gardener.Extension{}
	if err := s.Client.Get(t.Context(), at, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// apply is what the resource manager does to a ManagedResource: all is well.
func (s *seed) apply(t *testing.T, name string) {
	t.Helper()
	resource, err := s.writer.Get(t.Context(), at.Namespace, name)
	if err != nil || resource == nil {
		t.Fatalf("ManagedResource %s: %v", name, err)
	}
	resource.Status.ObservedGeneration = resource.Generation
	for _, kind := range []string{gardener.ResourcesApplied, gardener.ResourcesHealthy} {
		resource.Status.Conditions = gardener.SetCondition(resource.Status.Conditions, gardener.Condition{Type: kind, Status: gardener.ConditionTrue}, metav1.NewTime(noon))
	}
	if err := s.Client.Update(t.Context(), resource); err != nil {
		t.Fatal(err)
	}
}

func (s *seed) emitted() string {
	var all []string
	for len(s.events.Events) > 0 {
		all = append(all, <-s.events.Events)
	}
	return strings.Join(all, "\n")
}

// created is an Extension that gardenlet has just made.
func created() *gardener.Extension {
	e := extension(never, requested("reconcile"))
	e.Finalizers, e.Status = nil, gardener.ExtensionStatus{}
	return e
}

// TestBootstrap walks a shoot from nothing to Flux, with every wait between, and then
// finds nothing left to do.
func TestBootstrap(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	for _, step := range []struct {
		reason string
		// applied is what the resource manager has done before, says what the status tells.
		applied, says string
		state         gardener.OperationState
	}{
		{"Flux is written first, and the data wait for its namespace", "", "waiting for the manifests of Flux", gardener.Processing},
		{"the manifests are applied: the data are next", InstallName, "waiting for the Secrets and ConfigMaps", gardener.Processing},
		{"the data are applied: the configuration is next", DataName, "waiting for source and kustomization", gardener.Processing},
		{"the configuration is applied: the shoot has come up", ConfigName, "has succeeded", gardener.Succeeded},
	} {
		t.Run(step.reason, func(t *testing.T) {
			if step.applied != "" {
				s.apply(t, step.applied)
			}
			if _, err := s.look(t); err != nil {
				t.Fatal(err)
			}
			last := s.stored(t).Status.LastOperation
			if last.State != step.state || !strings.Contains(last.Description, step.says) || last.Type != gardener.Create {
				t.Errorf("%+v", last)
			}
		})
	}
	e := s.stored(t)
	remembered, err := state.Read(e)
	if err != nil || !remembered.Bootstrapped || remembered.BootstrappedVersion != "v2.4.0" || remembered.WaitingSince != nil || s.bootstrapped != 1 {
		t.Errorf("%+v, %v, %d bootstraps", remembered, err, s.bootstrapped)
	}
	if len(e.Finalizers) != 1 || e.Annotations[gardener.OperationAnnotation] != "" || e.Status.ObservedGeneration != e.Generation {
		t.Errorf("%+v", e)
	}
	if emitted := s.emitted(); strings.Count(emitted, "BootstrapFinished") != 1 {
		t.Errorf("the events are %q", emitted)
	}
	resource, err := s.writer.Get(t.Context(), at.Namespace, InstallName)
	if err != nil || !managed.Judge(resource).Frozen {
		t.Errorf("Flux belongs to the owner of the shoot from now on: %v", err)
	}
	t.Run("a look without a reason writes nothing", func(t *testing.T) {
		version := e.ResourceVersion
		if result, err := s.look(t); err != nil || result.RequeueAfter != time.Hour || s.stored(t).ResourceVersion != version || s.emitted() != "" || s.bootstrapped != 1 {
			t.Errorf("%v, %v", result, err)
		}
	})
	t.Run("a shoot that comes from elsewhere is not bootstrapped again", func(t *testing.T) {
		moved := created()
		moved.Annotations[gardener.OperationAnnotation] = gardener.OperationRestore
		moved.Status.State = s.stored(t).Status.State
		other := newSeed(t, moved, cluster(plainShoot))
		for range 4 {
			if _, err := other.look(t); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{InstallName, DataName, ConfigName} {
				if found, _ := other.writer.Get(t.Context(), at.Namespace, name); found != nil && !managed.Judge(found).Frozen {
					other.apply(t, name)
				}
			}
		}
		if e := other.stored(t); other.bootstrapped != 0 || e.Status.LastOperation.Type != gardener.Restore || e.Status.LastOperation.State != gardener.Succeeded || isRequested(e) {
			t.Errorf("%+v, %d bootstraps", e.Status.LastOperation, other.bootstrapped)
		}
	})
}

// TestBringUpTimeout: who waits too long hears what for, and nothing is removed.
func TestBringUpTimeout(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	if result, err := s.look(t); err != nil || result.RequeueAfter != lookAgain {
		t.Fatal(result, err)
	}
	s.clock = noon.Add(bringUpTimeout)
	_, err := s.look(t)
	if err == nil || !strings.Contains(err.Error(), "Nothing is removed") {
		t.Errorf("%v", err)
	}
	e := s.stored(t)
	if e.Status.LastError == nil || e.Status.LastOperation.State != gardener.Error || !strings.Contains(e.Status.LastError.Description, "waiting for the manifests of Flux") {
		t.Errorf("%+v", e.Status)
	}
	if found, err := s.writer.Get(t.Context(), at.Namespace, InstallName); err != nil || found == nil {
		t.Errorf("%v", err)
	}
	t.Run("the same error is told once", func(t *testing.T) {
		first := s.emitted()
		if _, err := s.look(t); err == nil || strings.Count(first, "CreateFailed") != 1 || s.emitted() != "" {
			t.Errorf("%q, %v", first, err)
		}
	})
	t.Run("it goes on by itself when that is over", func(t *testing.T) {
		s.apply(t, InstallName)
		if _, err := s.look(t); err != nil && !strings.Contains(err.Error(), "waiting for the Secrets") {
			t.Error(err)
		}
		if found, err := s.writer.Get(t.Context(), at.Namespace, DataName); err != nil || found == nil {
			t.Errorf("%v", err)
		}
	})
}

// TestFailures: what cannot be done is told on the Extension, and says whose matter it is.
func TestFailures(t *testing.T) {
	odd := created()
	odd.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"kind":"Other"}`)}
	garbled := created()
	garbled.Status.State = &runtime.RawExtension{Raw: []byte(`{"kind":"hunter2"}`)}
	for _, test := range []struct {
		reason  string
		e       *gardener.Extension
		cluster client.Object
		change  func(*seed)
		says    string
	}{
		{"the shoot is not known", created(), nil, nil, "read Cluster shoot--lab"},
		{"the shoot cannot be read", created(), cluster(`:`), nil, "hoot"},
		{"the configuration cannot be understood", odd, cluster(plainShoot), nil, "kind"},
		{"what is remembered was written by a newer release", garbled, cluster(plainShoot), nil, "status.state is of another kind"},
		{"there are no manifests of the release", created(), cluster(plainShoot), func(s *seed) { s.Flux.Manifests = manifests{install.ErrVersion} }, "make the manifests of Flux v2.4.0"},
		{"this program itself is wrong", created(), cluster(plainShoot), func(s *seed) { s.Flux.Manifests = nil }, "a mistake in it"},
		{"a shoot must be configured, and is not", created(), cluster(plainShoot), func(s *seed) { s.RequireConfig = true }, "onfig"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var objects []client.Object
			if test.cluster != nil {
				objects = append(objects, test.cluster)
			}
			s := newSeed(t, test.e, objects...)
			if test.change != nil {
				test.change(s)
			}
			_, err := s.look(t)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%v", err)
			}
			e := s.stored(t)
			if e.Status.LastError == nil || e.Status.LastOperation.State != gardener.Error || strings.Contains(e.Status.LastError.Description, "hunter2") {
				t.Errorf("%+v", e.Status)
			}
			if emitted := s.emitted(); strings.Count(emitted, "CreateFailed") != 1 {
				t.Errorf("the events are %q", emitted)
			}
		})
	}
}

// TestNotOurs: Extensions of others, or without an operation, are not touched.
func TestNotOurs(t *testing.T) {
	failed := `},"spec":{},"status":{"lastOperation":{"type":"Create","state":"Failed"}}`
	for _, test := range []struct {
		reason string
		e      *gardener.Extension
		shoot  string
	}{
		{"of another type", extension(requested("reconcile"), func(e *gardener.Extension) { e.Spec.Type = "other" }), plainShoot},
		{"of a seed, not of a shoot", extension(requested("reconcile"), classed("seed")), plainShoot},
		{"an Extension whose state is not written yet", extension(never, requested("wait-for-state")), plainShoot},
		{"an Extension that has moved to another seed", extension(last(gardener.Migrate, gardener.Succeeded)), plainShoot},
		{"gardenlet has given the shoot up", extension(requested("reconcile")), failed},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSeed(t, test.e, cluster(test.shoot))
			version := s.stored(t).ResourceVersion
			result, err := s.look(t)
			if err != nil || result != (ctrl.Result{}) || s.stored(t).ResourceVersion != version || s.emitted() != "" {
				t.Errorf("%v, %v", result, err)
			}
			all := &gardener.ManagedResourceList{}
			if err := s.Client.List(t.Context(), all); err != nil || len(all.Items) > 0 {
				t.Errorf("%d ManagedResources, %v", len(all.Items), err)
			}
		})
	}
	t.Run("an Extension that is deleted", func(t *testing.T) {
		s := newSeed(t, extension(), cluster(plainShoot))
		if result, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "x", Name: "y"}}); err != nil || result != (ctrl.Result{}) {
			t.Errorf("%v, %v", result, err)
		}
	})
}

// TestStateThatDoesNotStay: a seed whose Extensions have no such field forgets what was
// reached. The run ends and tells, instead of beginning anew without end.
func TestStateThatDoesNotStay(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			err := c.SubResource(name).Patch(ctx, object, patch, options...)
			object.(*gardener.Extension).Status.State = nil
			return err
		},
	})
	var err error
	for _, applied := range []string{"", InstallName, DataName, ConfigName} {
		if applied != "" {
			s.apply(t, applied)
		}
		_, err = s.look(t)
	}
	if !errors.Is(err, errNotKept) || s.stored(t).Status.LastOperation.State != gardener.Error {
		t.Errorf("got %v, %+v", err, s.stored(t).Status.LastOperation)
	}
}

// TestRemovalFromShoot: how a shoot is left, in order, and that the Extension goes last.
func TestRemovalFromShoot(t *testing.T) {
	held := func(name string) *gardener.ManagedResource {
		keep := true
		return &gardener.ManagedResource{
			ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: name, Finalizers: []string{"x/y"}},
			Spec:       gardener.ManagedResourceSpec{KeepObjects: &keep},
		}
	}
	remembering := func(policy string) func(*gardener.Extension) {
		return func(e *gardener.Extension) {
			remembered, err := state.Read(e)
			if err != nil {
				panic(err) // the test has written it
			}
			remembered.DeletionPolicy = policy
			e.Status.State = remembered.Encode()
		}
	}
	for _, test := range []struct {
		reason string
		e      *gardener.Extension
		shoot  client.Object
		// going are the ManagedResources that are deleted by the first look, kept says that
		// their objects stay.
		going string
		kept  bool
	}{
		{"what is unknown is not removed: all is let go at once", extension(deleted), cluster(plainShoot), "config data install", true},
		{"everything is deleted: Flux has to run until its objects are deleted", extension(deleted, remembering("Delete")), cluster(plainShoot), "config", false},
		{"the whole shoot is forced to go", extension(deleted, remembering("Delete")), cluster(`,"annotations":{"confirmation.gardener.cloud/force-deletion":"true"}},"spec":{}`), "", true},
		{"the shoot is deleted already", extension(deleted, remembering("Delete")), nil, "config data install", true},
		{"the shoot moves: nothing in it changes", extension(requested("migrate"), remembering("Delete")), cluster(plainShoot), "config data install", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			objects := []client.Object{held(ConfigName), held(DataName), held(InstallName)}
			if test.shoot != nil {
				objects = append(objects, test.shoot)
			}
			s := newSeed(t, test.e, objects...)
			if _, err := s.look(t); err != nil {
				t.Fatal(err)
			}
			var going []string
			for _, name := range []string{ConfigName, DataName, InstallName} {
				resource, err := s.writer.Get(t.Context(), at.Namespace, name)
				if err != nil {
					t.Fatal(err)
				}
				if resource == nil || resource.DeletionTimestamp == nil {
					continue
				}
				going = append(going, name[strings.LastIndex(name, "-")+1:])
				if *resource.Spec.KeepObjects != test.kept {
					t.Errorf("the objects of %s stay: %t", name, !test.kept)
				}
			}
			if got := strings.Join(going, " "); got != test.going {
				t.Errorf("%q go", got)
			}
			for range 4 {
				s.release(t)
				if _, err := s.look(t); err != nil {
					t.Fatal(err)
				}
			}
			e := &gardener.Extension{}
			err := s.Client.Get(t.Context(), at, e)
			if client.IgnoreNotFound(err) != nil || !apierrors.IsNotFound(err) && len(e.Finalizers) > 0 {
				t.Errorf("it still holds the Extension: %+v, %v", e, err)
			}
			if emitted := s.emitted(); emitted != "" {
				t.Errorf("the events are %q", emitted)
			}
		})
	}
}

// release is what the resource manager does with what is deleted.
func (s *seed) release(t *testing.T) {
	t.Helper()
	for _, name := range []string{ConfigName, DataName, InstallName} {
		if err := s.writer.Abandon(t.Context(), at.Namespace, name); err != nil {
			t.Fatal(err)
		}
	}
}
