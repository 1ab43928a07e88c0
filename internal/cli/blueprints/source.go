package blueprints

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/render"
	"go.landscaper.dev/internal/render/clusterfunc"
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

func (s *source) close() { _ = s.session.Close() }

// open finds the blueprint: in a component version, a directory, or an archive.
func (o *renderOptions) open(ctx context.Context, streams terminal.Streams, text string) (*source, error) {
	access, err := o.registry.Access(streams)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the flag
	}
	s := &source{access: access}
	if where, name, version, isComponent := repositories.SplitComponent(text); isComponent {
		err = s.openComponent(ctx, where, component.Reference{Name: name, Version: version}, o.resource)
		return s, access.Explain(ctx, err) //nolint:wrapcheck // tells what is missing
	}
	if s.session, err = access.Session(repositories.Nowhere); err != nil {
		return nil, err //nolint:wrapcheck // tells what is missing
	}
	if err := o.openDescriptors(ctx, s); err != nil {
		s.close()
		return nil, terminal.Usage(err)
	}
	if s.blueprint, err = readBlueprint(text); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openComponent finds the blueprint among the resources of a component version.
func (s *source) openComponent(ctx context.Context, where string, reference component.Reference, resource string) error {
	at, err := repositories.Locate(where)
	if err != nil {
		return err //nolint:wrapcheck // names the repository
	}
	if s.session, err = s.access.Session(at); err != nil {
		return err //nolint:wrapcheck // names the repository
	}
	s.definition = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{
		ComponentName: reference.Name, Version: reference.Version,
	}}
	if s.component, err = plan.OpenComponent(ctx, s.session.Session, s.definition); err != nil {
		return err //nolint:wrapcheck // names the component version
	}
	s.definition.Reference = s.component.Reference
	if resource == "" {
		if resource, err = onlyBlueprint(s.component.Version.Descriptor); err != nil {
			return err
		}
	}
	s.reference = &v1alpha1.RemoteBlueprintReference{ResourceName: resource}
	s.blueprint, err = plan.OpenBlueprint(ctx, nil, s.component, &v1alpha1.BlueprintDefinition{Reference: s.reference})
	return err //nolint:wrapcheck // names the resource
}

// onlyBlueprint returns the name of the blueprint of a component version.
func onlyBlueprint(version *descriptor.Descriptor) (string, error) {
	var names []string
	for i := range version.Resources {
		if kind := version.Resources[i].Type; kind == v1alpha1.BlueprintType || kind == v1alpha1.BlueprintResourceType {
			names = append(names, version.Resources[i].Name)
		}
	}
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", fmt.Errorf("component version %s:%s has no blueprint among its resources", version.Name, version.Version)
	}
	return "", terminal.Usage(fmt.Errorf("component version %s:%s has the blueprints %s: choose one with --resource", version.Name, version.Version, strings.Join(names, ", ")))
}

// readBlueprint reads a blueprint from a directory or an archive.
func readBlueprint(path string) (*blueprint.Blueprint, error) {
	files, err := readFiles(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.Exitf(terminal.ExitNotFound, "there is no blueprint %s: give the directory or the archive of one, or REPOSITORY//NAME:VERSION", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read blueprint %s: %w", path, err)
	}
	loaded, err := blueprint.Load(files)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", path, err)
	}
	return loaded, nil
}

func readFiles(path string) (fs.FS, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the path
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller names the path
		}
		return root.FS(), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the path
	}
	defer file.Close()                                   //nolint:errcheck // nothing is written
	return archive.Unpack(file, archive.DefaultLimits()) //nolint:wrapcheck // the caller names the path
}

// openDescriptors takes the component from files.
func (o *renderOptions) openDescriptors(ctx context.Context, s *source) error {
	if o.descriptor == "" {
		return nil
	}
	top, err := readDescriptor(o.descriptor)
	if err != nil {
		return err
	}
	if err := o.addResources(top); err != nil {
		return err
	}
	more := make([]*descriptor.Descriptor, 0, len(o.additional))
	for _, path := range o.additional {
		other, err := readDescriptor(path)
		if err != nil {
			return err
		}
		more = append(more, other)
	}
	raw, err := top.Encode()
	if err != nil {
		return fmt.Errorf("component descriptor %s: %w", o.descriptor, err)
	}
	inline := v1alpha1.NewAnyJSON(raw)
	s.definition = &v1alpha1.ComponentDescriptorDefinition{Inline: &inline}
	s.session.Know(more...)
	s.component, err = plan.OpenComponent(ctx, s.session.Session, s.definition)
	return err //nolint:wrapcheck // names the component version
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

// addResources adds the resources of a file: a list, or a map with a list resources.
func (o *renderOptions) addResources(to *descriptor.Descriptor) error {
	if o.resources == "" {
		return nil
	}
	content, err := os.ReadFile(o.resources)
	if err != nil {
		return fmt.Errorf("resources: %w", err)
	}
	var list []descriptor.Resource
	if err := yaml.Unmarshal(content, &list); err != nil {
		var file struct {
			Resources []descriptor.Resource `json:"resources"`
		}
		if err := yaml.Unmarshal(content, &file); err != nil {
			return fmt.Errorf("resources %s: %w", o.resources, err)
		}
		list = file.Resources
	}
	to.Resources = append(to.Resources, list...)
	if err := to.Validate(); err != nil {
		return fmt.Errorf("resources %s: %w", o.resources, err)
	}
	return nil
}

// root returns what the tree begins with.
func (o *renderOptions) root(streams terminal.Streams, from *source) (plan.Input, error) {
	inst := &v1alpha1.Installation{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation"},
		ObjectMeta: metav1.ObjectMeta{Name: "root", Namespace: "default"},
		Spec:       v1alpha1.InstallationSpec{Context: v1alpha1.DefaultContextName, ComponentDescriptor: from.definition},
	}
	inst.Spec.Blueprint.Reference = from.reference
	imports, err := readImports(streams, o.imports, from.blueprint.Info.Imports)
	if err != nil {
		return plan.Input{}, terminal.Usage(err)
	}
	return plan.Input{Installation: inst, Blueprint: from.blueprint, Component: from.component, Imports: imports, Functions: clusterFunctions()}, nil
}

// clusterFunctions are functions that say that there is no cluster here.
func clusterFunctions() map[string]render.Function {
	return clusterfunc.Functions(clusterfunc.Options{})
}

// child opens what a subinstallation consists of.
func (s *source) child(ctx context.Context, parent plan.Input, inst *v1alpha1.Installation) (plan.Input, error) {
	in := plan.Input{Installation: inst, Functions: parent.Functions}
	if inst.Spec.ComponentDescriptor != nil {
		var err error
		if in.Component, err = plan.OpenComponent(ctx, s.session.Session, inst.Spec.ComponentDescriptor); err != nil {
			return in, fmt.Errorf("component of subinstallation %s: %w", inst.Name, err)
		}
	}
	opened, err := plan.OpenBlueprint(ctx, nil, in.Component, &inst.Spec.Blueprint)
	if err != nil {
		return in, fmt.Errorf("blueprint of subinstallation %s: %w", inst.Name, err)
	}
	in.Blueprint = opened
	return in, nil
}
