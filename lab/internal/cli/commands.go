package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/report"
	"go.landscaper.dev/lab/internal/supervisor"
	"go.landscaper.dev/lab/internal/tools"
)

func newDown(s *settings) *cobra.Command {
	var all, dead bool
	command := &cobra.Command{
		Use:   "down",
		Short: "End a lab: all its processes, all its files",
		Example: `  lab down
  lab down --name test-1
  lab down --dead   # remove what labs left whose supervisor was killed`,
		Args: arguments,
		RunE: func(command *cobra.Command, _ []string) error {
			lab, err := s.instance()
			if err != nil {
				return err
			}
			if !all && !dead {
				return down(command.Context(), lab)
			}
			labs, err := instance.List(lab.Root)
			if err != nil {
				return err
			}
			for _, lab := range labs {
				if all {
					err = down(command.Context(), lab)
				} else {
					err = removeDead(lab)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "end all labs of the directory, also those that others use")
	command.Flags().BoolVar(&dead, "dead", false, "remove the files of labs that are dead")
	return command
}

// down ends a lab and returns when nothing of it is left. The lock becomes free
// when the supervisor has ended, in whichever way.
func down(ctx context.Context, lab instance.Instance) error {
	if contact, err := lab.Contact(); err == nil {
		// The supervisor may have ended already; the lock shows that.
		_ = supervisor.NewClient(contact).Down(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		lock, err := lab.Lock()
		if err == nil {
			defer lock.Close()
			return lab.Remove()
		}
		if !errors.Is(err, instance.ErrAlive) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lab %s does not end; see %s", lab.Name, lab.Log("supervisor"))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// removeDead removes a lab's files unless it is alive.
func removeDead(lab instance.Instance) error {
	lock, err := lab.Lock()
	if errors.Is(err, instance.ErrAlive) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return lab.Remove()
}

func newKubeconfig(s *settings) *cobra.Command {
	var content, certificate, throughProxy bool
	command := &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print the path of a cluster's administrator kubeconfig",
		Example: `  export KUBECONFIG=$(lab kubeconfig target)
  lab kubeconfig target --content > target.kubeconfig`,
		Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			lab, err := client.Lab(command.Context())
			if err != nil {
				return err
			}
			cluster, found := lab.Clusters[args[0]]
			if !found {
				return fmt.Errorf("lab %s has no cluster %q", lab.Name, args[0])
			}
			if throughProxy {
				proxy, err := client.Proxy(command.Context(), args[0])
				if err != nil {
					return err
				}
				cluster.Kubeconfig, cluster.CertKubeconfig = proxy.Kubeconfig, proxy.CertKubeconfig
			}
			file := cluster.Kubeconfig
			if certificate {
				file = cluster.CertKubeconfig
			}
			return printFile(command.OutOrStdout(), file, content)
		},
	}
	command.Flags().BoolVar(&content, "content", false, "print the kubeconfig itself")
	command.Flags().BoolVar(&certificate, "cert", false, "the one with a client certificate instead of a token")
	command.Flags().BoolVar(&throughProxy, "through-proxy", false, "the one that goes through the cluster's fault proxy, which is started if need be")
	return command
}

func printFile(w io.Writer, file string, content bool) error {
	if !content {
		_, err := fmt.Fprintln(w, file)
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func newLogs(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "logs COMPONENT",
		Short:   "Print what a component wrote (\"supervisor\" for the lab's own log)",
		Example: "  lab logs target/apiserver\n  lab logs registry",
		Args:    arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			lab, err := client.Lab(command.Context())
			if err != nil {
				return err
			}
			if args[0] == "supervisor" {
				return printFile(command.OutOrStdout(), filepath.Join(lab.Directory, "logs", "supervisor.log"), true)
			}
			component, err := find(lab, args[0])
			if err != nil {
				return err
			}
			return printFile(command.OutOrStdout(), component.Log, true)
		},
	}
}

// find finds a component by its name, or a pod by the part of its name that is
// not random.
func find(lab report.Lab, name string) (report.Component, error) {
	names := []string{"supervisor"}
	var similar []report.Component
	for _, component := range lab.Components {
		if component.Name == name {
			return component, nil
		}
		if strings.HasPrefix(component.Name, name+"-") {
			similar = append(similar, component)
		}
		names = append(names, component.Name)
	}
	if len(similar) == 1 {
		return similar[0], nil
	}
	return report.Component{}, fmt.Errorf("lab %s has no component %q; it has %q", lab.Name, name, names)
}

func newKill(s *settings) *cobra.Command {
	var signal string
	command := &cobra.Command{
		Use:   "kill COMPONENT",
		Short: "End a component until it is restarted, or send it another signal",
		Example: `  lab kill target/etcd
  lab kill target/apiserver --signal STOP   # hangs; CONT lets it go on`,
		Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			component, err := client.Signal(command.Context(), supervisor.SignalRequest{Component: args[0], Signal: signal})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), component)
		},
	}
	command.Flags().StringVar(&signal, "signal", "KILL", "KILL, TERM, INT, STOP or CONT")
	return command
}

func newRestart(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "restart COMPONENT",
		Short:   "Kill a component if it runs, start it with its data and ports, and wait until it is ready",
		Example: "  lab restart target/apiserver",
		Args:    arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			component, err := client.Restart(command.Context(), supervisor.RestartRequest{Component: args[0]})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), component)
		},
	}
}

func newBuild() *cobra.Command {
	var prune, lean bool
	command := &cobra.Command{
		Use:   "build [PROGRAM...]",
		Short: "Build all programs that labs need, or those that are named, as far as they are missing",
		Example: `  lab build
  $(lab build kubectl) version --client   # prints where the program is`,
		RunE: func(command *cobra.Command, names []string) error {
			shop := workshop(command.ErrOrStderr())
			shop.Lean = lean
			wanted, err := tools.Named(names)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				wanted = tools.All()
			}
			if err := shop.EnsureAll(command.Context(), wanted); err != nil {
				return err
			}
			if prune {
				return shop.Prune()
			}
			return where(command, shop, names)
		},
	}
	command.Flags().BoolVar(&lean, "lean", false, "build what \"up --lean\" runs")
	command.Flags().BoolVar(&prune, "prune", false, "remove programs of earlier versions")
	return command
}

// where prints the paths of programs.
func where(command *cobra.Command, shop tools.Workshop, names []string) error {
	wanted, err := tools.Named(names)
	if err != nil {
		return err
	}
	for _, tool := range wanted {
		built, err := shop.Ensure(command.Context(), tool)
		if err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), built.Program(tool.Name))
	}
	return nil
}

func newSupervise(s *settings) *cobra.Command {
	var owned bool
	command := &cobra.Command{
		Use:    "supervise",
		Hidden: true, // started by up
		Args:   arguments,
		RunE: func(*cobra.Command, []string) error {
			lab, err := s.instance()
			if err != nil {
				return err
			}
			return supervisor.Supervise(lab, owned)
		},
	}
	command.Flags().BoolVar(&owned, "owned", false, "a descriptor of the lab's owner is inherited")
	return command
}
