package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/container"
	"go.landscaper.dev/lab/internal/fault"
	"go.landscaper.dev/lab/internal/gitserver"
)

// newServe runs one of the lab's own servers; the supervisor starts it.
func newServe() *cobra.Command {
	command := &cobra.Command{Use: "serve", Hidden: true}
	command.AddCommand(
		&cobra.Command{Use: "git FILE", Args: arguments, RunE: func(command *cobra.Command, args []string) error {
			var config gitserver.Config
			if err := readConfig(args[0], &config); err != nil {
				return err
			}
			return gitserver.Serve(command.Context(), config)
		}},
		&cobra.Command{Use: "proxy FILE", Args: arguments, RunE: func(command *cobra.Command, args []string) error {
			var config fault.Config
			if err := readConfig(args[0], &config); err != nil {
				return err
			}
			return fault.Serve(command.Context(), config)
		}},
		&cobra.Command{Use: "container FILE", Args: arguments, RunE: func(_ *cobra.Command, args []string) error {
			var config container.Config
			if err := readConfig(args[0], &config); err != nil {
				return err
			}
			return container.Run(config)
		}},
	)
	return command
}

func readConfig(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decode %s: %w", file, err)
	}
	return nil
}
