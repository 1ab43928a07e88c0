package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

// notes are the items of a third-party deployer: each writes its text into a ConfigMap of the
// resource cluster, and exports it. An item with the text "fail" fails.
const notes = `
imports: {}
exports:
  data: [{name: said, dataRef: said}]
blueprint:
  inline:
    filesystem:
      blueprint.yaml: |
        apiVersion: landscaper.gardener.cloud/v1alpha1
        kind: Blueprint
        exports:
        - {name: said, type: data, schema: {type: string}}
        deployExecutions:
        - name: default
          type: GoTemplate
          template: |
            deployItems:
            - {name: first, type: TYPE, updateOnChangeOnly: true, config: {apiVersion: v1, kind: Note, text: FIRST}}
            - {name: second, type: TYPE, dependsOn: [first], timeout: 5m, config: {apiVersion: v1, kind: Note, text: SECOND}}
        exportExecutions:
        - name: default
          type: GoTemplate
          template: |
            exports:
              said: {{ .deployitems.first.said }} and {{ .deployitems.second.said }}
`

// notesSpec is a specification of notes with their texts.
func notesSpec(t *testing.T, space, itemType, first, second string) v1alpha1.InstallationSpec {
	t.Helper()
	return specOf(t, space, "https", strings.NewReplacer("TYPE", itemType, "FIRST", first, "SECOND", second).Replace(notes))
}

// noteName is the name of the ConfigMap of an item.
func noteName(item string) string { return item + "-note" }

// bareDeployer knows nothing but the published contract: it has no code of ours, and
// no types.
type bareDeployer struct {
	itemType string
	cluster  client.WithWatch
	worked   atomic.Int32
}

const contractGroup = "landscaper.gardener.cloud"

// run looks at the items whenever one has changed.
func (d *bareDeployer) run(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: contractGroup, Version: "v1alpha1", Kind: "DeployItemList"})
	for ctx.Err() == nil {
		events, err := d.cluster.Watch(ctx, list.DeepCopy())
		if err != nil {
			return fmt.Errorf("watch items: %w", err)
		}
		for event := range events.ResultChan() {
			item, ok := event.Object.(*unstructured.Unstructured)
			if !ok || event.Type == "DELETED" || item.GetAnnotations()[contractGroup+"/deployer-type"] != d.itemType {
				continue
			}
			// Another client was faster: the newer version comes as the next event.
			if err := d.look(ctx, item); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
				return fmt.Errorf("item %s: %w", item.GetName(), err)
			}
		}
	}
	return nil
}

// status reads a field of the status.
func status(item *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedString(item.Object, "status", field)
	return value
}

// look takes a job up, or carries it out.
func (d *bareDeployer) look(ctx context.Context, item *unstructured.Unstructured) error {
	if status(item, "jobID") == status(item, "jobIDFinished") {
		return nil
	}
	deleted := item.GetDeletionTimestamp() != nil
	switch status(item, "phase") {
	case "", "Succeeded", "Failed", "DeleteFailed":
		return d.takeUp(ctx, item, deleted)
	}
	if deleted {
		return d.uninstall(ctx, item)
	}
	return d.work(ctx, item)
}

func (d *bareDeployer) takeUp(ctx context.Context, item *unstructured.Unstructured, deleted bool) error {
	phase := "Init"
	if deleted {
		phase = "InitDelete"
	}
	taken := map[string]any{
		"phase": phase, "lastReconcileTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": item.GetGeneration(),
		"deployer": map[string]any{"identity": "bare-1", "name": "bare", "version": "v0"},
	}
	if !deleted && status(item, "phase") == "Succeeded" && isUnchanged(item) {
		taken["phase"], taken["jobIDFinished"] = "Succeeded", status(item, "jobID")
	}
	return d.store(ctx, item, taken)
}

// isUnchanged reports whether the last success of an item still stands.
func isUnchanged(item *unstructured.Unstructured) bool {
	asked, _, _ := unstructured.NestedBool(item.Object, "spec", "updateOnChangeOnly")
	observed, _, _ := unstructured.NestedInt64(item.Object, "status", "observedGeneration")
	return asked && observed == item.GetGeneration()
}

func (d *bareDeployer) work(ctx context.Context, item *unstructured.Unstructured) error {
	text, _, _ := unstructured.NestedString(item.Object, "spec", "config", "text")
	if text == "fail" {
		return d.store(ctx, item, map[string]any{"phase": "Failed", "jobIDFinished": status(item, "jobID"), "lastError": map[string]any{
			"operation": "note", "reason": "Refused", "message": "this note cannot be written: choose another text", "codes": []any{"ERR_CONFIGURATION_PROBLEM"},
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
		}})
	}
	d.worked.Add(1)
	owner := []metav1.OwnerReference{{APIVersion: item.GetAPIVersion(), Kind: item.GetKind(), Name: item.GetName(), UID: item.GetUID()}}
	export, err := json.Marshal(map[string]string{"said": text})
	if err != nil {
		return fmt.Errorf("encode the export: %w", err)
	}
	for _, object := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.GetNamespace(), Name: noteName(item.GetName())}, Data: map[string]string{"text": text}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: item.GetNamespace(), Name: item.GetName() + "-export", OwnerReferences: owner}, Data: map[string][]byte{"config": export}},
	} {
		if err := d.cluster.Create(ctx, object); apierrors.IsAlreadyExists(err) {
			err = d.cluster.Update(ctx, object)
			if err != nil {
				return fmt.Errorf("update: %w", err)
			}
		} else if err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	return d.store(ctx, item, map[string]any{
		"phase": "Succeeded", "jobIDFinished": status(item, "jobID"),
		"exportRef": map[string]any{"name": item.GetName() + "-export", "namespace": item.GetNamespace()},
	})
}

