package shootflux

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
)

// provider is a provider configuration with a repository.
func provider(address, mode, deletion string) map[string]any {
	return map[string]any{
		"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxConfig", "syncMode": mode, "deletionPolicy": deletion,
		"source": map[string]any{"template": map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
			"spec": map[string]any{"url": address, "ref": map[string]any{"branch": "main"}},
		}},
		"kustomization": map[string]any{"template": map[string]any{"spec": map[string]any{"path": path, "prune": true, "targetNamespace": "default"}}},
	}
}

func managedResource(shoot *gardener.Shoot, piece string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource"}}
	object.SetNamespace(shoot.Namespace())
	object.SetName("extension-shoot-flux-flux-" + piece)
	return object
}

// shootVersions are the versions of objects in the shoot: what is written changes them.
func shootVersions(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, object := range []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "flux-system", "name": "source-controller"}}},
		{Object: map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": map[string]any{"namespace": "flux-system", "name": "flux-system"}}},
	} {
		must(t, world.InShoot.Get(limited(t), client.ObjectKeyFromObject(object), object))
		versions[object.GetKind()] = fmt.Sprint(object.GetUID(), "/", object.GetGeneration())
	}
	return versions
}

// TestShootMovesWithoutNoticing bootstraps a shoot once, moves it to another seed and
// back, and takes the extension away: the shoot keeps everything, until it is asked to go.
func TestShootMovesWithoutNoticing(t *testing.T) {
	address := repository(t, "moving", "from-owner")
	shoot := newShoot(t, "moving", "one")
	extension(t)
	must(t, shoot.Enable(limited(t), provider(address, "Once", "Orphan")))
	ready(t, shoot)
	deployed(t, "default", "from-owner")
	before := shootVersions(t)
	leftToOwner(t, shoot)

	must(t, shoot.Ask(limited(t), "migrate"))
	moved := shoot.Extension()
	must(t, gardener.Wait(limited(t), world.OnSeed, moved, func(seen *unstructured.Unstructured) (bool, error) {
		kind, _, _ := unstructured.NestedString(seen.Object, "status", "lastOperation", "type")
		state, _, _ := unstructured.NestedString(seen.Object, "status", "lastOperation", "state")
		return kind == "Migrate" && state == "Succeeded" && len(seen.GetFinalizers()) == 0 && seen.GetAnnotations()["gardener.cloud/operation"] == "", nil
	}))
	for _, piece := range []string{"install", "config", "data"} {
		object := managedResource(shoot, piece)
		if err := world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("the old seed still manages %s (%v)", piece, err)
		}
	}
	same(t, before)

	// On the new seed, the status begins with what gardenlet has kept.
	must(t, world.OnSeed.Delete(limited(t), moved))
	must(t, shoot.Gone(limited(t)))
	restored := shoot.Extension()
	restored.SetAnnotations(map[string]string{"gardener.cloud/operation": "wait-for-state"})
	restored.Object["spec"] = moved.Object["spec"]
	must(t, world.OnSeed.Create(limited(t), restored))
	state, _, _ := unstructured.NestedMap(moved.Object, "status", "state")
	restored.Object["status"] = map[string]any{"state": state}
	must(t, world.OnSeed.Status().Update(limited(t), restored))
	must(t, shoot.Ask(limited(t), "restore"))
	ready(t, shoot)
	same(t, before)
	leftToOwner(t, shoot)

	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	same(t, before)

	must(t, shoot.Enable(limited(t), provider(address, "Once", "Delete")))
	ready(t, shoot)
	same(t, before)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from-owner"}}
	if err := world.InShoot.Get(limited(t), client.ObjectKeyFromObject(left), left); !apierrors.IsNotFound(err) {
		t.Errorf("what Flux has deployed is left (%v)", err)
	}
	account := ofShoot("v1", "ServiceAccount", "extension-shoot-flux")
	account.SetNamespace("kube-system")
	for _, object := range []*unstructured.Unstructured{account, ofShoot("apps/v1", "Deployment", "source-controller")} {
		if err := world.InShoot.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("the %s of the extension is left (%v)", object.GetKind(), err)
		}
	}
}

