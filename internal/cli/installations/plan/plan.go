// Package plan has the command that shows what a job would change on the clusters.
package plan

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/preview"
)

// outputs are the values of -o.
var outputs = []string{"text", "json", "yaml"}

type options struct {
	connection.Flags
	registry repositories.Flags
	tokens   connection.TokenFlag
	output   string
	noColor  bool
	exitZero bool
	// named is what blueprints.namedTargets is for the server.
	named   bool
	timeout time.Duration
}

// NewCommand returns the command that shows what a job would change.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &options{}
	command := &cobra.Command{
		Use:   "plan NAME",
		Short: "Show what a job would change on the clusters",
		Long: `Show what a job of an Installation would change. The whole tree is rendered with the
imports as they are, and each object is compared with the one on its cluster by a dry
run of the API server. Nothing is written anywhere.

Values that items export are read from the objects as the dry run shows them, and the
roots that get a job because of these are part of the plan. What only a job can know is
marked with the reason: values that an API server or a controller sets later, hooks of
charts, and items of types that cannot be compared. An object that one item does not want
any more and another one does is not deleted: it moves, and may change with that. Of the
content of Secrets, it is only shown whether it changes. You need permissions to read the
Secrets that the job reads. Clusters that are reached with a token of a ServiceAccount are
asked only with --request-tokens: the token would be requested with your permissions.

The command ends with code 0 if nothing would change, and with 2 if something would, or
may. Templates that use the time, random values or functions for clusters give another
result each time.`,
		Example: `  landscaper-cli installations plan shop
  landscaper-cli inst plan shop -o json | jq .summary`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			switch f.output {
			case "text", "json", "yaml":
			default:
				return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text, json or yaml", f.output))
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			ctx, cancel := terminal.WithTimeout(command.Context(), f.timeout)
			defer cancel()
			return f.run(ctx, streams, on, args[0])
		},
		ValidArgsFunction: connection.CompleteInstallations(&f.Flags, 1),
	}
	f.Add(command)
	f.registry.Add(command)
	f.tokens.Add(command)
	flags := command.Flags()
	flags.StringVarP(&f.output, "output", "o", "text", "text, json or yaml")
	flags.BoolVar(&f.noColor, "no-color", false, "do not colour the output of a terminal")
	flags.BoolVar(&f.exitZero, "exit-zero", false, "end with code 0 also if something would change")
	flags.BoolVar(&f.named, "named-targets", false, "blueprints may name every Target and Secret, as where the server has blueprints.namedTargets")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "limit for the whole command; 0 means none")
	terminal.CompleteWith(command, "output", outputs...)
	terminal.BeStrict(command)
	return command
}

func (f *options) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	tree, snapshot, err := on.Tree(ctx, name)
	if err != nil {
		return err
	}
	// Items that the user may not read would be planned as if they did not exist.
	connection.WarnUnreadable(streams.Err, "the plan is not complete", snapshot)
	access, err := f.registry.AccessWithin(streams, on.Egress())
	if err != nil {
		return err
	}
	components, base := access.Base()
	previewer := Previewer(ctx, on, f.tokens.Tokens(on), components, base)
	previewer.NamedTargets = f.named
	result, err := previewer.Of(ctx, tree, inspect.Forest(snapshot))
	if err != nil {
		return on.Explain(access.Explain(ctx, err))
	}
	if err := f.print(streams, result); err != nil {
		return err
	}
	if result.Summary.Changes() && !f.exitZero {
		return terminal.Silent(terminal.ExitEndedBadly)
	}
	return nil
}

// Previewer previews what happens to what is seen on a connection.
func Previewer(ctx context.Context, on *connection.Connection, tokens login.TokenRequester, components *component.Shared, base component.Options) *preview.Previewer {
	rendering, reader := foreign.Renderers(ctx), preview.Remember(on.Client)
	sources := &repocontext.Reader{Client: reader, Base: base}
	return &preview.Previewer{
		Reader: reader, Components: components, Sources: sources, Now: time.Now,
		Comparers: preview.Deployers{Reader: reader, Sources: sources, Components: components, Foreign: rendering, Now: time.Now}.Comparers(),
		Maker:     rendering.Plans(),
		Clusters: cluster.NewPool(cluster.PoolOptions{
			Secrets: reader, Tokens: tokens, Self: on.Config, UserAgent: "landscaper-cli", Egress: on.Egress(),
		}),
	}
}

func (f *options) print(streams terminal.Streams, result *preview.Result) error {
	switch f.output {
	case "json":
		return terminal.WriteJSON(streams.Out, result)
	case "yaml":
		return terminal.WriteYAML(streams.Out, result)
	}
	return Write(streams, result, streams.Color() && !f.noColor)
}

// Write prints a preview for people.
func Write(streams terminal.Streams, result *preview.Result, color bool) error {
	for _, warning := range result.Warnings {
		fmt.Fprintln(streams.Err, "Warning:", terminal.PrintableLines(warning))
	}
	_, err := io.WriteString(streams.Out, Text(result, color))
	return err
}

// Text is a plan for people.
func Text(result *preview.Result, color bool) string {
	p := printer{color: color}
	p.result(result)
	return p.text.String()
}

