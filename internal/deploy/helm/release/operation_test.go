package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// testJob is a job that has all the time of the world, unless it is over.
type testJob struct {
	Alone
	expired bool
}

func (*testJob) Checkpoint(context.Context, string) error { return nil }
func (j *testJob) Expired() bool                          { return j.expired }
func (*testJob) Requeue()                                 {}

const mine = "uid-of-the-item"

func manifestOf(names ...string) string {
	var out strings.Builder
	for _, name := range names {
		kind := "ConfigMap"
		if strings.HasPrefix(name, "pod") {
			kind = "Pod"
		}
		fmt.Fprintf(&out, "---\n# Source: shop/templates/%s.yaml\napiVersion: v1\nkind: %s\nmetadata: {name: %s}\n", name, kind, name)
	}
	return out.String()
}

func hook(name string, events ...helmrelease.HookEvent) *helmrelease.Hook {
	return &helmrelease.Hook{Name: name, Kind: "ConfigMap", Path: "shop/templates/" + name + ".yaml", Manifest: manifestOf(name), Events: events}
}

// wishFor is a release with some objects; the digest follows from them.
func wishFor(names ...string) DesiredState {
	return DesiredState{
		Name: "shop", Namespace: "here", Chart: &helmchart.Chart{Metadata: &helmchart.Metadata{Name: "shop", Version: "1"}}, Values: map[string]any{"names": strings.Join(names, " ")},
		Manifest: manifestOf(names...), Rule: readiness.Unready, Marks: storage.Marks{Owner: mine, OwnerName: "here/item", Digest: strings.Join(names, " ")},
		Hooks: []*helmrelease.Hook{
			hook("hook-before", helmrelease.HookPreInstall, helmrelease.HookPreUpgrade), hook("hook-after", helmrelease.HookPostInstall, helmrelease.HookPostUpgrade),
			hook("hook-end", helmrelease.HookPreDelete),
		},
	}
}

