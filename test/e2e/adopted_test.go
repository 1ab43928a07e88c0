package e2e

import (
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// adopted is what upstream had stored in the namespace upgrade, and what it had deployed, when its
// processes were killed in the middle of jobs and deletions.
//
//go:embed testdata/adopted
var adopted embed.FS

// upgradeSpace is the namespace of that state; its blueprints name it.
const upgradeSpace = "upgrade"

// killed is when its processes were killed.
var killed = time.Date(2026, 11, 22, 1, 36, 52, 0, time.UTC)

// adoption puts the state into clusters where all UIDs and times are others.
type adoption struct {
	t *testing.T
	// uids leads from the UIDs of the state to ours.
	uids map[string]string
	// versions are those of the objects as they were put in, by kind and name.
	versions map[string]string
	// owners leads from an object to its first owner, by kind and name.
	owners map[string]string
}

var recordedTime = regexp.MustCompile(`2026-11-22T01:3\d:\d\dZ`)

// in returns the same for a part of the test.
func (a *adoption) in(t *testing.T) *adoption {
	t.Helper()
	part := *a
	part.t = t
	return &part
}

// documents returns the objects of a file with the times moved to now, and with the
// kubeconfig of the lab.
func (a *adoption) documents(file string) []string {
	a.t.Helper()
	content, err := adopted.ReadFile("testdata/adopted/" + file)
	if err != nil {
		a.t.Fatal(err)
	}
	quoted, err := json.Marshal(env.TargetKubeconfig)
	if err != nil {
		a.t.Fatal(err)
	}
	text := strings.NewReplacer("REDACTED-BASE64-OF-KUBECONFIG", base64.StdEncoding.EncodeToString([]byte(env.TargetKubeconfig)), "REDACTED-KUBECONFIG", string(quoted)).Replace(string(content))
	later := time.Since(killed)
	text = recordedTime.ReplaceAllStringFunc(text, func(recorded string) string {
		moment, err := time.Parse(time.RFC3339, recorded)
		if err != nil {
			return recorded
		}
		return moment.Add(later).UTC().Format(time.RFC3339)
	})
	return strings.Split(text, "\n---\n")[1:]
}

// load creates the objects of a file, owners before what they own.
func (a *adoption) load(cluster client.Client, file string) {
	a.t.Helper()
	left := a.documents(file)
	for len(left) > 0 {
		var later []string
		for _, text := range left {
			object := a.decode(text)
			if !a.knowsOwners(object) {
				later = append(later, text)
				continue
			}
			a.put(cluster, object)
		}
		if len(later) == len(left) {
			a.t.Fatalf("%d objects of %s have owners that do not exist", len(later), file)
		}
		left = later
	}
}

func (a *adoption) knowsOwners(object *unstructured.Unstructured) bool {
	return !slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return !slices.ContainsFunc(a.newUIDs(), func(uid string) bool { return uid == string(owner.UID) })
	})
}

func (a *adoption) newUIDs() []string {
	var list []string
	for _, uid := range a.uids {
		list = append(list, uid)
	}
	return list
}

// decode reads an object with the UIDs that are known replaced.
func (a *adoption) decode(text string) *unstructured.Unstructured {
	a.t.Helper()
	for old, uid := range a.uids {
		text = strings.ReplaceAll(text, old, uid)
	}
	object := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		a.t.Fatal(err)
	}
	// Unlike the package for YAML, it knows integers.
	if err := object.UnmarshalJSON(raw); err != nil {
		a.t.Fatal(err)
	}
	return object
}

func kindAndName(object client.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + "/" + object.GetName()
}

// put creates an object with its generation and its status, and deletes it if it was
// being deleted.
func (a *adoption) put(cluster client.Client, object *unstructured.Unstructured) {
	a.t.Helper()
	uid, generation, deleted := string(object.GetUID()), object.GetGeneration(), object.GetDeletionTimestamp() != nil
	object.SetUID("")
	object.SetDeletionTimestamp(nil)
	status, hasStatus := object.Object["status"]
	if deleted {
		generation-- // a deletion counts
	}
	a.create(cluster, object, generation)
	a.uids[uid] = string(object.GetUID())
	if hasStatus && strings.HasPrefix(object.GetAPIVersion(), v1alpha1.GroupName) {
		object.Object["status"] = status
		a.do("store the status of", object, cluster.Status().Update(a.t.Context(), object))
	}
	if deleted {
		a.do("delete", object, cluster.Delete(a.t.Context(), object))
		a.do("read", object, cluster.Get(a.t.Context(), client.ObjectKeyFromObject(object), object))
	}
	a.versions[kindAndName(object)] = object.GetResourceVersion()
	if owners := object.GetOwnerReferences(); len(owners) > 0 {
		a.owners[kindAndName(object)] = owners[0].Kind + "/" + owners[0].Name
	}
}

