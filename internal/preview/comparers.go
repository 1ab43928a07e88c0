package preview

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/deploy/helm"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/deploy/kustomize"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/repocontext"
)

// Comparers are those of the deployers that can tell what they would do. Charts and
// kustomizations are loaded as the deployers load them: with what the reader finds on the
// resource cluster, and with components as base says. They are rendered and built by the last two.
func Comparers(reader client.Reader, components *component.Shared, base component.Options, now func() time.Time, renderer render.Renderer, builder build.Builder) map[v1alpha1.DeployItemType]Comparer {
	origins := itemcontext.Origins{Contexts: reader, Sources: &repocontext.Reader{Client: reader, Base: base}, Components: components}
	rules := rollout.Options{}
	charts := chart.New(chart.Options{Contexts: origins.Contexts, Sources: origins.Sources, Components: origins.Components})
	return map[v1alpha1.DeployItemType]Comparer{
		manifest.Type:  manifest.New(rules),
		helm.Type:      helm.New(helm.Options{Options: rules, Charts: charts, Renderer: renderer, Now: now}),
		kustomize.Type: kustomize.New(kustomize.Options{Options: rules, Sources: &files.Loader{Origins: origins}, Builder: builder}),
	}
}
