// Package gardener_test shows that the resource manager of the tests does what
// Gardener documents of its own.
package gardener_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
)

// waitLimit bounds every wait; a wait ends with its event, long before.
const waitLimit = 2 * time.Minute

var world *gardener.Landscape

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"seed", "shoot"}, With: []string{"kwok=shoot"}, KwokNodes: 1})
	if err == nil {
		defer func() {
			if err := started.Down(context.Background()); err != nil {
				fmt.Fprintln(os.Stderr, "end the lab:", err)
			}
		}()
		// Nothing here needs a garden of its own.
		world, err = gardener.New(ctx, started, "seed", "seed", "shoot")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the landscape:", err)
		return 1
	}
	return m.Run()
}

// subject is a ManagedResource of a shoot.
type subject struct {
	t     *testing.T
	shoot *gardener.Shoot
	name  string
	edits int
}

var rounds atomic.Int32

// newSubject makes a shoot of its own, so that tests do not meet, nor the rounds of one
// test: what they write begins with the name of the subject.
func newSubject(t *testing.T, name string) *subject {
	t.Helper()
	name = unique(name)
	shoot, err := world.AddShoot(limited(t), "lab", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shoot.Unmanage(); err != nil {
			t.Error(err)
		}
	})
	return &subject{t: t, shoot: shoot, name: name}
}

func unique(name string) string { return fmt.Sprintf("%s%d", name, rounds.Add(1)) }

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

func (s *subject) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("resources.gardener.cloud/v1alpha1")
	object.SetKind("ManagedResource")
	object.SetNamespace(s.shoot.Namespace())
	object.SetName(s.name)
	return object
}

