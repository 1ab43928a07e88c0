package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

func aSource() *config.Source {
	return &config.Source{Object: object("GitRepository", "flux-system", "flux-system")}
}

// working is a run in which all pieces are in the shoot, and changes it.
func working(changes ...func(*work)) *work {
	c := config.Default()
	c.SyncMode, c.Flux.Version, c.Source, c.Kustomization = config.Always, "v2.4.0", aSource(), object("Kustomization", "flux-system", "flux-system")
	w := &work{
		Reconciler: &Reconciler{Now: func() time.Time { return noon }, Schedule: Schedule{Random: func() float64 { return 0 }, Resync: time.Hour}, Events: events.NewFakeRecorder(10)},
		run:        &run{snapshot: snapshot{e: extension(), kind: gardener.Reconcile, shoot: &gardener.Shoot{}}},
		config:     c, installed: healthy, configured: healthy, data: healthy, looked: true,
	}
	w.plan = newPlan(c, w.before, "", w.installed, w.configured)
	for _, change := range changes {
		change(w)
	}
	return w
}

func sleeping(w *work) {
	asleep := true
	w.shoot.Spec.Hibernation = &struct {
		Enabled *bool `json:"enabled,omitempty"`
	}{&asleep}
}

// TestMissing: what is waited for, in the order in which it comes, and without the words of
// what may quote a Secret.
func TestMissing(t *testing.T) {
	const word = "hunter2"
	lacking := managed.Standing{Exists: true, Reason: "Pending", Message: "the reason is " + word}
	for _, row := range []struct {
		reason     string
		change     func(*work)
		configured bool
		want       string
		progress   int32
		quotes     bool
	}{
		{"everything is there", func(*work) {}, true, "", 0, false},
		{"the manifests", func(w *work) { w.installed, w.data, w.configured = lacking, lacking, lacking }, false, "the manifests of Flux", 20, true},
		{"Flux has no node", func(w *work) { w.installed = managed.Standing{Exists: true, Applied: true, Message: "0/1"} }, false, "Flux needs a node", 40, false},
		{"a Secret: what went wrong may quote it", func(w *work) { w.data, w.configured = lacking, lacking }, true, "the Secrets and ConfigMaps of the shoot: Pending", 60, false},
		{"source and kustomization", func(w *work) { w.configured = lacking }, true, "source and kustomization to be written", 70, true},
		{"what belongs to the owner is not waited for", func(w *work) {
			w.config.SyncMode, w.installed, w.configured = config.Once, lacking, lacking
			w.plan = newPlan(w.config, state.State{Bootstrapped: true}, "", missing, missing)
		}, true, "", 0, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			wait := working(row.change).missing(row.configured)
			if row.want == "" {
				if wait != nil {
					t.Errorf("it waits: %s", wait.why)
				}
				return
			}
			if wait == nil || !strings.Contains(wait.why, row.want) || wait.progress != row.progress || strings.Contains(wait.why, word) != row.quotes || wait.again != lookAgain {
				t.Errorf("got %+v", wait)
			}
		})
	}
}

// TestUnreadiness: only a bootstrap waits for what the repository has; later, that is the
// matter of its owner.
func TestUnreadiness(t *testing.T) {
	unready := &access.Unready{Object: "GitRepository a/b", Failed: true, Message: "no answer"}
	for _, row := range []struct {
		reason string
		change func(*work)
		want   string
	}{
		{"ready", func(*work) {}, ""},
		{"the first time", func(w *work) { w.unready = unready }, "GitRepository a/b is not ready: no answer"},
		{"a Shoot does not wait for readiness", func(w *work) { w.unready, w.config.WaitForReady = unready, false }, ""},
		{"a shoot that has worked before", func(w *work) { w.unready, w.before.Bootstrapped = unready, true }, ""},
		{"a shoot that has worked before, with a request to bootstrap again", func(w *work) { w.unready, w.before.Bootstrapped, w.asked = unready, true, RequestRebootstrap }, "is not ready"},
		{"an upgrade does not wait for a repository", func(w *work) { w.unready, w.before.Bootstrapped, w.asked = unready, true, RequestUpgrade }, ""},
		{"a key that is not registered", func(w *work) { w.unready, w.credentials = unready, &credentials{publicKey: "ssh-ed25519 AAAA"} }, "the repository must accept the key ssh-ed25519 AAAA"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			wait := working(row.change).unreadiness()
			if (wait == nil) != (row.want == "") || wait != nil && (!strings.Contains(wait.why, row.want) || wait.code != gardener.RetryableConfigurationProblem) {
				t.Errorf("got %+v", wait)
			}
		})
	}
	t.Run("a shoot that answers slowly is asked rarely", func(t *testing.T) {
		wait := working(func(w *work) { w.unready, w.took = unready, 9*time.Second }).unreadiness()
		if wait.again != 90*time.Second {
			t.Errorf("again in %s", wait.again)
		}
	})
}

