package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// StartConsole starts a server with a console, and returns the address of that. The server is a user who has
// the rules that the chart gives for values of the console; config has further fields of its configuration, in
// the flow style of YAML.
func (w *World) StartConsole(t *testing.T, user, config string, values map[string]any) string {
	t.Helper()
	_, address := w.StartConsoleServer(t, user, config, values)
	return address
}

// StartConsoleServer is StartConsole for a test that needs the server as well, or further features.
func (w *World) StartConsoleServer(t *testing.T, user, config string, values map[string]any, features ...string) (server *Server, address string) {
	t.Helper()
	values["enabled"], values["url"] = true, "https://console.example.org"
	gates, on := map[string]any{}, []string{}
	for _, feature := range append(features, "ServerConsole") {
		gates[feature] = true
		on = append(on, feature+"=true")
	}
	rules, err := landscape.WriteRules(w.Lab.Directory, user, map[string]any{
		"featureGates": gates, "console": values,
	})
	if err != nil {
		t.Fatal(err)
	}
	added, err := w.Resource.AddUser(t.Context(), lab.UserOptions{Name: user, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	if address, err = landscape.FreeAddress(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("console: {address: %q, url: %q, %s}\n", address, "http://"+address, strings.TrimSuffix(strings.TrimPrefix(config, "{"), "}"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server = StartServer(t, added.Kubeconfig, "--config", path, "--feature-gates", strings.Join(on, ","))
	return server, "http://" + address
}

// OpenConsole starts the console of the command line as an administrator, and returns its link. It ends with the
// test.
func (w *World) OpenConsole(t *testing.T, args ...string) string {
	t.Helper()
	console, err := landscape.StartConsole(landscape.ConsoleOptions{
		Kubeconfig: w.Resource.Kubeconfig, Args: args, Env: []string{"HOME=" + t.TempDir()}, Errors: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := console.Stop(); err != nil {
			t.Error(err)
		}
	})
	return console.Link
}
