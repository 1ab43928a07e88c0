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
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
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
	rendered, err := t.render(ctx, item, connection, loaded, moment{revision: 1, upgrade: len(recorded) > 0, skipSchema: t.config.install.SkipSchemaValidation}, true)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	desiredState, err := t.checks(rendered)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	desiredState.Objects, err = t.entries(rendered)
	return desiredState, err
}

// entries are the objects of a chart that is deployed without a release.
func (t templates) entries(rendered *render.Result) ([]apply.Entry, error) {
	var reader release.Reader
	entries, err := reader.Entries(rendered.Manifest, t.config.Namespace)
	if err != nil {
		return nil, undecodable(err)
	}
	for _, definition := range rendered.Definitions {
		found, err := reader.Entries("# Source: "+definition.Name+"\n"+definition.Text, "")
		if err != nil {
			return nil, undecodable(err)
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
func (t templates) checks(rendered *render.Result) (desiredState rollout.DesiredState, err error) {
	if desiredState, err = t.config.settings().DesiredState(t.Options.Options); err != nil {
		return desiredState, configError(reasons.ValidateProviderConfiguration, err)
	}
	desiredState.Given, err = t.given(rendered)
	return desiredState, err
}

// given are the exports that the values of the release have.
func (t templates) given(rendered *render.Result) (map[string]any, error) {
	if rendered.WithoutExports != "" {
		return nil, job.NewError(published.Reconcile, reasons.ConstructExportFromValues, rendered.WithoutExports, v1alpha1.ErrorConfigurationProblem)
	}
	if rendered.Exports == nil {
		return map[string]any{}, nil
	}
	return rendered.Exports, nil
}

// load loads the chart of an item.
func (t templates) load(ctx context.Context, item *deployer.Item) (*chart.Chart, error) {
	loaded, err := t.Charts.Load(ctx, item.DeployItem, &t.config.Chart)
	if err != nil {
		return nil, job.Wrap(err, published.TemplateChart, reasons.GetHelmChart, "")
	}
	item.Warn(string(reasons.ChartWarning), loaded.Warnings...)
	return loaded, nil
}

// moment is what a chart is rendered for.
type moment struct {
	// revision is the number of the release, and upgrade is set if it exists already.
	revision            int
	upgrade, skipSchema bool
}

// render works out the values of a release, and renders its templates if they are wanted.
func (t templates) render(ctx context.Context, item *deployer.Item, connection *cluster.Connection, loaded *chart.Chart, at moment, withTemplates bool) (*render.Result, error) {
	kubernetes, apiVersions, err := connection.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	version, err := common.ParseKubeVersion(kubernetes.GitVersion)
	if err != nil {
		version = &common.KubeVersion{Version: kubernetes.GitVersion, Major: kubernetes.Major, Minor: kubernetes.Minor}
	}
	rendered, err := t.renderer().Render(ctx, item.Namespace, render.Input{
		Chart: loaded.Chart, Values: t.config.values, Name: t.config.Name, Namespace: t.config.Namespace, Revision: at.revision, Upgrade: at.upgrade,
		Capabilities: &common.Capabilities{KubeVersion: *version, APIVersions: apiVersions, HelmVersion: common.DefaultCapabilities.HelmVersion},
		SkipSchema:   at.skipSchema, Lookup: lookup(connection),
	}, render.Want{Templates: withTemplates, Exports: t.config.fromValues()})
	if err == nil || len(rendered.Warnings) > 0 {
		item.Warn(string(reasons.ValuesWarning), rendered.Warnings...)
	}
	if err != nil {
		return nil, templateError(err)
	}
	return rendered, nil
}

// renderer renders charts.
func (o Options) renderer() render.Renderer {
	if o.Renderer == nil {
		return render.Here{}
	}
	return o.Renderer
}

// templateError is the error of a chart. What the chart or its values cause is final,
// what comes from outside is not.
func templateError(err error) error {
	var failed *render.StepError
	if !errors.As(err, &failed) || failed.Step == render.DocumentStep {
		return err
	}
	var wrong *render.Invalid
	if errors.As(err, &wrong) || failed.Step == render.SortStep {
		return job.Wrap(failed.Cause, published.TemplateChart, failed.Step, "", v1alpha1.ErrorConfigurationProblem)
	}
	return job.Wrap(failed.Cause, published.TemplateChart, failed.Step, "")
}

// undecodable is the error of what a template has made.
func undecodable(err error) error {
	return job.Wrap(err, published.TemplateChart, render.SortStep, "", v1alpha1.ErrorConfigurationProblem)
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
	return groups, configError(reasons.ValidateProviderConfiguration, err)
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
		return nil, job.Wrap(err, initOperation, reasons.ParseProviderStatus, "status.providerStatus", v1alpha1.ErrorConfigurationProblem)
	}
	return status, nil
}
