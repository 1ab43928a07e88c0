package components

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

type resourcesFlags struct {
	commonFlags
	recursive bool
}

func newResourcesCommand(streams terminal.Streams) *cobra.Command {
	f := &resourcesFlags{}
	command := &cobra.Command{
		Use:     "list-resources REPOSITORY COMPONENT VERSION",
		Aliases: []string{"resources", "ls"},
		Short:   "List the resources of a component version",
		Long: `List the resources of a component version: their names, versions, types and accesses,
and what tells apart those with the same name.

` + help,
		Example: `  landscaper-cli components list-resources registry.example.org/delivery example.org/shop/web 1.4.2
  landscaper-cli components list-resources ./transport example.org/shop/web 1.4.2 --recursive -o wide`,
		Args: terminal.Arguments(needsTarget()),
		RunE: func(command *cobra.Command, args []string) error {
			return f.withTarget(command.Context(), streams, args, func(ctx context.Context, o *opened) error {
				all, err := o.versions(ctx, f.recursive)
				if err != nil {
					return err
				}
				return f.print(streams, all)
			})
		},
	}
	f.add(command, outputTable, outputWide, outputJSON, outputYAML)
	command.Flags().BoolVarP(&f.recursive, "recursive", "R", false, "list the resources of all referenced component versions, too")
	return command
}

// listedResource is a resource in the output for programs.
type listedResource struct {
	Component     string              `json:"component"`
	Name          string              `json:"name"`
	Version       string              `json:"version"`
	Type          string              `json:"type"`
	Relation      string              `json:"relation,omitempty"`
	Identity      descriptor.Identity `json:"identity"`
	ExtraIdentity map[string]string   `json:"extraIdentity,omitempty"`
	Labels        []descriptor.Label  `json:"labels,omitempty"`
	Access        descriptor.Typed    `json:"access"`
	Digest        *descriptor.Digest  `json:"digest,omitempty"`
}

func listResources(all []*repository.Version) []listedResource {
	list := []listedResource{}
	for _, version := range all {
		for _, r := range version.Resources {
			list = append(list, listedResource{
				Component: version.Name + ":" + version.Version, Name: r.Name, Version: r.Version, Type: r.Type, Relation: r.Relation,
				Identity: descriptor.IdentityOf(r, version.Resources), ExtraIdentity: r.ExtraIdentity, Labels: r.Labels, Access: r.Access, Digest: r.Digest,
			})
		}
	}
	return list
}

func (f *resourcesFlags) print(streams terminal.Streams, all []*repository.Version) error {
	list := listResources(all)
	if f.output == outputJSON || f.output == outputYAML {
		return writeDocument(streams.Out, f.output, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(streams.Err, "No resources found.")
		return nil
	}
	identity := false
	for _, resource := range list {
		identity = identity || len(resource.Identity) > 1
	}
	return writeTable(streams.Out, list, f.columns(identity))
}

// column is one column of the table.
type column struct {
	title string
	cell  func(listedResource) string
}

func (f *resourcesFlags) columns(identity bool) []column {
	columns := []column{
		{"NAME", func(r listedResource) string { return r.Name }},
		{"VERSION", func(r listedResource) string { return r.Version }},
		{"TYPE", func(r listedResource) string { return r.Type }},
		{"RELATION", func(r listedResource) string { return r.Relation }},
		{"ACCESS", func(r listedResource) string { return r.Access.Type() }},
	}
	if f.recursive {
		columns = append([]column{{"COMPONENT", func(r listedResource) string { return r.Component }}}, columns...)
	}
	if identity {
		columns = append(columns, column{"IDENTITY", func(r listedResource) string { return identityText(r.Identity) }})
	}
	if f.output == outputWide {
		columns = append(columns,
			column{"LOCATION", func(r listedResource) string { return whereabouts(r.Access) }},
			column{"DIGEST", func(r listedResource) string { return digestText(r.Digest) }})
	}
	return columns
}

func writeTable(out io.Writer, list []listedResource, columns []column) error {
	// The table is padded with blanks, and its last column is not.
	writer := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	titles := make([]string, 0, len(columns))
	for _, column := range columns {
		titles = append(titles, column.title)
	}
	fmt.Fprintln(writer, strings.Join(titles, "\t"))
	for _, resource := range list {
		cells := make([]string, 0, len(columns))
		for _, column := range columns {
			cell := column.cell(resource)
			if cell == "" {
				cell = "-"
			}
			cells = append(cells, terminal.Printable(cell))
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	return writer.Flush()
}

// identityText shows what an identity has beside the name.
func identityText(identity descriptor.Identity) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(identity)) {
		if key != "name" {
			parts = append(parts, key+"="+identity[key])
		}
	}
	return strings.Join(parts, ",")
}

func digestText(d *descriptor.Digest) string {
	if d == nil {
		return ""
	}
	value := d.Value
	if len(value) > 12 {
		value = value[:12]
	}
	return strings.ToLower(strings.ReplaceAll(d.HashAlgorithm, "-", "")) + ":" + value
}

// whereabouts shows the one field of an access that says most. Credentials in an
// address are left out.
func whereabouts(access descriptor.Typed) string {
	var fields map[string]any
	if access.Decode(&fields) != nil {
		return ""
	}
	texts := map[string]string{}
	for name, value := range fields {
		if text, ok := value.(string); ok {
			texts[strings.ToLower(name)] = text
		}
	}
	for _, name := range []string{"imagereference", "ref", "reference", "localreference", "digest", "filename", "url", "repourl", "repository", "helmchart", "key", "objectkey", "component"} {
		if text := texts[name]; text != "" {
			return withoutSecrets(text)
		}
	}
	return ""
}

func withoutSecrets(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return repository.Redact(text)
	}
	if address.Host == "" {
		return text
	}
	if address.RawQuery != "" {
		address.RawQuery = "hidden"
	}
	return repository.Redact(address.String())
}
