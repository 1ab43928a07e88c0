package show

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
)

// outputMode is a value of -o.
type outputMode string

const (
	outputTree outputMode = ""
	outputWide outputMode = "wide"
	outputYAML outputMode = "yaml"
	outputJSON outputMode = "json"
	// outputTreeJSON is the tree as inspect.Node, for programs.
	outputTreeJSON outputMode = "tree-json"
)

// structured tells that programs read the output.
func (m outputMode) structured() bool {
	return m == outputYAML || m == outputJSON || m == outputTreeJSON
}

// outputFlags are -o and the flags that older releases had before it.
type outputFlags struct {
	output           string
	yaml, json, wide bool
	mode             outputMode
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", "wide, yaml, json or tree-json (default: a tree)")
	flags.BoolVarP(&f.yaml, "oyaml", "y", false, "same as -o yaml")
	flags.BoolVarP(&f.json, "ojson", "j", false, "same as -o json")
	flags.BoolVarP(&f.wide, "owide", "w", false, "same as -o wide")
}

// check finds the one mode that the flags ask for.
func (f *outputFlags) check() error {
	mode := outputMode(f.output)
	switch mode {
	case outputTree, outputYAML, outputJSON, outputWide, outputTreeJSON:
	default:
		return fmt.Errorf("invalid option for '--output'/'-o' flag: %q", f.output)
	}
	asked := map[outputMode]bool{
		outputYAML: f.yaml || mode == outputYAML,
		outputJSON: f.json || mode == outputJSON,
		outputWide: f.wide || mode == outputWide,
	}
	f.mode = mode
	count := 0
	for candidate, wanted := range asked {
		if wanted {
			f.mode = candidate
			count++
		}
	}
	if count > 1 || count > 0 && mode == outputTreeJSON {
		return fmt.Errorf("no more than one output mode may be set: yaml=%t, json=%t, wide=%t", asked[outputYAML], asked[outputJSON], asked[outputWide])
	}
	return nil
}

// write prints trees for programs. There is no line break after JSON; older
// releases had none.
func (m outputMode) write(out io.Writer, trees []*inspect.Node) error {
	var result any = installationTrees(trees)
	switch m {
	case outputYAML:
		return terminal.WriteYAML(out, result)
	case outputTreeJSON:
		result = map[string]any{"apiVersion": "cli." + v1alpha1.GroupName + "/v1alpha1", "kind": "InstallationTree", "items": items(trees)}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("print as %s: %w", m, err)
	}
	_, err = terminal.JSON(out).Write(text)
	return err
}

// items makes an empty list [] and not null.
func items[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// installationTree is the published shape of a tree in YAML and JSON.
type installationTree struct {
	Installation     *v1alpha1.Installation `json:"installation"`
	SubInstallations []*installationTree    `json:"subInstallations,omitempty"`
	Execution        *executionTree         `json:"execution,omitempty"`
}

type executionTree struct {
	Execution   *v1alpha1.Execution `json:"execution"`
	DeployItems []*deployItemLeaf   `json:"deployItems"`
}

type deployItemLeaf struct {
	DeployItem *v1alpha1.DeployItem `json:"deployItem"`
}

func installationTrees(nodes []*inspect.Node) []*installationTree {
	trees := []*installationTree{}
	for _, node := range nodes {
		trees = append(trees, newInstallationTree(node))
	}
	return trees
}

func newInstallationTree(node *inspect.Node) *installationTree {
	result := &installationTree{Installation: node.Installation}
	for _, child := range node.Children {
		switch {
		case child.Kind == inspect.KindInstallation:
			result.SubInstallations = append(result.SubInstallations, newInstallationTree(child))
		case child.State != inspect.Missing:
			result.Execution = newExecutionTree(child)
		}
	}
	return result
}

func newExecutionTree(node *inspect.Node) *executionTree {
	result := &executionTree{Execution: node.Execution, DeployItems: []*deployItemLeaf{}}
	for _, child := range node.Children {
		result.DeployItems = append(result.DeployItems, &deployItemLeaf{DeployItem: child.DeployItem})
	}
	return result
}