// leftToOwner waits until the resource manager has dropped Flux and its configuration from
// its management. No ManagedResource is ignored as a whole: gardenlet would say so in the
// constraints of the Shoot.
func leftToOwner(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	for _, piece := range []string{"install", "config"} {
		must(t, gardener.Wait(limited(t), world.OnSeed, managedResource(shoot, piece), func(seen *unstructured.Unstructured) (bool, error) {
			if _, ignored := seen.GetAnnotations()["resources.gardener.cloud/ignore"]; ignored {
				return false, fmt.Errorf("the ManagedResource %s is ignored", seen.GetName())
			}
			managed, _, _ := unstructured.NestedSlice(seen.Object, "status", "resources")
			observed, _, _ := unstructured.NestedInt64(seen.Object, "status", "observedGeneration")
			return len(managed) == 0 && observed == seen.GetGeneration(), nil
		}))
	}
}

func same(t *testing.T, before map[string]string) {
	t.Helper()
	for kind, version := range shootVersions(t) {
		if version != before[kind] {
			t.Errorf("the %s of the shoot was %s and is %s", kind, before[kind], version)
		}
	}
}

// TestRestartAtEveryStep ends the extension each time that it has written anything about its
// Extension, until the shoot is ready; then the same during the deletion.
func TestRestartAtEveryStep(t *testing.T) {
	address := repository(t, "restarts", "from-restarts")
	shoot := newShoot(t, "restarts", "one")
	must(t, shoot.Refer(limited(t), "extra", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "extra"}, Data: map[string][]byte{"word": []byte(firstWord)}}))
	config := provider(address, "ManifestsOnly", "Delete")
	config["additionalSecretResources"] = []any{map[string]any{"name": "extra"}}
	server := extension(t)
	must(t, shoot.Enable(limited(t), config))
	steps := restartUntil(t, shoot, server.Restart, func(seen *unstructured.Unstructured) bool {
		state, _, _ := unstructured.NestedString(seen.Object, "status", "lastOperation", "state")
		return state == "Succeeded" && seen.GetAnnotations()["gardener.cloud/operation"] == ""
	})
	ready(t, shoot)
	deployed(t, "default", "from-restarts")
	awaitSecret(t, "flux-system", "extra", "word", firstWord)
	must(t, shoot.Disable(limited(t)))
	steps += restartUntil(t, shoot, server.Restart, nil)
	t.Logf("%d restarts", steps)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}}
	if err := world.InShoot.Get(limited(t), client.ObjectKeyFromObject(namespace), namespace); !apierrors.IsNotFound(err) {
		t.Errorf("Flux is left in the shoot (%v)", err)
	}
}

// restartUntil restarts at each version of the Extension until it is as wanted, or deleted.
func restartUntil(t *testing.T, shoot *gardener.Shoot, restart func(context.Context) error, done func(*unstructured.Unstructured) bool) int {
	t.Helper()
	steps, last := 0, ""
	for {
		seen := shoot.Extension()
		if err := world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(seen), seen); apierrors.IsNotFound(err) && done == nil {
			return steps
		} else if err != nil {
			t.Fatal(err)
		}
		if done != nil && done(seen) {
			return steps
		}
		if seen.GetResourceVersion() != last {
			last = seen.GetResourceVersion()
			steps++
			must(t, restart(limited(t)))
			continue
		}
		awaitChange(t, seen)
	}
}

