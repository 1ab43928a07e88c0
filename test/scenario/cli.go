package scenario

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
)

// CLI runs the built command line against the resource cluster.
func (w *World) CLI(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	labProgram, err := lab.Program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(labProgram), "landscaper-cli"), args...)
	command.Env = []string{"KUBECONFIG=" + w.Resource.Kubeconfig, "HOME=" + t.TempDir()}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), stderr.String()
}

// Planned runs plan, and sees in the audit logs that nothing was written for it. It returns the output
// without the digest, which is another one in each run of a test.
func (w *World) Planned(t *testing.T, space, name string, want int, args ...string) string {
	t.Helper()
	marks := map[*lab.Cluster]lab.Mark{}
	for _, cluster := range []*lab.Cluster{w.Resource, w.Target} {
		mark, err := cluster.Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		marks[cluster] = mark
	}
	code, out, complaints := w.CLI(t, append([]string{"inst", "plan", name, "-n", space}, args...)...)
	if code != want {
		t.Fatalf("code %d, want %d: %s%s", code, want, out, complaints)
	}
	for cluster, mark := range marks {
		requests, err := cluster.Requests(t.Context(), mark, "")
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, request := range requests {
			if !strings.HasPrefix(request.UserAgent, "landscaper-cli") {
				continue
			}
			seen++
			if !request.DryRun && request.Verb != "get" && request.Verb != "list" {
				t.Errorf("plan writes to %s: %s %s %s/%s", cluster.Name, request.Verb, request.Resource, request.Namespace, request.Name)
			}
		}
		if seen == 0 {
			t.Errorf("the log of %s shows no request of the command line", cluster.Name)
		}
	}
	before, digest, named := strings.Cut(out, "\nDigest: sha256:")
	if !named {
		return out // it is for programs
	}
	if len(strings.TrimSpace(digest)) != 64 {
		t.Errorf("the digest is %q", digest)
	}
	return before + "\n"
}
