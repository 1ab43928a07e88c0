package compare

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/local/folder"
)

// landscape is where users are looked for: in a folder, in a namespace or in all of a cluster.
type landscape struct {
	cluster   connection.Flags
	namespace string
	all       bool
	directory string
	set       []string
}

func (l *landscape) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&l.namespace, "namespace", "n", "", "look for users in this namespace of the cluster")
	flags.BoolVarP(&l.all, "all-namespaces", "A", false, "look for users in all namespaces of the cluster")
	flags.StringVar(&l.directory, "landscape", "", "look for users in this `directory` with manifests")
	flags.StringArrayVar(&l.set, "landscape-set", nil, "NAME=VALUE of a variable ${NAME} in the manifests of the landscape; may be repeated")
	l.cluster.AddTo(command, &l.namespace)
}

func (l *landscape) check() error {
	places := 0
	for _, given := range []bool{l.namespace != "", l.all, l.directory != ""} {
		if given {
			places++
		}
	}
	if places > 1 {
		return terminal.Usage(errors.New("-n, -A and --landscape name different landscapes: give one of them"))
	}
	if len(l.set) > 0 && l.directory == "" {
		return terminal.Usage(errors.New("--landscape-set is for manifests of a directory: name it with --landscape"))
	}
	return nil
}

func (l *landscape) wanted() bool { return l.namespace != "" || l.all || l.directory != "" }

// read returns the Installations of the landscape.
func (l *landscape) read(ctx context.Context) ([]v1alpha1.Installation, error) {
	if l.directory != "" {
		return l.readDirectory()
	}
	on, err := l.cluster.Connect()
	if err != nil {
		return nil, err
	}
	list := &v1alpha1.InstallationList{}
	if err := on.Client.List(ctx, list, client.InNamespace(l.namespace)); err != nil {
		return nil, on.Explain(fmt.Errorf("list Installations: %w", err))
	}
	return list.Items, nil
}

func (l *landscape) readDirectory() ([]v1alpha1.Installation, error) {
	variables, err := terminal.Pairs("--landscape-set", l.set)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	if info, err := os.Stat(l.directory); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, terminal.Exitf(terminal.ExitNotFound, "there is no directory %s", l.directory)
	}
	content, err := folder.Read(l.directory, folder.Options{Variables: variables})
	if err != nil {
		return nil, fmt.Errorf("landscape %s: %w", l.directory, err)
	}
	var all []v1alpha1.Installation
	for _, object := range content.Objects {
		if object.GetKind() != "Installation" {
			continue
		}
		one := v1alpha1.Installation{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &one); err != nil {
			return nil, fmt.Errorf("landscape %s: Installation %s: %w", l.directory, object.GetName(), err)
		}
		all = append(all, one)
	}
	return all, nil
}