// create creates an object and changes it until it has its generation.
func (a *adoption) create(cluster client.Client, object *unstructured.Unstructured, generation int64) {
	a.t.Helper()
	spec, found, _ := unstructured.NestedMap(object.Object, "spec")
	counts := found && slices.Contains([]string{"Installation", "Execution", "DeployItem"}, object.GetKind())
	labels := object.GetLabels()
	if counts {
		// No policy has seen these objects when they were created.
		object.SetLabels(map[string]string{v1alpha1.SkipValidationLabel: "true"})
	}
	if counts && generation > 1 {
		a.set(object, fmt.Sprint("before-", generation), "spec", "context")
	}
	a.do("create", object, cluster.Create(a.t.Context(), object))
	for at := int64(2); counts && at <= generation; at++ {
		object.Object["spec"] = spec
		if at < generation {
			a.set(object, fmt.Sprint("before-", at), "spec", "context")
		}
		a.do("change", object, cluster.Update(a.t.Context(), object))
	}
	if counts {
		object.SetLabels(labels)
		a.do("label", object, cluster.Update(a.t.Context(), object))
	}
	if counts && generation > 0 && object.GetGeneration() != generation {
		a.t.Fatalf("%s has generation %d, want %d", kindAndName(object), object.GetGeneration(), generation)
	}
}

func (a *adoption) set(object *unstructured.Unstructured, value string, path ...string) {
	a.t.Helper()
	object.Object = object.DeepCopy().Object
	a.do("change", object, unstructured.SetNestedField(object.Object, value, path...))
}

func (a *adoption) do(what string, object client.Object, err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatalf("%s %s: %v", what, kindAndName(object), err)
	}
}

// root returns the name of the object at the end of the owners.
func (a *adoption) root(name string) string {
	for {
		owner, ok := a.owners[name]
		if !ok {
			return name
		}
		name = owner
	}
}

// untouched checks that objects are as they were put in.
func (a *adoption) untouched(concerns func(root string) bool) {
	a.t.Helper()
	for name, version := range a.versions {
		kind, object, _ := strings.Cut(name, "/")
		if kind == "ConfigMap" || kind == "Secret" || !concerns(strings.TrimPrefix(a.root(name), "Installation/")) {
			continue
		}
		current := &unstructured.Unstructured{}
		current.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		if err := env.Admin.Get(a.t.Context(), client.ObjectKey{Namespace: upgradeSpace, Name: object}, current); err != nil {
			a.t.Errorf("%s: %v", name, err)
		} else if current.GetResourceVersion() != version {
			a.t.Errorf("%s was changed although nothing asked for that:\n%v", name, current.Object["status"])
		}
	}
}

// names returns the names of all objects of a kind.
func (a *adoption) names(kind string) []string {
	a.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: v1alpha1.GroupName, Version: "v1alpha1", Kind: kind + "List"})
	if err := env.Admin.List(a.t.Context(), list, client.InNamespace(upgradeSpace)); err != nil {
		a.t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	return names
}

// adopt makes the namespace and puts the state in.
func adopt(t *testing.T) *adoption {
	t.Helper()
	a := &adoption{t: t, uids: map[string]string{}, versions: map[string]string{}, owners: map[string]string{}}
	for _, cluster := range []client.Client{env.Admin, env.Workload} {
		if err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: upgradeSpace}}); err != nil {
			t.Fatal(err)
		}
	}
	a.load(env.Workload, "workload.yaml")
	a.load(env.Admin, "landscape.yaml")
	return a
}

// adoptedInstallation names an Installation of the state.
func adoptedInstallation(name string) *v1alpha1.Installation {
	return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: upgradeSpace, Name: name}}
}

