package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/preview"
)

// planMemory is how many bytes the answers of clusters may take for one plan.
const planMemory = 64 << 20

// previews returns what works out plans as this server would carry them out, with the rights of users. Of
// the server, they have what reaches registries, and the processes for foreign work; no client of it, and
// no connection to a cluster: a user who could have the credentials of a Target reads them.
func previews(config Config, library *library) func(client.Reader, *rest.Config) (*preview.Previewer, func()) {
	return func(reader client.Reader, own *rest.Config) (*preview.Previewer, func()) {
		reader = preview.Remember(reader)
		clusters := cluster.NewPool(cluster.PoolOptions{
			Secrets: reader, Tokens: noTokens, Self: rest.AnonymousClientConfig(own), UserAgent: own.UserAgent,
			Egress: config.Egress, Memory: planMemory,
		})
		return newPreviewer(config, library, reader, clusters), clusters.Close
	}
}

// errPlanTooLarge is what users read of a plan that the server does not hold.
var errPlanTooLarge = fmt.Errorf("the plan is made of more than %d MiB, which the server does not hold: landscaper-cli installations plan works it out elsewhere", deliveryplan.MaxHeld>>20)

// newPreviewer works out one plan as this server would carry it out. The reader remembers what was read.
func newPreviewer(config Config, library *library, reader client.Reader, clusters *cluster.Pool) *preview.Previewer {
	sources := *library.sources
	sources.Client = reader
	rules := rollout.Options{Readiness: config.Deployers.ReadinessMode, Protected: config.Deployers.ProtectedNamespaces}
	return &preview.Previewer{
		Reader: reader, Components: library.components, Sources: &sources, Clusters: clusters,
		Comparers: preview.Deployers{Reader: reader, Sources: &sources, Components: library.components, Rules: rules, Foreign: library.renderers, Now: time.Now}.Comparers(),
		Most:      deliveryplan.MaxHeld, TooLarge: errPlanTooLarge,
		Maker: library.renderers.Plans(), NamedTargets: config.NamedTargets, Verification: config.Verification, Now: time.Now,
		// The reader may read more than the Installation may import.
		Check: func(inst *v1alpha1.Installation) error {
			return validation.Installation(inst, config.SourceNamespaces).ToAggregate()
		},
	}
}

// noTokens requests no tokens: they would be made with the rights of the user who looks at a page, and be
// sent where the author of a Target says.
func noTokens(context.Context, string, string, *authenticationv1.TokenRequest) error {
	return clustererror.NoToken{
		Cause:  errors.New("a plan in the console requests none"),
		Remedy: "landscaper-cli installations plan --request-tokens does, if you trust the authors of the Targets",
	}
}
