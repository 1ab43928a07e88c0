// Package cli is the lab's command line.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/supervisor"
	"go.landscaper.dev/lab/internal/tools"
)

// settings are the flags that all commands share.
type settings struct {
	root string
	name string
}

// Run executes a command line and returns the exit code.
func Run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	command := newRoot()
	command.SetArgs(args)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return 0
}

const examples = `  # two clusters, the second with the Flux controllers; prints JSON
  lab up --clusters resource,target --with registry,git,flux=target

  # use a cluster
  export KUBECONFIG=$(lab kubeconfig target)
  kubectl get namespaces

  # what runs, and what it costs
  lab status

  # faults: end the API server, bring it back; then let every third write fail
  lab kill target/apiserver
  lab restart target/apiserver
  lab fault add target --verbs update,patch --share 0.33 --status 409

  # the end: no process and no file stays
  lab down`

func newRoot() *cobra.Command {
	s := &settings{}
	root := &cobra.Command{
		Use:   "lab",
		Short: "Real Kubernetes clusters in seconds, without a container engine",
		Long: `lab starts Kubernetes control planes, and on demand an OCI registry, a Git
server, the Flux controllers and simulated nodes, as plain processes on loopback
addresses. Everything lives in one directory and ends with "lab down".`,
		Example:       examples,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&s.root, "dir", defaultRoot(), "directory for all files of all labs ($LAB_DIR)")
	root.PersistentFlags().StringVar(&s.name, "name", defaultName(), "name of the lab; labs of different names run side by side ($LAB_NAME)")
	root.AddCommand(
		newUp(s), newDown(s), newStatus(s), newKubeconfig(s), newUser(s), newAudit(s), newFault(s),
		newGit(s), newLogs(s), newKill(s), newRestart(s), newSnapshot(s), newRestore(s), newBuild(), newSupervise(s), newServe(),
	)
	return root
}

// home is the directory that has the lab's program in its bin directory and the
// lab's sources in its lab directory.
func home() string {
	program, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(filepath.Dir(program))
}

func fromEnvironment(variable, otherwise string) string {
	if value := os.Getenv(variable); value != "" {
		return value
	}
	return otherwise
}

func defaultRoot() string {
	return fromEnvironment("LAB_DIR", filepath.Join(home(), "out", "lab"))
}

func defaultName() string { return fromEnvironment("LAB_NAME", "default") }

func workshop(messages io.Writer) tools.Workshop {
	return tools.Workshop{
		Sources:   fromEnvironment("LAB_SOURCES", filepath.Join(home(), "lab")),
		Directory: fromEnvironment("LAB_TOOLS", filepath.Join(home(), "bin", "lab-tools")),
		Report:    func(message string) { fmt.Fprintln(messages, "lab:", message) },
	}
}

func (s *settings) instance() (instance.Instance, error) {
	root, err := filepath.Abs(s.root)
	if err != nil {
		return instance.Instance{}, fmt.Errorf("find the directory of labs: %w", err)
	}
	if err := instance.CheckName("lab", s.name); err != nil {
		return instance.Instance{}, err
	}
	return instance.Instance{Root: root, Name: s.name}, nil
}

// client connects to the lab's supervisor.
func (s *settings) client() (*supervisor.Client, error) {
	lab, err := s.instance()
	if err != nil {
		return nil, err
	}
	contact, err := lab.Contact()
	if err != nil {
		return nil, fmt.Errorf("lab %s is not up in %s; start it with \"lab up\", or name another with --name or --dir (%w)", lab.Name, lab.Root, err)
	}
	return supervisor.NewClient(contact), nil
}

func printJSON(w io.Writer, content any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(content)
}
