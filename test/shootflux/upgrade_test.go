package shootflux

import (
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// The releases of the mirrors of these tests.
const (
	newer, newest            = "v2.90.0", "v2.91.0"
	absent, changed, cut     = "v2.92.0", "v2.93.0", "v2.94.0"
	unlisted                 = "v2.95.0"
	unreachable, wrongSource = "the mirror with the manifests of Flux does not deliver them", "the file has changed, or the checksum is wrong"
)

// released is an archive with the manifests of a release, as Flux publishes them.
func released(t *testing.T) []byte {
	t.Helper()
	root, err := lab.Root()
	must(t, err)
	names, err := filepath.Glob(filepath.Join(root, "internal", "controller", "shootflux", "install", "flux", install.DefaultVersion(), "*.yaml"))
	must(t, err)
	var files []archive.File
	for _, name := range names {
		content, err := os.ReadFile(name)
		must(t, err)
		files = append(files, archive.File{Path: filepath.Base(name), Data: content})
	}
	return pack(t, files...)
}

// fileMirror serves one release well and others badly, and counts how often the good one
// is fetched. The flags let the extension use it.
func fileMirror(t *testing.T) (flags []string, fetched *atomic.Int32) {
	t.Helper()
	good := released(t)
	fetched = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/" + newer + "/manifests.tar.gz":
			fetched.Add(1)
			_, _ = w.Write(good)
		case "/" + changed + "/manifests.tar.gz":
			_, _ = w.Write(pack(t, archive.File{Path: "install.yaml", Data: []byte("hostile")}))
		case "/" + cut + "/manifests.tar.gz":
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			_, _ = w.Write(good[:len(good)/2])
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	flags = []string{"--flux-mirror", server.URL + "/{version}/manifests.tar.gz"}
	for _, version := range []string{newer, absent, changed, cut} {
		flags = append(flags, "--flux-mirror-checksum", version+"="+digest.FromBytes(good).String())
	}
	return flags, fetched
}

// registryMirror has a release as an artifact in a registry with a certificate of its own
// authority.
func registryMirror(t *testing.T) (flags, env []string) {
	t.Helper()
	manifest, blobs := artifactOf(t, released(t))
	pin, answers := digest.FromBytes(manifest), map[string][]byte{}
	answers["manifests/"+pin.String()] = manifest
	for _, part := range blobs {
		answers["blobs/"+part.Digest.String()] = part.content
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[strings.TrimPrefix(r.URL.Path, "/v2/fluxcd/flux-manifests/")]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(answer).String())
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	address := "oci://" + strings.TrimPrefix(server.URL, "https://") + "/fluxcd/flux-manifests"
	return []string{"--flux-mirror", address, "--flux-mirror-checksum", newest + "=" + pin.String()}, []string{"SSL_CERT_FILE=" + authority}
}

// request asks a Shoot for an operation, with another configuration.
func request(t *testing.T, shoot *gardener.Shoot, operation string, config map[string]any) {
	t.Helper()
	shoot.Object.SetAnnotations(map[string]string{"flux.extensions.gardener.cloud/operation": operation})
	must(t, shoot.Tell(limited(t)))
	must(t, shoot.Enable(limited(t), config))
}

// versioned is a configuration of a release and an interval. Flux leaves the source alone:
// what it does while its controllers are replaced is its own affair.
func versioned(address, version, interval string) map[string]any {
	config := provider(address, "Once", "Delete")
	config["flux"] = map[string]any{"version": version}
	template := config["source"].(map[string]any)["template"].(map[string]any)
	maps.Copy(template["spec"].(map[string]any), map[string]any{"interval": interval, "suspend": true})
	config["kustomization"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["suspend"] = true
	return config
}

// wantRelease looks at the release of the shoot, and at the interval of its source.
func wantRelease(t *testing.T, version, interval string) {
	t.Helper()
	controller, source := ofShoot("apps/v1", "Deployment", "source-controller"), ofShoot("source.toolkit.fluxcd.io/v1", "GitRepository", "flux-system")
	must(t, world.InShoot.Get(limited(t), client.ObjectKeyFromObject(controller), controller))
	must(t, world.InShoot.Get(limited(t), client.ObjectKeyFromObject(source), source))
	of, _, _ := unstructured.NestedString(source.Object, "spec", "interval")
	if is := controller.GetLabels()["app.kubernetes.io/version"]; is != version || of != interval {
		t.Errorf("the shoot has Flux %s and a source with the interval %s, want %s and %s", is, of, version, interval)
	}
}

// TestUpgrade gives a shoot, whose Flux belongs to its owner, another release by request
// alone: one from a server with files, and one from a registry.
func TestUpgrade(t *testing.T) {
	const address = "https://git.example.org/app.git"
	shoot := newShoot(t, "upgraded", "one")
	fromFiles, fetched := fileMirror(t)
	metrics, err := landscape.FreeAddress()
	must(t, err)
	first := extension(t, append(fromFiles, "--metrics-bind-address", metrics)...)
	must(t, shoot.Enable(limited(t), versioned(address, "latest", "1m")))
	ready(t, shoot)
	wantMetrics(t, metrics, `shoot_flux_bootstrap_duration_seconds_count 1`, `shoot_flux_clusters{mode="Once",origin="ProviderConfig",version="`+install.DefaultVersion()+`"} 1`)

	must(t, shoot.Enable(limited(t), versioned(address, newer, "2m")))
	awaitCondition(t, shoot, "FluxUpToDate", "False", newer)
	ready(t, shoot)
	wantRelease(t, install.DefaultVersion(), "1m")
	if fetched.Load() > 0 {
		t.Error("the release was fetched, and no shoot needs it")
	}
	request(t, shoot, "upgrade", versioned(address, absent, "2m"))
	failed(t, shoot, "Flux "+absent, unreachable)
	wantRelease(t, install.DefaultVersion(), "1m")
	request(t, shoot, "upgrade", versioned(address, newer, "2m"))
	ready(t, shoot)
	awaitCondition(t, shoot, "FluxUpToDate", "True", "UpToDate")
	wantRelease(t, newer, "1m")
	if fetched.Load() != 1 {
		t.Errorf("the release was fetched %d times", fetched.Load())
	}
	must(t, first.Stop())

	flags, env := registryMirror(t)
	second := options(t, flags...)
	second.Env = env
	landscape.Run(t, second)
	request(t, shoot, "rebootstrap", versioned(address, newest, "3m"))
	ready(t, shoot)
	wantRelease(t, newest, "3m")
	must(t, shoot.Disable(limited(t)))
	must(t, shoot.Gone(limited(t)))
}

// TestMirrorThatDoesNotDeliver: a shoot that waits says why, and only manifests that the operator
// has pinned get into a shoot.
func TestMirrorThatDoesNotDeliver(t *testing.T) {
	flags, _ := fileMirror(t)
	extension(t, flags...)
	for _, row := range []struct{ version, want, code, reason string }{
		{absent, unreachable, "", "the mirror does not have it"},
		{cut, unreachable, "", "the connection ends too early"},
		{changed, wrongSource, "", "another writer has changed the file"},
		{unlisted, "cannot be installed", "ERR_RETRYABLE_CONFIGURATION_PROBLEM", "the operator has not pinned it"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			shoot := asleep(t, "mirrored", "one")
			must(t, shoot.Enable(limited(t), versioned("https://git.example.org/app.git", row.version, "1m")))
			wantCode(t, failed(t, shoot, row.version, row.want), row.code)
			notInstalled(t, shoot)
			must(t, shoot.Disable(limited(t)))
			must(t, shoot.Gone(limited(t)))
		})
	}
}
