package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/supervisor"
	"go.landscaper.dev/lab/internal/tools"
)

// minor is a version without patches.
var minor = regexp.MustCompile(`^1\.[1-9][0-9]+$`)

type upFlags struct {
	clusters  []string
	with      []string
	owner     int
	nodes     int
	profiling bool
	lean      bool
	version   string
}

func newUp(s *settings) *cobra.Command {
	flags := &upFlags{}
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a lab and print how to reach everything in it, as JSON",
		Example: `  lab up
  lab up --clusters resource,target-1,target-2
  lab up --clusters a,b --with registry,git,flux=a,kwok=b
  lab up --name test-1 --owner-pid $$   # ends with this shell`,
		Args: arguments,
		RunE: func(command *cobra.Command, _ []string) error { return up(command, s, flags) },
	}
	command.Flags().StringSliceVar(&flags.clusters, "clusters", []string{"cluster"}, "names of the clusters")
	command.Flags().StringSliceVar(&flags.with, "with", nil, "options: registry, registry-auth, registry-tls, git, git-auth, flux=CLUSTER, kwok=CLUSTER, issuer=CLUSTER")
	command.Flags().IntVar(&flags.nodes, "kwok-nodes", 2, "number of nodes of clusters with kwok")
	command.Flags().BoolVar(&flags.profiling, "profiling", false, "let the API servers serve profiles below /debug/pprof")
	command.Flags().BoolVar(&flags.lean, "lean", false, "build Flux without clients for clouds, signatures and encrypted files, unless it is built already")
	command.Flags().StringVar(&flags.version, "kubernetes", fromEnvironment("LAB_KUBERNETES", ""), "version of Kubernetes that the API servers behave like, as in 1.34 ($LAB_KUBERNETES); without it, that of the lab")
	command.Flags().IntVar(&flags.owner, "owner-pid", 0, "take the lab down when this process ends; without it, the lab stays until \"lab down\"")
	return command
}

func up(command *cobra.Command, s *settings, flags *upFlags) error {
	lab, err := s.instance()
	if err != nil {
		return err
	}
	config, err := flags.config(lab.Name)
	if err != nil {
		return err
	}
	shop := workshop(command.ErrOrStderr())
	shop.Lean = config.Lean
	config.Sources, config.ToolDirectory = shop.Sources, shop.Directory
	if err := shop.EnsureAll(command.Context(), needed(config)); err != nil {
		return err
	}
	var owner *os.File
	if flags.owner > 0 {
		if owner, err = supervisor.OpenOwner(flags.owner); err != nil {
			return err
		}
	}
	lock, err := lab.Lock()
	if errors.Is(err, instance.ErrAlive) {
		return fmt.Errorf("lab %s is up already in %s; use it, end it with \"lab down\", or choose another --name", lab.Name, lab.Root)
	} else if err != nil {
		return err
	}
	// The present files were left by a supervisor that was killed.
	if err := lab.Clear(); err != nil {
		return err
	}
	if err := lab.Create(config); err != nil {
		return err
	}
	if err := supervisor.Spawn(command.Context(), lab, lock, owner); err != nil {
		return err
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	described, err := client.Lab(command.Context())
	if err != nil {
		return err
	}
	return printJSON(command.OutOrStdout(), described)
}

// config reads the flags into the configuration of the supervisor.
func (f *upFlags) config(name string) (instance.Config, error) {
	config := instance.Config{Name: name, Clusters: f.clusters, KwokNodes: f.nodes, Profiling: f.profiling, Lean: f.lean, Kubernetes: f.version}
	for i, cluster := range f.clusters {
		if err := instance.CheckName("cluster", cluster); err != nil {
			return config, err
		}
		if slices.Contains(f.clusters[:i], cluster) {
			return config, fmt.Errorf("--clusters names %q twice", cluster)
		}
	}
	if f.version != "" && !minor.MatchString(f.version) {
		return config, fmt.Errorf("--kubernetes %q: use a version like 1.34", f.version)
	}
	if f.nodes < 1 {
		return config, fmt.Errorf("--kwok-nodes %d: use 1 or more", f.nodes)
	}
	for _, option := range f.with {
		if err := f.add(option, &config); err != nil {
			return config, err
		}
	}
	return config, nil
}

func (f *upFlags) add(option string, config *instance.Config) error {
	name, cluster, hasCluster := strings.Cut(option, "=")
	switch {
	case name == "registry" && !hasCluster:
		config.Registry = true
	case name == "registry-auth" && !hasCluster:
		config.Registry, config.RegistryAuth = true, true
	case name == "registry-tls" && !hasCluster:
		config.Registry, config.RegistryTLS = true, true
	case name == "git-auth" && !hasCluster:
		config.Git, config.GitAuth = true, true
	case name == "git" && !hasCluster:
		config.Git = true
	case name == "flux" && slices.Contains(f.clusters, cluster):
		config.Flux = append(config.Flux, cluster)
	case name == "kwok" && slices.Contains(f.clusters, cluster):
		config.Kwok = append(config.Kwok, cluster)
	case name == "issuer" && config.Issuer != "":
		return fmt.Errorf("--with %s: the issuer is %s already; choose one", option, config.Issuer)
	case name == "issuer" && slices.Contains(f.clusters, cluster):
		config.Issuer = cluster
	case name == "flux" || name == "kwok" || name == "issuer":
		return fmt.Errorf("--with %s: say which cluster, as in %s=CLUSTER; the clusters are %q", option, name, f.clusters)
	default:
		return fmt.Errorf("--with %s: unknown; use registry, registry-auth, registry-tls, git, git-auth, flux=CLUSTER, kwok=CLUSTER or issuer=CLUSTER", option)
	}
	return nil
}

// needed are the tools that the lab cannot start without.
func needed(config instance.Config) []tools.Tool {
	var needed []tools.Tool
	if len(config.Clusters) > 0 {
		needed = append(needed, tools.ControlPlane)
	}
	if config.Registry {
		needed = append(needed, tools.Registry)
	}
	if len(config.Kwok) > 0 {
		needed = append(needed, tools.Scheduler, tools.Kwok)
	}
	if len(config.Flux) > 0 {
		needed = append(needed, tools.SourceController, tools.KustomizeController)
	}
	return needed
}
