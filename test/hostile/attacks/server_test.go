package attacks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/landscape"
)

const (
	// memoryLimit is what the server and its processes for foreign work have together; memoryEnd is
	// where the test ends them before they harm the machine.
	memoryLimit, memoryEnd = 512 << 20, 2 << 30
	// sampled is how often their memory is read where the kernel does not keep the peak.
	sampled = 20 * time.Millisecond
)

// limited is a server with little memory, and what knows how much it takes.
type limited struct {
	*landscape.Server
	group *controlGroup // nil: nothing but the server itself keeps it within its memory
	mutex sync.Mutex
	peak  int64
	parts string // of the peak
}

// startLimited starts a server with memoryLimit that trusts the certificates of hostile servers: what
// they do must not depend on that.
func startLimited(t *testing.T, world *hostile.World) *limited {
	t.Helper()
	directory := t.TempDir()
	authority, config := filepath.Join(directory, "ca.pem"), filepath.Join(directory, "config.yaml")
	text := fmt.Sprintf("kind: LandscaperConfiguration\nregistry: {oci: {certificateAuthorities: %s}}\n", authority)
	for file, content := range map[string][]byte{authority: world.CA, config: []byte(text)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := landscape.Options{Kubeconfig: env.ServerKubeconfig, Args: []string{"--config", config, "--attempt-notes", filepath.Join(directory, "attempts")}, Quiet: true}
	s := &limited{group: newControlGroup(t, controlGroups)}
	if s.group == nil {
		t.Log("there are no control groups of version 2 that may be changed: GOMEMLIMIT tells the server what it has, and the memory of its processes is summed up")
		options.Env = []string{fmt.Sprintf("GOMEMLIMIT=%d", memoryLimit/2)}
	} else {
		t.Log("the server runs in", s.group.directory)
		options.ControlGroup = s.group.directory
	}
	s.Server = landscape.Run(t, options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		s.watch(ctx)
	}()
	return s
}

// watch keeps the peak, and the machine alive.
func (s *limited) watch(ctx context.Context) {
	tick := time.NewTicker(sampled)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Ended():
			return
		case <-tick.C:
		}
		now, parts, err := s.memory()
		if err != nil {
			continue // it ends
		}
		s.mutex.Lock()
		if now > s.peak {
			s.peak, s.parts = now, parts
		}
		s.mutex.Unlock()
		if now > memoryEnd {
			_ = s.Kill()
		}
	}
}

// takePeak returns the peak since the last call, and whose memory it was.
func (s *limited) takePeak() (peak int64, parts string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	peak, parts = s.peak, s.parts
	s.peak, s.parts = 0, ""
	return peak, parts
}

// killed counts processes that the kernel has ended for their memory; 0 where it does not say so.
func (s *limited) killed() int64 {
	if s.group == nil {
		return 0
	}
	return s.group.killed()
}

// memory is what the server and its processes take now.
func (s *limited) memory() (sum int64, parts string, err error) {
	if s.group != nil {
		sum, err = s.group.number("memory.current")
		return sum, "of the control group", err
	}
	return summed(s.PID())
}

// endWorks ends the processes that still compute for an attack that is over, so that each row has its
// attack for itself. It returns when none has computed for a while.
func (s *limited) endWorks(t *testing.T) {
	t.Helper()
	const between, quiet, most = 100 * time.Millisecond, 3, 20 * time.Second
	begun := time.Now()
	tick := time.NewTicker(between)
	defer tick.Stop()
	before := map[int]int64{}
	for still := 0; still < quiet; <-tick.C {
		if time.Since(begun) > most {
			t.Errorf("works of the attack still begin %s after its end", most)
			return
		}
		still++
		children, err := childrenOf(s.PID())
		if err != nil {
			return // the server has ended
		}
		for _, child := range children {
			ticks, last := ticksOf(child), before[child]
			before[child] = ticks
			if last > 0 && ticks > last+1 {
				still = 0
				_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended
			}
		}
	}
}

// ticksOf is how long a process has computed, in hundredths of a second; 0 if it has ended.
func ticksOf(pid int) (ticks int64) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if err != nil || len(fields) < 13 {
		return 0
	}
	for _, field := range fields[11:13] {
		more, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += more
	}
	return ticks
}

// childrenOf are the processes that a process has started. One that has not begun its program yet
// still has the memory of its parent, and is left out.
func childrenOf(pid int) (found []int, err error) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			number, err := strconv.Atoi(child)
			if err != nil {
				return nil, err
			}
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", number)); err == nil && strings.Contains(string(line), sandbox.Command) {
				found = append(found, number)
			}
		}
	}
	return found, nil
}

// summed is the memory of a process and its children. What is mapped from files, mostly the program
// itself, is there once for all of them.
func summed(pid int) (sum int64, parts string, err error) {
	own, files, err := residentOf(pid)
	if err != nil {
		return 0, "", err
	}
	all := []int64{own >> 20}
	children, err := childrenOf(pid)
	if err != nil {
		return 0, "", err
	}
	for _, child := range children {
		more, mapped, err := residentOf(child)
		if err == nil { // else it has ended
			own, files = own+more, max(files, mapped)
			all = append(all, more>>20)
		}
	}
	return own + files, fmt.Sprintf("the server and its processes %v, files %d", all, files>>20), nil
}

// residentOf is the memory of one process: its own, and that of files.
func residentOf(pid int) (own, files int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, text, _ := strings.Cut(line, ":")
		into := &own
		switch name {
		case "RssFile":
			into = &files
		case "RssAnon", "RssShmem":
		default:
			continue
		}
		var kilobytes int64
		if _, err := fmt.Sscan(text, &kilobytes); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		*into += kilobytes << 10
	}
	return own, files, nil
}

// controlGroups is where the kernel has control groups of version 2.
const controlGroups = "/sys/fs/cgroup"

// controlGroup is a control group of version 2 with memoryLimit.
type controlGroup struct{ directory string }

// newControlGroup makes a control group, or returns nil where none can be made. It ends with the test.
func newControlGroup(t *testing.T, root string) *controlGroup {
	t.Helper()
	g := &controlGroup{filepath.Join(root, fmt.Sprint("landscaper-attacks-", os.Getpid()))}
	if err := os.Mkdir(g.directory, 0o755); err != nil {
		return nil
	}
	limit := filepath.Join(g.directory, "memory.max")
	if _, err := os.Stat(limit); err != nil { // a group without control of memory
		_ = os.Remove(g.directory)
		return nil
	}
	t.Cleanup(func() {
		if err := os.Remove(g.directory); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(limit, []byte(strconv.Itoa(memoryLimit)), 0o600); err != nil {
		t.Fatal(err)
	}
	// Without swap, the limit is one. A machine without any has no such file.
	if err := os.WriteFile(filepath.Join(g.directory, "memory.swap.max"), []byte("0"), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return g
}

func (g *controlGroup) number(file string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.directory, file))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// killed is how many processes of the group the kernel has ended for their memory.
func (g *controlGroup) killed() (count int64) {
	text, err := os.ReadFile(filepath.Join(g.directory, "memory.events"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "oom_kill %d", &count); err == nil {
			return count
		}
	}
	return 0
}

// TestControlGroup: a directory that is no control group is not used, and left as it was.
func TestControlGroup(t *testing.T) {
	root := t.TempDir()
	if g := newControlGroup(t, root); g != nil {
		t.Errorf("%s is used", g.directory)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