func storeOn(cluster *fakecluster.Cluster) *storage.Store {
	return &storage.Store{Cluster: cluster, Namespace: "here", Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
}

// reconcile does what a deployer does in one attempt.
func reconcile(t *testing.T, cluster *fakecluster.Cluster, job Job, desiredState DesiredState) ([]string, error) {
	t.Helper()
	store := storeOn(cluster)
	history, err := store.History(t.Context(), desiredState.Name)
	if err != nil {
		return nil, err
	}
	situation := Situation{}
	for _, record := range history {
		situation.Deployed = situation.Deployed || record.Deployed()
	}
	if len(history) > 0 {
		last := history[len(history)-1]
		situation.Last, situation.Ours, situation.Same = last.Status, last.Owner == mine, last.Owner == mine && last.Digest == desiredState.Marks.Digest
		situation.Age = time.Hour
	}
	action := Decide(situation)
	if action == Nothing {
		return nil, nil
	}
	operation, err := Plan(t.Context(), store, job, desiredState, history, action)
	if err != nil {
		return nil, err
	}
	defer func() { _ = operation.Close() }()
	return operation.Continue(t.Context())
}

func uninstallAll(t *testing.T, cluster *fakecluster.Cluster) error {
	t.Helper()
	store := storeOn(cluster)
	history, err := store.History(t.Context(), "shop")
	if err != nil || len(history) == 0 {
		return err
	}
	operation, err := PlanRemoval(t.Context(), store, &testJob{}, DesiredState{Name: "shop", Namespace: "here", Options: Options{Wait: true}}, history)
	if err != nil {
		return err
	}
	defer func() { _ = operation.Close() }()
	_, err = operation.Continue(t.Context())
	return err
}

// statuses are those of all revisions.
func statuses(t *testing.T, cluster *fakecluster.Cluster) (all []common.Status) {
	t.Helper()
	history, err := storeOn(cluster).History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range history {
		all = append(all, record.Status)
	}
	return all
}

// objectsOf are all objects but the records.
func objectsOf(cluster *fakecluster.Cluster) (names []string) {
	for _, name := range cluster.Names() {
		if !strings.Contains(name, "sh.helm.release.v1") {
			names = append(names, name)
		}
	}
	return names
}

func must(t *testing.T, _ []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errKilled = errors.New("the process was killed")

// TestKilledAtEveryRequest kills the process at every request, before and after it took effect; the
// next one ends the work as the first one would have.
func TestKilledAtEveryRequest(t *testing.T) {
	for reason, test := range map[string]struct {
		before []string
		do     func(t *testing.T, cluster *fakecluster.Cluster) error
		// last is the status of the newest revision at the end; empty without a revision.
		last common.Status
		want []string
	}{
		"installation": {nil, func(t *testing.T, cluster *fakecluster.Cluster) error {
			_, err := reconcile(t, cluster, &testJob{}, wishFor("a", "b"))
			return err
		}, common.StatusDeployed, []string{"ConfigMap here/a", "ConfigMap here/b", "ConfigMap here/hook-after", "ConfigMap here/hook-before"}},
		"upgrade": {[]string{"a", "b"}, func(t *testing.T, cluster *fakecluster.Cluster) error {
			_, err := reconcile(t, cluster, &testJob{}, wishFor("b", "c"))
			return err
		}, common.StatusDeployed, []string{"ConfigMap here/b", "ConfigMap here/c", "ConfigMap here/hook-after", "ConfigMap here/hook-before"}},
		"rollback": {[]string{"a", "b"}, func(t *testing.T, cluster *fakecluster.Cluster) error {
			desiredState := wishFor("a", "pod")
			desiredState.Atomic = true
			_, err := reconcile(t, cluster, &testJob{expired: true}, desiredState)
			if err != nil && strings.Contains(err.Error(), "it waited for Pod here/pod") && !strings.Contains(err.Error(), errKilled.Error()) {
				return nil
			}
			return err
		}, common.StatusDeployed, []string{"ConfigMap here/a", "ConfigMap here/b", "ConfigMap here/hook-after", "ConfigMap here/hook-before"}},
		"removal": {[]string{"a", "b"}, uninstallAll, "", []string{"ConfigMap here/hook-after", "ConfigMap here/hook-before", "ConfigMap here/hook-end"}},
	} {
		t.Run(reason, func(t *testing.T) {
			prepared := func() *fakecluster.Cluster {
				cluster := fakecluster.New()
				if test.before != nil {
					waiting, err := reconcile(t, cluster, &testJob{}, wishFor(test.before...))
					must(t, waiting, err)
				}
				cluster.Requests = nil
				return cluster
			}
			undisturbed := prepared()
			if err := test.do(t, undisturbed); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, objectsOf(undisturbed)); diff != "" {
				t.Errorf("undisturbed: -want +got\n%s", diff)
			}
			for at := range len(undisturbed.Requests) {
				if undisturbed.Requests[at].Verb == "watch" {
					// It continues in the background, and changes nothing.
					continue
				}
				for _, took := range []bool{false, true} {
					cluster := prepared()
					dead := false
					cluster.Fault = func(fakecluster.Request) fakecluster.Fault {
						if dead || (len(cluster.Requests)-1 == at && !took) {
							dead = true
							return fakecluster.Fault{Before: errKilled}
						}
						if len(cluster.Requests)-1 == at {
							dead = true
							return fakecluster.Fault{After: errKilled}
						}
						return fakecluster.Fault{}
					}
					if err := test.do(t, cluster); err == nil {
						t.Fatalf("request %d (%v): the process lives", at, undisturbed.Requests[at])
					}
					cluster.Fault = nil
					if err := test.do(t, cluster); err != nil {
						t.Fatalf("killed at request %d (took effect: %v): %v", at, took, err)
					}
					if diff := cmp.Diff(test.want, objectsOf(cluster)); diff != "" {
						t.Errorf("killed at request %d (took effect: %v): -want +got\n%s", at, took, diff)
					}
					all := statuses(t, cluster)
					if (len(all) == 0) != (test.last == "") || len(all) > 0 && all[len(all)-1] != test.last {
						t.Errorf("killed at request %d (took effect: %v): revisions %v", at, took, all)
					}
					for _, status := range all[:max(0, len(all)-1)] {
						if status == common.StatusDeployed || status.IsPending() {
							t.Errorf("killed at request %d (took effect: %v): revisions %v", at, took, all)
						}
					}
				}
			}
		})
	}
}

func refused(name string) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, name, nil)
}

