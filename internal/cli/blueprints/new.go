package blueprints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
)

// firstFiles are those of a new blueprint.
var firstFiles = []struct{ name, text string }{
	{"blueprint.yaml", `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- name: greeting
  type: data
  schema: {type: string, minLength: 1}
exports:
- {name: shown, type: data, schema: {type: string}}
deployExecutions:
- {name: default, type: GoTemplate, file: /deploy.yaml}
exportExecutions:
- name: default
  type: GoTemplate
  template: |
    exports:
      shown: {{ index .deployitems "greeting" "shown" | toJson }}
`},
	{"deploy.yaml", `deployItems:
- name: greeting
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    updateStrategy: update
    manifests:
    - policy: manage
      manifest:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: greeting, namespace: default}
        data:
          text: {{ .imports.greeting | toJson }}
    exports:
      exports:
      - key: shown
        fromResource: {apiVersion: v1, kind: ConfigMap, name: greeting, namespace: default}
        jsonPath: .data.text
`},
	{"blueprint_test.yaml", `# Run it with: landscaper-cli test
apiVersion: local.landscaper.gardener.cloud/v1alpha1
kind: LandscapeTest
blueprint: .
given:
  imports: {greeting: hello}
cases:
- name: a greeting
  expect:
    exports: {shown: hello}
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: greeting, namespace: default}, data: {text: hello}}
    deletion: {remain: []}
- name: an empty greeting
  given: {imports: {greeting: ""}}
  expect: {phase: Failed}
`},
}

// newNewCommand returns the command that writes a blueprint with its first test.
func newNewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "new DIRECTORY",
		Short: "Write a blueprint with its first test",
		Long:  "Write a small blueprint with its first test to a directory, which is created. Files that exist stay as they are, and end the command.",
		Example: `  landscaper-cli blueprints new ./greeting
  landscaper-cli test ./greeting`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(_ *cobra.Command, args []string) error { return writeNew(streams, args[0]) },
	}
	terminal.BeStrict(command)
	return command
}

func writeNew(streams terminal.Streams, directory string) error {
	for _, file := range firstFiles {
		name := filepath.Join(directory, file.name)
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists: name another directory", name)
		}
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	for _, file := range firstFiles {
		if err := terminal.WriteFile(filepath.Join(directory, file.name), []byte(file.text), 0o644); err != nil {
			return fmt.Errorf("write the blueprint: %w", err)
		}
	}
	fmt.Fprintf(streams.Out, "Wrote a blueprint to %s. Run its test with: landscaper-cli test %s\n", directory, directory)
	return nil
}
