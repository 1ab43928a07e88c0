package treeview

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	container "go.landscaper.dev/api/container/v1alpha1"
	helm "go.landscaper.dev/api/helm/v1alpha1"
	kustomize "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// description prints the text below a headline.
func (p *printer) description(node *inspect.Node, prefix string) error {
	var wide []string
	if p.options.Wide {
		wide = wideData(node)
	}
	texts := p.texts(node)
	if p.options.Details {
		details, err := details(node)
		if err != nil {
			return err
		}
		texts = []said{{text: details}}
	}
	p.lines(wide, prefix, "  ")
	if len(wide) > 0 && len(texts) > 0 {
		p.text.WriteString(prefix + "----------\n")
	}
	for _, said := range texts {
		if said.text != "" {
			p.lines(strings.Split(said.text, "\n"), prefix, "")
		}
		if said.place != "" {
			p.lines([]string{said.place}, prefix+"    ", "")
		}
	}
	if node.Warnings != "" && !p.options.Details {
		p.lines([]string{"Warning: " + node.Warnings}, prefix, "")
	}
	if node.PendingRemovals != "" && !p.options.Details {
		p.lines([]string{"Pending removal: " + node.PendingRemovals}, prefix, "")
	}
	return nil
}

// said is a text below a headline: what is wrong, and where.
type said struct{ text, place string }

// mostCauses is how many causes stand below a root. Others stand below their objects.
const mostCauses = 3

// explain works out which texts stand below which object of a tree. Each cause stands there
// once: below the root, with the way to it, or in a live picture below its object. What only
// repeats the cause of an object below it says nothing.
func (p *printer) explain(root *inspect.Node) {
	p.said = map[*inspect.Node][]said{}
	causes, of, repeats := inspect.Causes(root), map[*inspect.Node]bool{}, map[*inspect.Node]bool{}
	for _, found := range causes {
		of[found.Node] = true
	}
	leading(root, of, repeats)
	root.Walk(func(node *inspect.Node) {
		if text := cause(node); text != "" && !repeats[node] {
			p.said[node] = []said{{text: text}}
		}
	})
	for i, found := range causes {
		text := lead(found.Node) + found.Message
		switch {
		case found.Node == root:
			p.said[root] = append(p.said[root][:0], said{text: text})
		case !p.options.Live.IsZero() || i >= mostCauses:
			p.said[found.Node] = []said{{text: lead(found.Node) + onTarget(found.Node) + found.Message}}
		default:
			p.said[root] = append(p.said[root], said{text, found.Place()})
			delete(p.said, found.Node)
		}
	}
	if more := len(causes) - mostCauses; more > 0 && p.options.Live.IsZero() {
		p.said[root] = append(p.said[root], said{text: fmt.Sprintf("and %d more, below", more)})
	}
}

// leading notes in a set which objects have one of the causes below them, and reports
// whether a node has one at or below it.
func leading(node *inspect.Node, causes map[*inspect.Node]bool, set map[*inspect.Node]bool) bool {
	below := false
	for _, child := range node.Children {
		below = leading(child, causes, set) || below
	}
	if below {
		set[node] = true
	}
	return below || causes[node]
}

func (p *printer) texts(node *inspect.Node) []said {
	if waits := waits(node); !p.options.Live.IsZero() && waits != "" {
		return []said{{text: "Waiting: " + waits}}
	}
	return p.said[node]
}

func onTarget(node *inspect.Node) string {
	if node.Target == "" {
		return ""
	}
	return "on " + node.Target + ": "
}

// lead is the word before what is wrong with an object.
func lead(node *inspect.Node) string {
	switch {
	case node.State == inspect.Missing:
		return "Missing: "
	case node.State == inspect.Waiting:
		return "Waiting: "
	case node.State == inspect.Stalled && node.LastError == nil:
		return "Stalled: "
	}
	return "Last error: "
}

// cause tells in a line what is wrong, or what is waited for.
func cause(node *inspect.Node) string {
	switch {
	case node.State == inspect.Waiting && node.SaysWait(),
		node.Queued() && node.Phase == "": // of an earlier job, (outdated) tells it
		return "Waiting: " + node.Message
	case node.LastError != nil:
		return "Last error: " + node.LastError.Message
	case node.State == inspect.Stalled && node.Message != "":
		return "Stalled: " + node.Message
	}
	return ""
}

