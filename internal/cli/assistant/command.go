// Package assistant has the command that lets assistants look at a landscape: a server of the
// Model Context Protocol that speaks over its standard streams.
package assistant

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/preview"
)

// agent is the name by which API servers know the command. It is part of the record of a job that an
// assistant has asked for, so that people can tell such jobs apart.
const agent = "landscaper-cli-mcp"

type flags struct {
	connection.Flags
	registry repositories.Flags
	tokens   connection.TokenFlag
	writes   bool
	// named is what blueprints.namedTargets is for the server.
	named   bool
	timeout time.Duration
}

// NewCommand returns the command.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Let an assistant look at the landscape by the Model Context Protocol",
		Long: `Serve the Model Context Protocol on the standard input and output, for assistants that
start this command: they list Installations, read trees, ask why something is not ready, plan
jobs, and read events, jobs and the flow of values. All of that is read with your kubeconfig,
and nothing is written.

The content of Secrets, and the values of imports and exports, are in no answer; of a secret
field, a plan says only that it changes. Answers are bounded in size.

With --allow-writes, an assistant can also start a job and end one. It gets the plan first,
and has to send the digest of that plan for the job to start.`,
		Example: `  landscaper-cli mcp
  landscaper-cli mcp --context production --namespace shop`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			on, err := f.ConnectAs(agent)
			if err != nil {
				return err
			}
			return f.serve(command.Context(), streams, on)
		},
	}
	f.Add(command)
	f.registry.Add(command)
	f.tokens.Add(command)
	flags := command.Flags()
	flags.BoolVar(&f.writes, "allow-writes", false, "let the assistant start and end jobs, with your permissions")
	flags.BoolVar(&f.named, "named-targets", false, "in plans, blueprints may name every Target and Secret, as where the server has blueprints.namedTargets")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "limit for a plan")
	terminal.BeStrict(command)
	return command
}

// serve answers until the client closes the input.
func (f *flags) serve(ctx context.Context, streams terminal.Streams, on *connection.Connection) error {
	// What the registries have to say goes to the standard error: the output has the protocol.
	access, err := f.registry.AccessWithin(streams, on.Egress())
	if err != nil {
		return err
	}
	components, base := access.Base()
	s := &server{
		on: on,
		previewer: func() (*preview.Previewer, func()) {
			previewer := plan.Previewer(ctx, on, f.tokens.Tokens(on), components, base)
			previewer.NamedTargets = f.named
			return previewer, previewer.Clusters.Close
		},
		explain:   func(ctx context.Context, err error) error { return on.Explain(access.Explain(ctx, err)) },
		planning:  make(chan struct{}, 1),
		planLimit: f.timeout,
	}
	transport := &mcp.IOTransport{Reader: io.NopCloser(streams.In), Writer: output{streams.Out}, MaxLineLength: maxRequest}
	err = s.protocol(f.writes).Run(ctx, transport)
	switch {
	case ctx.Err() != nil:
		return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// output is closed by the end of the program.
type output struct{ io.Writer }

// Close implements io.Closer.
func (output) Close() error { return nil }