// raiseFlag sets what a readiness check of the state waits for.
func raiseFlag(t *testing.T, name string) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"ready":"yes"}}`))
	if err := env.Workload.Patch(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: upgradeSpace, Name: name}}, patch); err != nil {
		t.Fatal(err)
	}
}

// unhold removes the foreign finalizer.
func unhold(t *testing.T, name string) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Workload.Patch(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: upgradeSpace, Name: name}}, patch); err != nil {
		t.Fatal(err)
	}
}

// settled reports whether nothing is to be done about a root of the state.
func settled(root string) bool {
	return strings.HasPrefix(root, "settled-") || strings.HasPrefix(root, "failed-") || root == "never-started" || root == "waiting-for-predecessor"
}

// TestAdoption takes over the state that upstream has left: objects without a running job stay as
// they are, jobs continue with their IDs, and objects that are being deleted are deleted.
func TestAdoption(t *testing.T) {
	a := adopt(t)
	startServer(t, env.ServerKubeconfig)
	// A job that starts after everything was stored has its turn after it.
	waitSucceeded(t, create(t, newInstallation(namespace(t), "marker", oneConfigMap)))

	t.Run("roots without a running job are left alone", func(t *testing.T) { a.in(t).untouched(settled) })
	t.Run("running jobs continue to their ends", func(t *testing.T) {
		tree := getInstallation(t, adoptedInstallation("running-tree"))
		raiseFlag(t, "running-flag")
		done := waitFinished(t, tree, "")
		if done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || done.Status.JobID != tree.Status.JobID {
			t.Errorf("job %s of running-tree is %s in phase %s: %+v", tree.Status.JobID, done.Status.JobID, done.Status.InstallationPhase, done.Status.LastError)
		}
	})
	t.Run("a further job follows", func(t *testing.T) {
		queued := getInstallation(t, adoptedInstallation("running-queued"))
		raiseFlag(t, "queued-flag")
		waitFor(t, client.ObjectKeyFromObject(queued), "in its second job", func(inst *v1alpha1.Installation) bool {
			return inst.Status.JobID != queued.Status.JobID
		})
		// The second job says no again, and waits for a yes.
		events, err := env.Workload.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(upgradeSpace), client.MatchingFields{"metadata.name": "queued-flag"})
		if err != nil {
			t.Fatal(err)
		}
		defer events.Stop()
		// An attempt that is repeated says no once more.
		go func() {
			for event := range events.ResultChan() {
				if flagged, ok := event.Object.(*corev1.ConfigMap); ok && flagged.Data["ready"] == "no" {
					raiseFlag(t, "queued-flag")
				}
			}
		}()
		if done := waitFinished(t, queued, queued.Status.JobID); done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			t.Errorf("running-queued is %s: %+v", done.Status.InstallationPhase, done.Status.LastError)
		}
	})
	t.Run("running deletions continue to their ends", func(t *testing.T) { a.in(t).deletions() })
	t.Run("roots without a running job can run a new one, with their objects", func(t *testing.T) { a.in(t).again() })
}

func (a *adoption) deletions() {
	t := a.t
	raiseFlag(t, "rdel-flag")
	unhold(t, "held-running")
	unhold(t, "held-failed")
	if err := env.Admin.Delete(t.Context(), adoptedInstallation("deletion-waits-successor")); err != nil {
		t.Fatal(err)
	}
	request(t, adoptedInstallation("deletion-failed"), v1alpha1.ReconcileOperation)
	for _, name := range []string{"running-deleted", "deletion-running", "deletion-waits-successor", "deletion-waits", "deletion-failed"} {
		waitGone(t, env.Admin, adoptedInstallation(name), &v1alpha1.InstallationList{})
	}
	for _, name := range []string{"rdel-flag", "rdel-own", "rdel-quick", "held-running", "held-failed"} {
		err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: upgradeSpace, Name: name}, &corev1.ConfigMap{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("ConfigMap %s is left: %v", name, err)
		}
	}
}

// again asks what has settled for another job, which makes nothing new.
func (a *adoption) again() {
	t := a.t
	before := map[string][]string{}
	for _, kind := range []string{"Installation", "Execution", "DeployItem"} {
		before[kind] = a.names(kind)
	}
	for _, name := range []string{"settled-plain", "settled-dependent", "settled-tree", "settled-lists", "settled-state", "settled-gitops", "settled-automatic"} {
		inst := getInstallation(t, adoptedInstallation(name))
		request(t, inst, v1alpha1.ReconcileOperation)
		if done := waitFinished(t, inst, inst.Status.JobID); done.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			t.Errorf("%s is %s: %+v", name, done.Status.InstallationPhase, done.Status.LastError)
		}
	}
	for kind, names := range before {
		if now := a.names(kind); !slices.Equal(now, names) {
			t.Errorf("there are other objects of kind %s: %v, before %v", kind, now, names)
		}
	}
	a.in(t).deployed()
}

// deployed checks that what was deployed is still the same, but for what was deleted.
func (a *adoption) deployed() {
	a.t.Helper()
	for _, text := range a.documents("workload.yaml") {
		object := a.decode(text)
		if strings.HasPrefix(object.GetName(), "rdel-") || strings.HasPrefix(object.GetName(), "held-") {
			continue
		}
		current := &corev1.ConfigMap{}
		err := env.Workload.Get(a.t.Context(), client.ObjectKeyFromObject(object), current)
		if err != nil || current.UID != object.GetUID() {
			a.t.Errorf("ConfigMap %s does not exist, or was replaced: %v", object.GetName(), err)
		}
	}
}
