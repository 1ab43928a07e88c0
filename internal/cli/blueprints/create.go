package blueprints

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
)

type createFlags struct {
	sourceFlags
	name, namespace, context, output string
	data, targets, values, exports   []string
	schemas                          bool
}

// NewCreateCommand returns the command that writes an Installation for a blueprint.
func NewCreateCommand(streams terminal.Streams) *cobra.Command {
	f := &createFlags{}
	command := &cobra.Command{
		Use:   "create SOURCE | create BASE_URL COMPONENT VERSION",
		Short: "Write the manifest of an Installation for a blueprint",
		Long: `Write the manifest of an Installation for a blueprint: of a component version, or of a
directory, which is then written into the manifest. All imports and exports of the
blueprint are there; flags say where their values come from. What no flag mentions is
left empty, with a comment that says what belongs there. Nothing is sent to a cluster.`,
		Example: `  landscaper-cli installations create registry.example.org/delivery//example.org/shop:1.0.0 --name shop -n shop \
    --target cluster=edge --value domain=shop.example.org --export address=shop-address

  landscaper-cli inst create ./blueprint --name shop --target cluster=edge | kubectl apply -f -`,
		Args: terminal.Arguments(func(command *cobra.Command, args []string) error {
			const named = ": name a blueprint: a directory, REPOSITORY//COMPONENT:VERSION, or BASE_URL COMPONENT VERSION"
			switch len(args) {
			case 1, 3:
				return nil
			case 0:
				return commandline.Wrong(command, commandline.Missing("SOURCE")+named)
			case 2:
				return commandline.Wrong(command, commandline.Missing("VERSION")+named)
			}
			return commandline.Wrong(command, commandline.TooMuch(args[3])+named)
		}),
		RunE: func(command *cobra.Command, args []string) error {
			text := args[0]
			if len(args) == 3 {
				text = args[0] + "//" + args[1] + ":" + args[2]
			}
			if err := f.check(text); err != nil {
				return terminal.Usage(err)
			}
			return f.with(command.Context(), streams, text, func(_ context.Context, s *source) error { return f.write(streams, s) })
		},
	}
	f.add(command)
	flags := command.Flags()
	flags.StringVar(&f.resource, "blueprint-resource-name", "", "same as --resource")
	flags.StringVar(&f.name, "name", "my-installation", "name of the Installation")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace in the manifest")
	flags.StringVar(&f.context, "context", "", "Context of the Installation")
	flags.StringArrayVar(&f.data, "data", nil, "IMPORT=DATAOBJECT: the object with the value of an import; may be repeated")
	flags.StringArrayVar(&f.targets, "target", nil, "IMPORT=TARGET: the Target of an import (a list as a,b and a map as key:a,other:b); may be repeated")
	flags.StringArrayVar(&f.values, "value", nil, "IMPORT=VALUE: the value of an import as YAML; may be repeated")
	flags.StringArrayVar(&f.exports, "export", nil, "EXPORT=NAME: the DataObject or Target for an export; may be repeated")
	flags.BoolVar(&f.schemas, "render-schema-info", true, "say above each import and export what belongs there")
	flags.StringVarP(&f.output, "output-file", "o", "", "`file` to write (default: the standard output)")
	complete := map[string]cobra.CompletionFunc{
		"target": connection.CompleteObjects("Target", &f.namespace, true), "data": connection.CompleteObjects("DataObject", &f.namespace, true),
		"context": connection.CompleteObjects("Context", &f.namespace, false),
	}
	for flag, proposals := range complete {
		// The flags exist: they were just defined.
		_ = command.RegisterFlagCompletionFunc(flag, proposals)
	}
	terminal.BeStrict(command)
	return command
}

// write writes the manifest.
func (f *createFlags) write(streams terminal.Streams, s *source) error {
	text, err := f.manifest(s)
	if err != nil {
		return err
	}
	if f.output == "" {
		_, err := fmt.Fprint(streams.Out, text)
		return err
	}
	if err := terminal.WriteFile(f.output, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the Installation: %w", err)
	}
	fmt.Fprintf(streams.Out, "Wrote the Installation to %s\n", f.output)
	return nil
}

// choices are what the flags say about imports and exports, by name.
type choices struct {
	data, targets, values, exports map[string]string
}

func (f *createFlags) choices(info *v1alpha1.Blueprint) (choices, error) {
	var c choices
	for _, flag := range []struct {
		name  string
		pairs []string
		into  *map[string]string
		known []string
	}{
		{"--data", f.data, &c.data, importNames(info, true)}, {"--target", f.targets, &c.targets, importNames(info, false)},
		{"--value", f.values, &c.values, importNames(info, true)}, {"--export", f.exports, &c.exports, exportNames(info)},
	} {
		pairs, err := terminal.Pairs(flag.name, flag.pairs)
		if err != nil {
			return c, terminal.Usage(err)
		}
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			if !slices.Contains(flag.known, name) {
				return c, terminal.Usage(fmt.Errorf("%s %s: the blueprint has no such import or export: it has %s", flag.name, name, namesOf(flag.known)))
			}
		}
		*flag.into = pairs
	}
	return c, nil
}

func namesOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func isData(schema *v1alpha1.JSONSchemaDefinition) bool { return schema != nil }

