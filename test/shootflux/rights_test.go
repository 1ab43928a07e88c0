package shootflux

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
)

// TestLeastPrivilege has a key generated for a project and one for a shoot, lets both be
// replaced and everything be removed. Nothing is refused meanwhile, and no right of the
// chart and of the registration is left over.
func TestLeastPrivilege(t *testing.T) {
	onSeedSince, err := world.Seed.Mark(limited(t))
	must(t, err)
	inGardenSince, err := world.Garden.Mark(limited(t))
	must(t, err)
	made, err := world.Lab.CreateRepository(limited(t), unique("rights"))
	must(t, err)
	config := map[string]string{"repositoryUrl": made.SSH, "repositoryBranch": "main", "repositoryType": "private", "repositoryPath": path}

	first := extension(t, "--leader-election")
	ofProject := newShoot(t, "rights", "of-project")
	configure(t, ofProject, config)
	comeAndGo(t, ofProject)
	must(t, first.Stop())

	// Without the garden, the Shoot refers to the ConfigMap, and the key stays on the seed.
	extension(t, "--garden-kubeconfig", "", "--project-configmap=false", "--leader-election")
	ofShoot := asleep(t, "rights", "of-shoot")
	must(t, ofShoot.Refer(limited(t), "flux-config", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-shoot"}, Data: config}))
	comeAndGo(t, ofShoot)

	roles, err := chart.ShootFlux.Render(nil)
	must(t, err)
	checkUse(t, world.Seed, onSeedSince, onSeed.Name, roles)
	role, err := chart.GardenRole()
	must(t, err)
	checkUse(t, world.Garden, inGardenSince, inGarden.Name, []*unstructured.Unstructured{role})
}

// comeAndGo enables a shoot, replaces the key that was generated for it, and disables it.
func comeAndGo(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	must(t, shoot.Enable(limited(t), nil))
	first := publishedKey(t, shoot)
	rotate(t, shoot)
	if second := publishedKey(t, shoot); first == second || first == "" || second == "" {
		t.Errorf("the key was %q and is %q", first, second)
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// spare are rights that a quiet landscape does not need.
var spare = map[string]string{
	"create leases.coordination.k8s.io": "those of the tests before are there",

	"patch events":               "an event that comes again is counted",
	"patch events.events.k8s.io": "an event that comes again is counted",
}

// checkUse compares what roles grant with what was done since a mark.
func checkUse(t *testing.T, cluster *lab.Cluster, since lab.Mark, user string, objects []*unstructured.Unstructured) {
	t.Helper()
	requests, err := cluster.Requests(limited(t), since, user)
	must(t, err)
	used := map[string]bool{}
	for _, request := range requests {
		if request.Status == http.StatusForbidden {
			t.Errorf("%s: refused: %s %s %s/%s", cluster.Name, request.Verb, request.Resource, request.Namespace, request.Name)
		}
		used[request.Verb+" "+request.Resource] = true
	}
	granted := map[string]bool{}
	for _, object := range objects {
		if !strings.HasSuffix(object.GetKind(), "Role") {
			continue
		}
		role := &rbacv1.ClusterRole{}
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role))
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[verb+" "+inGroup(resource, rule.APIGroups[0])] = true
				}
			}
		}
	}
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		// An API server that cannot stream what is there is asked for a list of it.
		of, isList := strings.CutPrefix(right, "list ")
		streamed := isList && used["watch "+of]
		if !used[right] && !streamed && spare[right] == "" {
			t.Errorf("%s: no request needs the right to %s", cluster.Name, right)
		}
	}
	if t.Failed() {
		t.Log(cluster.Name, "was asked for", slices.Sorted(maps.Keys(used)))
	}
}

// inGroup is how the audit log writes a resource: extensions.group/status.
func inGroup(resource, group string) string {
	name, sub, nested := strings.Cut(resource, "/")
	if group != corev1.GroupName {
		name = fmt.Sprintf("%s.%s", name, group)
	}
	if nested {
		name += "/" + sub
	}
	return name
}
