package chart

import (
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// publish puts a chart with a text under the names of the last one: into the registry, and
// into a chart repository with and one without digests.
func (s *shop) publish(t *testing.T, text string) (chart string) {
	t.Helper()
	packed := simple(t, "web", file{name: "web/values.yaml", text: text})
	s.chart("oci/web:1.0.0", packed)
	s.page("/charts/index.yaml", index("{version: 1.0.0, urls: [web-1.0.0.tgz], digest: "+strings.TrimPrefix(digestOf(packed), "sha256:")+"}"))
	s.page("/charts/web-1.0.0.tgz", packed)
	s.page("/charts/plain/index.yaml", index("{version: 1.0.0, urls: [web-1.0.0.tgz]}"))
	s.page("/charts/plain/web-1.0.0.tgz", packed)
	return digestOf(packed)
}

func itemOf(job string) *v1alpha1.DeployItem {
	found := item("team-a", "vendor")
	found.Status.JobID = job
	return found
}

// loaded loads a chart for a job, and returns its digest and what the shop was asked for.
func (w *world) loaded(t *testing.T, s *shop, job string, source *helmv1alpha1.Chart) (chart string, asked []string) {
	t.Helper()
	found, err := w.Load(t.Context(), itemOf(job), source)
	if err != nil {
		t.Fatal(err)
	}
	return found.Digest, s.asked()
}

// TestPublishedAgain publishes a chart again under its version: the next job deploys the
// new chart, and a job after it asks once for each name whether something has changed.
func TestPublishedAgain(t *testing.T) {
	for _, test := range []struct {
		reason string
		source func(*shop) *helmv1alpha1.Chart
		// first are the requests of the first job, unchanged those of a job for which
		// nothing has changed.
		first, unchanged string
	}{
		{"a chart repository with digests: only the index is asked for", func(s *shop) *helmv1alpha1.Chart { return inRepository(s.URL+"/charts", "web", "1.0.0") },
			"GET /charts/index.yaml, GET /charts/web-1.0.0.tgz", "GET /charts/index.yaml"},
		{"a chart repository without digests", func(s *shop) *helmv1alpha1.Chart { return inRepository(s.URL+"/charts/plain", "web", "1.0.0") },
			"GET /charts/plain/index.yaml, GET /charts/plain/web-1.0.0.tgz", "GET /charts/plain/index.yaml, GET /charts/plain/web-1.0.0.tgz"},
		{"an address", func(s *shop) *helmv1alpha1.Chart { s.open = true; return remote(s.URL + "/charts/web-1.0.0.tgz") },
			"GET /charts/web-1.0.0.tgz", "GET /charts/web-1.0.0.tgz"},
		{"a tag", func(s *shop) *helmv1alpha1.Chart { return ref(s.URL + "/oci/web:1.0.0") },
			"GET /v2/oci/web/manifests/1.0.0, GET /v2/oci/web/blobs/LAYER", "HEAD /v2/oci/web/manifests/1.0.0"},
		{"a resource of a component that is in a chart repository", func(*shop) *helmv1alpha1.Chart {
			return byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: repository}\n")
		}, "GET /charts/index.yaml, GET /charts/web-1.0.0.tgz", "GET /charts/index.yaml"},
		{"a resource of a component that is in a registry", func(*shop) *helmv1alpha1.Chart {
			return byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: artifact}\n")
		}, "GET /v2/oci/web/manifests/1.0.0, GET /v2/oci/web/blobs/CONFIG, GET /v2/oci/web/blobs/LAYER", "HEAD /v2/oci/web/manifests/1.0.0"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newShop(t)
			old := s.publish(t, "a: 1")
			w, source := usual(t, s, componentIn(s, nil)), test.source(s)
			names := strings.NewReplacer(old, "LAYER", digestOf([]byte("{}")), "CONFIG")
			expect := func(reason, job, chart, requests string) {
				t.Helper()
				got, asked := w.loaded(t, s, job, source)
				if all := names.Replace(strings.Join(asked, ", ")); got != chart || all != requests {
					t.Errorf("%s: chart %s after %s, want %s after %s", reason, got, all, chart, requests)
				}
			}
			expect("the first job", "job-1", old, test.first)
			expect("another item of the job", "job-1", old, "")
			expect("a job for which nothing has changed", "job-2", old, test.unchanged)
			changed := s.publish(t, "a: 2")
			expect("another item of a job that has begun before", "job-2", old, "")
			names = strings.NewReplacer(changed, "LAYER", digestOf([]byte("{}")), "CONFIG")
			if got, _ := w.loaded(t, s, "job-3", source); got != changed {
				t.Errorf("a job after the chart was published again gets %s, want %s", got, changed)
			}
			expect("a job for which nothing has changed since", "job-4", changed, test.unchanged)
		})
	}
}

// TestDigestsStay: what a digest stands for does not change, so that no job asks again.
func TestDigestsStay(t *testing.T) {
	s, packed, pinned := stocked(t)
	w, source := usual(t, s, nil), ref(s.URL+"/oci/web@"+pinned.String())
	w.loaded(t, s, "job-1", source)
	if got, asked := w.loaded(t, s, "job-2", source); got != digestOf(packed) || len(asked) > 0 {
		t.Errorf("got %s after %q", got, asked)
	}
}

// TestPublishedWithinAJob publishes a chart again after a job has read the index for another
// chart: the archive is not the one that this index describes, but that of the index as it
// is now.
func TestPublishedWithinAJob(t *testing.T) {
	s, db := newShop(t), simple(t, "db")
	s.page("/charts/db-1.0.0.tgz", db)
	publish := func(text string) []byte {
		web := simple(t, "web", file{name: "web/values.yaml", text: text})
		s.page("/charts/web-1.0.0.tgz", web)
		entries := ""
		for name, packed := range map[string][]byte{"web": web, "db": db} {
			entries += "  " + name + ": [{version: 1.0.0, urls: [" + name + "-1.0.0.tgz], digest: " + digest.FromBytes(packed).Encoded() + "}]\n"
		}
		s.page("/charts/index.yaml", []byte("entries:\n"+entries))
		return web
	}
	publish("a: 1")
	w := usual(t, s, nil)
	w.loaded(t, s, "job-1", inRepository(s.URL+"/charts", "db", "1.0.0"))
	changed := publish("a: 2")
	if got, asked := w.loaded(t, s, "job-1", inRepository(s.URL+"/charts", "web", "1.0.0")); got != digestOf(changed) || len(asked) != 2 {
		t.Errorf("got %s after %q", got, asked)
	}
}