func importNames(info *v1alpha1.Blueprint, data bool) []string {
	var names []string
	for i := range info.Imports {
		if isData(info.Imports[i].Schema) == data {
			names = append(names, info.Imports[i].Name)
		}
	}
	return names
}

func exportNames(info *v1alpha1.Blueprint) []string {
	var names []string
	for i := range info.Exports {
		names = append(names, info.Exports[i].Name)
	}
	return names
}

// manifest returns the text of the Installation. It is written by hand, because what is
// generated has no comments.
func (f *createFlags) manifest(s *source) (string, error) {
	c, err := f.choices(s.blueprint.Info)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	metadata := map[string]any{"name": f.name, "annotations": map[string]any{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}}
	if f.namespace != "" {
		metadata["namespace"] = f.namespace
	}
	spec := map[string]any{"blueprint": map[string]any{"ref": s.reference}}
	if s.reference == nil {
		files, err := inline(s.blueprint.Files, ".")
		if err != nil {
			return "", fmt.Errorf("write the blueprint into the manifest: %w", err)
		}
		spec["blueprint"] = map[string]any{"inline": map[string]any{"filesystem": files}}
	}
	if s.component != nil {
		spec["componentDescriptor"] = s.definition
	}
	if f.context != "" {
		spec["context"] = f.context
	}
	if len(c.values) > 0 {
		mappings := map[string]json.RawMessage{}
		for _, name := range slices.Sorted(maps.Keys(c.values)) {
			value := c.values[name]
			if mappings[name], err = yamltext.ToJSON([]byte(value), yamltext.Lenient()); err != nil {
				return "", fmt.Errorf("--value %s: %w", name, err)
			}
		}
		spec["importDataMappings"] = mappings
	}
	raw, err := yaml.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Installation", "metadata": metadata, "spec": spec})
	if err != nil {
		return "", err
	}
	text.Write(raw)
	f.flows(&text, s.blueprint.Info, c)
	return text.String(), nil
}

// entry is an import or export in the manifest.
type entry struct {
	name, field, value, about string
}

// flows writes imports and exports.
func (f *createFlags) flows(text *strings.Builder, info *v1alpha1.Blueprint, c choices) {
	var imports, exports flowing
	for i := range info.Imports {
		definition := &info.Imports[i]
		if _, fixed := c.values[definition.Name]; fixed {
			continue
		}
		imports.add(definition.Name, definition.Schema, definition.TargetType, definition.Type, c.data[definition.Name], c.targets[definition.Name])
		if definition.Required != nil && !*definition.Required {
			imports.optional(definition.Name)
		}
	}
	for i := range info.Exports {
		definition := &info.Exports[i]
		name := c.exports[definition.Name]
		exports.add(definition.Name, definition.Schema, definition.TargetType, "", name, name)
	}
	f.part(text, "imports", imports)
	f.part(text, "exports", exports)
}

// flowing are the data and the Targets among imports or exports.
type flowing [2][]entry

func (f *flowing) add(name string, schema *v1alpha1.JSONSchemaDefinition, targetType string, kind v1alpha1.ImportType, data, target string) {
	if isData(schema) {
		f[0] = append(f[0], entry{name, "dataRef", strconv.Quote(data), "Schema: " + string(schema.RawMessage)})
		return
	}
	field, value := "target", strconv.Quote(target)
	switch kind {
	case v1alpha1.ImportTypeTargetList:
		// Names of objects have no commas.
		field, value = "targets", "["+target+"]"
	case v1alpha1.ImportTypeTargetMap:
		field, value = "targetMap", "{"+strings.ReplaceAll(target, ":", ": ")+"}"
	}
	f[1] = append(f[1], entry{name, field, value, "Target type: " + targetType})
}

// optional says of an import that an Installation need not have it: an entry without a value is refused.
func (f *flowing) optional(name string) {
	for _, entries := range f {
		for i := range entries {
			if entries[i].name == name {
				entries[i].about += "; optional: without a value, leave the entry out"
			}
		}
	}
}

func (f *createFlags) part(text *strings.Builder, title string, entries flowing) {
	if len(entries[0])+len(entries[1]) == 0 {
		return
	}
	fmt.Fprintf(text, "  %s:\n", title)
	for i, kind := range []string{"data", "targets"} {
		if len(entries[i]) > 0 {
			fmt.Fprintf(text, "    %s:\n", kind)
		}
		for _, e := range entries[i] {
			if f.schemas {
				fmt.Fprintf(text, "    # %s\n", strings.Join(strings.Fields(e.about), " "))
			}
			fmt.Fprintf(text, "    - name: %s\n      %s: %s\n", e.name, e.field, e.value)
		}
	}
}

// inline returns files as an Installation holds them.
func inline(files fs.FS, directory string) (map[string]any, error) {
	entries, err := fs.ReadDir(files, directory)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	for _, entry := range entries {
		path := entry.Name()
		if directory != "." {
			path = directory + "/" + path
		}
		if entry.IsDir() {
			if content[entry.Name()], err = inline(files, path); err != nil {
				return nil, err
			}
			continue
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		content[entry.Name()] = string(text)
	}
	return content, nil
}
