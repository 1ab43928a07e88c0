package connection

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// completionTimeout is how long a user waits for a proposal after pressing tab.
const completionTimeout = 3 * time.Second

// CompleteInstallations proposes names of Installations for up to limit
// arguments, or any number if it is negative.
func CompleteInstallations(f *Flags, limit int) cobra.CompletionFunc {
	return f.completeInstallations(limit, "")
}

// CompleteRoots proposes those that are no parts of others.
func CompleteRoots(f *Flags, limit int) cobra.CompletionFunc {
	return f.completeInstallations(limit, "!"+v1alpha1.EncompassedByLabel)
}

func (f *Flags) completeInstallations(limit int, selector string) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if limit >= 0 && len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := f.names(command.Context(), v1alpha1.GroupVersion.WithKind("InstallationList"), selector)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFleets proposes Fleets.
func CompleteFleets(f *Flags, limit int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.names(command.Context(), fleetv1alpha1.GroupVersion.WithKind("FleetList"), ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteChannels proposes Channels.
func CompleteChannels(f *Flags, limit int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.names(command.Context(), fleetv1alpha1.GroupVersion.WithKind("ChannelList"), ""), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeNamespaces(f *Flags) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return f.names(command.Context(), schema.GroupVersionKind{Version: "v1", Kind: "NamespaceList"}, ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// entry is what a kubeconfig names.
type entry int

const (
	contexts entry = iota
	clusters
	users
)

// in are the names of all entries of a kind.
func (e entry) in(config *clientcmdapi.Config) []string {
	switch e {
	case clusters:
		return slices.Sorted(maps.Keys(config.Clusters))
	case users:
		return slices.Sorted(maps.Keys(config.AuthInfos))
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

func (f *Flags) completeEntries(of entry) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		raw, err := f.clientConfig().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of.in(&raw), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteContextsOf proposes the contexts of a kubeconfig that another flag names.
func CompleteContextsOf(file *string) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		return (&Flags{kubeconfig: *file}).completeEntries(contexts)(command, args, text)
	}
}

// CompleteObjects proposes names of objects of one of our kinds, such as Target, in the
// namespace of the manifest that a command writes. With pairs, they stand behind KEY=.
func CompleteObjects(kind string, namespace *string, pairs bool) cobra.CompletionFunc {
	f := &Flags{manifests: namespace}
	return func(command *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if pairs {
			key, _, found := strings.Cut(text, "=")
			if !found {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			before = key + "="
		}
		names := f.names(command.Context(), v1alpha1.GroupVersion.WithKind(kind+"List"), "")
		for i := range names {
			names[i] = before + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteImports proposes an Installation, and then KEY= for each of its imports.
func CompleteImports(f *Flags) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return CompleteInstallations(f, 1)(command, args, text)
		}
		on, err := f.Connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(command.Context(), completionTimeout)
		defer cancel()
		installation, err := on.Installation(ctx, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		keys := slices.Collect(maps.Keys(installation.Spec.ImportDataMappings))
		for _, item := range installation.Spec.Imports.Data {
			keys = append(keys, item.Name)
		}
		slices.Sort(keys)
		for i := range keys {
			keys[i] += "="
		}
		return slices.Compact(keys), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// names lists the names of objects. Whatever goes wrong means no proposals: a
// shell has no place for an error.
func (f *Flags) names(ctx context.Context, kind schema.GroupVersionKind, selector string) []string {
	connection, err := f.Connect()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	options := &client.ListOptions{Raw: &metav1.ListOptions{LabelSelector: selector}}
	if kind.Group != "" {
		options.Namespace = connection.Namespace
	}
	if err := connection.Client.List(ctx, list, options); err != nil {
		return nil
	}
	names := make([]string, 0, len(list.Items))
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}
