package blueprints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
)

// sourceFlags say where a blueprint and its component come from.
type sourceFlags struct {
	registry   repositories.Flags
	timeout    time.Duration
	descriptor string
	additional []string
	resources  string
	resource   string
}

func (f *sourceFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.descriptor, "component-descriptor", "c", "", "`file` with the descriptor of the component that the blueprint of a directory or archive belongs to, or REPOSITORY//COMPONENT:VERSION")
	flags.StringArrayVarP(&f.additional, "additional-component-descriptor", "a", nil, "`file` with the descriptor of a component that is referred to; may be repeated (needs -c)")
	flags.StringVarP(&f.resources, "resources", "r", "", "`file` with further resources of the component (needs -c with a file)")
	flags.StringVar(&f.resource, "resource", "", "`name` of the blueprint among the resources of the component version, if it has several")
	flags.DurationVar(&f.timeout, "timeout", 0, "limit for the whole command, such as 10m; 0 means none")
	f.registry.Add(command)
}

// check finds flags that would have no effect on a source.
func (f *sourceFlags) check(text string) error {
	_, _, _, isComponent := repositories.SplitComponent(text)
	_, _, _, remote := repositories.SplitComponent(f.descriptor)
	switch {
	case f.resources != "" && f.descriptor == "":
		return errors.New("if you specify a resources yaml file (option -r) you must also specify a component descriptor (option -c)")
	case f.resources != "" && remote:
		return errors.New("-r adds to the component descriptor of a file: give -c with a file")
	case len(f.additional) > 0 && f.descriptor == "":
		return errors.New("-a gives descriptors of what a component refers to: give the descriptor of the component with -c, too")
	case isComponent && f.descriptor != "":
		return fmt.Errorf("-c and the source %s both name a component: leave one of them out", text)
	case !isComponent && f.resource != "":
		return fmt.Errorf("--resource chooses among the resources of a component version, but the source %s is not one: write REPOSITORY//COMPONENT:VERSION", text)
	}
	return nil
}

// The object that a blueprint is rendered for. Where no component is known, the
// reference is there, as templates expect it.
const (
	rootName       = "root"
	namespace      = "default"
	exampleName    = "my-example-component"
	exampleVersion = "v0.0.0"
)

// source is the blueprint that a command is about.
type source struct {
	blueprint *blueprint.Blueprint
	component *plan.Component
	access    *repositories.Access
	session   *repositories.Session
	// definition is how an Installation would refer to the component.
	definition *v1alpha1.ComponentDescriptorDefinition
	reference  *v1alpha1.RemoteBlueprintReference
}

// close may be called before anything was opened.
func (s *source) close() {
	if s.session != nil {
		// Nothing was written.
		_ = s.session.Close()
	}
}

// with opens a blueprint and does something with it, within the time limit.
func (f *sourceFlags) with(ctx context.Context, streams terminal.Streams, text string, do func(context.Context, *source) error) error {
	return f.withAccess(ctx, streams, func(ctx context.Context, s *source) error {
		if err := f.open(ctx, s, text); err != nil {
			return err
		}
		return do(ctx, s)
	})
}

// withAccess does something with access to registries, within the time limit.
func (f *sourceFlags) withAccess(ctx context.Context, streams terminal.Streams, do func(context.Context, *source) error) error {
	ctx, cancel := terminal.WithTimeout(ctx, f.timeout)
	defer cancel()
	access, err := f.registry.Access(streams)
	if err != nil {
		return err // names the flag
	}
	s := &source{access: access}
	defer s.close()
	return access.Explain(ctx, hinted(do(ctx, s))) // tells what to do
}

// open finds the blueprint: in a component version, in a registry, in a directory
// or in an archive.
func (f *sourceFlags) open(ctx context.Context, s *source, text string) error {
	if where, name, version, isComponent := repositories.SplitComponent(text); isComponent {
		if err := s.openComponent(ctx, where, component.Reference{Name: name, Version: version}); err != nil {
			return err
		}
		return s.openResource(ctx, f.resource)
	}
	if err := s.noteArtifact(text); err != nil {
		return err
	}
	if err := f.openDescriptor(ctx, s); err != nil {
		return err
	}
	var err error
	if repositories.HasScheme(text) {
		s.blueprint, err = readArtifact(ctx, s.session, text)
	} else {
		s.blueprint, err = readBlueprint(text)
	}
	return err
}

// noteArtifact notes the registry of a blueprint that is an artifact of its own.
func (s *source) noteArtifact(text string) error {
	if !repositories.HasScheme(text) {
		return nil
	}
	reference, err := access.ParseReference(text)
	if err != nil {
		return terminal.Usage(err)
	}
	s.access.Named(reference.Scheme, reference.Host)
	return nil
}

// openComponent finds a component version in a repository.
func (s *source) openComponent(ctx context.Context, where string, reference component.Reference) error {
	at, err := repositories.Locate(where)
	if err != nil {
		return err // names the repository
	}
	if s.session, err = s.access.Session(at); err != nil {
		return err // names the repository
	}
	s.definition = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{
		ComponentName: reference.Name, Version: reference.Version,
	}}
	if s.component, err = plan.OpenComponent(ctx, s.session.Session, s.definition); err != nil {
		return s.access.Missing(ctx, at, reference.Name, err) // names the component version
	}
	s.definition.Reference = s.component.Reference
	return nil
}

