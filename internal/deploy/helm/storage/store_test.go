package storage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// word is a value that no message may repeat.
const word = "hunter2hunter2"

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

func storeOn(cluster *fakecluster.Cluster) *Store {
	return &Store{Cluster: cluster, Namespace: "here", Now: func() time.Time { return noon }}
}

func aRelease(name string, version int, status common.Status) *helmrelease.Release {
	return &helmrelease.Release{
		Name: name, Namespace: "here", Version: version, Manifest: "kind: A\n", Config: map[string]any{"password": word},
		Info: &helmrelease.Info{Status: status, FirstDeployed: noon, LastDeployed: noon}, Labels: map[string]string{"team": "a"},
	}
}

// secret is a Secret as another client may have written it.
func secret(name, kind string, labels map[string]string, content string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": kind}}
	if content != "" {
		object.Object["data"] = map[string]any{recordKey: base64.StdEncoding.EncodeToString([]byte(content))}
	}
	object.SetNamespace("here")
	object.SetName(name)
	object.SetLabels(labels)
	return object
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(buffer.Bytes())
}

// TestRoundTrip: what is stored is found again, with who has written it, and without the
// labels that Helm sets itself.
func TestRoundTrip(t *testing.T) {
	store, ctx := storeOn(fakecluster.New()), t.Context()
	marks := Marks{Owner: "uid-1", OwnerName: "ns/item", Digest: "d"}
	for revision, status := range []common.Status{common.StatusSuperseded, common.StatusFailed, common.StatusDeployed} {
		if err := store.Create(ctx, aRelease("shop", revision+1, status), marks); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Create(ctx, aRelease("other", 1, common.StatusDeployed), Marks{}); err != nil {
		t.Fatal(err)
	}
	history, err := store.History(ctx, "shop")
	if err != nil || len(history) != 3 {
		t.Fatalf("%d records: %v", len(history), err)
	}
	for i, record := range history {
		if record.Revision != i+1 || record.Marks() != marks || !record.Written.Equal(noon) {
			t.Errorf("record %d: %+v", i, record)
		}
		if record.Deployed() != (record.Status != common.StatusFailed) {
			t.Errorf("%s counts as deployed: %t", record.Status, record.Deployed())
		}
	}
	release, err := history[2].Release()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"team": "a"}, release.Labels); diff != "" || release.Config["password"] != word || release.Version != 3 {
		t.Errorf("%s, %+v", diff, release)
	}
}

// TestCreateNeverReplaces: of two clients that store the same revision, one gets an error.
func TestCreateNeverReplaces(t *testing.T) {
	store := storeOn(fakecluster.New())
	if err := store.Create(t.Context(), aRelease("shop", 1, common.StatusPendingInstall), Marks{Owner: "a"}); err != nil {
		t.Fatal(err)
	}
	err := store.Create(t.Context(), aRelease("shop", 1, common.StatusPendingInstall), Marks{Owner: "b"})
	if !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), "store revision 1 of release here/shop") || strings.Contains(err.Error(), word) {
		t.Errorf("got %v", err)
	}
	if history, err := store.History(t.Context(), "shop"); err != nil || history[0].Owner != "a" {
		t.Errorf("the first one was replaced: %+v, %v", history, err)
	}
}

// TestNoRecords: a namespace may hold anything under the labels of Helm.
func TestNoRecords(t *testing.T) {
	labels := func(version string) map[string]string {
		return map[string]string{"owner": "helm", "name": "shop", "version": version, "status": "deployed"}
	}
	tests := []struct {
		reason string
		object *unstructured.Unstructured
		want   int
	}{
		{"a record of Helm", secret("a", recordType, labels("1"), "x"), 1},
		{"a Secret of another type", secret("a", "Opaque", labels("1"), "x"), 0},
		{"no number", secret("a", recordType, labels("one"), "x"), 0},
		{"no version at all", secret("a", recordType, map[string]string{"owner": "helm", "name": "shop"}, "x"), 0},
		{"a number that is not valid for a revision", secret("a", recordType, labels("0"), "x"), 0},
		{"a negative number", secret("a", recordType, labels("-1"), "x"), 0},
		{"a number that is too large", secret("a", recordType, labels("99999999999999999999"), "x"), 0},
		{"a record of another release", secret("a", recordType, map[string]string{"owner": "helm", "name": "other", "version": "1"}, "x"), 0},
		{"a Secret of another owner", secret("a", recordType, map[string]string{"owner": "me", "name": "shop", "version": "1"}, "x"), 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.Put(test.object)
			history, err := storeOn(cluster).History(t.Context(), "shop")
			if err != nil || len(history) != test.want {
				t.Errorf("%d records: %v", len(history), err)
			}
		})
	}
}

