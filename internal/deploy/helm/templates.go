package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
)

const fieldManager = storage.FieldManager

// templates is where the roll-out of an item without a release gets its objects from.
type templates struct {
	Options
	config *config
}

// Name implements rollout.Source.
func (templates) Name() string { return stageName }

// Owner implements rollout.Source.
func (templates) Owner(item *deployer.Item) rollout.Owner { return owner(item) }

// DesiredState implements rollout.Source.
func (t templates) DesiredState(ctx context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	for _, stage := range []string{": start progressing", ": start create manifests"} {
		if err := item.Checkpoint(ctx, stageName+stage); err != nil {
			return rollout.DesiredState{}, err
		}
	}
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	return t.desiredState(ctx, item, connection)
}

// desiredState works out the desired state of an item on a cluster.
func (t templates) desiredState(ctx context.Context, item *deployer.Item, connection *cluster.Connection) (rollout.DesiredState, error) {
	loaded, err := t.load(ctx, item)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	recorded, err := t.Recorded(item)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	input, values, err := t.merge(ctx, item, connection, loaded, 1, len(recorded) > 0, t.config.install.SkipSchemaValidation)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	rendered, err := renderAll(ctx, input, values)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	desiredState, err := t.checks(values)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	desiredState.Objects, err = t.entries(rendered)
	return desiredState, err
}

// entries are the objects of a chart that is deployed without a release.
func (t templates) entries(rendered *rendered) ([]apply.Entry, error) {
	entries, err := release.Entries(rendered.Manifest, t.config.Namespace)
	if err != nil {
		return nil, templateError("DecodeHelmTemplatedObjects", err)
	}
	for _, definition := range rendered.Definitions {
		found, err := release.Entries("# Source: "+definition.Name+"\n"+definition.Text, "")
		if err != nil {
			return nil, templateError("DecodeHelmTemplatedObjects", err)
		}
		entries = append(entries, found...)
	}
	for i := range entries {
		if release.Kept(entries[i].Object) {
			entries[i].Policy = apideployer.KeepPolicy
		}
	}
	if t.config.CreateNamespace && !slices.ContainsFunc(entries, t.isNamespace) {
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		namespace.SetName(t.config.Namespace)
		// The strategies merge: what others have set on the namespace stays.
		entries = append(entries, apply.Entry{Position: "createNamespace", Policy: apideployer.KeepPolicy, Object: namespace})
	}
	return entries, nil
}

func (t templates) isNamespace(entry apply.Entry) bool {
	return entry.Object.GetKind() == "Namespace" && entry.Object.GetName() == t.config.Namespace
}

// checks is the part of a desired state besides its objects.
func (t templates) checks(values *render.Values) (desiredState rollout.DesiredState, err error) {
	if desiredState, err = t.config.settings().DesiredState(t.Options.Options); err != nil {
		return desiredState, configError(validateConfiguration, err)
	}
	desiredState.Given, err = t.given(values)
	return desiredState, err
}

// given are the exports that the values of the release have.
func (t templates) given(values *render.Values) (map[string]any, error) {
	given := map[string]any{}
	entries := t.config.fromValues()
	if len(entries) == 0 {
		return given, nil
	}
	document, err := values.Document()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := export.Given(entry, document, given); err != nil {
			return nil, job.Wrap(fmt.Errorf("export %s: %w", entry.Key, err), published.Reconcile, "ConstructExportFromValues", "", v1alpha1.ErrorConfigurationProblem)
		}
	}
	return given, nil
}

// load loads the chart of an item.
func (t templates) load(ctx context.Context, item *deployer.Item) (*chart.Chart, error) {
	loaded, err := t.Charts.Load(ctx, item.DeployItem, &t.config.Chart)
	if err != nil {
		return nil, job.Wrap(err, published.TemplateChart, "GetHelmChart", "")
	}
	item.Warn("ChartWarning", loaded.Warnings...)
	return loaded, nil
}

