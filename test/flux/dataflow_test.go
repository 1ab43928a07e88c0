package flux

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// repositories is how many repositories were made.
var repositories atomic.Int32

// newRepository makes a repository with the examples.
func newRepository(t *testing.T) *showcase.Repository {
	t.Helper()
	created, err := env.Lab.CreateRepository(t.Context(), fmt.Sprintf("repository-%d", repositories.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	repository, err := showcase.NewRepository(t.Context(), created.HTTP, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// fluxStage is a stage with Flux on one cluster and the workload on another one, and a
// repository with the examples.
func fluxStage(t *testing.T) *showcase.Stage {
	t.Helper()
	world, repository := env.Lab, newRepository(t)
	return &showcase.Stage{
		Resource: env.Resource.Kubeconfig, Flux: world.Clusters["flux"].Kubeconfig, Workload: world.Clusters["workload"].Kubeconfig,
		Registry: world.Registry.URL + "/" + filepath.Base(repository.URL), Repository: repository,
	}
}

// fluxServer starts the server, when the namespaces of an example are there.
func fluxServer(t *testing.T, stage *showcase.Stage, workloadNamespace string) *scenario.Server {
	t.Helper()
	if err := stage.Prepare(t.Context(), workloadNamespace); err != nil {
		t.Fatal(err)
	}
	server := scenario.StartServer(t, env.ServerKubeconfig)
	env.WaitForContext(t, showcase.InstallationNamespace)
	return server
}

// play runs scripts of an example.
func play(t *testing.T, stage *showcase.Stage, example string, scripts ...string) {
	t.Helper()
	for _, script := range scripts {
		if err := stage.Script(t.Context(), example, script, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
}

// registryRequests is the number of requests to the registry.
func registryRequests(t *testing.T) int {
	t.Helper()
	log, err := env.Lab.Logs(t.Context(), "registry")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(log, `] "GET `) + strings.Count(log, `] "HEAD `)
}

// What the data flow example may cost: requests to the resource cluster and to the
// registry.
const (
	maxDataflowRequests = 150
	maxDataflowFetches  = 10
)

func checkDataflowCosts(t *testing.T, count *landscape.Count, fetches int) {
	t.Helper()
	requests, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	requests = slices.DeleteFunc(requests, func(request landscape.Request) bool {
		return request.Namespace != showcase.InstallationNamespace
	})
	t.Logf("%d requests to the resource cluster, %d to the registry", len(requests), fetches)
	if len(requests) == 0 || len(requests) > maxDataflowRequests || fetches == 0 || fetches > maxDataflowFetches {
		t.Errorf("%d requests to the resource cluster (at most %d), %d to the registry (%d): %v", len(requests), maxDataflowRequests, fetches, maxDataflowFetches, landscape.Sums(requests))
	}
}

// TestDataflowExample plays the data flow example: three control planes, Flux between
// them, and a token that comes from the last one.
func TestDataflowExample(t *testing.T) {
	stage := fluxStage(t)
	together := *stage
	together.Workload = stage.Flux
	for _, test := range []struct {
		reason string
		stage  *showcase.Stage
		remove func(*testing.T, *showcase.Stage)
	}{
		{"with a cluster for Flux and one for the workload", stage, measureDeletion},
		{"with one cluster for both", &together, checkDeletion},
	} {
		t.Run(test.reason, func(t *testing.T) {
			fluxServer(t, test.stage, "cu-dataflow")
			before := stock(t, test.stage)
			count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: scenario.ServerUser})
			if err != nil {
				t.Fatal(err)
			}
			play(t, test.stage, "dataflow", "push-component.sh")
			published := registryRequests(t)
			play(t, test.stage, "dataflow", "deploy-k8s-resources.sh")
			if err := test.stage.Wait(t.Context(), t.Output(), "dataflow-secret", "dataflow-gitrepository", "dataflow-root"); err != nil {
				t.Fatal(err)
			}
			shown, err := test.stage.ShowDataflow(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if differences := showcase.CompareDataflow(shown); len(differences) > 0 {
				t.Errorf("the example shows something else:\n%s", strings.Join(differences, "\n"))
			}
			if err := test.stage.CheckToken(t.Context()); err != nil {
				t.Error(err)
			}
			test.remove(t, test.stage)
			play(t, test.stage, "dataflow", "delete-other-k8s-resources.sh")
			waitCollected(t)
			checkDataflowCosts(t, count, registryRequests(t)-published)
			waitAsBefore(t, before, test.stage)
		})
	}
}