func (d *bareDeployer) uninstall(ctx context.Context, item *unstructured.Unstructured) error {
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.GetNamespace(), Name: noteName(item.GetName())}}
	if err := d.cluster.Delete(ctx, note); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete: %w", err)
	}
	released := item.DeepCopy()
	released.SetFinalizers(nil)
	if err := d.cluster.Update(ctx, released); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// store writes fields of the status of the version that was seen.
func (d *bareDeployer) store(ctx context.Context, item *unstructured.Unstructured, fields map[string]any) error {
	changed := item.DeepCopy()
	for field, value := range fields {
		if err := unstructured.SetNestedField(changed.Object, value, "status", field); err != nil {
			return fmt.Errorf("set %s: %w", field, err)
		}
	}
	if err := d.cluster.Status().Update(ctx, changed); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// libraryDeployer is the same with the public library.
type libraryDeployer struct {
	cluster client.Client
	worked  atomic.Int32
}

func (d *libraryDeployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	var config struct{ Text string }
	if err := json.Unmarshal(item.Spec.Configuration.Raw, &config); err != nil || config.Text == "fail" {
		return deployer.Result{}, deployer.ConfigurationError("text", "this note cannot be written: choose another text")
	}
	d.worked.Add(1)
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: noteName(item.Name)}, Data: map[string]string{"text": config.Text}}
	err := d.cluster.Create(ctx, note)
	if apierrors.IsAlreadyExists(err) {
		err = d.cluster.Update(ctx, note)
	}
	if err != nil {
		return deployer.Result{}, fmt.Errorf("write the note: %w", err)
	}
	return deployer.Done(), item.Export(ctx, map[string]any{"said": config.Text})
}

func (d *libraryDeployer) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: noteName(item.Name)}}
	if err := d.cluster.Delete(ctx, note); client.IgnoreNotFound(err) != nil {
		return deployer.Result{}, fmt.Errorf("delete the note: %w", err)
	}
	return deployer.Done(), nil
}

// startLibraryDeployer runs the deployer of the library in a manager of its own.
func startLibraryDeployer(ctx context.Context, itemType string) (*libraryDeployer, <-chan error, error) {
	config, err := clientcmd.BuildConfigFromFlags("", env.Resource.Kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: env.Admin.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		// The test may run many times in one process.
		Controller: controllerconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("make a manager: %w", err)
	}
	d := &libraryDeployer{cluster: env.Admin}
	if err := deployer.Add(manager, deployer.Options{Type: v1alpha1.DeployItemType(itemType), Name: "notes", Version: "1", Deployer: d}); err != nil {
		return nil, nil, fmt.Errorf("add the deployer: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	return d, ended, nil
}

// TestContract: deployers of others work by the published contract alone, with our
// library and without it.
func TestContract(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	t.Run("without the library", func(t *testing.T) {
		bare := &bareDeployer{itemType: "example.org/bare", cluster: env.Admin}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- bare.run(ctx) }()
		checkContract(t, bare.itemType, &bare.worked)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("with the library", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d, ended, err := startLibraryDeployer(ctx, "example.org/notes")
		if err != nil {
			t.Fatal(err)
		}
		checkContract(t, "example.org/notes", &d.worked)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// checkContract lets items of a type live through their jobs.
func checkContract(t *testing.T, itemType string, worked *atomic.Int32) {
	t.Helper()
	space := namespace(t)
	inst := waitSucceeded(t, create(t, &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "notes", Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}},
		Spec:       notesSpec(t, space, itemType, "one", "two"),
	}))
	if got := exportedData(t, space, "said"); got != `"one and two"` || worked.Load() != 2 {
		t.Errorf("exported %s after %d pieces of work", got, worked.Load())
	}
	inst = again(t, inst, notesSpec(t, space, itemType, "one", "three"), v1alpha1.InstallationPhases.Succeeded)
	if got := exportedData(t, space, "said"); got != `"one and three"` || worked.Load() != 3 {
		t.Errorf("exported %s after a change and %d pieces of work; the first item has not changed", got, worked.Load())
	}
	inst = again(t, inst, notesSpec(t, space, itemType, "fail", "three"), v1alpha1.InstallationPhases.Failed)
	if !strings.Contains(inst.Status.LastError.Message, "choose another text") {
		t.Errorf("the Installation says %q", inst.Status.LastError.Message)
	}
	if second := itemsByName(t, space)["second"]; second.Status.JobID == inst.Status.JobID {
		t.Error("an item whose predecessor has failed has got the job")
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	left := &corev1.ConfigMapList{}
	if err := env.Admin.List(t.Context(), left, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	for _, note := range left.Items {
		if strings.HasSuffix(note.Name, "-note") {
			t.Errorf("%s is left", note.Name)
		}
	}
}
