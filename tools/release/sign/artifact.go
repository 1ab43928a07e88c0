package sign

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/tools/release/artifact"
)

const (
	// simpleSigning is the type of what is signed of an image.
	simpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"
	// envelopeType is the type of a signed statement about an image.
	envelopeType = "application/vnd.dsse.envelope.v1+json"
	// signatureAnnotation has the signature. It is empty for an envelope, which has its own.
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

// payload is what is signed of an image: its digest, and the name under which it was signed.
type payload struct {
	Critical struct {
		Identity struct {
			DockerReference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			DockerManifestDigest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"`
}

// Image signs an artifact of a registry. The signature is an artifact of the same repository,
// which cosign finds by its tag.
func (k *Key) Image(ctx context.Context, signed *artifact.Artifact, at time.Time) (*artifact.Artifact, error) {
	var content payload
	content.Critical.Identity.DockerReference = signed.Repository
	content.Critical.Image.DockerManifestDigest = signed.Root.Digest.String()
	content.Critical.Type = "cosign container image signature"
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", signed.Reference(), err)
	}
	signature, err := k.Signature(text)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", signed.Reference(), err)
	}
	return attached(ctx, signed, "sig", at, layer{simpleSigning, text, map[string]string{signatureAnnotation: string(signature)}})
}

// Statement is a statement of in-toto about an image.
type Statement struct {
	PredicateType string
	Text          []byte
}

// Attest signs statements about an artifact of a registry.
func (k *Key) Attest(ctx context.Context, about *artifact.Artifact, at time.Time, statements ...Statement) (*artifact.Artifact, error) {
	var layers []layer
	for _, statement := range statements {
		envelope, err := k.Envelope(ctx, statement.Text)
		if err != nil {
			return nil, fmt.Errorf("attest %s: %w", about.Reference(), err)
		}
		layers = append(layers, layer{envelopeType, envelope, map[string]string{signatureAnnotation: "", "predicateType": statement.PredicateType}})
	}
	return attached(ctx, about, "att", at, layers...)
}

type layer struct {
	mediaType   string
	data        []byte
	annotations map[string]string
}

// attached makes an artifact that belongs to another one.
func attached(ctx context.Context, to *artifact.Artifact, kind string, at time.Time, layers ...layer) (*artifact.Artifact, error) {
	made := artifact.New(to.Repository, strings.Replace(to.Root.Digest.String(), ":", "-", 1)+"."+kind)
	created := at.UTC()
	config := ocispec.Image{Created: &created, RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{}}}
	var manifest ocispec.Manifest
	for _, layer := range layers {
		blob, err := made.Add(ctx, layer.mediaType, layer.data)
		if err != nil {
			return nil, err // says what it did
		}
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, blob.Digest)
		blob.Annotations = layer.annotations
		manifest.Layers = append(manifest.Layers, blob)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration of %s:%s: %w", made.Repository, made.Tag, err)
	}
	if manifest.Config, err = made.Add(ctx, ocispec.MediaTypeImageConfig, text); err != nil {
		return nil, err // says what it did
	}
	made.Root, err = made.AddManifest(ctx, manifest)
	return made, err
}
