// Package image makes container images of single programs, without a container engine. An image
// has the program, certificates of authorities, a user, a folder for temporary files and the
// licences: no shell, no libraries, no package manager.
package image

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
)

// user is who programs run as: not root, and the user of the pods in the charts.
const user = "65532"

// Image is what an image is made from.
type Image struct {
	// Repository and Tag are its name.
	Repository, Tag string
	// Name is that of the program, which is at the root.
	Name string
	// Labels describe the image; they are labels of the image and annotations of its manifests.
	Labels map[string]string
	// At is when the release was made.
	At time.Time
	// Notices are the texts of the licences.
	Notices []pack.File
}

// Labels are those that the specification of OCI knows.
func Labels(p program.Program, version, commit, source string, at time.Time) map[string]string {
	labels := map[string]string{
		ocispec.AnnotationTitle: p.Name, ocispec.AnnotationDescription: p.Summary, ocispec.AnnotationVersion: version,
		ocispec.AnnotationCreated: at.UTC().Format(time.RFC3339), ocispec.AnnotationLicenses: "Apache-2.0",
		ocispec.AnnotationSource: source, ocispec.AnnotationURL: source, ocispec.AnnotationDocumentation: source + "/blob/" + version + "/docs",
	}
	if commit != "" {
		labels[ocispec.AnnotationRevision] = commit
	}
	return labels
}

// Build makes the image for the platforms of which there are programs.
func (i Image) Build(ctx context.Context, platforms []program.Platform, programs map[program.Platform][]byte) (*artifact.Artifact, error) {
	made := artifact.New(i.Repository, i.Tag)
	base, err := i.layer(append(i.system(), i.Notices...)...)
	if err != nil {
		return nil, err // says what it did
	}
	index := ocispec.Index{Annotations: i.Labels}
	for _, platform := range platforms {
		own, err := i.layer(pack.File{Name: i.Name, Data: programs[platform], Mode: 0o755})
		if err != nil {
			return nil, err // says what it did
		}
		manifest, err := i.manifest(ctx, made, platform, base, own)
		if err != nil {
			return nil, err // says what it did
		}
		manifest.Platform = &ocispec.Platform{OS: platform.OS, Architecture: platform.Arch}
		index.Manifests = append(index.Manifests, manifest)
	}
	made.Root, err = made.AddIndex(ctx, index)
	return made, err
}

// layer is a layer of an image.
type layer struct {
	compressed []byte
	// id is the digest before compression.
	id digest.Digest
}

func (i Image) layer(files ...pack.File) (layer, error) {
	compressed, err := pack.TarGz(i.At, files...)
	if err != nil {
		return layer{}, fmt.Errorf("image %s: %w", i.Repository, err)
	}
	var plain bytes.Buffer
	if err := pack.Tar(&plain, i.At, files...); err != nil {
		return layer{}, fmt.Errorf("image %s: %w", i.Repository, err)
	}
	return layer{compressed, digest.FromBytes(plain.Bytes())}, nil
}

// manifest adds the layers, the configuration and the manifest for one platform.
func (i Image) manifest(ctx context.Context, made *artifact.Artifact, on program.Platform, layers ...layer) (ocispec.Descriptor, error) {
	at := i.At.UTC()
	config := ocispec.Image{
		Created: &at, Platform: ocispec.Platform{OS: on.OS, Architecture: on.Arch},
		Config: ocispec.ImageConfig{User: user + ":" + user, Entrypoint: []string{"/" + i.Name}, WorkingDir: "/", Env: []string{"PATH=/"}, Labels: i.Labels},
		RootFS: ocispec.RootFS{Type: "layers"},
	}
	manifest := ocispec.Manifest{Annotations: i.Labels}
	for _, layer := range layers {
		blob, err := made.Add(ctx, ocispec.MediaTypeImageLayerGzip, layer.compressed)
		if err != nil {
			return blob, err // says what it did
		}
		manifest.Layers = append(manifest.Layers, blob)
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, layer.id)
		config.History = append(config.History, ocispec.History{Created: &at, CreatedBy: "tools/release"})
	}
	text, err := json.Marshal(config)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("encode the configuration of image %s: %w", i.Repository, err)
	}
	if manifest.Config, err = made.Add(ctx, ocispec.MediaTypeImageConfig, text); err != nil {
		return ocispec.Descriptor{}, err // says what it did
	}
	return made.AddManifest(ctx, manifest)
}

// system are the files that programs expect of a machine. Time zones are in the programs.
func (i Image) system() []pack.File {
	var authorities bytes.Buffer
	for root := range bundle.Roots() {
		// What is trusted with a constraint alone cannot be said in a file.
		if root.Constraint == nil {
			_ = pem.Encode(&authorities, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return []pack.File{
		{Name: "etc/"}, {Name: "etc/ssl/"}, {Name: "etc/ssl/certs/"},
		{Name: "etc/ssl/certs/ca-certificates.crt", Data: authorities.Bytes()},
		{Name: "etc/passwd", Data: []byte("root:x:0:0:root:/:/none\nnonroot:x:" + user + ":" + user + ":nonroot:/:/none\n")},
		{Name: "etc/group", Data: []byte("root:x:0:\nnonroot:x:" + user + ":\n")},
		{Name: "tmp/", Mode: 0o1777},
	}
}
