package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// burnVariable makes the test binary keep one processor busy for a while.
const burnVariable = "LAB_TEST_BURN"

// burnLimit bounds the life of a burner whose test does not end it.
const burnLimit = 2 * time.Minute

// burners for each processor give the load under which labs once failed: ten on two.
const burners = 5

// burn keeps a processor busy.
func burn() {
	for end := time.Now().Add(burnLimit); time.Now().Before(end); {
		for n := range 1 << 20 {
			_ = n * n
		}
	}
}

// keepBusy loads the machine until the returned function is called.
func keepBusy(t *testing.T, processes int) (stop func()) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var running []*exec.Cmd
	stop = func() {
		for _, cmd := range running {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		running = nil
	}
	t.Cleanup(func() { stop() })
	for range processes {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), burnVariable+"=1", "GOMAXPROCS=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	return stop
}

// processors counts those that the machine has, whatever this process may use.
func processors(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	return max(1, strings.Count("\n"+string(content), "\nprocessor"))
}

// TestUpOnABusyMachine starts a lab while everything else wants the processors, too.
func TestUpOnABusyMachine(t *testing.T) {
	stop := keepBusy(t, burners*processors(t))
	began := time.Now()
	l := upForTest(t, "--clusters", "busy", "--profiling")
	t.Logf("up after %.1f s under load", time.Since(began).Seconds())
	stop()
	client := clientset(t, l.Clusters["busy"].Kubeconfig)
	profile, err := client.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/goroutine").Param("debug", "1").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(profile), "goroutine profile") {
		t.Errorf("with --profiling, the API server's profile: %.100q (%v)", profile, err)
	}
}

// TestGivesUpEarly shows that the lab does not take the end of a program for its own
// that has lost patience: the controller manager waits ten seconds for an API server
// and no longer.
func TestGivesUpEarly(t *testing.T) {
	l := upForTest(t, "--clusters", "slow")
	before, _ := l.component(t, "slow/controller-manager")
	l.do(t, "kill", "slow/apiserver")
	restarted := make(chan error, 1)
	go func() {
		_, err := run(t.Context(), l.Name, "restart", "slow/controller-manager")
		restarted <- err
	}()
	eventually(t, func() error {
		// One restart is what was asked for; the next is because it gave up.
		if now, _ := l.component(t, "slow/controller-manager"); now.Restarts < before.Restarts+2 {
			return fmt.Errorf("%d restarts, %d before", now.Restarts, before.Restarts)
		}
		return nil
	})
	l.do(t, "restart", "slow/apiserver")
	if err := <-restarted; err != nil {
		t.Error(err)
	}
}
