package landscape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.landscaper.dev/test/lab"
)

// program is a script that plays the server.
func program(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestServerThatEnds(t *testing.T) {
	s, err := Launch(Options{Program: program(t, `echo "$@"; echo $COLOR; exit 3`), Kubeconfig: "a.kubeconfig", Args: []string{"--more"}, Env: []string{"COLOR=green"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitReady(t.Context()); err == nil || !strings.Contains(err.Error(), "green") {
		t.Errorf("a server that has ended: %v; want an error with its last words", err)
	}
	<-s.Ended()
	if code := s.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"run --kubeconfig a.kubeconfig", "--health-address " + s.Health(), "--verbose", "--more"} {
		if !strings.Contains(s.Output(), want) {
			t.Errorf("%q is not in %q", want, s.Output())
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop of an ended server: %v", err)
	}
}

func TestServerEndsWithStop(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := RunUnready(t, Options{Program: program(t, `trap 'echo asked; exit 0' TERM; echo here; while :; do sleep 0.01; done`), Log: log, Quiet: true})
	for !strings.Contains(s.Output(), "here") {
		select {
		case <-s.Ended():
			t.Fatal("the server has ended")
		case <-time.After(time.Millisecond):
		}
	}
	if memory, err := s.PeakMemory(); err != nil || memory == 0 {
		t.Errorf("memory %d (%v)", memory, err)
	}
	if _, err := s.CPU(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil || s.ExitCode() != 0 {
		t.Errorf("stop: %v, exit code %d", err, s.ExitCode())
	}
	if content, err := os.ReadFile(log); err != nil || !strings.Contains(string(content), "asked") {
		t.Errorf("the log has %q (%v)", content, err)
	}
	if err := syscall.Kill(s.PID(), 0); err == nil {
		t.Error("the process is still there")
	}
}

// judged is a test whose failures are looked at.
type judged struct {
	*testing.T
	said    string
	cleanup func()
}

func (j *judged) Cleanup(cleanup func())            { j.cleanup = cleanup }
func (j *judged) Fatalf(format string, args ...any) { j.said = fmt.Sprintf(format, args...) }

// TestDataRace: what the race detector finds in the server fails the test that runs it.
func TestDataRace(t *testing.T) {
	for _, test := range []struct{ reason, says, want string }{
		{"a race that is reported", "echo WARNING: DATA RACE; echo in x.go", "in x.go"},
		{"none", "echo a usual line", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := &judged{T: t}
			s := RunUnready(w, Options{Program: program(t, test.says)})
			<-s.Ended()
			w.cleanup()
			if !strings.Contains(w.said, test.want) || test.want == "" && w.said != "" {
				t.Errorf("got %q", w.said)
			}
		})
	}
}

// TestProgram: programs of another directory take the place of those in bin.
func TestProgram(t *testing.T) {
	other := program(t, "exit 0")
	t.Setenv(programs, filepath.Dir(other))
	if got, err := Program("program"); err != nil || got != other {
		t.Errorf("got %s (%v)", got, err)
	}
	if got, err := Program("none"); err == nil || strings.HasPrefix(got, filepath.Dir(other)) {
		t.Errorf("a missing file was found: %s", got)
	}
}

func TestParse(t *testing.T) {
	stat := "17 (a name) S 1 17 17 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 100"
	if cpu, err := parseCPU(stat); err != nil || cpu != 3*time.Second {
		t.Errorf("CPU %s (%v)", cpu, err)
	}
	if _, err := parseCPU("17 (a"); err == nil {
		t.Error("half a line has a CPU time")
	}
	if memory, err := parseMemory("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n", "VmHWM:"); err != nil || memory != 2<<20 {
		t.Errorf("memory %d (%v)", memory, err)
	}
	if _, err := parseMemory("", "VmHWM:"); err == nil {
		t.Error("nothing has memory")
	}
}

func TestCounted(t *testing.T) {
	tests := []struct {
		reason  string
		request lab.Request
		want    bool
	}{
		{"a write counts", lab.Request{Verb: "update", Resource: "installations/status"}, true},
		{"a watch costs nothing while nothing happens", lab.Request{Verb: "watch", Resource: "installations"}, false},
		{"a lease is not the work", lab.Request{Verb: "update", Resource: "leases.coordination.k8s.io"}, false},
	}
	var requests []Request
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := counts(test.request); got != test.want {
				t.Errorf("got %t", got)
			}
		})
		requests = append(requests, Request{"a", test.request})
	}
	if sums := Sums(append(requests, requests[0])); sums["a update installations/status"] != 2 {
		t.Errorf("sums %v", sums)
	}
}