// TestBrokenRecords: what cannot be read is named, with a remedy and without its content.
func TestBrokenRecords(t *testing.T) {
	tests := []struct{ reason, content string }{
		{"nothing in it", ""},
		{"no base64", "!" + word},
		{"no JSON", base64.StdEncoding.EncodeToString([]byte(word))},
		{"JSON of something else", base64.StdEncoding.EncodeToString([]byte(`["` + word + `"]`))},
		{"a release without what Helm knows of it", base64.StdEncoding.EncodeToString([]byte(`{"name":"shop"}`))},
		{"an archive that was cut off", base64.StdEncoding.EncodeToString([]byte{0x1f, 0x8b, 0x08, 0x00})},
		{"packed, but no JSON", packed(t, word)},
		{"packed, with wrong types", packed(t, `{"name":1,"info":{}}`)},
		{"packed zeros without end", packed(t, strings.Repeat("0", maxRecord+2))},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			record := recordOf(secret("sh.helm.release.v1.shop.v1", recordType, map[string]string{"version": "1"}, test.content))
			_, err := record.Release()
			if err == nil || !strings.Contains(err.Error(), "here/sh.helm.release.v1.shop.v1 is no record of Helm: remove it, or restore it") || strings.Contains(err.Error(), word) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a record that was not packed, as the first Helm wrote them", func(t *testing.T) {
		text := base64.StdEncoding.EncodeToString([]byte(`{"name":"shop","info":{"status":"deployed"},"version":7}`))
		release, err := recordOf(secret("a", recordType, map[string]string{"version": "2"}, text)).Release()
		if err != nil || release.Name != "shop" || release.Version != 2 {
			t.Errorf("%+v, %v", release, err)
		}
	})
	t.Run("data that are not text", func(t *testing.T) {
		object := secret("a", recordType, map[string]string{"version": "1"}, "")
		object.Object["data"] = []any{word}
		if _, err := recordOf(object).Release(); err == nil || strings.Contains(err.Error(), word) {
			t.Errorf("got %v", err)
		}
	})
}

// TestWritten: how old a record is decides whether its operation was given up.
func TestWritten(t *testing.T) {
	seconds := func(after time.Duration) string { return fmt.Sprint(noon.Add(after).Unix()) }
	tests := []struct {
		reason string
		labels map[string]string
		want   time.Time
	}{
		{"only the Secret has a time", nil, noon},
		{"the record has the time of its creation", map[string]string{"createdAt": seconds(time.Minute)}, noon.Add(time.Minute)},
		{"the record has the time of its last change", map[string]string{"createdAt": seconds(time.Minute), "modifiedAt": seconds(time.Hour)}, noon.Add(time.Hour)},
		{"a time before the creation of the Secret is ignored", map[string]string{"createdAt": seconds(-time.Hour)}, noon},
		{"no time", map[string]string{"modifiedAt": "soon"}, noon},
		{"a number that is too large", map[string]string{"modifiedAt": strings.Repeat("9", 30)}, noon},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := secret("a", recordType, map[string]string{"version": "1"}, "")
			for key, value := range test.labels {
				labels := object.GetLabels()
				labels[key] = value
				object.SetLabels(labels)
			}
			if err := unstructured.SetNestedField(object.Object, noon.Format(time.RFC3339), "metadata", "creationTimestamp"); err != nil {
				t.Fatal(err)
			}
			if got := recordOf(object).Written; !got.Equal(test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestFailures: the error of each request says what was done, and no content.
func TestFailures(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no"))
	fails := func(verb string) *Store {
		cluster := fakecluster.New()
		cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
			if request.Verb == verb {
				return fakecluster.Fault{Before: forbidden}
			}
			return fakecluster.Fault{}
		}
		return storeOn(cluster)
	}
	ctx := t.Context()
	tests := []struct {
		reason string
		call   func() error
		says   string
	}{
		{"records may not be listed", func() error { _, err := fails("list").History(ctx, "shop"); return err }, "list the records of release here/shop"},
		{"records may not be created", func() error {
			return fails("create").Create(ctx, aRelease("shop", 1, common.StatusDeployed), Marks{})
		}, "store revision 1 of release here/shop"},
		{"records may not be changed", func() error {
			return fails("update").Update(ctx, aRelease("shop", 1, common.StatusDeployed), Marks{})
		}, "store revision 1 of release here/shop"},
		{"records may not be removed", func() error { return fails("delete").Delete(ctx, "shop", 4) }, "remove revision 4 of release here/shop"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := test.call()
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), word) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("values that no JSON can hold", func(t *testing.T) {
		release := aRelease("shop", 1, common.StatusDeployed)
		release.Config["password"] = func() {}
		if err := storeOn(fakecluster.New()).Create(ctx, release, Marks{}); err == nil || !strings.Contains(err.Error(), "it cannot be written as JSON") {
			t.Errorf("got %v", err)
		}
	})
}

// TestForget: the newest record is deleted last, so that an interrupted job finds one.
func TestForget(t *testing.T) {
	cluster := fakecluster.New()
	store := storeOn(cluster)
	for revision := range 3 {
		if err := store.Create(t.Context(), aRelease("shop", revision+1, common.StatusDeployed), Marks{}); err != nil {
			t.Fatal(err)
		}
	}
	history, err := store.History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Verb == "delete" && request.Name == Name("shop", 2) {
			return fakecluster.Fault{Before: errors.New("no answer")}
		}
		return fakecluster.Fault{}
	}
	if err := store.Forget(t.Context(), "shop", history); err == nil {
		t.Error("a failure is not returned")
	}
	left, err := store.History(t.Context(), "shop")
	if err != nil || len(left) != 2 || left[1].Revision != 3 {
		t.Errorf("left %d: %v", len(left), err)
	}
	cluster.Fault = nil
	if err := store.Forget(t.Context(), "shop", left); err != nil {
		t.Error(err)
	}
	if left, err := store.History(t.Context(), "shop"); err != nil || len(left) != 0 {
		t.Errorf("left %d: %v", len(left), err)
	}
}

// FuzzRelease: whatever a Secret holds, it is read or refused, in little memory.
func FuzzRelease(f *testing.F) {
	f.Add([]byte("x"))
	f.Add([]byte(packed(f, `{"name":"a","info":{"status":"deployed"},"hooks":[null],"chart":{"files":[null]}}`)))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte(`{"info":{}}`))))
	f.Fuzz(func(t *testing.T, content []byte) {
		record := recordOf(secret("a", recordType, map[string]string{"version": "1", "x": "y"}, string(content)))
		release, err := record.Release()
		if err == nil && (release.Info == nil || release.Version != 1 || release.Labels["x"] != "y") {
			t.Errorf("%+v", release)
		}
	})
}

