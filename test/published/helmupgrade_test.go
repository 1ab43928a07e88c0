package published

import (
	"fmt"
	"maps"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// upgrade does what "helm upgrade --wait" does.
func (h helm) upgrade(t *testing.T, values map[string]any) {
	t.Helper()
	if err := h.tryUpgrade(t, values); err != nil {
		t.Fatalf("%v\n%s", err, pods(t))
	}
}

func (h helm) tryUpgrade(t *testing.T, values map[string]any) error {
	t.Helper()
	upgrade := action.NewUpgrade(h.Configuration)
	upgrade.Namespace = space
	upgrade.WaitStrategy, upgrade.Timeout = kube.StatusWatcherStrategy, waitLimit
	_, err := upgrade.RunWithContext(t.Context(), "landscaper", h.chart(t), values)
	return err
}

// rollback does what "helm rollback --wait" does: the revision before is brought back.
func (h helm) rollback(t *testing.T) {
	t.Helper()
	h.rollbackTo(t, 0)
}

// rollbackTo brings the revision of that number back; 0 is the one before.
func (h helm) rollbackTo(t *testing.T, revision int) {
	t.Helper()
	rollback := action.NewRollback(h.Configuration)
	rollback.Version = revision
	rollback.WaitStrategy, rollback.Timeout, rollback.ServerSideApply = kube.StatusWatcherStrategy, waitLimit, "auto"
	if err := rollback.Run("landscaper"); err != nil {
		t.Fatalf("%v\n%s", err, pods(t))
	}
}

// TestUpgrade replaces the program by "helm upgrade" and by "helm rollback" while Installations are
// at rest and at work: all jobs end, and what is at rest is not written again.
func TestUpgrade(t *testing.T) {
	const each = 10
	before := objects(t)
	helm := newHelm(t)
	helm.install(t, map[string]any{"egress": loopback})
	target, err := landscape.Target("default", "host", kubeconfig(t))
	if err == nil {
		err = admin.Create(t.Context(), target)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := begin(t, "rest", each)
	succeed(t, all)
	written := deployed(t, all)

	atWork := begin(t, "upgrade", each)
	helm.upgrade(t, map[string]any{"egress": loopback, "log": map[string]any{"verbose": true}})
	all = append(all, atWork...)
	succeed(t, atWork)
	maps.Copy(written, deployed(t, atWork))

	atWork = begin(t, "rollback", each)
	helm.rollback(t)
	all = append(all, atWork...)
	succeed(t, atWork)
	maps.Copy(written, deployed(t, atWork))
	for name, version := range deployed(t, all) {
		if version != written[name] {
			t.Errorf("%s was written without a need", name)
		}
	}
	helm.test(t)

	for _, installation := range all {
		if err := admin.Delete(t.Context(), installation); err != nil {
			t.Fatal(err)
		}
	}
	for _, installation := range all {
		await(t, installation, "deleted", func(now *v1alpha1.Installation) bool { return now == nil })
	}
	if err := admin.Delete(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
}

// begin creates Installations that ask for a job.
func begin(t *testing.T, name string, count int) []*v1alpha1.Installation {
	t.Helper()
	var all []*v1alpha1.Installation
	for i := range count {
		installation := landscape.NewInstallation("default", fmt.Sprintf("%s-%d", name, i), landscape.OneConfigMap)
		if err := admin.Create(t.Context(), installation); err != nil {
			t.Fatal(err)
		}
		all = append(all, installation)
	}
	return all
}

// succeed waits until the jobs have succeeded.
func succeed(t *testing.T, all []*v1alpha1.Installation) {
	t.Helper()
	for _, installation := range all {
		await(t, installation, "finished", finished)
		if installation.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			t.Fatalf("%s is %s: %+v", installation.Name, installation.Status.InstallationPhase, installation.Status.LastError)
		}
	}
}

func finished(now *v1alpha1.Installation) bool {
	return now != nil && now.Status.JobID != "" && now.Status.JobIDFinished == now.Status.JobID
}

// deployed returns the versions of what Installations have deployed.
func deployed(t *testing.T, all []*v1alpha1.Installation) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, installation := range all {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: installation.Name}}
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		versions[object.Name] = object.ResourceVersion
	}
	return versions
}
