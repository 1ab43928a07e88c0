// Package quickstart has the commands that install a Landscaper for tries.
package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/quickstart/bootstrap"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/server/install"
)

type flags struct {
	connection.Flags
	values, version   string
	registry, ingress bool
	dryRun, agree     bool
	waits             bool
	timeout           time.Duration
}

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "quickstart",
		Aliases: []string{"qs"},
		Short:   "Install a Landscaper for tries, and remove it again",
		Long: `Install a Landscaper of the release of this program into a cluster, for tries, and
remove it again. Helm and a network besides the cluster are not needed.`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newInstallCommand(streams), newUninstallCommand(streams))
	return command
}

// add adds the flags that both commands have.
func (f *flags) add(command *cobra.Command) {
	f.Add(command)
	flags := command.Flags()
	namespace := flags.Lookup("namespace")
	namespace.DefValue, namespace.Usage = "landscaper", "namespace of the Landscaper"
	// The flag exists, and any text is a value.
	_ = namespace.Value.Set("landscaper")
	flags.StringVar(&f.values, "landscaper-values", "", "`file` with values for the chart")
}

// check refuses what this program cannot install.
func (f *flags) check() error {
	switch {
	case f.ingress:
		return terminal.Usage(errors.New("--install-registry-ingress is not supported: use a registry with TLS and authentication that exists"))
	case f.version != "" && f.version != "latest release" && f.version != version.String():
		return terminal.Usage(fmt.Errorf("this program installs its own release, %s: use the command line of the release %s", version.String(), f.version))
	}
	return nil
}

var errNoImage = errors.New("this program is of no release, and knows no image of Landscaper: name yours with --landscaper-values, in a file like\n  image: {repository: registry.example.org/landscaper/landscaper, tag: v0.1.0}\nor use the command line of a release")

func newInstallCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:     "install",
		Aliases: []string{"i"},
		Short:   "Install a Landscaper for tries",
		Long: `Install the CRDs, the policies and the chart of Landscaper, all of the release of this
program. Neither Helm nor a network besides the cluster is needed; the cluster must be
able to pull the image: that of the release, unless the values name another one.

--install-oci-registry adds a registry without authentication and TLS, which only the
cluster reaches.`,
		Example: `  landscaper-cli quickstart install --landscaper-values values.yaml
  landscaper-cli quickstart install --wait --timeout 10m
  landscaper-cli quickstart install --dry-run`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			return f.install(command.Context(), streams)
		},
	}
	f.add(command)
	flags := command.Flags()
	flags.StringVar(&f.version, "landscaper-chart-version", "", "must be the release of this program, if it is given")
	flags.BoolVar(&f.registry, "install-oci-registry", false, "install a registry in the cluster, too")
	f.addUnsupported(flags)
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the objects of the chart, and install nothing")
	flags.BoolVar(&f.waits, "wait", false, "wait until the Landscaper is running")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long to wait; 0 means no limit")
	return command
}

func (f *flags) install(ctx context.Context, streams terminal.Streams) error {
	if err := f.check(); err != nil {
		return err
	}
	values, err := f.readValues()
	if err != nil {
		return err
	}
	gates, err := gatesOf(values)
	if err != nil {
		return terminal.Usage(err)
	}
	if !f.dryRun && !bootstrap.NamesImage(values) {
		return terminal.Usage(errNoImage)
	}
	objects, on, err := f.objects(values)
	if err != nil {
		return err
	}
	if f.dryRun {
		return show(streams, objects)
	}
	c, err := f.client(on)
	if err != nil {
		return err
	}
	// The CRDs of a feature come with it.
	options := install.Options{Delivery: gates.Enabled(feature.DeliveryPolicies), Fleets: gates.Enabled(feature.Fleets)}
	if err := bootstrap.Install(ctx, c, on.Namespace, options, objects, streams.Out); err != nil || !f.waits {
		return err
	}
	return wait(ctx, streams, c, objects, f.timeout)
}

// addUnsupported adds flags of upstream, so that a command with one of them says what to do instead.
func (f *flags) addUnsupported(flags *pflag.FlagSet) {
	flags.BoolVar(&f.ingress, "install-registry-ingress", false, "not supported")
	for _, name := range []string{"registry-username", "registry-password"} {
		flags.String(name, "", "not supported")
	}
	for _, name := range []string{"install-registry-ingress", "registry-username", "registry-password"} {
		_ = flags.MarkHidden(name) // it was just defined
	}
}

