package components

import (
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/content/component/repository"
)

// completeTarget completes REPOSITORY COMPONENT VERSION: files, then what an archive
// or a directory has. No registry is asked.
func completeTarget(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if _, reference := repositories.Split(args[0]); reference != "" || len(args) > 2 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	at, err := repositories.Locate(args[0])
	if err != nil || at.Spec.Kind == repository.KindOCI {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := at.Versions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, one := range found {
		switch {
		case len(args) == 1 && !slices.Contains(names, one.Name):
			names = append(names, one.Name)
		case len(args) == 2 && one.Name == args[1]:
			names = append(names, one.Version)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeCopy completes a file behind the component version, too.
func completeCopy(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 3 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if len(args) == 1 {
		if _, reference := repositories.Split(args[0]); reference != "" {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return completeTarget(command, args, text)
}
