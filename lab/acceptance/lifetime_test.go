package acceptance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.landscaper.dev/lab/internal/report"
)

// beOwner brings a lab up, owned by this process, and waits to be killed.
func beOwner(name string) {
	if _, err := up(context.Background(), name, "--clusters", "one", "--with", "registry,git"); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("up")
	for {
		// Go ends a program in which nothing but an empty select is left.
		_ = syscall.Pause()
	}
}

// processes are the ids of all processes of a lab.
func processes(l report.Lab) []int {
	ids := []int{l.PID}
	for _, component := range l.Components {
		ids = append(ids, component.PID)
	}
	return ids
}

// awaitNothing waits until nothing is left of a lab: no process, no listener, no
// file.
func awaitNothing(t *testing.T, l report.Lab) {
	t.Helper()
	awaitNoProcess(t, l)
	eventually(t, func() error {
		if _, err := os.Stat(l.Directory); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is still there (%v)", l.Directory, err)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(l.Directory), "."+l.Name+"*")); err != nil || len(left) > 0 {
			return fmt.Errorf("%v is still there (%v)", left, err)
		}
		return nil
	})
	for name, cluster := range l.Clusters {
		if listening(t, cluster.Server) {
			t.Errorf("cluster %s still has a listener", name)
		}
	}
}

func awaitNoProcess(t *testing.T, l report.Lab) {
	t.Helper()
	for _, id := range processes(l) {
		eventually(t, func() error {
			if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("process %d is still there (%v)", id, err)
			}
			return nil
		})
	}
}

func listening(t *testing.T, server string) bool {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", address.Host)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

func TestKilledOwnerTakesTheLabAlong(t *testing.T) {
	t.Parallel()
	name := uniqueName(t)
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), ownerVariable+"="+name)
	output, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "up\n" {
		t.Fatalf("the owner said %q (%v)", line, err)
	}
	l := lab{report.Lab{Name: name}}
	l.doJSON(t, &l.Lab, "status", "--json")
	if len(l.Components) < 5 {
		t.Fatalf("the lab has only %d components", len(l.Components))
	}
	if err := owner.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	awaitNothing(t, l.Lab)
}

func TestKilledSupervisorTakesItsProcessesAlong(t *testing.T) {
	t.Parallel()
	l := upForTest(t, "--with", "registry,git")
	if err := syscall.Kill(l.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitNoProcess(t, l.Lab)
	if all := l.do(t, "status", "--all"); !strings.Contains(lineWith(all, l.Name), "dead") {
		t.Errorf("status does not show the dead lab:\n%s", all)
	}
	if _, err := run(t.Context(), l.Name, "status"); err == nil || !strings.Contains(err.Error(), "lab down") {
		t.Errorf("status of the dead lab: %v, want an error that says what to do", err)
	}
	// Others that remove what the dead left do not touch the living.
	shared.do(t, "down", "--dead")
	if _, err := clientset(t, shared.Clusters["plain"].Kubeconfig).Discovery().ServerVersion(); err != nil {
		t.Errorf("the living lab was disturbed: %v", err)
	}
	if all := l.do(t, "status", "--all"); lineWith(all, l.Name) != "" {
		t.Errorf("the dead lab is still there:\n%s", all)
	}
	again, err := up(t.Context(), l.Name)
	if err != nil {
		t.Fatal(err)
	}
	if again.PID == l.PID || again.Registry != nil {
		t.Errorf("the new lab has something of the old one: %+v", again)
	}
}

func lineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

func TestUpThatIsEndedEarlyLeavesNothing(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			endUpEarly(t, signal)
		})
	}
}

func endUpEarly(t *testing.T, signal syscall.Signal) {
	name := uniqueName(t)
	// No owner: this lab would stay if "up" lived to see it ready.
	cmd := exec.Command(program(), "up", "--name", name, "--with", "registry,git")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := lab{report.Lab{Name: name}}
	eventually(t, func() error {
		output, err := run(t.Context(), name, "logs", "a-component-that-is-not-there")
		if err == nil || !strings.Contains(err.Error(), "cluster/etcd") {
			return fmt.Errorf("no process yet: %s %w", output, err)
		}
		return nil
	})
	l.doJSON(t, &l.Lab, "status", "--json")
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("up was not ended early")
	}
	awaitNothing(t, l.Lab)
}

func TestDownIsComplete(t *testing.T) {
	t.Parallel()
	l := upForTest(t, "--with", "registry,git")
	l.do(t, "kubeconfig", "cluster", "--through-proxy")
	l.doJSON(t, &l.Lab, "status", "--json")
	l.do(t, "down")
	awaitNothing(t, l.Lab)
	l.do(t, "down") // a second time is no error
}

