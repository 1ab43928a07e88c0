package connection

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// completionTimeout is how long a user waits for a proposal after pressing tab.
const completionTimeout = 3 * time.Second

// CompleteInstallations proposes names of Installations for up to limit
// arguments, or any number if it is negative.
func CompleteInstallations(f *Flags, limit int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if limit >= 0 && len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := f.names(command.Context(), v1alpha1.GroupVersion.WithKind("InstallationList"))
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeNamespaces(f *Flags) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return f.names(command.Context(), schema.GroupVersionKind{Version: "v1", Kind: "NamespaceList"}), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeContexts(f *Flags) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if raw, err := f.clientConfig().RawConfig(); err == nil {
			for name := range raw.Contexts {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// names lists the names of objects. Whatever goes wrong means no proposals: a
// shell has no place for an error.
func (f *Flags) names(ctx context.Context, kind schema.GroupVersionKind) []string {
	connection, err := f.Connect()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	options := &client.ListOptions{}
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