// TestHostileRecords: what a cluster has packed into a few KB takes no memory that counts.
func TestHostileRecords(t *testing.T) {
	release := func(field string) string { return `{"name":"shop","info":{},` + field + `}` }
	tests := []struct{ reason, content, why string }{
		{"hooks without content", packed(t, release(`"hooks":[`+strings.Repeat("{},", 14<<20)+`{}]`)), "longer than 4194304 bytes"},
		{"as many as are unpacked", packed(t, release(`"hooks":[`+strings.Repeat("{},", 1<<20)+`{}]`)), "more than 48 MiB of memory"},
		{"values that are empty lists", packed(t, release(`"config":{"a":[`+strings.Repeat("[],", 1<<20)+`[]]}`)), "more than 48 MiB of memory"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			record := recordOf(secret("sh.helm.release.v1.shop.v1", recordType, map[string]string{"version": "1"}, test.content))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := record.Release()
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d bytes make %d MiB of allocations", len(test.content), allocated)
			if err == nil || !strings.Contains(err.Error(), test.why) || allocated > 64 {
				t.Errorf("%d MiB are allocated, error %v", allocated, err)
			}
		})
	}
}

// TestLargeHistory: the newest records can be read, and of the others their numbers are known.
func TestLargeHistory(t *testing.T) {
	cluster := fakecluster.New()
	for revision := range 40 {
		object := secret(Name("shop", revision+1), recordType, map[string]string{"owner": "helm", "name": "shop", "version": fmt.Sprint(revision + 1), "status": "superseded"}, strings.Repeat("x", 1<<20))
		cluster.Put(object)
	}
	history, err := storeOn(cluster).History(t.Context(), "shop")
	if err != nil || len(history) != 40 {
		t.Fatalf("%d records, %v", len(history), err)
	}
	kept := 0
	for _, record := range history {
		if !record.omitted {
			kept++
		}
	}
	if kept < 15 || kept > 32 || history[0].Revision != 1 || !history[0].omitted || history[39].omitted {
		t.Errorf("%d records are kept", kept)
	}
	if _, err := history[0].Release(); err == nil || !strings.Contains(err.Error(), "the newer ones are larger") {
		t.Errorf("got %v", err)
	}
}
