package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// StartRegistryServer starts a server that trusts the registry of the lab and may connect to
// it. Further lines are added to its configuration.
func (w *World) StartRegistryServer(t *testing.T, lines ...string) *Server {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("kind: LandscaperConfiguration\negress: {allowLoopback: true}\nregistry: {oci: {certificateAuthorities: %s}}\n%s\n", w.Lab.Registry.CAFile, strings.Join(lines, "\n"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return StartServer(t, w.ServerKubeconfig, "--config", config)
}

// RepositoryContext is that of a registry.
func RepositoryContext(t *testing.T, base string) *v1alpha1.UnstructuredTypedObject {
	t.Helper()
	made, err := v1alpha1.NewUnstructuredTypedObject("ociRegistry", map[string]any{"baseUrl": base})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// SetInline gives an Installation a component descriptor.
func SetInline(t *testing.T, inst *v1alpha1.Installation, text string) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Inline: v1alpha1.NewAnyJSONPointer(raw)}
}

// RegistryLogin is a Docker configuration for a host with the user of the registry of the
// lab and a password.
func (w *World) RegistryLogin(host, password string) []byte {
	return fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, host, w.Lab.Registry.Username, password)
}

// WriteFiles writes files into a directory, by their paths in it.
func WriteFiles(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ReadFile returns the content of a file, such as a kubeconfig of the lab.
func ReadFile(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// ChangedKubeconfig returns the kubeconfig of the target cluster with a change.
func (w *World) ChangedKubeconfig(t *testing.T, change func(*clientcmdapi.Config)) string {
	t.Helper()
	config, err := clientcmd.Load([]byte(w.TargetKubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