// WriteFields prints fields that change, as a preview does.
func WriteFields(out io.Writer, fields []diff.Field, color bool) error {
	p := printer{color: color}
	for _, field := range fields {
		p.field(diff.Update, field)
	}
	_, err := io.WriteString(out, p.text.String())
	return err
}

// printer writes a preview for people.
type printer struct {
	text  strings.Builder
	color bool
}

// signs stand before what happens; their colours are those of a terminal.
var signs = map[diff.Action]struct {
	sign, word string
	color      int
}{
	diff.Keep: {"=", "keep", 0}, diff.Replace: {"±", "delete and create", 33}, diff.Move: {"→", "move", 33},
	diff.Create: {"+", "create", 32}, diff.Update: {"~", "change", 33}, diff.Delete: {"-", "delete", 31}, diff.Unknown: {"?", "unknown", 36},
}

func (p *printer) line(action diff.Action, indent, format string, args ...any) {
	text := indent + signs[action].sign + " " + terminal.Printable(fmt.Sprintf(format, args...))
	if p.color {
		text = fmt.Sprintf("\x1b[%dm%s\x1b[0m", signs[action].color, text)
	}
	p.text.WriteString(text + "\n")
}

func (p *printer) result(result *preview.Result) {
	for _, item := range result.Items {
		p.item(item)
	}
	for _, name := range result.Follows {
		p.text.WriteString(terminal.Printable("The Installation "+name+" gets a job, too: it imports what changes") + "\n")
	}
	for _, waiting := range result.Waiting {
		p.line(diff.Unknown, "", "%s is known only when the job runs: %s", waiting.Path, terminal.OneLine(waiting.Reason))
	}
	p.text.WriteString("Plan: " + result.Summary.String() + "\n")
	if result.Digest != "" {
		p.text.WriteString("Digest: " + result.Digest + "\n")
	}
}

func (p *printer) item(item preview.Item) {
	heading := item.Path
	if item.Target != "" {
		heading += " on " + item.Target
	}
	switch {
	case item.Unknown != "":
		p.line(diff.Unknown, "", "%s: %s", heading, terminal.OneLine(item.Unknown))
		return
	case item.Action == diff.Delete:
		p.line(diff.Delete, "", "%s: the item goes", heading)
	case !changes(item.Changes):
		return
	default:
		p.text.WriteString(terminal.Printable(heading) + "\n")
	}
	for _, change := range item.Changes {
		if change.Action == diff.Keep && change.Reason == "" {
			continue
		}
		name := change.Name
		if change.Namespace != "" {
			name = change.Namespace + "/" + name
		}
		if change.Cluster != "" {
			name += " from the earlier cluster " + change.Cluster
		}
		p.change(change, name)
		for _, field := range change.Fields {
			p.field(change.Action, field)
		}
	}
}

// change prints what happens to an object as a whole.
func (p *printer) change(change diff.Change, name string) {
	switch {
	case change.Action == diff.Keep:
		p.line(change.Action, "  ", "%s %s stays, %s", change.Kind, name, change.Reason)
	case change.Action == diff.Unknown:
		p.line(change.Action, "  ", "%s %s: %s", change.Kind, name, terminal.OneLine(change.Reason))
	case change.Action == diff.Move && len(change.Fields) > 0:
		p.line(change.Action, "  ", "%s %s moves from deploy item %s to deploy item %s, and changes", change.Kind, name, change.MovesFrom, change.MovesTo)
	case change.Action == diff.Move:
		p.line(change.Action, "  ", "%s %s moves from deploy item %s to deploy item %s", change.Kind, name, change.MovesFrom, change.MovesTo)
	default:
		p.line(change.Action, "  ", "%s %s %s", signs[change.Action].word, change.Kind, name)
	}
}

func changes(list []diff.Change) bool {
	for _, change := range list {
		if change.Action != diff.Keep || change.Reason != "" {
			return true
		}
	}
	return false
}

// field prints a field: its lines before and after if it has several, else in one line.
func (p *printer) field(action diff.Action, field diff.Field) {
	switch {
	case field.Secret && (action == diff.Update || action == diff.Replace):
		p.line(diff.Update, "      ", "%s: (secret, changed)", field.Path)
		return
	case field.Secret:
		p.line(action, "      ", "%s: (secret)", field.Path)
		return
	}
	before, after := diff.TextLines(field.Before), diff.TextLines(field.After)
	switch {
	case field.Before == nil:
		p.lines(diff.Create, field.Path, after)
	case field.After == nil:
		p.lines(diff.Delete, field.Path, before)
	case len(before)+len(after) == 2:
		p.line(diff.Update, "      ", "%s: %s -> %s", field.Path, before[0], after[0])
	default:
		p.line(diff.Update, "      ", "%s:", field.Path)
		for _, step := range diff.Lines(before, after) {
			p.line(step.Action, "        ", "%s", step.Text)
		}
	}
}

func (p *printer) lines(action diff.Action, path string, lines []string) {
	if len(lines) == 1 {
		p.line(action, "      ", "%s: %s", path, lines[0])
		return
	}
	p.line(action, "      ", "%s:", path)
	for _, line := range lines {
		p.line(action, "        ", "%s", line)
	}
}
