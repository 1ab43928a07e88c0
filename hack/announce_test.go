package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAnnounce: how long a target of make takes is said from what is built.
func TestAnnounce(t *testing.T) {
	const server, tools = "landscaper-cli", "lab-tools/"
	later := time.Now().Add(time.Hour)
	for _, test := range []struct {
		reason string
		built  []string
		age    time.Time
		want   string
	}{
		{"nothing is built", nil, later, "make demo: up to 16 minutes on two cores to build Landscaper, the control plane of Kubernetes, the registry, Flux, once; then 20 seconds.\n"},
		{"the tools of the lab are built", []string{tools + "controlplane-1", tools + "registry-1", tools + "source-controller-1", tools + "kustomize-controller-1"}, later,
			"make demo: up to 6 minutes on two cores to build Landscaper, once; then 20 seconds.\n"},
		{"a tool of the lab is missing", []string{server, tools + "controlplane-1", tools + "source-controller-1", tools + "kustomize-controller-1"}, later,
			"make demo: up to 1 minute on two cores to build the registry, once; then 20 seconds.\n"},
		{"everything is built, and sources have changed", []string{server, tools + "controlplane-1", tools + "registry-1", tools + "source-controller-1", tools + "kustomize-controller-1"}, time.Unix(1, 0),
			"make demo: up to a minute to build what has changed; then 20 seconds.\n"},
		{"everything is built", []string{server, tools + "controlplane-1", tools + "registry-1", tools + "source-controller-1", tools + "kustomize-controller-1"}, later,
			"make demo: 20 seconds; everything is built.\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range test.built {
				path := filepath.Join(bin, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, test.age, test.age); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), "./announce.sh", "make demo", "20 seconds", "controlplane", "registry", "source-controller", "kustomize-controller")
			command.Env = append(os.Environ(), "BIN="+bin, "LAB_TOOLS="+filepath.Join(bin, "lab-tools"))
			if output, err := command.CombinedOutput(); err != nil || string(output) != test.want {
				t.Errorf("%q, want %q (%v)", output, test.want, err)
			}
		})
	}
}
