package shootflux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/showcase"
)

// podinfo stands for the application of the walk-through.
const podinfo = `apiVersion: apps/v1
kind: Deployment
metadata: {name: podinfo}
spec:
  replicas: 1
  selector: {matchLabels: {app: podinfo}}
  template:
    metadata: {labels: {app: podinfo}}
    spec: {containers: [{name: podinfo, image: registry.example.org/podinfo}]}
`

// reader is a new user with a project who follows the guide.
type reader struct {
	t      *testing.T
	shoot  *gardener.Shoot
	garden client.WithWatch
	blocks []string
}

// newReader opens the guide at its first steps. The user may do in her project what its
// members may.
func newReader(t *testing.T, shoot *gardener.Shoot) *reader {
	t.Helper()
	root, err := lab.Root()
	must(t, err)
	guide, err := os.ReadFile(filepath.Join(root, "docs", "shoot-flux.md"))
	must(t, err)
	_, steps, found := strings.Cut(string(guide), "\n## First steps\n")
	steps, _, ends := strings.Cut(steps, "\n### A shoot of its own\n")
	if !found || !ends {
		t.Fatal("the guide has no first steps")
	}
	user, err := world.Garden.AddUser(limited(t), lab.UserOptions{Name: unique("alice"), ClusterRoles: []string{"edit"}, Namespace: shoot.ProjectNamespace()})
	must(t, err)
	garden, err := landscape.Connect(user.Kubeconfig)
	must(t, err)
	return &reader{t, shoot, garden, strings.Split(steps, "```yaml\n")[1:]}
}

// next is the next example of the guide, of a kind that is expected.
func (r *reader) next(kind string) *unstructured.Unstructured {
	r.t.Helper()
	if len(r.blocks) == 0 {
		r.t.Fatalf("the guide ends before a %s", kind)
	}
	text, _, _ := strings.Cut(r.blocks[0], "```")
	r.blocks = r.blocks[1:]
	object := &unstructured.Unstructured{}
	must(r.t, yaml.Unmarshal([]byte(text), &object.Object))
	if object.GetKind() != kind || object.GetNamespace() != "garden-foo" {
		r.t.Fatalf("the guide continues with a %s in %s, want a %s in garden-foo", object.GetKind(), object.GetNamespace(), kind)
	}
	object.SetNamespace(r.shoot.ProjectNamespace())
	return object
}

// configure applies the next ConfigMap, with a repository of her own in it.
func (r *reader) configure(address string) {
	r.t.Helper()
	cm := r.next("ConfigMap")
	for key, value := range map[string]string{"repositoryUrl": address, "repositoryPath": path} {
		must(r.t, unstructured.SetNestedField(cm.Object, value, "data", key))
	}
	err := r.garden.Create(limited(r.t), cm)
	if apierrors.IsAlreadyExists(err) {
		err = r.garden.Update(limited(r.t), cm)
	}
	must(r.t, err)
}

// enable enables the extension as the next Shoot does, which gardenlet then passes on.
func (r *reader) enable() {
	r.t.Helper()
	extensions, _, err := unstructured.NestedSlice(r.next("Shoot").Object, "spec", "extensions")
	must(r.t, err)
	if len(extensions) != 1 || extensions[0].(map[string]any)["type"] != "shoot-flux" {
		r.t.Fatalf("the guide enables %v", extensions)
	}
	must(r.t, unstructured.SetNestedSlice(r.shoot.Object.Object, extensions, "spec", "extensions"))
	must(r.t, r.shoot.Tell(limited(r.t)))
	must(r.t, r.shoot.Enable(limited(r.t), nil))
}

// publicKey is the key where the guide says that it is to be found.
func (r *reader) publicKey() string {
	r.t.Helper()
	published, secret, info := &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ConfigMap{}
	shown := publishedKey(r.t, r.shoot)
	must(r.t, r.garden.Get(limited(r.t), client.ObjectKey{Namespace: r.shoot.ProjectNamespace(), Name: "flux-source.pub"}, published))
	must(r.t, r.garden.Get(limited(r.t), client.ObjectKey{Namespace: r.shoot.ProjectNamespace(), Name: "flux-source"}, secret))
	must(r.t, world.InShoot.Get(limited(r.t), client.ObjectKey{Namespace: "flux-system", Name: "shoot-info"}, info))
	key := strings.TrimSpace(published.Data["publicKey"])
	for where, found := range map[string]string{
		"the Extension": shown, "the Secret": string(secret.Data["identity.pub"]), "the shoot": info.Data["SHOOT_INFO_FLUX_PUBLIC_KEY"],
	} {
		if strings.TrimSpace(found) != key || key == "" {
			r.t.Errorf("the key %q is published, and %s has %q", key, where, found)
		}
	}
	return key
}

// TestWalkThrough follows the first steps of the guide: a repository that everybody may read, a
// private one whose key she registers, another key, and the end.
func TestWalkThrough(t *testing.T) {
	shoot := newShoot(t, "foo", "bar")
	r := newReader(t, shoot)
	extension(t)
	public, err := world.Lab.CreateRepository(limited(t), unique("public"))
	must(t, err)
	files, err := showcase.NewRepository(limited(t), public.HTTP, t.TempDir())
	must(t, err)
	must(t, files.Write(limited(t), "shoot/app.yaml", podinfo))
	r.configure(public.HTTP)
	r.enable()
	ready(t, shoot)
	application := ofShoot("apps/v1", "Deployment", "podinfo")
	application.SetNamespace("default")
	must(t, gardener.Wait(limited(t), world.InShoot, application.DeepCopy(), func(seen *unstructured.Unstructured) (bool, error) {
		return hasCondition(seen, "Available", "True", "")
	}))

	private, err := world.Lab.CreateRepository(limited(t), unique("private"))
	must(t, err)
	fill(t, private, "from-private")
	r.configure(private.SSH)
	must(t, gardener.Wait(limited(t), world.InShoot, ofShoot("source.toolkit.fluxcd.io/v1", "GitRepository", "main-gitrepo"), func(seen *unstructured.Unstructured) (bool, error) {
		refused, err := hasCondition(seen, "Ready", "False", "")
		url, _, _ := unstructured.NestedString(seen.Object, "spec", "url")
		return refused && url == private.SSH, err
	}))
	must(t, shoot.Ask(limited(t), "reconcile"))
	awaitCondition(t, shoot, "FluxConfigured", "False", "GitRepository flux-system/main-gitrepo")
	first := r.publicKey()
	must(t, world.Lab.Git.Authorize([]byte(first)))
	deployed(t, "default", "from-private")
	awaitCondition(t, shoot, "FluxConfigured", "True", "Ready")
	must(t, gardener.WaitGone(limited(t), world.InShoot, application))

	rotate(t, shoot)
	second := r.publicKey()
	must(t, shoot.Ask(limited(t), "reconcile"))
	if third := r.publicKey(); first == second || third != second {
		t.Error("one request has not replaced the key once")
	}
	// The shoot has the new key and no other.
	if inShoot := awaitSecret(t, "flux-system", "flux-source", "identity", string(projectKey(t, shoot)["identity"])); len(inShoot.Data) != 3 {
		t.Errorf("the Secret in the shoot has %d entries", len(inShoot.Data))
	}
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	gone(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from-private"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}})
	noContents(t, shoot)
	// The key of the project stays: other shoots may have it.
	if len(projectKey(t, shoot)["identity"]) == 0 {
		t.Error("the key of the project was deleted")
	}
}