// merge works out the values of a release of a number.
func (t templates) merge(ctx context.Context, item *deployer.Item, connection *cluster.Connection, loaded *chart.Chart, revision int, upgrade, skipSchema bool) (render.Input, *render.Values, error) {
	kubernetes, apiVersions, err := connection.Capabilities(ctx)
	if err != nil {
		return render.Input{}, nil, err
	}
	version, err := common.ParseKubeVersion(kubernetes.GitVersion)
	if err != nil {
		version = &common.KubeVersion{Version: kubernetes.GitVersion, Major: kubernetes.Major, Minor: kubernetes.Minor}
	}
	input := render.Input{
		Chart: loaded.Chart, Values: t.config.values, Name: t.config.Name, Namespace: t.config.Namespace, Revision: revision, Upgrade: upgrade,
		Capabilities: &common.Capabilities{KubeVersion: *version, APIVersions: apiVersions, HelmVersion: common.DefaultCapabilities.HelmVersion},
		SkipSchema:   skipSchema, Lookup: lookup(connection),
	}
	values, err := render.Merge(ctx, input)
	if err != nil {
		return input, nil, templateError("PrepareHelmValues", err)
	}
	item.Warn("ValuesWarning", values.Warnings...)
	return input, values, nil
}

// rendered is what a chart makes, in order.
type rendered struct {
	*render.Output
	*render.Sorted
}

func renderAll(ctx context.Context, input render.Input, values *render.Values) (*rendered, error) {
	output, err := render.Render(ctx, input, values)
	if err != nil {
		return nil, templateError("RenderHelmValues", err)
	}
	sorted, err := output.Sort()
	if err != nil {
		return nil, templateError("DecodeHelmTemplatedObjects", err)
	}
	return &rendered{output, sorted}, nil
}

// templateError is the error of a chart. What the chart or its values cause is final,
// what comes from outside is not.
func templateError(reason string, err error) error {
	var wrong *render.Invalid
	if errors.As(err, &wrong) || reason == "DecodeHelmTemplatedObjects" {
		return job.Wrap(err, published.TemplateChart, reason, "", v1alpha1.ErrorConfigurationProblem)
	}
	return job.Wrap(err, published.TemplateChart, reason, "")
}

// maxFound is how many objects one lookup may find.
const maxFound = 1000

// lookup finds objects of the cluster of an item.
func lookup(connection *cluster.Connection) render.Lookup {
	return func(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
		mapping, err := connection.Mapping(ctx, schema.FromAPIVersionAndKind(apiVersion, kind))
		if meta.IsNoMatchError(err) {
			return map[string]any{}, nil
		}
		if err != nil {
			return nil, err
		}
		if name != "" {
			found, err := connection.Get(ctx, mapping, namespace, name)
			if isNotFound(err) {
				return map[string]any{}, nil
			}
			if err != nil {
				return nil, err
			}
			return found.Object, nil
		}
		found, err := connection.List(ctx, mapping, namespace, nil)
		if err != nil {
			return nil, err
		}
		if len(found) > maxFound {
			return nil, fmt.Errorf("there are more than %d objects: name a namespace or an object", maxFound)
		}
		items := make([]any, 0, len(found))
		for _, object := range found {
			items = append(items, object.Object)
		}
		return map[string]any{"apiVersion": apiVersion, "kind": kind + "List", "items": items}, nil
	}
}

// Groups implements rollout.Source.
func (t templates) Groups(*deployer.Item) ([]deletion.Group, error) {
	groups, err := t.config.settings().Groups(t.Options.Options)
	return groups, configError(validateConfiguration, err)
}

// Recorded implements rollout.Source. Entries without a policy are of a release, which
// has its own record.
func (templates) Recorded(item *deployer.Item) (apply.Inventory, error) {
	status, err := parseStatus(item.Status.ProviderStatus)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(apply.Inventory(status.ManagedResources), func(entry apideployer.ManagedResourceStatus) bool { return entry.Policy == "" }), nil
}

// Status implements rollout.Source.
func (templates) Status(item *deployer.Item, inventory apply.Inventory) any {
	return withReleases(item, statusOf(apideployer.ManagedResourceStatusList(inventory)))
}

func statusOf(resources apideployer.ManagedResourceStatusList) *helmv1alpha1.ProviderStatus {
	status := &helmv1alpha1.ProviderStatus{ManagedResources: resources}
	status.APIVersion, status.Kind = helmv1alpha1.GroupVersion.String(), "ProviderStatus"
	return status
}

func parseStatus(raw *runtime.RawExtension) (*helmv1alpha1.ProviderStatus, error) {
	status := &helmv1alpha1.ProviderStatus{}
	if raw == nil || len(raw.Raw) == 0 {
		return status, nil
	}
	if err := yamltext.Explain(json.Unmarshal(raw.Raw, status)); err != nil {
		return nil, job.Wrap(err, initOperation, "ParseProviderStatus", "status.providerStatus", v1alpha1.ErrorConfigurationProblem)
	}
	return status, nil
}