// openResource opens the blueprint among the resources of the component version.
func (s *source) openResource(ctx context.Context, name string) error {
	if name == "" {
		var err error
		if name, err = onlyBlueprint(s.component.Version.Descriptor); err != nil {
			return err
		}
	}
	s.reference = &v1alpha1.RemoteBlueprintReference{ResourceName: name}
	var err error
	s.blueprint, err = plan.OpenBlueprint(ctx, nil, s.component, &v1alpha1.BlueprintDefinition{Reference: s.reference})
	if errors.As(err, new(*descriptor.NotFoundError)) {
		if names := blueprintsOf(s.component.Version.Descriptor); len(names) > 0 {
			return fmt.Errorf("%w: its blueprints are %s", err, strings.Join(names, ", "))
		}
	}
	return err // names the resource
}

// blueprintsOf returns the names of the blueprints of a component version.
func blueprintsOf(version *descriptor.Descriptor) []string {
	var names []string
	for i := range version.Resources {
		if kind := version.Resources[i].Type; kind == v1alpha1.BlueprintType || kind == v1alpha1.BlueprintResourceType {
			names = append(names, version.Resources[i].Name)
		}
	}
	return names
}

// onlyBlueprint returns the name of the blueprint of a component version.
func onlyBlueprint(version *descriptor.Descriptor) (string, error) {
	names := blueprintsOf(version)
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", terminal.Exitf(terminal.ExitNotFound, "component version %s:%s has no blueprint among its resources", version.Name, version.Version)
	}
	return "", terminal.Usage(fmt.Errorf("component version %s:%s has the blueprints %s: choose one with --resource", version.Name, version.Version, strings.Join(names, ", ")))
}

// openDescriptor opens the component that -c names, if it does.
func (f *sourceFlags) openDescriptor(ctx context.Context, s *source) error {
	if where, name, version, remote := repositories.SplitComponent(f.descriptor); remote {
		if err := s.openComponent(ctx, where, component.Reference{Name: name, Version: version}); err != nil {
			return err
		}
		return f.openAdditional(s)
	}
	var err error
	if s.session, err = s.access.Session(repositories.Nowhere); err != nil {
		return err // tells what is missing
	}
	if f.descriptor == "" {
		s.definition = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{
			ComponentName: exampleName, Version: exampleVersion,
		}}
		return nil
	}
	top, err := f.readComponent()
	if err != nil {
		return terminal.Usage(err)
	}
	raw, err := top.Encode()
	if err != nil {
		return fmt.Errorf("component descriptor %s: %w", f.descriptor, err)
	}
	if err := f.openAdditional(s); err != nil {
		return err
	}
	inline := v1alpha1.NewAnyJSON(raw)
	s.definition = &v1alpha1.ComponentDescriptorDefinition{Inline: &inline}
	s.component, err = plan.OpenComponent(ctx, s.session.Session, s.definition)
	return err // names the component version
}

// readComponent reads the descriptor of -c with the resources of -r.
func (f *sourceFlags) readComponent() (*descriptor.Descriptor, error) {
	top, err := readDescriptor(f.descriptor)
	if err != nil || f.resources == "" {
		return top, err
	}
	list, err := readResources(f.resources)
	if err == nil {
		top.Resources = append(top.Resources, list...)
		err = top.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("resources %s: %w", f.resources, err)
	}
	return top, nil
}

func (f *sourceFlags) openAdditional(s *source) error {
	for _, path := range f.additional {
		other, err := readDescriptor(path)
		if err != nil {
			return terminal.Usage(err)
		}
		s.session.Know(other)
	}
	return nil
}

func readDescriptor(path string) (*descriptor.Descriptor, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("component descriptor: %w", err)
	}
	read, err := descriptor.DecodeInline(content)
	if err != nil {
		return nil, fmt.Errorf("component descriptor %s: %w", path, err)
	}
	return read, nil
}

// readResources reads a list of resources, or a map with a list resources.
func readResources(path string) ([]descriptor.Resource, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err // names the file
	}
	var list []descriptor.Resource
	if err := yaml.Unmarshal(content, &list); err == nil {
		return list, nil
	}
	var file struct {
		Resources []descriptor.Resource `json:"resources"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("write a list of resources, or a map with such a list resources: %w", err)
	}
	if len(file.Resources) == 0 {
		return nil, errors.New("there are no resources: write a list of them, or a map with such a list resources")
	}
	return file.Resources, nil
}

// clusterFunctions are functions that say that there is no cluster here.
func clusterFunctions() map[string]template.Function {
	return clusterfunc.Functions(clusterfunc.Options{})
}

// hinted says how what is missing is given on the command line.
func hinted(err error) error {
	hint := ""
	var wrong *dataflow.Error
	switch {
	case errors.As(err, &wrong) && wrong.Reason == dataflow.ImportNotFound:
		hint = "here imports are given with -f: a file with a map imports"
	case errors.Is(err, component.ErrNoRepository):
		hint = "here components are given with -c REPOSITORY//COMPONENT:VERSION, or their descriptors with -c and -a"
	case errors.Is(err, plan.ErrNoComponent):
		hint = "here the component is given with -c"
	default:
		return err
	}
	return fmt.Errorf("%w\n(%s)", err, hint)
}
