package targetsync_test

import (
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/garden"
	"go.landscaper.dev/test/landscape"
)

// mayUseShoots is what the variant for shoots needs.
var mayUseShoots = []rbacv1.PolicyRule{
	{APIGroups: []string{"core.gardener.cloud"}, Resources: []string{"shoots"}, Verbs: []string{"get", "list"}},
	{APIGroups: []string{"core.gardener.cloud"}, Resources: []string{"shoots/adminkubeconfig"}, Verbs: []string{"create"}},
}

// shoot makes a shoot whose cluster is the resource cluster, changed before it is stored.
func (s *space) shoot(name string, changes ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	s.t.Helper()
	made := shoots.NewShoot(s.name, name, resource)
	for _, change := range changes {
		change(made)
	}
	if err := shoots.AddShoot(s.t.Context(), made); err != nil {
		s.t.Fatal(err)
	}
	return made
}

// grants are the requests for credentials of shoots in this namespace.
func (s *space) grants() (found []garden.Grant) {
	for _, grant := range shoots.Grants() {
		if grant.Shoot.Namespace == s.name {
			found = append(found, grant)
		}
	}
	return found
}

// set changes a field.
func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
			panic(err)
		}
	}
}

// TestShoots: the Targets follow the shoots of a project, with credentials that work.
func TestShoots(t *testing.T) {
	s := newSpace(t, mayUseShoots...)
	s.shoot("prod-eu")
	s.shoot("prod-us")
	s.shoot("dev")
	s.sync(v1alpha1.TargetSyncSpec{ShootNameExpression: "^prod-"})
	synced := s.awaitReady("Synchronized")
	if synced.Status.SyncedTargets != 2 || s.target("dev") != nil {
		t.Errorf("status %+v", synced.Status)
	}
	target, secret := s.target("prod-eu"), s.secret("prod-eu")
	if ref := target.Spec.SecretRef; ref.Name != "prod-eu" || ref.Key != "kubeconfig" || target.Labels[v1alpha1.TargetSyncLabel] != "ok" || secret.Labels[v1alpha1.TargetSyncLabel] != "ok" {
		t.Errorf("Target %+v, Secret %v", target, secret.Labels)
	}
	if at, err := time.Parse(time.RFC3339, target.Annotations[v1alpha1.LastTargetSyncAnnotation]); err != nil || time.Since(at) > time.Hour {
		t.Errorf("the time of the synchronisation: %v", target.Annotations)
	}
	if who := whoIs(t, secret); who != "gardener.cloud:admin:system:serviceaccount:"+s.name+":"+robot {
		t.Errorf("the credentials are of %q", who)
	}
	want := `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","metadata":{"name":"prod-eu","namespace":"` + s.name + `"},"spec":{"expirationSeconds":86400}}`
	for _, grant := range s.grants() {
		if grant.Shoot.Name == "prod-eu" && (string(grant.Body) != want || grant.ContentType != "application/json") {
			t.Errorf("asked with %s %s, want %s", grant.ContentType, grant.Body, want)
		}
	}

	t.Run("when nothing is due, nothing is requested or written", func(t *testing.T) {
		before, asked, secretBefore := s.awaitReady("Synchronized"), len(s.grants()), s.secret("prod-eu")
		count := s.count("Synchronized", "TargetsCreated")
		after := s.again()
		sums := landscape.Sums(s.requests(count))
		if len(s.grants()) != asked || sums["source list shoots.core.gardener.cloud"] != 1 {
			t.Errorf("requests %v", sums)
		}
		delete(sums, "source list shoots.core.gardener.cloud")
		delete(sums, "resource get secrets")
		// The request itself is answered.
		delete(sums, "resource patch targetsyncs.landscaper.gardener.cloud")
		if len(sums) > 0 {
			t.Errorf("further requests: %v", sums)
		}
		if !after.Status.LastUpdateTime.Equal(before.Status.LastUpdateTime) || s.secret("prod-eu").ResourceVersion != secretBefore.ResourceVersion {
			t.Error("something was written")
		}
	})
	t.Run("credentials are renewed after half of their time", func(t *testing.T) {
		old := s.secret("prod-eu")
		clock.forward(11 * time.Hour)
		s.again()
		if s.secret("prod-eu").ResourceVersion != old.ResourceVersion {
			t.Error("renewed too early")
		}
		clock.forward(time.Hour)
		s.again()
		renewed := s.secret("prod-eu")
		if string(renewed.Data["kubeconfig"]) == string(old.Data["kubeconfig"]) || whoIs(t, renewed) == "" {
			t.Error("not renewed")
		}
		if s.target("prod-eu").Annotations[v1alpha1.LastTargetSyncAnnotation] == target.Annotations[v1alpha1.LastTargetSyncAnnotation] {
			t.Error("the time of the synchronisation is the old one")
		}
	})
	t.Run("a shoot that is deleted takes its Target along", func(t *testing.T) {
		gone := shoots.NewShoot(s.name, "prod-us", resource)
		if err := shoots.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		s.again()
		if s.target("prod-us") != nil || s.secret("prod-us") != nil || s.target("prod-eu") == nil {
			t.Error("the Target, its Secret or too much is left")
		}
	})
}

// whoIs returns the user that a generated Secret stands for.
func whoIs(t *testing.T, secret *corev1.Secret) string {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}
	shoot, err := client.New(config, client.Options{Scheme: install.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	who := &authenticationv1.SelfSubjectReview{}
	if err := shoot.Create(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	return who.Status.UserInfo.Username
}

// TestManyShoots: the garden is asked for a few credentials at the same time, and once
// for each shoot; afterwards, a run costs one list.
func TestManyShoots(t *testing.T) {
	const count = 60
	s := newSpace(t, mayUseShoots...)
	for i := range count {
		s.shoot(fmt.Sprintf("shoot-%02d", i))
	}
	first := s.count()
	s.sync(v1alpha1.TargetSyncSpec{ShootNameExpression: "*"})
	s.await("is synchronised", func(sync *v1alpha1.TargetSync) bool { return sync.Status.SyncedTargets == count })
	sums := landscape.Sums(s.requests(first))
	want := map[string]int{
		"source list shoots.core.gardener.cloud": 1, "source create shoots.core.gardener.cloud/adminkubeconfig": count,
		"resource create secrets": count, "resource create targets.landscaper.gardener.cloud": count,
	}
	for key, number := range want {
		if sums[key] != number {
			t.Errorf("%s: %d times, want %d", key, sums[key], number)
		}
	}
	if atOnce := shoots.AtOnce(); atOnce > 5 || len(s.grants()) != count {
		t.Errorf("%d requests at once, %d in all", atOnce, len(s.grants()))
	}
	steady := s.count("Synchronized", "TargetsCreated")
	s.again()
	requests := s.requests(steady)
	// The access is read, and the request for the run is taken away.
	if sums := landscape.Sums(requests); sums["source list shoots.core.gardener.cloud"] != 1 || len(requests) != 3 {
		t.Errorf("nothing is due, but %v", sums)
	}
}