func TestLabWithoutOwnerStaysUntilDown(t *testing.T) {
	t.Parallel()
	name := uniqueName(t)
	// The shell that starts it ends at once.
	output, err := exec.Command("sh", "-c", program()+" up --clusters '' --with git --name "+name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	l := lab{report.Lab{Name: name}}
	l.doJSON(t, &l.Lab, "status", "--json")
	if component, _ := l.component(t, "git"); component.State != "running" {
		t.Errorf("git is %+v", component)
	}
	l.do(t, "down")
	awaitNothing(t, l.Lab)
}

func TestLabsSideBySideShareNothing(t *testing.T) {
	t.Parallel()
	const number = 4
	labs := make(chan *lab, number)
	for i := range number {
		go func() {
			l, err := up(t.Context(), fmt.Sprintf("side-%d-%d", i, os.Getpid()), "--clusters", "", "--with", "registry,git")
			if err != nil {
				t.Error(err)
			}
			labs <- l
		}()
	}
	var addresses, directories []string
	for range number {
		l := <-labs
		if l == nil {
			continue
		}
		addresses = append(addresses, l.Registry.Address, l.Git.HTTP, l.Git.SSH)
		directories = append(directories, l.Directory)
		defer func() { _ = l.down(context.Background()) }()
	}
	for _, list := range [][]string{addresses, directories} {
		slices.Sort(list)
		if unique := slices.Compact(slices.Clone(list)); len(unique) != len(list) {
			t.Errorf("used twice: %q", list)
		}
	}
}

func TestNameOfALivingLabIsRefused(t *testing.T) {
	_, err := up(t.Context(), shared.Name)
	if err == nil || !strings.Contains(err.Error(), "up already") || !strings.Contains(err.Error(), "--name") {
		t.Errorf("second up: %v, want an error that says what to do", err)
	}
	if _, err := clientset(t, shared.Clusters["plain"].Kubeconfig).Discovery().ServerVersion(); err != nil {
		t.Errorf("the living lab was disturbed: %v", err)
	}
}

func TestWrongRequestsAreExplained(t *testing.T) {
	for _, row := range []struct {
		args   []string
		want   []string
		reason string
	}{
		{[]string{"up", "--clusters", "A b"}, []string{"cluster name", "lower-case"}, "names become file and object names"},
		{[]string{"up", "--clusters", "a,a"}, []string{"twice"}, "clusters are found by name"},
		{[]string{"up", "--with", "helm"}, []string{"helm", "registry-tls"}, "the known options are named"},
		{[]string{"up", "--with", "flux=other"}, []string{"flux=CLUSTER", "cluster"}, "the option needs a cluster of this lab"},
		{[]string{"up", "--with", "kwok"}, []string{"kwok=CLUSTER"}, "the option needs a cluster"},
		{[]string{"up", "--clusters", "a,b", "--with", "issuer=a,issuer=b"}, []string{"issuer=b", "a already"}, "one cluster is the issuer"},
		{[]string{"up", "--with", "issuer=other"}, []string{"issuer=CLUSTER"}, "the issuer is a cluster of this lab"},
		{[]string{"up", "--kwok-nodes", "0", "--with", "kwok=cluster"}, []string{"--kwok-nodes"}, "no node is no use"},
		{[]string{"up", "--kubernetes", "v1.34.2"}, []string{"--kubernetes", "1.34"}, "programs behave like minor versions"},
		{[]string{"up", "--owner-pid", "999999999"}, []string{"owner"}, "the owner must live"},
		{[]string{"status"}, []string{"lab up", "--name"}, "there is no lab of the name"},
		{[]string{"frobnicate"}, []string{"unknown command"}, "commands are known"},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			_, err := run(t.Context(), "wrong-"+fmt.Sprint(os.Getpid()), row.args...)
			if err == nil {
				t.Fatalf("no error: %s", row.reason)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not mention %q: %s", err, want, row.reason)
				}
			}
		})
	}
	for _, args := range [][]string{{"kubeconfig", "nope"}, {"audit", "nope"}, {"fault", "show", "nope"}, {"kill", "nope/etcd"}, {"logs", "nope"}, {"restart", "nope"}} {
		if _, err := run(t.Context(), shared.Name, args...); err == nil || !strings.Contains(err.Error(), "nope") {
			t.Errorf("%v: %v, want an error that names what is missing", args, err)
		}
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, args := range [][]string{{}, {"up"}, {"user"}, {"audit"}, {"fault"}, {"kill"}, {"restart"}, {"logs"}, {"kubeconfig"}} {
		if help := shared.do(t, append(args, "--help")...); !strings.Contains(help, "Examples:") {
			t.Errorf("the help of %v has no examples", args)
		}
	}
}
