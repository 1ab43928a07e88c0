package shootflux

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/gardener"
)

// hibernate lets a shoot sleep or wake up.
func hibernate(t *testing.T, shoot *gardener.Shoot, enabled bool) {
	t.Helper()
	shoot.Object.Object["spec"].(map[string]any)["hibernation"] = map[string]any{"enabled": enabled}
	must(t, shoot.Tell(limited(t)))
}

// asleep makes a shoot without an API server, so that no resource manager works for it.
func asleep(t *testing.T, project, name string) *gardener.Shoot {
	t.Helper()
	shoot := newShoot(t, project, name)
	must(t, shoot.Unmanage())
	hibernate(t, shoot, true)
	return shoot
}

// awaitSecret waits for a Secret of the shoot with a value.
func awaitSecret(t *testing.T, namespace, name, key, value string) *corev1.Secret {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	object.SetNamespace(namespace)
	object.SetName(name)
	must(t, gardener.Wait(limited(t), world.InShoot, object, func(seen *unstructured.Unstructured) (bool, error) {
		text, _, err := unstructured.NestedString(seen.Object, "data", key)
		return text == base64.StdEncoding.EncodeToString([]byte(value)), err
	}))
	secret := &corev1.Secret{}
	must(t, world.InShoot.Get(limited(t), client.ObjectKeyFromObject(object), secret))
	return secret
}

func gone(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := world.InShoot.Get(limited(t), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%s/%s is left in the shoot (%v)", object.GetNamespace(), object.GetName(), err)
		}
	}
}

// artifact is a provider configuration with an artifact of the registry, and Secrets.
func artifact(address, team string) map[string]any {
	config := provider(address, "ManifestsOnly", "Delete")
	config["flux"] = map[string]any{"imagePullSecretResourceName": "images"}
	source := config["source"].(map[string]any)
	source["secretResourceName"] = "registry"
	source["template"] = map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository",
		"spec": map[string]any{"url": address, "insecure": true, "ref": map[string]any{"tag": "v1"}},
	}
	config["additionalSecretResources"] = []any{map[string]any{"name": "extra", "targetName": "login", "targetNamespace": team}}
	return config
}

// referAll lets a Shoot refer to its Secrets.
func referAll(t *testing.T, shoot *gardener.Shoot) {
	t.Helper()
	labels, annotations := map[string]string{"sort": "extra"}, map[string]string{"gardener-extension-shoot-flux/copy-labels": "true"}
	for name, secret := range map[string]*corev1.Secret{
		"registry": {ObjectMeta: metav1.ObjectMeta{Name: "of-registry"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: login()}},
		"images":   {ObjectMeta: metav1.ObjectMeta{Name: "of-images"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: login()}},
		"extra":    {ObjectMeta: metav1.ObjectMeta{Name: "of-extra", Labels: labels, Annotations: annotations}, Data: map[string][]byte{"word": []byte(firstWord)}},
	} {
		must(t, shoot.Refer(limited(t), name, secret))
	}
}

// The values of Secrets, which must not appear elsewhere.
const (
	firstWord, secondWord = "c0nfidential-one", "c0nfidential-two"
	foreignWord           = "c0nfidential-foreign"
)

// TestSecretsAndArtifacts lets a shoot wake up to an artifact of a registry that wants credentials,
// and to Secrets of its own, one of which would replace a foreign Secret.
func TestSecretsAndArtifacts(t *testing.T) {
	address := pushArtifact(t, unique("artifact"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-artifact}\n")
	shoot, team := asleep(t, "sleeping", "one"), unique("team")
	referAll(t, shoot)
	server := extension(t)
	must(t, shoot.Enable(limited(t), artifact(address, team)))
	ready(t, shoot)
	gone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}})

	must(t, world.InShoot.Create(limited(t), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}))
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "login"}, Data: map[string][]byte{"word": []byte(foreignWord)}}
	must(t, world.InShoot.Create(limited(t), foreign))
	must(t, shoot.Manage(limited(t)))
	hibernate(t, shoot, false)
	must(t, shoot.Ask(limited(t), "reconcile"))
	wantCode(t, failed(t, shoot, "Secret "+team+"/login", "has not written", "targetName"), "ERR_RETRYABLE_CONFIGURATION_PROBLEM")
	awaitSecret(t, team, "login", "word", foreignWord)

	must(t, world.InShoot.Delete(limited(t), foreign))
	must(t, shoot.Ask(limited(t), "reconcile"))
	ready(t, shoot)
	deployed(t, "default", "from-artifact")
	wantSecrets(t, team)
	copied := &corev1.Secret{}
	must(t, world.OnSeed.Get(limited(t), client.ObjectKey{Namespace: shoot.Namespace(), Name: "ref-of-extra"}, copied))
	copied.Data["word"] = []byte(secondWord)
	must(t, world.OnSeed.Update(limited(t), copied))
	awaitSecret(t, team, "login", "word", secondWord)
	wantSilence(t, shoot, server.Output())

	fewer := artifact(address, team)
	delete(fewer, "additionalSecretResources")
	must(t, shoot.Enable(limited(t), fewer))
	ready(t, shoot)
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "login"}}
	gone(t, login)
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
	gone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "from-artifact"}})
}

// wantSecrets looks at the copies in the shoot, and at the right to see them, which has
// ended.
func wantSecrets(t *testing.T, team string) {
	t.Helper()
	extra := awaitSecret(t, team, "login", "word", firstWord)
	want := map[string]string{"sort": "extra", "app.kubernetes.io/managed-by": "gardener-extension-shoot-flux"}
	for label, value := range want {
		if extra.Labels[label] != value {
			t.Errorf("the labels are %v, want %v", extra.Labels, want)
		}
	}
	for _, name := range []string{"flux-system", "of-images"} {
		if secret := awaitSecret(t, "flux-system", name, corev1.DockerConfigJsonKey, string(login())); secret.Type != corev1.SecretTypeDockerConfigJson {
			t.Errorf("Secret %s has the type %s", name, secret.Type)
		}
	}
	deployment := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	must(t, world.InShoot.Get(limited(t), client.ObjectKey{Namespace: "flux-system", Name: "helm-controller"}, deployment))
	pulled, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "imagePullSecrets")
	must(t, err)
	if len(pulled) != 1 || !maps.Equal(pulled[0].(map[string]any), map[string]any{"name": "of-images"}) {
		t.Errorf("the images are pulled with %v", pulled)
	}
	for _, namespace := range []string{team, "flux-system"} {
		gone(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener.cloud:extension:shoot-flux"}})
	}
}

// wantSilence looks for values of Secrets where others read.
func wantSilence(t *testing.T, shoot *gardener.Shoot, said string) {
	t.Helper()
	seen := ready(t, shoot)
	events := &eventsv1.EventList{}
	must(t, world.OnSeed.List(limited(t), events, client.InNamespace(shoot.Namespace())))
	for what, object := range map[string]any{"the Extension": seen.Object, "an event": events, "the log": said} {
		text, err := yaml.Marshal(object)
		must(t, err)
		for _, value := range []string{firstWord, secondWord, foreignWord, world.Lab.Registry.Password} {
			if strings.Contains(string(text), value) || strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(value))) {
				t.Errorf("%s shows the value of a Secret", what)
			}
		}
	}
}