// write makes these the contents, in a Secret of its own as extensions do it.
func (s *subject) write(data map[string]string, change func(*unstructured.Unstructured)) {
	s.t.Helper()
	s.edits++
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.shoot.Namespace(), Name: fmt.Sprintf("%s-%d", s.name, s.edits)}, StringData: data}
	if err := world.OnSeed.Create(limited(s.t), secret); err != nil {
		s.t.Fatal(err)
	}
	object := s.object()
	err := world.OnSeed.Get(limited(s.t), client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	before := object.DeepCopy()
	_ = unstructured.SetNestedSlice(object.Object, []any{map[string]any{"name": secret.Name}}, "spec", "secretRefs") // it is an object
	if change != nil {
		change(object)
	}
	if err != nil {
		err = world.OnSeed.Create(limited(s.t), object)
	} else {
		err = world.OnSeed.Patch(limited(s.t), object, client.MergeFrom(before))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// wait waits until a condition has a status and a reason, for the present generation if
// that is said.
func (s *subject) wait(kind, status, reason string, current bool) *unstructured.Unstructured {
	s.t.Helper()
	object := s.object()
	err := gardener.Wait(limited(s.t), world.OnSeed, object, func(seen *unstructured.Unstructured) (bool, error) {
		observed, _, _ := unstructured.NestedInt64(seen.Object, "status", "observedGeneration")
		return hasCondition(seen, kind, status, reason) && (!current || observed == seen.GetGeneration()), nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return object
}

func hasCondition(seen *unstructured.Unstructured, kind, status, reason string) bool {
	conditions, _, _ := unstructured.NestedSlice(seen.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] == kind && condition["status"] == status && condition["reason"] == reason {
			return true
		}
	}
	return false
}

func (s *subject) applied() *unstructured.Unstructured {
	s.t.Helper()
	return s.wait("ResourcesApplied", "True", "ApplySucceeded", true)
}

// configMap reads a ConfigMap of namespace default of the shoot; nil if it does not exist.
func (s *subject) configMap(name string) *corev1.ConfigMap {
	s.t.Helper()
	found := &corev1.ConfigMap{}
	err := world.InShoot.Get(limited(s.t), client.ObjectKey{Namespace: "default", Name: s.name + "-" + name}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// document is a ConfigMap of namespace default.
func (s *subject) document(name, value string, annotations ...string) string {
	text := "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + s.name + "-" + name + "\n"
	if len(annotations) > 0 {
		text += "  annotations: {" + strings.Join(annotations, ", ") + "}\n"
	}
	return text + "data: {value: " + value + "}\n"
}

// hold gives a ConfigMap these finalizers.
func (s *subject) hold(name string, finalizers ...string) {
	s.t.Helper()
	before := s.configMap(name)
	held := before.DeepCopy()
	held.Finalizers = finalizers
	if err := world.InShoot.Patch(limited(s.t), held, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

func compress(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	to := brotli.NewWriter(&packed)
	if _, err := to.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

const (
	ignore = `resources.gardener.cloud/ignore: "true"`
	keep   = `resources.gardener.cloud/keep-object: "true"`
)

// TestApply writes objects, some compressed, changes them and takes them away.
func TestApply(t *testing.T) {
	s := newSubject(t, "apply")
	inject := func(object *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringMap(object.Object, map[string]string{"shoot.gardener.cloud/no-cleanup": "true"}, "spec", "injectLabels") // it is an object
	}
	s.write(map[string]string{
		"a.yaml":    s.document("plain", "one") + s.document("once", "one", ignore) + s.document("kept", "one", keep) + s.document("goes", "one"),
		"b.yaml.br": "",
	}, inject)
	// An empty Secret key is no document, and no brotli either.
	s.wait("ResourcesApplied", "False", "DecodingFailed", true)
	s.write(map[string]string{
		"a.yaml": s.document("plain", "one") + s.document("once", "one", ignore) + s.document("kept", "one", keep) + s.document("goes", "one"),
	}, nil)
	s.applied()
	plain := s.configMap("plain")
	origin := "seed-lab:" + s.shoot.Namespace() + "/" + s.name
	if plain.Data["value"] != "one" || plain.Annotations["resources.gardener.cloud/origin"] != origin || plain.Annotations["resources.gardener.cloud/description"] == "" ||
		plain.Labels["resources.gardener.cloud/managed-by"] != "gardener" || plain.Labels["shoot.gardener.cloud/no-cleanup"] != "true" {
		t.Errorf("applied %+v", plain.ObjectMeta)
	}
	if once := s.configMap("once"); once.Labels["shoot.gardener.cloud/no-cleanup"] != "" || once.Annotations["resources.gardener.cloud/origin"] != origin {
		t.Errorf("an object that is only created has metadata %+v", once.ObjectMeta)
	}
	// Others add to the metadata, which stays, and to the contents, which does not.
	changed := plain.DeepCopy()
	changed.Labels["of"], changed.Data["more"] = "others", "more"
	if err := world.InShoot.Patch(limited(t), changed, client.MergeFrom(plain)); err != nil {
		t.Fatal(err)
	}
	s.write(map[string]string{"c.yaml.br": compress(t, s.document("plain", "two")+s.document("once", "two", ignore))}, nil)
	after := s.applied()
	if plain = s.configMap("plain"); plain.Data["value"] != "two" || plain.Data["more"] != "" || plain.Labels["of"] != "others" {
		t.Errorf("changed to %v %v", plain.Data, plain.Labels)
	}
	if once := s.configMap("once"); once.Data["value"] != "one" {
		t.Errorf("an object that is only created was changed: %v", once.Data)
	}
	if s.configMap("goes") != nil || s.configMap("kept") == nil {
		t.Error("an object that is no longer contained is left, or a kept one was deleted")
	}
	resources, _, _ := unstructured.NestedSlice(after.Object, "status", "resources")
	if sum, _, _ := unstructured.NestedString(after.Object, "status", "secretsDataChecksum"); len(resources) != 2 || sum == "" {
		t.Errorf("resources %v, checksum %q", resources, sum)
	}
}

// TestIgnored marks a ManagedResource: nothing happens any more, and the conditions say so.
func TestIgnored(t *testing.T) {
	s := newSubject(t, "ignored")
	s.write(map[string]string{"a": s.document("ignored", "one")}, nil)
	before := s.applied()
	s.write(map[string]string{"a": s.document("ignored", "two")}, func(object *unstructured.Unstructured) {
		object.SetAnnotations(map[string]string{"resources.gardener.cloud/ignore": "true"})
	})
	after := s.wait("ResourcesApplied", "True", "ManagedResourceIgnored", false)
	was, _, _ := unstructured.NestedInt64(before.Object, "status", "observedGeneration")
	is, _, _ := unstructured.NestedInt64(after.Object, "status", "observedGeneration")
	if was != is || is == after.GetGeneration() || s.configMap("ignored").Data["value"] != "one" {
		t.Errorf("observed %d and then %d, generation %d", was, is, after.GetGeneration())
	}
	s.delete()
	if s.configMap("ignored") != nil {
		t.Error("the mark counts for the deletion, too")
	}
}

func (s *subject) delete() {
	s.t.Helper()
	if err := world.OnSeed.Delete(limited(s.t), s.object()); err != nil {
		s.t.Fatal(err)
	}
	if err := gardener.WaitGone(limited(s.t), world.OnSeed, s.object()); err != nil {
		s.t.Fatal(err)
	}
}

// TestHealth waits for a Deployment, and for Secrets that are not there yet.
func TestHealth(t *testing.T) {
	s := newSubject(t, "health")
	deployment := strings.ReplaceAll(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      nodeSelector: {lab: "SELECTOR"}
      containers: [{name: main, image: example.org/main}]
`, "NAME", s.name)
	s.write(map[string]string{"a": strings.Replace(deployment, "SELECTOR", "nowhere", 1)}, nil)
	s.wait("ResourcesHealthy", "False", "ResourcesUnhealthy", true)
	s.wait("ResourcesProgressing", "True", "ResourcesProgressing", true)
	s.write(map[string]string{"a": strings.Replace(deployment, `nodeSelector: {lab: "SELECTOR"}`, "", 1)}, nil)
	s.wait("ResourcesHealthy", "True", "ResourcesHealthy", true)
	s.wait("ResourcesProgressing", "False", "ResourcesRolledOut", true)

	missing := newSubject(t, "missing")
	missing.write(map[string]string{"a": missing.document("missing", "one")}, func(object *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(object.Object, []any{map[string]any{"name": "later"}}, "spec", "secretRefs") // it is an object
	})
	missing.wait("ResourcesApplied", "False", "CannotReadSecret", false)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: missing.shoot.Namespace(), Name: "later"}, StringData: map[string]string{"a": missing.document("missing", "one")}}
	if err := world.OnSeed.Create(limited(t), secret); err != nil {
		t.Fatal(err)
	}
	missing.applied()
}

// TestDeletion waits for objects with finalizers, and leaves objects that are kept.
func TestDeletion(t *testing.T) {
	s := newSubject(t, "deletion")
	s.write(map[string]string{"a": s.document("deletion", "one") + s.document("kept", "one", keep)}, nil)
	s.applied()
	s.hold("deletion", "example.org/hold")
	if err := world.OnSeed.Delete(limited(t), s.object()); err != nil {
		t.Fatal(err)
	}
	s.wait("ResourcesApplied", "Progressing", "DeletionPending", false)
	s.hold("deletion")
	if err := gardener.WaitGone(limited(t), world.OnSeed, s.object()); err != nil {
		t.Fatal(err)
	}
	if s.configMap("deletion") != nil || s.configMap("kept") == nil {
		t.Error("the remaining objects are not the expected ones")
	}

	kept := newSubject(t, "keeping")
	kept.write(map[string]string{"a": kept.document("keeping", "one")}, func(object *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(object.Object, true, "spec", "keepObjects") // it is an object
	})
	kept.applied()
	kept.delete()
	if kept.configMap("keeping") == nil {
		t.Error("keepObjects keeps nothing")
	}
}

// TestToken requests a token, with which the shoot knows its ServiceAccount.
func TestToken(t *testing.T) {
	s := newSubject(t, "token")
	const account = "serviceaccount.resources.gardener.cloud/"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.shoot.Namespace(), Name: "shoot-access-example",
		Labels:      map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot"},
		Annotations: map[string]string{account + "name": s.name, account + "namespace": "kube-system", account + "inject-ca-bundle": "true"},
	}}
	if err := world.OnSeed.Create(limited(t), secret); err != nil {
		t.Fatal(err)
	}
	filled := &unstructured.Unstructured{}
	filled.SetAPIVersion("v1")
	filled.SetKind("Secret")
	filled.SetNamespace(secret.Namespace)
	filled.SetName(secret.Name)
	if err := gardener.Wait(limited(t), world.OnSeed, filled, func(seen *unstructured.Unstructured) (bool, error) {
		token, _, err := unstructured.NestedString(seen.Object, "data", "token")
		return token != "", err
	}); err != nil {
		t.Fatal(err)
	}
	bundle, _, _ := unstructured.NestedString(filled.Object, "data", "bundle.crt")
	if bundle == "" || filled.GetAnnotations()[account+"token-renew-timestamp"] == "" {
		t.Errorf("bundle %q, annotations %v", bundle, filled.GetAnnotations())
	}
	made := &corev1.ServiceAccount{}
	if err := world.InShoot.Get(limited(t), client.ObjectKey{Namespace: "kube-system", Name: s.name}, made); err != nil {
		t.Error(err)
	}
}
