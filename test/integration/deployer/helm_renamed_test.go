package deployer_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// shared is a chart with an object whose name does not follow from that of the release.
var shared = with(notes, map[string]string{
	"templates/shared.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: NAMESPACE}\ndata: {of: {{ .Release.Name }}}\n",
})

// sharedIn is that chart for a namespace.
func sharedIn(namespace string) map[string]string {
	return with(shared, map[string]string{"templates/shared.yaml": strings.ReplaceAll(shared["templates/shared.yaml"], "NAMESPACE", namespace)})
}

// renamed is a configuration with another release.
func renamed(config, name, namespace string) string {
	config = strings.Replace(config, "name: notes", "name: "+name, 1)
	return strings.Replace(config, "namespace: NAMESPACE", "namespace: "+namespace, 1)
}

// recordsIn are the names of the releases of a namespace that have records.
func recordsIn(t *testing.T, namespace string) (names []string) {
	t.Helper()
	found := &corev1.SecretList{}
	if err := deployed.List(t.Context(), found, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	for _, secret := range found.Items {
		if name := secret.Labels["name"]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sharedObject is the object that both releases have.
func sharedObject(t *testing.T, namespace string) (uid types.UID, release string) {
	t.Helper()
	object := configMap(namespace, "shared")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object.UID, object.Annotations["meta.helm.sh/release-namespace"] + "/" + object.Annotations["meta.helm.sh/release-name"]
}

func helmStatus(t *testing.T, item *v1alpha1.DeployItem) *helmv1alpha1.ProviderStatus {
	t.Helper()
	status := &helmv1alpha1.ProviderStatus{}
	if err := json.Unmarshal(item.Status.ProviderStatus.Raw, status); err != nil {
		t.Fatal(err)
	}
	return status
}

// expectRelease checks which releases there are, and what the status says of them.
func expectRelease(t *testing.T, item *v1alpha1.DeployItem, namespace, name string, earlier ...apideployer.ReleaseReference) {
	t.Helper()
	status := helmStatus(t, item)
	if status.Release == nil || *status.Release != (apideployer.ReleaseReference{Name: name, Namespace: namespace}) || !slices.Equal(status.EarlierReleases, earlier) {
		t.Errorf("the status names release %v, before %v", status.Release, status.EarlierReleases)
	}
}

// TestRenamedRelease deploys the release of a new name, and of a new namespace, and removes the
// earlier one then. What both have stays, with its identity.
func TestRenamedRelease(t *testing.T) {
	item := helmItem(t, notes, "")
	other := namespaces(t)
	config := helmConfig(t, sharedIn(item.Namespace), "")
	setConfig(t, item, config)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	expectRelease(t, item, item.Namespace, "notes")
	before, _ := sharedObject(t, item.Namespace)

	item = awaitEnd(t, reconfigured(t, item, renamed(config, "other", item.Namespace)), v1alpha1.DeployItemPhases.Succeeded)
	expectRelease(t, item, item.Namespace, "other")
	if names := recordsIn(t, item.Namespace); !slices.Equal(names, []string{"other"}) {
		t.Errorf("there are records of %v", names)
	}
	if note(t, item.Namespace, "notes-note") != nil || note(t, item.Namespace, "other-note")["upgrade"] != "false" {
		t.Error("the object of the earlier release is left, or the new one was not installed")
	}
	if uid, of := sharedObject(t, item.Namespace); uid != before || of != item.Namespace+"/other" {
		t.Errorf("the object that both have is of release %s, its UID is %s, before %s", of, uid, before)
	}

	item = awaitEnd(t, reconfigured(t, item, renamed(config, "other", other)), v1alpha1.DeployItemPhases.Succeeded)
	expectRelease(t, item, other, "other")
	if left := recordsIn(t, item.Namespace); len(left) > 0 || note(t, item.Namespace, "other-note") != nil || note(t, other, "other-note") == nil {
		t.Errorf("records %v are left in the namespace of before", left)
	}
	if uid, of := sharedObject(t, item.Namespace); uid != before || of != other+"/other" {
		t.Errorf("the object that both have is of release %s, its UID is %s, before %s", of, uid, before)
	}
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	if left := recordsIn(t, other); len(left) > 0 || note(t, other, "other-note") != nil || note(t, item.Namespace, "shared") != nil {
		t.Errorf("the deletion has left records %v, or objects", left)
	}
}

// TestRenamedReleaseFails keeps the earlier release as long as the new one is not deployed, and
// loses nothing when the earlier name is restored.
func TestRenamedReleaseFails(t *testing.T) {
	item := helmItem(t, notes, "")
	config := helmConfig(t, sharedIn(item.Namespace), "")
	setConfig(t, item, config)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	before, _ := sharedObject(t, item.Namespace)

	wrong := helmConfig(t, with(sharedIn(item.Namespace), map[string]string{"templates/wrong.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n"}), "")
	again(t, item, renamed(wrong, "other", item.Namespace))
	item = awaitItem(t, item, "the failure of the new release", func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, "release "+item.Namespace+"/other")
	})
	if names := recordsIn(t, item.Namespace); !slices.Equal(names, []string{"notes", "other"}) || note(t, item.Namespace, "notes-note") == nil {
		t.Errorf("there are records of %v", names)
	}
	expectRelease(t, item, item.Namespace, "other", apideployer.ReleaseReference{Name: "notes", Namespace: item.Namespace})

	item = awaitEnd(t, reconfigured(t, item, config), v1alpha1.DeployItemPhases.Succeeded)
	expectRelease(t, item, item.Namespace, "notes")
	if names := recordsIn(t, item.Namespace); !slices.Equal(names, []string{"notes"}) || note(t, item.Namespace, "other-note") != nil {
		t.Errorf("there are records of %v", names)
	}
	if uid, of := sharedObject(t, item.Namespace); uid != before || of != item.Namespace+"/notes" {
		t.Errorf("the object that both have is of release %s, its UID is %s, before %s", of, uid, before)
	}
}

// TestRenamedReleaseIsDeleted removes the release that there is, also if the name has changed and
// no job has deployed the new one, or if the item needs no release any more.
func TestRenamedReleaseIsDeleted(t *testing.T) {
	item := helmItem(t, notes, "")
	config := helmConfig(t, sharedIn(item.Namespace), "")
	setConfig(t, item, config)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	before, _ := sharedObject(t, item.Namespace)
	without := renamed(config, "objects", item.Namespace) + "helmDeployment: false\n"
	item = awaitEnd(t, reconfigured(t, item, without), v1alpha1.DeployItemPhases.Succeeded)
	if names := recordsIn(t, item.Namespace); len(names) > 0 || note(t, item.Namespace, "notes-note") != nil || note(t, item.Namespace, "objects-note") == nil {
		t.Errorf("there are records of %v", names)
	}
	if uid, _ := sharedObject(t, item.Namespace); uid != before {
		t.Errorf("the object that both have was made anew: UID %s, before %s", uid, before)
	}
	item = awaitEnd(t, reconfigured(t, item, config), v1alpha1.DeployItemPhases.Succeeded)
	change(t, item, func() error {
		setConfig(t, item, renamed(config, "never", item.Namespace))
		return items.Update(t.Context(), item)
	})
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	if left := recordsIn(t, item.Namespace); len(left) > 0 || note(t, item.Namespace, "notes-note") != nil || note(t, item.Namespace, "shared") != nil {
		t.Errorf("the deletion has left records %v, or objects", left)
	}
}
