package flux

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// kustomization is a Kustomization by its name.
func kustomization(namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	object.SetKind("Kustomization")
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// awaitObject watches an object of any kind until a condition holds.
func awaitObject(t *testing.T, cluster client.WithWatch, object *unstructured.Unstructured, what string, condition func(*unstructured.Unstructured) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scenario.WaitLimit)
	defer cancel()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(object.GroupVersionKind())
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if seen, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != "DELETED" && condition(seen) {
			return
		}
	}
	t.Fatalf("%s %s is not %s", object.GetKind(), object.GetName(), what)
}

// askFlux asks Flux to work on a Kustomization, as its interval does, and returns when it
// has.
func askFlux(t *testing.T, cluster client.WithWatch, object *unstructured.Unstructured, request string) {
	t.Helper()
	nudgeFlux(t, cluster, object, request)
	awaitObject(t, cluster, object, "worked on", func(object *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
		return handled == request
	})
}

// nudgeFlux asks Flux to work on an object.
func nudgeFlux(t *testing.T, cluster client.WithWatch, object *unstructured.Unstructured, request string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":%q}}}`, request)
	if err := cluster.Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
}

// podinfo is what the examples with one Kustomization deploy.
type podinfo struct {
	t     *testing.T
	stage *showcase.Stage
	// flux and workload are clients for the clusters.
	flux, workload client.WithWatch
}

func newPodinfo(t *testing.T, stage *showcase.Stage) *podinfo {
	t.Helper()
	p := &podinfo{t: t, stage: stage}
	var err error
	if p.flux, err = landscape.Connect(stage.Flux); err != nil {
		t.Fatal(err)
	}
	if p.workload, err = landscape.Connect(stage.Workload); err != nil {
		t.Fatal(err)
	}
	return p
}

// deploy runs an example and returns the job.
func (p *podinfo) deploy(t *testing.T, example string) string {
	t.Helper()
	play(t, p.stage, example, "push-component.sh", "deploy-k8s-resources.sh")
	if err := p.stage.Wait(t.Context(), t.Output(), "podinfo"); err != nil {
		t.Fatal(err)
	}
	return p.job(t)
}

// job is the newest job of the Installation.
func (p *podinfo) job(t *testing.T) string {
	t.Helper()
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: showcase.InstallationNamespace, Name: "podinfo"}}
	return env.Installation(t, inst).Status.JobID
}

// message is what is deployed; empty if it is missing.
func (p *podinfo) message(t *testing.T) string {
	t.Helper()
	deployed := &corev1.ConfigMap{}
	if err := p.workload.Get(t.Context(), client.ObjectKey{Namespace: "cu-podinfo", Name: "podinfo"}, deployed); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return deployed.Data["message"]
}

// spoil deletes what is deployed.
func (p *podinfo) spoil(t *testing.T) {
	t.Helper()
	if err := p.workload.Delete(t.Context(), scenario.ConfigMap("cu-podinfo", "podinfo")); err != nil {
		t.Fatal(err)
	}
}

// TestKustomizeExamples installs Flux through Landscaper, uses it in both ways of
// control, and deletes everything again.
func TestKustomizeExamples(t *testing.T) {
	stage := fluxStage(t)
	// Flux is not there yet on the cluster on which it is to be.
	stage.Flux, stage.Workload = stage.Workload, stage.Flux
	fluxServer(t, stage, "cu-podinfo")
	before := stock(t, stage)
	play(t, stage, "install-flux", "render-manifests.sh", "push-component.sh", "deploy-k8s-resources.sh")
	if err := stage.Wait(t.Context(), t.Output(), "flux"); err != nil {
		t.Fatal(err)
	}
	p := newPodinfo(t, stage)
	t.Run("under Flux's control", p.underFlux)
	t.Run("under Landscaper's control", p.underLandscaper)
	// All use the same Targets.
	play(t, stage, "install-flux", "delete-installation.sh", "delete-other-k8s-resources.sh")
	play(t, stage, "podinfo-landscaper-controlled", "delete-other-k8s-resources.sh")
	waitCollected(t)
	waitAsBefore(t, before, stage)
}

// underFlux: Flux deploys and corrects by itself, and Landscaper ignores it.
func (p *podinfo) underFlux(t *testing.T) {
	const example = "podinfo-flux-controlled"
	job := p.deploy(t, example)
	awaitObject(t, p.flux, kustomization("flux-system", "podinfo"), "ready", isReady)
	if p.message(t) != "greetings from the first version" {
		t.Errorf("%q is deployed", p.message(t))
	}
	p.spoil(t)
	askFlux(t, p.flux, kustomization("flux-system", "podinfo"), "the interval is over")
	if p.message(t) == "" {
		t.Error("Flux has not restored the deleted object")
	}
	if again := p.job(t); again != job {
		t.Errorf("job %s became %s although none was requested", job, again)
	}
	play(t, p.stage, example, "delete-installation.sh")
	if p.message(t) != "" {
		t.Error("the workload is left")
	}
}

// underLandscaper: nothing is deployed between two jobs, and a job deploys what belongs to
// the version of the component.
func (p *podinfo) underLandscaper(t *testing.T) {
	const example = "podinfo-landscaper-controlled"
	p.deploy(t, example)
	if p.message(t) != "greetings from the first version" {
		t.Errorf("%q is deployed", p.message(t))
	}
	p.spoil(t)
	askFlux(t, p.flux, kustomization("flux-system", "podinfo"), "a user asks")
	if p.message(t) != "" {
		t.Error("Flux has deployed although it is suspended")
	}
	const file = example + "/resources/podinfo.yaml"
	content, err := p.stage.Repository.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stage.Repository.Write(t.Context(), file, strings.Replace(content, "the first version", "the second version", 1)); err != nil {
		t.Fatal(err)
	}
	p.stage.Version = "2.0.0"
	p.deploy(t, example)
	if p.message(t) != "greetings from the second version" {
		t.Errorf("%q is deployed after the update", p.message(t))
	}
	play(t, p.stage, example, "delete-installation.sh")
	if p.message(t) != "" {
		t.Error("the workload is left")
	}
}

func isReady(object *unstructured.Unstructured) bool {
	status, _ := conditionOf(object, "Ready")
	return status == "True"
}
