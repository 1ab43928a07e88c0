package deployer_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"go.landscaper.dev/api/v1alpha1"
)

// helmItself is Helm's own library at work on the cluster of the items.
func helmItself(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, access, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &file, &namespace
	helm := action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil)))
	if err := helm.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return helm
}

// theirNotes is the chart as a person has it.
func theirNotes() *helmchart.Chart {
	theirs := &helmchart.Chart{
		Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "notes", Version: "0.9.0"},
		Values:   map[string]any{"text": "hello", "extra": false},
	}
	for name, text := range notes {
		if name != "values.yaml" {
			theirs.Templates = append(theirs.Templates, &common.File{Name: name, Data: []byte(text)})
		}
	}
	return theirs
}

// TestWithHelmItself lets Helm and an item work on the same release in turn: each continues from
// what the other has stored.
func TestWithHelmItself(t *testing.T) {
	item := helmItem(t, notes, "values: {text: ours}")
	helm := helmItself(t, item.Namespace)
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace, install.WaitStrategy = "notes", item.Namespace, kube.HookOnlyStrategy
	if _, err := install.Run(theirNotes(), map[string]any{"text": "theirs", "extra": true}); err != nil {
		t.Fatal(err)
	}
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkNote(t, item.Namespace, "ours")
	if note(t, item.Namespace, "notes-extra") != nil {
		t.Error("what the item does not want is left")
	}

	upgrade := action.NewUpgrade(helm)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = item.Namespace, kube.HookOnlyStrategy, time.Minute
	if _, err := upgrade.Run("notes", theirNotes(), map[string]any{"text": "by hand"}); err != nil {
		t.Fatal(err)
	}
	checkNote(t, item.Namespace, "by hand")
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "superseded", "3": "deployed"})

	handOver(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkNote(t, item.Namespace, "ours")
	rollback := action.NewRollback(helm)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = 1, kube.HookOnlyStrategy, time.Minute
	// Helm applies the first revision as it did then, and wants to be told that it may
	// take fields that another program has written since.
	rollback.ForceConflicts = true
	if err := rollback.Run("notes"); err != nil {
		t.Fatal(err)
	}
	checkNote(t, item.Namespace, "theirs")
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "superseded", "3": "superseded", "4": "superseded", "5": "deployed"})

	handOver(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	uninstall := action.NewUninstall(helm)
	uninstall.WaitStrategy, uninstall.Timeout = kube.HookOnlyStrategy, time.Minute
	if _, err := uninstall.Run("notes"); err != nil {
		t.Fatal(err)
	}
	checkRevisions(t, item.Namespace, map[string]string{})
	if note(t, item.Namespace, "notes-note") != nil {
		t.Error("Helm has left an object of the release")
	}
}

func checkNote(t *testing.T, namespace, want string) {
	t.Helper()
	if got := note(t, namespace, "notes-note")["text"]; got != want {
		t.Errorf("the note says %q, want %q", got, want)
	}
}
