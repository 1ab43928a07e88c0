package image

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
	"go.landscaper.dev/tools/release/registrytest"
)

var (
	at        = time.Unix(1_700_000_000, 0)
	amd64     = program.Platform{OS: "linux", Arch: "amd64"}
	arm64     = program.Platform{OS: "linux", Arch: "arm64"}
	platforms = []program.Platform{amd64, arm64}
)

func build(t *testing.T, repository string) *artifact.Artifact {
	t.Helper()
	made, err := Image{
		Repository: repository, Tag: "v1.2.3", Name: "landscaper", At: at,
		Labels:  Labels(program.Server, "v1.2.3", "0123456789abcdef", "https://example.org/landscaper", at),
		Notices: []pack.File{{Name: "licenses/"}, {Name: "licenses/NOTICE", Data: []byte("who wrote it")}},
	}.Build(t.Context(), platforms, map[program.Platform][]byte{amd64: []byte("program for amd64"), arm64: []byte("program for arm64")})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestPulled: the image that was pushed to the reference registry is pulled by another library,
// for each platform, and is what was published: all digests fit, and the files are there.
func TestPulled(t *testing.T) {
	repository := registrytest.Start(t) + "/landscaper"
	made := build(t, repository)
	if err := made.Push(t.Context(), registrytest.Repository(t, repository)); err != nil {
		t.Fatal(err)
	}
	reference, err := name.ParseReference(repository+":v1.2.3", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	if digest, err := index.Digest(); err != nil || digest.String() != made.Root.Digest.String() {
		t.Errorf("%s was pushed, %s is there: %v", made.Root.Digest, digest, err)
	}
	for _, platform := range platforms {
		image, err := remote.Image(reference, remote.WithPlatform(v1.Platform{OS: platform.OS, Architecture: platform.Arch}))
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != platform.Arch || config.Config.User != "65532:65532" || config.Config.Labels["org.opencontainers.image.revision"] != "0123456789abcdef" {
			t.Errorf("%s: %+v", platform, config)
		}
		if want := []string{"/landscaper"}; !cmp.Equal(want, config.Config.Entrypoint) {
			t.Errorf("the entry point is %v", config.Config.Entrypoint)
		}
		checkFiles(t, image, "program for "+platform.Arch)
	}
}

// checkFiles: an image has the program and what a program expects of a machine, and nothing that
// runs besides. The certificates are those of authorities that are valid.
func checkFiles(t *testing.T, image v1.Image, content string) {
	t.Helper()
	files := map[string]string{}
	reader := tar.NewReader(mutate.Extract(image))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name] = string(data); header.Typeflag == tar.TypeReg && header.Mode&0o111 != 0 && header.Name != "landscaper" {
			t.Errorf("%s can be executed", header.Name)
		}
		if header.Name == "tmp/" && header.Mode != 0o1777 {
			t.Errorf("the mode of %s is %o", header.Name, header.Mode)
		}
	}
	if files["landscaper"] != content || files["licenses/NOTICE"] != "who wrote it" || !strings.Contains(files["etc/passwd"], "nonroot:x:65532:65532:") {
		t.Errorf("the files: %v", len(files))
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM([]byte(files["etc/ssl/certs/ca-certificates.crt"])) || strings.Count(files["etc/ssl/certs/ca-certificates.crt"], "BEGIN") < 100 {
		t.Error("certificates of authorities are missing")
	}
}

// TestNeverReplaced: a tag that leads to another content is not replaced, and pushing the same
// again changes nothing.
func TestNeverReplaced(t *testing.T) {
	repository := registrytest.Start(t) + "/landscaper"
	made := build(t, repository)
	for range 2 {
		if err := made.Push(t.Context(), registrytest.Repository(t, repository)); err != nil {
			t.Fatal(err)
		}
	}
	other := artifact.New(repository, "v1.2.3")
	var err error
	if other.Root, err = other.Add(t.Context(), "text/plain", []byte("other")); err != nil {
		t.Fatal(err)
	}
	err = other.Push(t.Context(), registrytest.Repository(t, repository))
	if err == nil || !strings.Contains(err.Error(), made.Root.Digest.String()) || !strings.Contains(err.Error(), "choose another version") {
		t.Errorf("%v", err)
	}
}

// TestLayout: the layout on a disk is read by another library, and has the same bytes each time.
func TestLayout(t *testing.T) {
	var written [2]bytes.Buffer
	for i := range written {
		if err := build(t, "registry.example.org/landscaper").Layout(t.Context(), &written[i], at); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(written[0].Bytes(), written[1].Bytes()) {
		t.Error("two layouts of one image differ")
	}
	folder := t.TempDir()
	registrytest.Unpack(t, &written[0], folder)
	root, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(root); err != nil {
		t.Error(err)
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Errorf("%+v", manifest)
	}
}