// wait waits for the programs that were installed.
func wait(ctx context.Context, streams terminal.Streams, c client.WithWatch, objects []*unstructured.Unstructured, limit time.Duration) error {
	ctx, cancel := terminal.WithTimeout(ctx, limit)
	defer cancel()
	err := bootstrap.Wait(ctx, c, objects, terminal.Lines(streams.Err))
	if errors.Is(err, terminal.ErrTimeout) {
		return terminal.Exitf(terminal.ExitTimeout, "%w: look at its Pods with kubectl get pods", err)
	}
	return err
}

func newUninstallCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{registry: true}
	var removal bootstrap.Removal
	var timeout time.Duration
	command := &cobra.Command{
		Use:     "uninstall",
		Aliases: []string{"u"},
		Short:   "Remove a Landscaper that quickstart install has installed",
		Long: `Remove what quickstart install has installed. Before, it is said which Installations
there are, and what becomes of them. With --delete-crd, all Installations and other
objects of Landscaper go, too, without uninstalling what they have deployed.

On a terminal, the command asks before. Without one, it removes no CRDs of which there
are Installations, unless --yes is given.`,
		Example: `  landscaper-cli quickstart uninstall --wait
  landscaper-cli quickstart uninstall --delete-crd --delete-namespace --yes`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			values, err := f.readValues()
			if err != nil {
				return err
			}
			objects, on, err := f.objects(values)
			if err != nil {
				return err
			}
			c, err := f.client(on)
			if err != nil {
				return err
			}
			removal.Namespace, removal.Objects = on.Namespace, objects
			if err := f.agreed(command.Context(), streams, c, removal); err != nil {
				return err
			}
			ctx, cancel := terminal.WithTimeout(command.Context(), timeout)
			defer cancel()
			err = bootstrap.Uninstall(ctx, c, removal, streams.Out, terminal.Lines(streams.Err))
			if errors.Is(err, terminal.ErrTimeout) {
				return terminal.Exitf(terminal.ExitTimeout, "%w: look for finalizers that hold it with kubectl get -o yaml", err)
			}
			return err
		},
	}
	f.add(command)
	flags := command.Flags()
	flags.BoolVar(&removal.Definitions, "delete-crd", false, "delete the CRDs with all their objects")
	flags.BoolVar(&removal.DeleteNamespace, "delete-namespace", false, "delete the namespace")
	flags.BoolVarP(&f.agree, "yes", "y", false, "do not ask")
	flags.BoolVar(&removal.Wait, "wait", false, "wait until everything is deleted")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "how long it may take; 0 means no limit")
	return command
}

// agreed tells what a removal means for the Installations that there are, and asks.
func (f *flags) agreed(ctx context.Context, streams terminal.Streams, c client.Reader, removal bootstrap.Removal) error {
	use, err := bootstrap.InUse(ctx, c)
	if err != nil {
		return err
	}
	consequence, err := removal.Consequence(use)
	if err != nil {
		return err
	}
	if consequence != "" {
		fmt.Fprintf(streams.Err, "There are %s.\n", consequence)
		if removal.Definitions && !f.agree && !streams.Terminal {
			return errors.New("nothing was removed: say with --yes that these Installations are to be given up")
		}
	}
	return streams.Confirm("Remove the Landscaper in namespace "+removal.Namespace+"?", f.agree)
}

// readValues returns the values that the user has given.
func (f *flags) readValues() (map[string]any, error) {
	values := map[string]any{}
	if f.values == "" {
		return values, nil
	}
	text, err := os.ReadFile(f.values)
	if err != nil {
		return nil, fmt.Errorf("read the values: %w", err)
	}
	if err := yamltext.Unmarshal(text, yamltext.Lenient(), &values); err != nil {
		return nil, fmt.Errorf("%s: %w", f.values, err)
	}
	return values, nil
}

// objects returns the objects of the chart and, if it is asked for, of the registry.
func (f *flags) objects(values map[string]any) ([]*unstructured.Unstructured, *connection.Connection, error) {
	on, err := f.Connect()
	if err != nil {
		return nil, nil, err
	}
	objects, err := bootstrap.Objects(on.Namespace, values)
	if err != nil || !f.registry {
		return objects, on, err
	}
	registry, err := bootstrap.Registry(on.Namespace)
	return append(registry, objects...), on, err
}

// client returns a client that asks the cluster for its kinds.
func (f *flags) client(on *connection.Connection) (client.WithWatch, error) {
	c, err := client.NewWithWatch(on.Config, client.Options{Scheme: install.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", on.Where, err)
	}
	return c, nil
}

func show(streams terminal.Streams, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(streams.Out, "---\n%s", text)
	}
	return nil
}
