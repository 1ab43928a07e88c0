package resilience

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/scenario"
)

// supervised is a server that is started again whenever it has ended, as kubelet does.
type supervised struct {
	*scenario.Server
	mutex sync.Mutex
	ends  int
}

// supervise starts a server. It is not started again after the context has ended.
func supervise(ctx context.Context, t *testing.T, args ...string) (s *supervised, ended <-chan struct{}) {
	t.Helper()
	s = &supervised{Server: scenario.StartServer(t, env.ServerKubeconfig, args...)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.Ended():
			}
			if ctx.Err() != nil {
				return
			}
			s.mutex.Lock()
			s.ends++
			s.mutex.Unlock()
			// A server that is ended before it is ready is started again like any other.
			if err := s.Restart(ctx); err != nil {
				t.Logf("the server was started again: %v", err)
			}
		}
	}()
	return s, done
}

func (s *supervised) count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.ends
}

// kill ends the process at once, as the kernel does when its memory is used up.
func (s *supervised) kill() { _ = s.Signal(os.Kill) }

// TestNoCrashLoop: some tenants have an item that ends the server each time it is deployed. The server
// ends more than ten times, and each of these items fails after its third time; the Installations of
// another tenant succeed all the while, and the server lives in the end.
func TestNoCrashLoop(t *testing.T) {
	const deadlyTenants, atLeast = 5, 10
	world, err := hostile.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	server, ended := supervise(ctx, t, "--attempt-notes", filepath.Join(t.TempDir(), "attempts"))
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	modest := namespace(t)
	waitSucceeded(t, create(t, newInstallation(modest, "before", oneConfigMap)))
	var deadly []*v1alpha1.Installation
	for range deadlyTenants {
		space := namespace(t)
		createTarget(t, space, "deadly", start(t, world, hostile.Deadly(server.kill)).Kubeconfig())
		inst := newInstallation(space, "deadly", oneConfigMap)
		inst.Spec.Imports.Targets[0].Target = "deadly"
		deadly = append(deadly, create(t, inst))
	}
	beside := 0
	for ; !allEnded(t, deadly); beside++ {
		waitSucceeded(t, create(t, newInstallation(modest, fmt.Sprint("beside-", beside), oneConfigMap)))
	}
	ends := server.count()
	t.Logf("the server ended %d times, and %d Installations of another tenant have succeeded meanwhile", ends, beside)
	if ends < atLeast || ends > deadlyTenants*3 {
		t.Errorf("the server ended %d times, want %d to %d", ends, atLeast, deadlyTenants*3)
	}
	for _, inst := range deadly {
		if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), inst); err != nil {
			t.Fatal(err)
		}
		if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || inst.Status.LastError == nil || !strings.Contains(inst.Status.LastError.Message, "the server ended 3 times during this attempt on DeployItem") {
			t.Errorf("%s ends in phase %s: %+v", client.ObjectKeyFromObject(inst), inst.Status.InstallationPhase, inst.Status.LastError)
		}
	}
	waitSucceeded(t, create(t, newInstallation(modest, "after", oneConfigMap)))
	if again := server.count(); again != ends {
		t.Errorf("the server ended %d times more, when nothing was left to end it", again-ends)
	}
}

// allEnded reports whether the jobs of some Installations have ended.
func allEnded(t *testing.T, installations []*v1alpha1.Installation) bool {
	t.Helper()
	for _, inst := range installations {
		if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), inst); err != nil {
			t.Fatal(err)
		}
		if inst.Status.JobID == "" || inst.Status.JobID != inst.Status.JobIDFinished {
			return false
		}
	}
	return true
}
