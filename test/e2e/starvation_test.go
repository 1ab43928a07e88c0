package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
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
		inst := shopInstallation(greedy, "1.0.0")
		inst.Name = fmt.Sprint("slow-", i)
		inst.Spec.Imports.Data, inst.Spec.ImportDataMappings = nil, nil
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