func TestConfiguredCondition(t *testing.T) {
	for _, row := range []struct {
		reason string
		change func(*work)
		status gardener.ConditionStatus
		want   string
	}{
		{"Flux has done its work", func(*work) {}, gardener.ConditionTrue, "Ready"},
		{"Flux without a source", func(w *work) { w.config.Source = nil }, gardener.ConditionTrue, "NothingConfigured"},
		{"a hibernated shoot", sleeping, gardener.ConditionUnknown, "Hibernated"},
		{"the owner looks after it", func(w *work) {
			w.config.SyncMode, w.after.Bootstrapped = config.Once, true
			w.plan = newPlan(w.config, w.after, "", frozen, frozen)
		}, gardener.ConditionTrue, "NotManaged"},
		{"a shoot that was not read yet", func(w *work) { w.looked = false }, gardener.ConditionProgressing, "Pending"},
		{"Flux has failed", func(w *work) { w.unready = &access.Unready{Failed: true} }, gardener.ConditionFalse, "NotReady"},
		{"Flux is at it", func(w *work) { w.unready = &access.Unready{} }, gardener.ConditionProgressing, "Pending"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if status, reason, message := working(row.change).configuredCondition(); status != row.status || string(reason) != row.want || message == "" {
				t.Errorf("%s %s %q", status, reason, message)
			}
		})
	}
}

// TestDescribe: the three conditions, and that times change only with the rest.
func TestDescribe(t *testing.T) {
	pinned := func(w *work) {
		w.config.SyncMode, w.before = config.Once, state.State{Bootstrapped: true, BootstrappedVersion: "v2.3.0", BootstrappedBy: "x"}
		w.after = w.before
		w.plan = newPlan(w.config, w.before, "", frozen, frozen)
	}
	for _, row := range []struct {
		reason     string
		change     func(*work)
		kind, want string
	}{
		{"not bootstrapped yet", func(*work) {}, state.BootstrappedCondition, "BootstrapPending"},
		{"bootstrapped", func(w *work) { w.after.Bootstrapped = true }, state.BootstrappedCondition, "BootstrapSuccessful"},
		{"the release that is configured", func(*work) {}, conditionUpToDate, "UpToDate"},
		{"an older one, and how to change that", pinned, conditionUpToDate, "VersionPinnedByBootstrap"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			w, status := working(row.change), gardener.ExtensionStatus{}
			w.describe(&status)
			first := gardener.FindCondition(status.Conditions, row.kind)
			if first == nil || first.Reason != row.want || len(status.Conditions) != 3 {
				t.Fatalf("got %+v", status.Conditions)
			}
			before := *first
			w.Reconciler.Now = func() time.Time { return noon.Add(time.Hour) }
			w.describe(&status)
			if now := gardener.FindCondition(status.Conditions, row.kind); !now.LastUpdateTime.Equal(&before.LastUpdateTime) {
				t.Errorf("its time has changed: %+v", now)
			}
		})
	}
	t.Run("the way to the newer release is named", func(t *testing.T) {
		status := gardener.ExtensionStatus{}
		working(pinned).describe(&status)
		if message := gardener.FindCondition(status.Conditions, conditionUpToDate).Message; !strings.Contains(message, RequestAnnotation+"="+RequestUpgrade) || !strings.Contains(message, "v2.3.0") {
			t.Errorf("it says %q", message)
		}
	})
}

