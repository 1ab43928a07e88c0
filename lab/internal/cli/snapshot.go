package cli

import (
	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/supervisor"
)

func newSnapshot(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "snapshot CLUSTER NAME",
		Short: "Copy what is stored in a cluster, for \"lab restore\"",
		Long: `Copy what is stored in a cluster, for "lab restore".

etcd hangs while its data are copied; no connection ends. A snapshot of the same name is
replaced. Snapshots are removed with the lab.`,
		Example: "  lab snapshot target before-the-upgrade",
		Args:    arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			component, err := client.Snapshot(command.Context(), args[0], supervisor.SnapshotRequest{Name: args[1]})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), component)
		},
	}
}

func newRestore(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "restore CLUSTER NAME",
		Short: "Bring a cluster back to a snapshot, with the versions of that time",
		Long: `Bring a cluster back to a snapshot, with the versions of that time.

etcd, the API server and its controllers end, etcd gets the data of the snapshot, and all of
them start again. Clients that watched the cluster were further than it is now.`,
		Example: "  lab restore target before-the-upgrade",
		Args:    arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			component, err := client.Restore(command.Context(), args[0], supervisor.SnapshotRequest{Name: args[1]})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), component)
		},
	}
}
