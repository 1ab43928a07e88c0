package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
)

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands in a shell",
		Long: `Print a script for a shell that completes commands, flags, and names: contexts, clusters
and users of the kubeconfig; namespaces, Installations with their imports, Targets,
DataObjects and Contexts of the cluster.`,
		Example: `  source <(landscaper-cli completion bash)
  landscaper-cli completion fish > ~/.config/fish/completions/landscaper-cli.fish`,
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		Args:                  terminal.Arguments(commandline.OneOf("bash", "zsh", "fish", "powershell")),
		DisableFlagsInUseLine: true,
		RunE: func(command *cobra.Command, args []string) error {
			out := command.OutOrStdout()
			switch args[0] {
			case "bash":
				return command.Root().GenBashCompletionV2(out, true)
			case "zsh":
				return command.Root().GenZshCompletion(out)
			case "fish":
				return command.Root().GenFishCompletion(out, true)
			}
			return command.Root().GenPowerShellCompletionWithDesc(out)
		},
	}
}

// proposeNoFiles keeps shells from proposing files where no file belongs: at flags that
// name none, and behind commands without arguments.
func proposeNoFiles(command *cobra.Command) {
	for _, child := range command.Commands() {
		proposeNoFiles(child)
		if child.ValidArgsFunction == nil && !strings.Contains(child.Use, " ") {
			child.ValidArgsFunction = cobra.NoFileCompletions
		}
		child.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			_, proposes := child.GetFlagCompletionFunc(flag.Name)
			if proposes || strings.Contains(flag.Usage, "file") || strings.Contains(flag.Usage, "director") {
				return
			}
			// The flag exists, and nothing proposes its values yet.
			_ = child.RegisterFlagCompletionFunc(flag.Name, cobra.NoFileCompletions)
		})
	}
}