// TestNext: a shoot that is not ready is looked at less and less often, and never less
// often than any other.
func TestNext(t *testing.T) {
	since := func(ago time.Duration) func(*work) {
		return func(w *work) {
			w.unready = &access.Unready{}
			w.e.Status.Conditions = []gardener.Condition{{Type: conditionConfigured, LastTransitionTime: metav1.NewTime(noon.Add(-ago))}}
		}
	}
	for _, row := range []struct {
		reason string
		change func(*work)
		want   time.Duration
	}{
		{"all is well", func(*work) {}, time.Hour},
		{"not ready since a moment", since(0), 15 * time.Second},
		{"not ready for some minutes", since(4 * time.Minute), 4 * time.Minute},
		{"not ready for a day", since(24 * time.Hour), time.Hour},
		{"since a time to come, as after a clock that was wrong", since(-24 * time.Hour), 15 * time.Second},
		{"a shoot that answers slowly", func(w *work) { since(0)(w); w.took = 10 * time.Second }, 100 * time.Second},
		{"a shoot without a begin of its wait", func(w *work) { w.unready = &access.Unready{} }, time.Hour},
		{"not all at the same time", func(w *work) { w.Schedule.Random = func() float64 { return 1 } }, 54 * time.Minute},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if got := working(row.change).next(); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

// TestReportOfOperations: what gardenlet reads is changed only when something is new.
func TestReportOfOperations(t *testing.T) {
	r := working().Reconciler
	r.Now = func() time.Time { return noon.Add(time.Minute) }
	later := metav1.NewTime(noon.Add(time.Minute))
	for _, row := range []struct {
		reason string
		e      *gardener.Extension
		tell   func(*gardener.ExtensionStatus, *gardener.Extension)
		state  gardener.OperationState
		moved  bool
	}{
		{"an unchanged progress is not written", extension(func(e *gardener.Extension) {
			*e.Status.LastOperation = gardener.LastOperation{Type: gardener.Create, State: gardener.Processing, Progress: 20, Description: "why", LastUpdateTime: metav1.NewTime(noon)}
		}), func(s *gardener.ExtensionStatus, _ *gardener.Extension) { r.processing(s, gardener.Create, 20, "why") }, gardener.Processing, false},
		{"a new reason to wait is written", extension(last(gardener.Create, gardener.Processing)), func(s *gardener.ExtensionStatus, _ *gardener.Extension) { r.processing(s, gardener.Create, 20, "why") }, gardener.Processing, true},
		{"a success without a request is not written", extension(), func(s *gardener.ExtensionStatus, e *gardener.Extension) { r.succeeded(s, e, gardener.Reconcile) }, gardener.Succeeded, false},
		{"a success after a failure is", extension(last(gardener.Reconcile, gardener.Error)), func(s *gardener.ExtensionStatus, e *gardener.Extension) { r.succeeded(s, e, gardener.Reconcile) }, gardener.Succeeded, true},
		{"an answer to a request in the meantime is written", extension(annotated(gardener.TimestampAnnotation, noon.Add(30*time.Second).Format(time.RFC3339Nano))), func(s *gardener.ExtensionStatus, e *gardener.Extension) { r.succeeded(s, e, gardener.Reconcile) }, gardener.Succeeded, true},
		{"a failure without a request is written", extension(), func(s *gardener.ExtensionStatus, e *gardener.Extension) {
			r.failed(s, e, gardener.Reconcile, withCode(errNotKept, gardener.CleanupProblem))
		}, gardener.Error, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			status := row.e.Status.DeepCopy()
			row.tell(status, row.e)
			if last := status.LastOperation; last.State != row.state || last.LastUpdateTime.Equal(&later) != row.moved {
				t.Errorf("got %+v", last)
			}
			if (status.LastError != nil) != (row.state == gardener.Error) {
				t.Errorf("error %+v", status.LastError)
			}
		})
	}
	t.Run("the same failure keeps its time", func(t *testing.T) {
		status := extension().Status.DeepCopy()
		r.failed(status, extension(), gardener.Reconcile, errNotKept)
		first := status.LastError.LastUpdateTime.DeepCopy()
		r.Now = func() time.Time { return noon.Add(time.Hour) }
		if r.failed(status, extension(), gardener.Reconcile, errNotKept); !status.LastError.LastUpdateTime.Equal(first) {
			t.Errorf("it is from %s", status.LastError.LastUpdateTime)
		}
		if r.failed(status, extension(), gardener.Reconcile, withCode(errNotKept, gardener.CleanupProblem)); status.LastError.LastUpdateTime.Equal(first) {
			t.Error("another code is no news")
		}
	})
	t.Run("no error has no code", func(t *testing.T) {
		if withCode(nil, gardener.CleanupProblem) != nil {
			t.Error("nothing became an error")
		}
	})
}

// TestCopies: each Secret of the project goes where it is wanted.
func TestCopies(t *testing.T) {
	c := config.Default()
	if got := copies(c); got != nil {
		t.Errorf("there should be no copies: %v", got)
	}
	c.Flux.ImagePullSecretName = "pull"
	c.AdditionalSecrets = []config.AdditionalSecret{{Object: "in-garden", TargetNamespace: "team", TargetName: "in-shoot"}}
	want := []secretCopy{{"pull", c.Flux.Namespace, "pull"}, {"in-garden", "team", "in-shoot"}}
	if got := copies(c); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v", got)
	}
	if readiness(config.Default()) != nil || len(readiness(working().config)) != 2 {
		t.Error("what is looked at are source and kustomization, if there are any")
	}
}

