package cli

import (
	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/supervisor"
)

func newGit(s *settings) *cobra.Command {
	command := &cobra.Command{Use: "git", Short: "Make repositories on the lab's Git server"}
	command.AddCommand(&cobra.Command{
		Use:   "create NAME",
		Short: "Make an empty repository and print its addresses, as JSON",
		Args:  arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			repository, err := client.CreateRepository(command.Context(), supervisor.RepositoryRequest{Name: args[0]})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), repository)
		},
	})
	return command
}
