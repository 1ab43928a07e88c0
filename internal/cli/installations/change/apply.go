package change

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
)

type applyFlags struct {
	connection.Flags
	wait             await.Flags
	files            []string
	reconcile, waits bool
	force            bool
}

// NewApplyCommand returns the command that applies manifests.
func NewApplyCommand(streams terminal.Streams) *cobra.Command {
	f := &applyFlags{wait: await.Flags{Goal: string(inspect.GoalSucceeded)}}
	command := &cobra.Command{
		Use:   "apply -f DIRECTORY",
		Short: "Apply manifests of Installations and what they need",
		Long: `Apply the manifests of a directory, of files, or of the standard input (-f -), in an
order in which everything is there before an Installation needs it: namespaces,
Secrets, ConfigMaps, Contexts, Targets and DataObjects, then Installations.

With --reconcile, each root Installation among them gets a job; --wait also waits for
these jobs, and shows how they end.`,
		Example: `  landscaper-cli installations apply -f landscape/
  landscaper-cli inst apply -f shop.yaml -n shop --wait --timeout 10m`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			if len(f.files) == 0 {
				return terminal.Usage(errors.New("nothing to apply: name a directory or file with -f"))
			}
			objects, err := readManifests(streams.In, f.files)
			if err != nil {
				return err
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return f.run(command, streams, on, objects)
		},
	}
	f.Add(command)
	flags := command.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`file` or directory with manifests, or - for the standard input; may be repeated")
	flags.BoolVar(&f.reconcile, "reconcile", false, "start a job of each root Installation")
	flags.BoolVar(&f.waits, "wait", false, "start the jobs, and wait for them")
	flags.BoolVar(&f.force, "force-conflicts", false, "take over fields that another client has set")
	f.wait.AddLimits(command)
	terminal.BeStrict(command)
	return command
}

func (f *applyFlags) run(command *cobra.Command, streams terminal.Streams, on *connection.Connection, objects []*unstructured.Unstructured) error {
	ctx := command.Context()
	// What cannot be applied is found before anything is.
	for _, object := range objects {
		if err := on.Place(object); err != nil {
			return err
		}
	}
	var roots []appliedRoot
	for _, object := range objects {
		// A manifest may ask for the job itself.
		asked := object.GetAnnotations()[v1alpha1.OperationAnnotation] == string(v1alpha1.ReconcileOperation)
		before, result, err := on.Apply(ctx, object, f.force)
		if apierrors.IsConflict(err) {
			err = fmt.Errorf("%w: leave these fields out, or take them over with --force-conflicts", err)
		}
		if err != nil {
			return on.Explain(fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err))
		}
		fmt.Fprintf(streams.Out, "%s %s: %s\n", object.GetKind(), object.GetName(), result)
		if object.GetKind() == "Installation" && object.GetLabels()[v1alpha1.EncompassedByLabel] == "" {
			job, _, _ := unstructured.NestedString(before.Object, "status", "jobID")
			roots = append(roots, appliedRoot{key: client.ObjectKeyFromObject(object), asked: asked, start: inspect.Start{UID: object.GetUID(), AfterJob: true, JobID: job}})
		}
	}
	if !f.reconcile && !f.waits {
		return nil
	}
	return f.start(command, streams, on, roots)
}

// appliedRoot is a root Installation that was applied.
type appliedRoot struct {
	key client.ObjectKey
	// asked tells that its manifest has asked for a job.
	asked bool
	start inspect.Start
}

// start starts the jobs, namespace by namespace, and waits for them.
func (f *applyFlags) start(command *cobra.Command, streams terminal.Streams, on *connection.Connection, roots []appliedRoot) error {
	starts := map[string]map[string]inspect.Start{}
	for _, root := range roots {
		if !root.asked {
			there := *on
			there.Namespace = root.key.Namespace
			before, err := request(command, &there, root.key.Name, v1alpha1.ReconcileOperation)
			if err != nil {
				return err
			}
			root.start.JobID = before.Status.JobID
		}
		if starts[root.key.Namespace] == nil {
			starts[root.key.Namespace] = map[string]inspect.Start{}
		}
		starts[root.key.Namespace][root.key.Name] = root.start
	}
	if !f.waits {
		return nil
	}
	for _, root := range roots {
		there := *on
		there.Namespace = root.key.Namespace
		if waiting := starts[root.key.Namespace]; len(waiting) > 0 {
			if err := await.New(streams, &there, f.wait, waiting).Run(command.Context()); err != nil {
				return err
			}
		}
	}
	return nil
}

// order is that in which kinds are applied; others come in between.
var order = []string{"Namespace", "Secret", "ConfigMap", "ComponentVersionOverwrites", "Context", "Target", "DataObject", "TargetSync"}

func rank(object *unstructured.Unstructured) int {
	if object.GetKind() == "Installation" {
		return len(order) + 1
	}
	if at := slices.Index(order, object.GetKind()); at >= 0 {
		return at
	}
	return len(order)
}

// readManifests returns the objects of files and directories in the order in which they
// are applied.
func readManifests(in io.Reader, paths []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	add := func(name string, text []byte) error {
		documents, err := yamltext.Documents(text, yamltext.Lenient())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, document := range documents {
			raw, err := document.JSON()
			if err != nil {
				return fmt.Errorf("%s: line %d: %w", name, document.Line(), err)
			}
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(raw); err != nil {
				return fmt.Errorf("%s: line %d: this is not a Kubernetes object: it needs apiVersion and kind", name, document.Line())
			}
			objects = append(objects, object)
		}
		return nil
	}
	for _, path := range paths {
		if path == "-" {
			text, err := io.ReadAll(in)
			if err := errors.Join(err, add("standard input", text)); err != nil {
				return nil, err
			}
			continue
		}
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || name != path && !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name))) {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return add(name, text)
		})
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}