// TestMoving: a key that was generated goes with the shoot to another seed.
func TestMoving(t *testing.T) {
	if got := working().moving(); got != nil {
		t.Errorf("nothing was generated: %v", got)
	}
	moves := working(func(w *work) { w.after.GeneratedSecretName = sourcesecret.SeedName }).moving()
	if len(moves) != 1 || moves[0].ResourceRef.Kind != "Secret" || moves[0].ResourceRef.Name != sourcesecret.SeedName {
		t.Errorf("got %v", moves)
	}
}

// TestProvider: people read the key that they have to register; who needs none, reads none.
func TestProvider(t *testing.T) {
	w := working(func(w *work) {
		w.credentials = &credentials{publicKey: "ssh-ed25519 AAAA"}
		w.shoot.Namespace = "garden-lab"
	})
	w.e.Status.ProviderStatus = w.provider()
	status := state.ReadStatus(w.e)
	if status.PublicKey != "ssh-ed25519 AAAA" || !status.PrivateSource || status.ProjectNamespace != "garden-lab" || status.SyncMode != string(config.Always) {
		t.Errorf("got %+v", status)
	}
	w.credentials = nil
	w.e.Status.ProviderStatus = w.provider()
	if status := state.ReadStatus(w.e); status.PublicKey != "" || status.PrivateSource {
		t.Errorf("got %+v", status)
	}
}

// TestHasNews: writes of this controller trigger no reconcile.
func TestHasNews(t *testing.T) {
	made := func(change func(*gardener.ManagedResource)) *gardener.ManagedResource {
		resource := &gardener.ManagedResource{}
		change(resource)
		return resource
	}
	nothing := func(*gardener.ManagedResource) {}
	for _, row := range []struct {
		reason string
		after  *gardener.ManagedResource
		want   bool
	}{
		{"nothing has changed", made(nothing), false},
		{"we have changed it", made(func(r *gardener.ManagedResource) { r.Generation, r.Annotations = 2, map[string]string{"a": "b"} }), false},
		{"the resource manager tells something", made(func(r *gardener.ManagedResource) { r.Status.ObservedGeneration = 2 }), true},
		{"another client deletes the ManagedResource", made(deleteIt), true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if got := hasNews(made(nothing), row.after); got != row.want {
				t.Errorf("%t", got)
			}
		})
	}
	t.Run("what is no ManagedResource is not left out", func(t *testing.T) {
		if !hasNews(&unstructured.Unstructured{}, made(nothing)) {
			t.Error("it is")
		}
	})
	for name, want := range map[string]bool{InstallName: true, ConfigName: true, DataName: true, "extension-shoot-dns": false, "": false} {
		t.Run("a piece is ours by its name: "+name, func(t *testing.T) {
			if got := isPiece(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}); got != want {
				t.Errorf("%t", got)
			}
		})
	}
}

func deleteIt(r *gardener.ManagedResource) { r.DeletionTimestamp = &metav1.Time{Time: noon} }