// TestFailures follows what becomes of a release that cannot be deployed.
func TestFailures(t *testing.T) {
	atomic := func(desiredState DesiredState) DesiredState {
		desiredState.Atomic = true
		return desiredState
	}
	for _, test := range []struct {
		reason       string
		before       []string
		desiredState DesiredState
		statuses     []common.Status
		objects      []string
	}{
		{"a failed installation is not undone", nil, wishFor("a", "wrong"), []common.Status{common.StatusFailed}, []string{"ConfigMap here/a", "ConfigMap here/hook-before"}},
		{"a failed atomic installation is removed, with what its hooks have made before", nil, atomic(wishFor("a", "wrong")), nil, []string{"ConfigMap here/hook-end"}},
		{"a failed upgrade is not undone", []string{"a", "b"}, wishFor("a", "c", "wrong"), []common.Status{common.StatusDeployed, common.StatusFailed},
			[]string{"ConfigMap here/a", "ConfigMap here/b", "ConfigMap here/c", "ConfigMap here/hook-after", "ConfigMap here/hook-before"}},
		{"a failed atomic upgrade is rolled back", []string{"a", "b"}, atomic(wishFor("a", "c", "wrong")), []common.Status{common.StatusSuperseded, common.StatusFailed, common.StatusDeployed},
			[]string{"ConfigMap here/a", "ConfigMap here/b", "ConfigMap here/hook-after", "ConfigMap here/hook-before"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if test.before != nil {
				waiting, err := reconcile(t, cluster, &testJob{}, wishFor(test.before...))
				must(t, waiting, err)
			}
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Name == "wrong" && request.Verb == "create" {
					return fakecluster.Fault{Before: refused("wrong")}
				}
				return fakecluster.Fault{}
			}
			_, err := reconcile(t, cluster, &testJob{}, test.desiredState)
			if err == nil || !strings.Contains(err.Error(), "ConfigMap here/wrong") {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(test.statuses, statuses(t, cluster)); diff != "" {
				t.Errorf("revisions, -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.objects, objectsOf(cluster)); diff != "" {
				t.Errorf("objects, -want +got\n%s", diff)
			}
		})
	}
}

// TestForeignObjects takes nothing from others.
func TestForeignObjects(t *testing.T) {
	foreign := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}, data: {of: others}}")
	cluster := fakecluster.New()
	cluster.Put(foreign)
	if _, err := reconcile(t, cluster, &testJob{}, wishFor("a", "b")); err == nil || !strings.Contains(err.Error(), "ConfigMap here/b exists and does not belong to the release") {
		t.Errorf("%v", err)
	}
	if cluster.Find("ConfigMap", "here", "a") != nil || statuses(t, cluster) != nil {
		t.Error("something was changed before")
	}
	taken := wishFor("a", "b")
	taken.TakeOwnership = true
	waiting, err := reconcile(t, cluster, &testJob{}, taken)
	must(t, waiting, err)
	if !owned(cluster.Find("ConfigMap", "here", "b"), "shop", "here") {
		t.Error("it is not taken over")
	}
	// Another client takes it back: then it stays when the release is deleted.
	own := cluster.Find("ConfigMap", "here", "b").DeepCopy()
	own.SetAnnotations(nil)
	cluster.Put(own)
	if err := uninstallAll(t, cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Find("ConfigMap", "here", "b") == nil || cluster.Find("ConfigMap", "here", "a") != nil {
		t.Errorf("left: %v", objectsOf(cluster))
	}
}

// TestKept leaves what the chart wants to stay.
func TestKept(t *testing.T) {
	cluster := fakecluster.New()
	desiredState := wishFor("a")
	desiredState.Manifest += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: precious, annotations: {helm.sh/resource-policy: keep}}\n"
	waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
	must(t, waiting, err)
	if err := uninstallAll(t, cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Find("ConfigMap", "here", "precious") == nil {
		t.Error("it is deleted")
	}
}

// TestTooLate ends a release that does not become ready in time.
func TestTooLate(t *testing.T) {
	cluster := fakecluster.New()
	desiredState := wishFor("pod")
	desiredState.Wait = true
	waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
	if err != nil || len(waiting) != 1 || !strings.HasPrefix(waiting[0], "Pod here/pod to become ready (") {
		t.Fatalf("%v %v", waiting, err)
	}
	if _, err := reconcile(t, cluster, &testJob{expired: true}, desiredState); err == nil || !strings.Contains(err.Error(), `timeout at: "helm deployer: before installing release"`) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]common.Status{common.StatusFailed, common.StatusFailed}, statuses(t, cluster)); diff != "" {
		t.Errorf("revisions, -want +got\n%s", diff)
	}
}

// TestInvalidRecords are refused without a guess, and before they take memory.
func TestInvalidRecords(t *testing.T) {
	packed := func(content string) string {
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		if _, err := io.Copy(writer, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(out.Bytes())))
	}
	for reason, text := range map[string]string{
		"no base64": "bm9uZQ==", "half of one": packed(`{"info":{}}`)[:40], "no JSON": packed("none"), "a release without its state": packed(`{"name":"shop"}`),
	} {
		t.Run(reason, func(t *testing.T) {
			cluster := fakecluster.New()
			waiting, err := reconcile(t, cluster, &testJob{}, wishFor("a"))
			must(t, waiting, err)
			record := cluster.Find("Secret", "here", "sh.helm.release.v1.shop.v1").DeepCopy()
			if err := unstructured.SetNestedField(record.Object, text, "data", "release"); err != nil {
				t.Fatal(err)
			}
			cluster.Put(record)
			if _, err := reconcile(t, cluster, &testJob{}, wishFor("b")); err == nil || !strings.Contains(err.Error(), "is no record of Helm") {
				t.Errorf("%v", err)
			}
		})
	}
}