// awaitChange returns when an object has another version, or is deleted.
func awaitChange(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind() + "List"}}
	// Without a version, a watch would not report a deletion since the object was read.
	since := &client.ListOptions{Namespace: object.GetNamespace(), Raw: &metav1.ListOptions{ResourceVersion: object.GetResourceVersion()}}
	events, err := world.OnSeed.Watch(limited(t), list, since)
	must(t, err)
	defer events.Stop()
	for event := range events.ResultChan() {
		seen, ok := event.Object.(*unstructured.Unstructured)
		if ok && (string(event.Type) == "DELETED" || seen.GetResourceVersion() != object.GetResourceVersion()) {
			return
		}
	}
	t.Fatalf("%s %s does not change any more", object.GetKind(), object.GetName())
}

// TestFaults shows the errors for owners of shoots and projects.
func TestFaults(t *testing.T) {
	shoot := asleep(t, "faults", "one")
	extension(t, "--default-without-config=fail")
	must(t, shoot.Enable(limited(t), nil))
	seen := failed(t, shoot, "flux-config")
	wantCode(t, seen, "ERR_RETRYABLE_CONFIGURATION_PROBLEM")

	configure(t, shoot, map[string]string{"repositoryType": "sideways", "repositoryUrl": "https://git.example.test/a.git", "repositoryBranch": "main"})
	wantCode(t, failed(t, shoot, "repositoryType"), "ERR_RETRYABLE_CONFIGURATION_PROBLEM")
	configure(t, shoot, map[string]string{"fluxVersion": "v2.0.0"})
	wantCode(t, failed(t, shoot, "v2.0.0"), "ERR_RETRYABLE_CONFIGURATION_PROBLEM")

	// An error in the Shoot itself is resolved when the Shoot changes, and only then.
	must(t, shoot.Enable(limited(t), map[string]any{"apiVersion": "flux.extensions.gardener.cloud/v1alpha1", "kind": "FluxConfig", "syncMode": "sometimes"}))
	wantCode(t, failed(t, shoot, "syncMode"), "ERR_CONFIGURATION_PROBLEM")
	must(t, shoot.Enable(limited(t), nil))
	failed(t, shoot, "v2.0.0")

	// The configuration is healed without anybody asking.
	configure(t, shoot, map[string]string{})
	ready(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// TestGardenThatDoesNotAnswer is no reason to take another configuration, nor to end.
func TestGardenThatDoesNotAnswer(t *testing.T) {
	shoot := newShoot(t, "dark", "one")
	extension(t, "--garden-kubeconfig", nowhere(t))
	must(t, shoot.Enable(limited(t), nil))
	failed(t, shoot, "garden")
	notInstalled(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// TestGardenThatRefuses is no reason to take another configuration either: the operator
// is told what to allow.
func TestGardenThatRefuses(t *testing.T) {
	stranger, err := world.Garden.AddUser(limited(t), lab.UserOptions{Name: unique("stranger")})
	must(t, err)
	shoot := newShoot(t, "refused", "one")
	configure(t, shoot, map[string]string{"fluxComponents": "source-controller,kustomize-controller"})
	extension(t, "--garden-kubeconfig", stranger.Kubeconfig)
	must(t, shoot.Enable(limited(t), nil))
	failed(t, shoot, "ConfigMap "+shoot.ProjectNamespace()+"/flux-config in the garden", "let the operator grant it")
	notInstalled(t, shoot)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

func notInstalled(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	object := managedResource(shoot, "install")
	if err := world.OnSeed.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
		t.Errorf("something was installed without a configuration (%v)", err)
	}
}

func failed(t *testing.T, shoot *gardener.Shoot, parts ...string) *unstructured.Unstructured {
	t.Helper()
	seen, err := shoot.Failed(limited(t), parts...)
	if err != nil {
		t.Fatalf("no error with %v: %v\nthe Extension is %v", parts, err, seen.Object["status"])
	}
	return seen
}

func wantCode(t *testing.T, extension *unstructured.Unstructured, code string) {
	t.Helper()
	codes, _, _ := unstructured.NestedStringSlice(extension.Object, "status", "lastError", "codes")
	if strings.Join(codes, " ") != code {
		t.Errorf("codes %v, want %s: %v", codes, code, extension.Object["status"])
	}
}
