// Package console has the command that shows the landscape in a browser.
package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/act"
	"go.landscaper.dev/internal/console/planner"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/preview"
)

type flags struct {
	connection.Flags
	registry repositories.Flags
	tokens   connection.TokenFlag
	port     uint16
	readOnly bool
	// named is what blueprints.namedTargets is for the server.
	named bool
}

// NewCommand returns the command.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:   "console",
		Short: "Show the landscape in a browser",
		Long: `Show the landscape in a browser, live: how Installations stand, why they wait, how values
flow between them, and what happened. What you do there with an Installation is done with
your kubeconfig, as by the command of the same name; --read-only leaves that out. A plan and
what a deletion removes are worked out as by the commands plan and delete. For its other
pages, the console never asks for the values of imports and exports.

It listens on 127.0.0.1, and prints a link that opens it once. Without -n, it shows all
namespaces, or that of the current context if you may not list all. It ends with Ctrl-C.`,
		Example: `  landscaper-cli console
  landscaper-cli console -n shop --port 8080
  landscaper-cli console --read-only`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			scope := ""
			if command.Flags().Changed("namespace") {
				scope = on.Namespace
			}
			return f.serve(command.Context(), streams, on, scope)
		},
	}
	f.Add(command)
	f.registry.Add(command)
	f.tokens.Add(command)
	flags := command.Flags()
	flags.Uint16Var(&f.port, "port", 0, "port of 127.0.0.1 to listen on (default: a free one)")
	flags.BoolVar(&f.readOnly, "read-only", false, "only show: no action changes anything")
	flags.BoolVar(&f.named, "named-targets", false, "in plans, blueprints may name every Target and Secret, as where the server has blueprints.namedTargets")
	terminal.BeStrict(command)
	return command
}

func (f *flags) serve(ctx context.Context, streams terminal.Streams, on *connection.Connection, scope string) error {
	sources := append([]reading.Source{reading.Events, reading.TargetSyncs}, reading.Values...)
	live, err := reading.Follow(ctx, on.Watches, scope, sources...)
	if apierrors.IsForbidden(err) && scope == "" {
		scope = on.Namespace
		fmt.Fprintf(streams.Err, "You may not list the Installations of all namespaces: only namespace %s is shown. Choose another with -n.\n", terminal.Printable(scope))
		live, err = reading.Follow(ctx, on.Watches, scope, sources...)
	}
	if ctx.Err() != nil {
		return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
	}
	if err != nil {
		return on.Explain(err)
	}
	defer live.Close()
	// Only users of this machine reach the address, and of those only the one with the link gets in.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.port))))
	if err != nil {
		return fmt.Errorf("open the console: %w: choose another port with --port", err)
	}
	actor, err := f.actor(streams, on)
	if err != nil {
		return err
	}
	address, token := listener.Addr().String(), rand.Text()
	entrance, err := console.NewLink(address, token, actor)
	if err != nil {
		return err
	}
	handler, err := console.New(ctx, console.Options{Source: live, Where: on.Where, Namespace: scope, Entrance: entrance})
	if err != nil {
		return err
	}
	link := url.URL{Scheme: "http", Host: address, Path: "/login", RawQuery: url.Values{"token": {token}}.Encode()}
	fmt.Fprintf(streams.Out, "Open this link, which works once: %s\n", &link)
	return listen(ctx, listener, handler)
}

// actor returns what acts with the kubeconfig of the user; nil if the console only reads.
func (f *flags) actor(streams terminal.Streams, on *connection.Connection) (console.Actor, error) {
	if f.readOnly {
		return nil, nil
	}
	access, err := f.registry.AccessWithin(streams, on.Egress())
	if err != nil {
		return nil, err
	}
	reviews, err := authorizationv1.NewForConfig(on.Config)
	if err != nil {
		return nil, fmt.Errorf("make a client that asks what you may do: %w", err)
	}
	components, base := access.Base()
	plans := planner.Planner{
		Reader: on.Client,
		Previewer: func(ctx context.Context) (*preview.Previewer, func()) {
			previewer := plan.Previewer(ctx, on, f.tokens.Tokens(on), components, base)
			previewer.NamedTargets = f.named
			return previewer, previewer.Clusters.Close
		},
		Explain: func(ctx context.Context, err error) error { return on.Explain(access.Explain(ctx, err)) },
	}
	return act.New(on.Client, reviews.SelfSubjectAccessReviews(), plans, nil), nil
}

// listen answers until the context ends.
func listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		// Pages that are open are left when the command ends.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the console does not listen any more: %w", err)
	}
	return nil
}