// details returns the whole object as YAML.
func details(node *inspect.Node) (string, error) {
	object := node.Object()
	if object == nil {
		return "", nil
	}
	object = object.DeepCopyObject().(inspect.Object)
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("print %s %s/%s: %w", node.Kind, node.Namespace, node.Name, err)
	}
	return strings.TrimRight(string(text), "\n"), nil
}

// wideData tells what an object deploys.
func wideData(node *inspect.Node) []string {
	switch {
	case node.Installation != nil:
		return installationData(&node.Installation.Spec)
	case node.DeployItem != nil:
		return deployItemData(&node.DeployItem.Spec)
	}
	return nil
}

func installationData(spec *v1alpha1.InstallationSpec) []string {
	var lines []string
	if component := spec.ComponentDescriptor; component != nil {
		switch {
		case component.Reference != nil:
			lines = append(lines, "Component Descriptor: "+component.Reference.ComponentName+":"+component.Reference.Version)
		case component.Inline != nil:
			lines = append(lines, "Component Descriptor: inline")
		}
	}
	switch {
	case spec.Blueprint.Reference != nil:
		lines = append(lines, "Blueprint: "+spec.Blueprint.Reference.ResourceName)
	case spec.Blueprint.Inline != nil:
		lines = append(lines, "Blueprint: inline")
	}
	return lines
}

func deployItemData(spec *v1alpha1.DeployItemSpec) []string {
	lines := []string{"Type: " + string(spec.Type)}
	switch spec.Type {
	case v1alpha1.HelmDeployItemType:
		return append(lines, helmData(spec.Configuration)...)
	case v1alpha1.KustomizeDeployItemType:
		return append(lines, kustomizeData(spec.Configuration)...)
	case v1alpha1.ContainerDeployItemType:
		return append(lines, containerData(spec.Configuration)...)
	}
	return lines
}

func kustomizeData(raw *runtime.RawExtension) []string {
	var config kustomize.ProviderConfiguration
	if !decode(raw, &config) {
		return []string{"unable to parse kustomize config"}
	}
	switch source := config.Source; {
	case source.Git != nil:
		return []string{"Source: " + withoutSecrets(source.Git.URL)}
	case source.OCI != nil:
		return []string{"Source: " + source.OCI.Ref}
	case source.ResourceRef != "":
		return []string{"Source: resource of a component"}
	}
	return []string{fmt.Sprintf("Source: inline (%d files)", len(config.Source.Files))}
}

func helmData(raw *runtime.RawExtension) []string {
	var config helm.ProviderConfiguration
	if !decode(raw, &config) {
		return []string{"unable to parse helm config"}
	}
	return []string{"Chart: " + chartLocation(config.Chart)}
}

func chartLocation(chart helm.Chart) string {
	switch {
	case chart.Ref != "":
		return chart.Ref
	case chart.Archive != nil && chart.Archive.Raw != "":
		return "inline (archive)"
	case chart.Archive != nil && chart.Archive.Remote != nil:
		return withoutSecrets(chart.Archive.Remote.URL) + " (archive)"
	case chart.FromResource != nil && chart.FromResource.Reference != nil:
		component := chart.FromResource.Reference
		return fmt.Sprintf("resource %q from %s:%s", chart.FromResource.ResourceName, component.ComponentName, component.Version)
	case chart.FromResource != nil:
		return fmt.Sprintf("resource %q from inline component descriptor", chart.FromResource.ResourceName)
	}
	return "unknown"
}

// withoutSecrets hides what may be a credential in an address: a user, and the
// query, which holds the signature of a presigned address.
func withoutSecrets(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an address that is not valid"
	}
	if parsed.User != nil {
		parsed.User = url.User("...")
	}
	if parsed.RawQuery != "" {
		parsed.RawQuery = "..."
	}
	return parsed.String()
}

func containerData(raw *runtime.RawExtension) []string {
	var config container.ProviderConfiguration
	if !decode(raw, &config) {
		return []string{"unable to parse container config"}
	}
	lines := []string{"Image: " + config.Image}
	if len(config.Command) > 0 {
		lines = append(lines, "Command: "+quoted(config.Command))
	}
	if len(config.Args) > 0 {
		lines = append(lines, "Args: "+quoted(config.Args))
	}
	return lines
}

func decode(raw *runtime.RawExtension, into any) bool {
	return raw != nil && json.Unmarshal(raw.Raw, into) == nil
}

func quoted(words []string) string {
	all := make([]string, 0, len(words))
	for _, word := range words {
		all = append(all, fmt.Sprintf("%q", word))
	}
	return strings.Join(all, " ")
}
