package targets

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
)

// accountFlags are those of Targets that work with a ServiceAccount.
type accountFlags struct {
	manifestFlags
	account    string
	expiration int64
}

func (f *accountFlags) add(command *cobra.Command) *pflag.FlagSet {
	f.manifestFlags.add(command)
	flags := command.Flags()
	flags.StringVar(&f.account, "service-account", "", "ServiceAccount in the namespace of the Target (required)")
	flags.Int64Var(&f.expiration, "expiration-seconds", 0, "lifetime of the tokens (default: a day)")
	return flags
}

// config returns the part that both kinds of accounts have.
func (f *accountFlags) config() (map[string]any, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.account == "" {
		return nil, terminal.Usage(errors.New(`required flag(s) "service-account" not set: name the ServiceAccount with --service-account`))
	}
	config := map[string]any{"serviceAccount": map[string]any{"name": f.account}}
	if f.expiration > 0 {
		config["expirationSeconds"] = f.expiration
	}
	return config, nil
}

func (f *accountFlags) writeWith(ctx context.Context, streams terminal.Streams, field string, config map[string]any) error {
	return f.write(ctx, streams.Out, f.target(map[string]any{
		"type": string(v1alpha1.KubernetesClusterTargetType), "config": map[string]any{field: config},
	}))
}

func newSelfCommand(streams terminal.Streams) *cobra.Command {
	f := &accountFlags{}
	command := &cobra.Command{
		Use:     "self",
		Short:   "Write the manifest of a Target for the resource cluster itself",
		Example: `  landscaper-cli targets create self --name here -n shop --service-account deployer`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := f.config()
			if err != nil {
				return err
			}
			return f.writeWith(command.Context(), streams, "selfConfig", config)
		},
	}
	f.add(command)
	return command
}

func newOIDCCommand(streams terminal.Streams) *cobra.Command {
	f := &accountFlags{}
	var server, authority string
	var audience []string
	command := &cobra.Command{
		Use:   "oidc",
		Short: "Write the manifest of a Target for a cluster that trusts the resource cluster",
		Example: `  landscaper-cli targets create oidc --name edge -n shop --service-account deployer \
    --server https://edge.example.org --audience edge --ca-file edge-ca.crt`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := f.config()
			if err != nil {
				return err
			}
			if server == "" || len(audience) == 0 {
				return terminal.Usage(errors.New(`required flag(s) "server", "audience" not set: name the address of the cluster, and what it expects of tokens`))
			}
			config["server"], config["audience"] = server, audience
			if authority != "" {
				content, err := os.ReadFile(authority)
				if err != nil {
					return fmt.Errorf("read the authority: %w", err)
				}
				config["caData"] = content
			}
			return f.writeWith(command.Context(), streams, "oidcConfig", config)
		},
	}
	flags := f.add(command)
	flags.StringVar(&server, "server", "", "address of the API server (required)")
	flags.StringArrayVar(&audience, "audience", nil, "audience of the tokens (required); may be repeated")
	flags.StringVar(&authority, "ca-file", "", "`file` with the authority of the API server's certificate")
	return command
}
