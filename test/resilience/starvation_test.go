package resilience

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/hostile"
)

// drippingRegistry answers everything, a byte now and then: it never stands still.
func drippingRegistry(t *testing.T) string {
	t.Helper()
	ended := make(chan struct{})
	drip := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", "1000000")
		w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64))
		if r.Method == http.MethodHead {
			return
		}
		for {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(200 * time.Millisecond):
			case <-r.Context().Done():
				return
			case <-ended:
				return
			}
		}
	}))
	t.Cleanup(func() {
		close(ended)
		drip.Close()
	})
	return drip.URL
}

// TestSlowRegistryBlocksNoOtherTenant: a tenant has more Installations on a registry
// that drips than there are workers; the Installation of another tenant takes about
// as long as ever.
func TestSlowRegistryBlocksNoOtherTenant(t *testing.T) {
	registryServer(t)
	modest, greedy := namespace(t), namespace(t)
	begun := time.Now()
	waitSucceeded(t, create(t, newInstallation(modest, "before", oneConfigMap)))
	usual := time.Since(begun)

	createAll(t, &v1alpha1.Context{
		ObjectMeta:           metav1.ObjectMeta{Namespace: greedy, Name: "vendor"},
		ContextConfiguration: v1alpha1.ContextConfiguration{RepositoryContext: repositoryContext(t, drippingRegistry(t))},
	})
	const workers = 8
	for i := range 3 * workers {
		inst := newInstallation(greedy, fmt.Sprint("slow-", i), "")
		inst.Spec.Context = "vendor"
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.0.0"}}
		inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}}
		create(t, inst)
	}
	for i := range workers {
		waitFor(t, client.ObjectKey{Namespace: greedy, Name: fmt.Sprint("slow-", i)}, "at work", func(inst *v1alpha1.Installation) bool {
			return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Init
		})
	}
	begun = time.Now()
	waitSucceeded(t, create(t, newInstallation(modest, "meanwhile", oneConfigMap)))
	took := time.Since(begun)
	t.Logf("usually %s, beside a registry that drips %s", usual, took)
	// An attempt on a registry that drips is ended after about 5 seconds; a worker that
	// waits for that is already too slow.
	if limit := func() time.Duration { return 2*usual + 2*time.Second }; took > limit() {
		// The machine may have become slower, which then shows without the others as well. The
		// first of these jobs may still meet attempts that end.
		abandon(t, greedy)
		after := took
		for i := range 3 {
			begun = time.Now()
			waitSucceeded(t, create(t, newInstallation(modest, fmt.Sprint("after-", i), oneConfigMap)))
			after = min(after, time.Since(begun))
		}
		if usual = max(usual, after); took > limit() {
			t.Errorf("it took %s, usually %s", took, usual)
		}
		return
	}
	// A job that waits for the registry can be ended at any time.
	slow := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: greedy, Name: "slow-0"}}
	request(t, slow, v1alpha1.InterruptOperation)
	if ended := waitFinished(t, slow, ""); ended.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
		t.Errorf("the interrupted one ends in phase %s", ended.Status.InstallationPhase)
	}
}

// TestLateClustersBlockNoOtherTenant: some tenants have more items on clusters that answer each
// request after 20 seconds than the deployer has workers; the Installation of another tenant takes
// about as long as ever.
func TestLateClustersBlockNoOtherTenant(t *testing.T) {
	// lateTenants with lateClusters each are half as many again as the deployer has workers, and each
	// cluster has more items than one.
	const lateTenants, lateClusters, itemsEach, workers = 3, 16, 2, 32
	world, err := hostile.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	registryServer(t)
	modest := namespace(t)
	bringUp := func(name string) time.Duration {
		begun := time.Now()
		waitSucceeded(t, create(t, newInstallation(modest, name, oneConfigMap)))
		return time.Since(begun)
	}
	usual := max(bringUp("before-0"), bringUp("before-1"), bringUp("before-2"))
	var late []string
	leave := func() {
		for _, space := range late {
			abandon(t, space)
		}
	}
	defer leave()
	for range lateTenants {
		space := namespace(t)
		late = append(late, space)
		for i := range lateClusters {
			target := fmt.Sprint("late-", i)
			createTarget(t, space, target, start(t, world, hostile.Late(20*time.Second)).Kubeconfig())
			for j := range itemsEach {
				inst := newInstallation(space, fmt.Sprint(target, "-", j), oneConfigMap)
				inst.Spec.Imports.Targets[0].Target = target
				create(t, inst)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	// A request to each of so many clusters waits for its answer.
	if err := world.AwaitReached(ctx, workers); err != nil {
		t.Fatal(err)
	}
	beside := max(bringUp("beside-0"), bringUp("beside-1"), bringUp("beside-2"))
	t.Logf("usually %s, beside clusters that answer late %s", usual, beside)
	limit := func() time.Duration { return 2*usual + 2*time.Second }
	if beside <= limit() {
		return
	}
	// The machine may have become slower, which then shows without the others as well.
	leave()
	if usual = max(usual, min(bringUp("after-0"), bringUp("after-1"), bringUp("after-2"))); beside > limit() {
		t.Errorf("it took %s, usually %s", beside, usual)
	}
}
