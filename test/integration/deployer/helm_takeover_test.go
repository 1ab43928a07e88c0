package deployer_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// put stores a release as Helm does.
func put(t *testing.T, release *helmrelease.Release, update bool) {
	t.Helper()
	content, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	stamp := "createdAt"
	if update {
		stamp = "modifiedAt"
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: release.Namespace, Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", release.Name, release.Version),
			Labels: map[string]string{"name": release.Name, "owner": "helm", "status": release.Info.Status.String(), "version": strconv.Itoa(release.Version), stamp: strconv.FormatInt(time.Now().Unix(), 10)},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
	if update {
		err = deployed.Update(t.Context(), secret)
	} else {
		err = deployed.Create(t.Context(), secret)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// recorded reads a release as Helm does.
func recorded(t *testing.T, namespace string, revision int) *helmrelease.Release {
	t.Helper()
	secret := &corev1.Secret{}
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fmt.Sprintf("sh.helm.release.v1.notes.v%d", revision)}, secret); err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(string(secret.Data["release"]))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	release := &helmrelease.Release{}
	if err := json.NewDecoder(reader).Decode(release); err != nil {
		t.Fatal(err)
	}
	return release
}

// foreign is a release that another client has written: upstream, or a user with Helm.
func foreign(t *testing.T, namespace string, revision int, status common.Status, text string) *helmrelease.Release {
	t.Helper()
	return &helmrelease.Release{
		Name: "notes", Namespace: namespace, Version: revision,
		Chart:  &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "notes", Version: "0.9.0"}},
		Config: map[string]any{"text": text},
		Info:   &helmrelease.Info{FirstDeployed: time.Now(), LastDeployed: time.Now(), Status: status},
		Manifest: fmt.Sprintf("---\n# Source: notes/templates/note.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes-note}\ndata: {text: %s, old: field}\n"+
			"---\n# Source: notes/templates/old.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes-old}\n", text),
	}
}

// foreignObjects are the objects of a foreign release.
func foreignObjects(t *testing.T, namespace string) {
	t.Helper()
	for _, name := range []string{"notes-note", "notes-old"} {
		object := configMap(namespace, name)
		object.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		object.Annotations = map[string]string{"meta.helm.sh/release-name": "notes", "meta.helm.sh/release-namespace": namespace}
		object.Data = map[string]string{"old": "field", "more": "foreign"}
		if err := deployed.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReleaseOfOthersIsTakenOver continues a release that another client wrote, and stores one that
// Helm can read.
func TestReleaseOfOthersIsTakenOver(t *testing.T) {
	item := helmItem(t, notes, "values: {text: ours}")
	put(t, foreign(t, item.Namespace, 1, common.StatusDeployed, "theirs"), false)
	foreignObjects(t, item.Namespace)
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "deployed"})
	data := note(t, item.Namespace, "notes-note")
	if data["text"] != "ours" || data["old"] != "" || data["more"] != "foreign" || note(t, item.Namespace, "notes-old") != nil {
		t.Errorf("the note is %v", data)
	}
	release := recorded(t, item.Namespace, 2)
	if release.Version != 2 || release.Info.Status != common.StatusDeployed || release.Config["text"] != "ours" || release.Chart.Metadata.Version != "1.0.0" ||
		!strings.Contains(release.Manifest, "# Source: notes/templates/note.yaml") || len(release.Chart.Templates) != 2 {
		t.Errorf("Helm reads %+v", release)
	}
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	checkRevisions(t, item.Namespace, map[string]string{})
}

// TestPendingReleaseOfOthersIsAwaited waits for the client that is at work, without polling.
func TestPendingReleaseOfOthersIsAwaited(t *testing.T) {
	item := helmItem(t, notes, "")
	theirs := foreign(t, item.Namespace, 1, common.StatusPendingInstall, "theirs")
	put(t, theirs, false)
	create(t, item)
	awaitItem(t, item, "that it waits for another client", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "another client to finish with release "+item.Namespace+"/notes (revision 1 is pending-install)")
	})
	theirs.Info.Status = common.StatusDeployed
	put(t, theirs, true)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	checkRevisions(t, item.Namespace, map[string]string{"1": "superseded", "2": "deployed"})
}

// TestTwoItemsDoNotFight gives the release to the item that came last.
func TestTwoItemsDoNotFight(t *testing.T) {
	first := helmItem(t, notes, "values: {text: first}")
	create(t, first)
	first = awaitEnd(t, first, v1alpha1.DeployItemPhases.Succeeded)
	second := newItem(t, first.Namespace, "second", helmConfig(t, notes, "values: {text: second}"))
	second.Spec.Type = v1alpha1.HelmDeployItemType
	create(t, second)
	second = awaitEnd(t, second, v1alpha1.DeployItemPhases.Succeeded)
	handOver(t, first)
	first = awaitEnd(t, first, v1alpha1.DeployItemPhases.Failed)
	if want := "belongs to DeployItem " + first.Namespace + "/second now"; !strings.Contains(first.Status.LastError.Message, want) {
		t.Errorf("the message is %q", first.Status.LastError.Message)
	}
	remove(t, first)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, first)
	if text := note(t, second.Namespace, "notes-note")["text"]; text != "second" {
		t.Errorf("the object of another item was deleted or changed: %q", text)
	}
}

// TestManyCharts deploys thirty charts on one cluster at the same time.
func TestManyCharts(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	var all []*v1alpha1.DeployItem
	for i := range 30 {
		config := strings.Replace(helmConfig(t, with(notes, map[string]string{"templates/server.yaml": workload("server-{{ .Release.Name }}", 0)}), ""), "name: notes", fmt.Sprintf("name: notes-%d", i), 1)
		item := newItem(t, namespace, fmt.Sprintf("chart-%d", i), config)
		item.Spec.Type = v1alpha1.HelmDeployItemType
		if err := items.Create(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	for _, item := range all {
		handOver(t, item)
	}
	for _, item := range all {
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	}
}

// TestLargeChart deploys a chart with 500 objects, changes one, and removes all.
func TestLargeChart(t *testing.T) {
	files := map[string]string{"values.yaml": "count: 500\nodd: 0\n", "templates/many.yaml": `{{ range $i := until (int .Values.count) }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "many-{{ $i }}"}
data: {odd: "{{ eq $i (int $.Values.odd) }}"}
{{ end }}`}
	item := helmItem(t, files, "")
	create(t, item)
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	before := mark(t, target)
	item = reconfigured(t, item, helmConfig(t, files, "values: {odd: 7, count: 499}"))
	item = awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	counts := count(t, target, item.Namespace, before)
	if counts["update configmaps"] != 2 || counts["delete configmaps"] != 1 || counts["create configmaps"] != 0 {
		t.Errorf("only what changes is written: %v", counts)
	}
	if note(t, item.Namespace, "many-7")["odd"] != "true" || note(t, item.Namespace, "many-499") != nil {
		t.Error("the change did not arrive")
	}
	remove(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	left := &corev1.ConfigMapList{}
	if err := deployed.List(t.Context(), left, client.InNamespace(item.Namespace)); err != nil || len(left.Items) > 1 {
		t.Errorf("%d objects are left: %v", len(left.Items), err)
	}
}
