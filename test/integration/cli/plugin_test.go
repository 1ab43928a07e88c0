package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/test/showcase"
)

// TestKubectlPlugin lets the real kubectl run the program, with kubectl's flags for a
// connection, and complete names through it.
func TestKubectlPlugin(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Succeeded")
	client, err := showcase.Client("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for _, name := range []string{"kubectl-landscaper", "kubectl_complete-landscaper"} {
		if err := os.Symlink(program, filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	kubectl := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), client, args...)
		command.Env = []string{"KUBECONFIG=" + resource.Kubeconfig, "HOME=" + directory, "PATH=" + directory}
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tree := "[✅ Succeeded] Installation shop\n    └── [✅ Succeeded] Execution shop\n        └── [✅ Succeeded] DeployItem shop-item\n\n"
	if got := kubectl("landscaper", "inspect", "-n", namespace, "--server", resource.Server, "--request-timeout", "30s"); got != tree {
		t.Errorf("%s", got)
	}
	if got := kubectl("landscaper", "inst", "wait", "shop", "--namespace", namespace, "--as", "system:admin", "--as-group", "system:masters"); got != "Installation shop: Succeeded\n" {
		t.Errorf("%s", got)
	}
	if got := kubectl("landscaper", "inspect", "--help"); !strings.Contains(got, "kubectl landscaper inspect [NAME]") {
		t.Errorf("%s", got)
	}
	if got := kubectl("__complete", "landscaper", "inspect", "-n", namespace, ""); !strings.Contains(got, "shop\n") {
		t.Errorf("%s", got)
	}
}
