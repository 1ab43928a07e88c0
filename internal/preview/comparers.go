package preview

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/deploy/helm"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/deploy/kustomize"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/repocontext"
)

// Deployers are what the deployers have that can tell what they would do.
type Deployers struct {
	// Reader, Sources and Components are how charts and kustomizations are loaded, as the deployers
	// load them.
	Reader     client.Reader
	Sources    *repocontext.Reader
	Components *component.Shared
	// Rules are those for all items.
	Rules rollout.Options
	// Foreign says where charts are rendered, and kustomizations built.
	Foreign renderers.Renderers
	Now     func() time.Time
}

// Comparers are the deployers by the types of their items.
func (d Deployers) Comparers() map[v1alpha1.DeployItemType]Comparer {
	origins := itemcontext.Origins{Contexts: d.Reader, Sources: d.Sources, Components: d.Components}
	charts := chart.New(chart.Options{Contexts: origins.Contexts, Sources: origins.Sources, Components: origins.Components})
	return map[v1alpha1.DeployItemType]Comparer{
		manifest.Type:  manifest.New(d.Rules),
		helm.Type:      helm.New(helm.Options{Options: d.Rules, Charts: charts, Renderer: d.Foreign.Charts(), Now: d.Now}),
		kustomize.Type: kustomize.New(kustomize.Options{Options: d.Rules, Sources: &files.Loader{Origins: origins}, Builder: d.Foreign.Kustomizations()}),
	}
}
