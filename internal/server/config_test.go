package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	tests := []struct {
		reason, file string
		check        func(Config) bool
		warning      string
		wantErr      string
	}{
		{"workers of each kind", "controllers: {installations: {workers: 3}, executions: {workers: 4}, deployItems: {workers: 5}, contexts: {workers: 6}}",
			func(c Config) bool {
				return c.Workers[Installations] == 3 && c.Workers[Executions] == 4 && c.Workers[Manifests] == 5 && c.Workers[Contexts] == 6
			}, "", ""},
		{"default Contexts as the type spells them", "controllers: {contexts: {config: {default: {excludedNamespaces: [a], repositoryContext: {type: ociRegistry, baseUrl: x}}}}}",
			func(c Config) bool {
				return slices.Equal(c.ExcludedNamespaces, []string{"a"}) && c.RepositoryContext.Type() == "ociRegistry"
			}, "", ""},
		{"default Contexts as published examples spell them", "controllers: {context: {config: {default: {excludeNamespaces: [a], disable: true}}}}",
			func(c Config) bool {
				return slices.Equal(c.ExcludedNamespaces, []string{"a"}) && !slices.Contains(c.Controllers, Contexts)
			}, "", ""},
		{"the repository at its old place", "repositoryContext: {type: ociRegistry, baseUrl: x}", func(c Config) bool { return c.RepositoryContext.Type() == "ociRegistry" }, "", ""},
		{"metrics and time limits", "metrics: {port: 9999}\ndeployItemTimeouts: {pickup: none}", func(c Config) bool { return c.MetricsAddress == ":9999" && c.PickupTimeout == 0 }, "", ""},
		{"nothing given keeps what works", "kind: LandscaperConfiguration", func(c Config) bool {
			return c.PickupTimeout == 5*time.Minute && slices.Equal(c.Controllers, Controllers())
		}, "", ""},
		{"permissions", "importNamespaces: [{from: shared, to: [a, b]}]", func(c Config) bool { return slices.Equal(c.SourceNamespaces["shared"], []string{"a", "b"}) }, "", ""},
		{"a key without effect is a warning", "blueprintStore: {path: x}", func(Config) bool { return true }, "blueprintStore", ""},
		{"a wrong duration", "deployItemTimeouts: {pickup: soon}", nil, "", "deployItemTimeouts.pickup"},
		{"a file of another kind", "kind: Pod", nil, "", "is of kind Pod"},
		{"no YAML", "a: [", nil, "", "decode configuration"},
	}
	for _, test := range tests {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		config := Default()
		warnings, err := config.Load(path)
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.wantErr)
			}
			continue
		}
		if err != nil || !test.check(config) {
			t.Errorf("%s: %+v, %v", test.reason, config, err)
		}
		if got := strings.Join(warnings, "\n"); (test.warning == "") != (got == "") || !strings.Contains(got, test.warning) {
			t.Errorf("%s: warnings %q", test.reason, got)
		}
	}
}

func TestValidate(t *testing.T) {
	config := Default()
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	config.Controllers = []string{"ghost"}
	if err := config.Validate(); err == nil || !strings.Contains(err.Error(), `there is no controller "ghost": choose from installation, execution, context, manifest`) {
		t.Errorf("got %v", err)
	}
	config.Controllers = nil
	if err := config.Validate(); err == nil {
		t.Error("a process without controllers has nothing to do")
	}
}
