// Package provenance says how a release was made, and what artefacts have in them: statements of
// in-toto with predicates of SLSA and CycloneDX.
package provenance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"go.landscaper.dev/tools/release/artifact"
)

// Types of predicates.
const (
	SLSA      = "https://slsa.dev/provenance/v1"
	CycloneDX = "https://cyclonedx.org/bom"
)

// Build is how a release was made. All of it is the same for everybody who repeats it.
type Build struct {
	// Source is the address of the repository, and Commit what was built.
	Source, Commit string
	// Version, Registry and Platforms are the parameters.
	Version, Registry string
	Platforms         []string
	// Go is the version of the compiler.
	Go string
	// Builder is what is trusted to have built it.
	Builder string
}

// Subject is what a statement is about.
type Subject struct{ Name, SHA256 string }

// OfFile is a file of a release.
func OfFile(name string, content []byte) Subject {
	sum := sha256.Sum256(content)
	return Subject{name, hex.EncodeToString(sum[:])}
}

// OfArtifact is an artifact of a registry.
func OfArtifact(a *artifact.Artifact) Subject { return Subject{a.Repository, a.Root.Digest.Encoded()} }

// Statement says of subjects how they were made.
func (b Build) Statement(subjects ...Subject) ([]byte, error) {
	platforms := make([]any, len(b.Platforms))
	for i, platform := range b.Platforms {
		platforms[i] = platform
	}
	external, err := structpb.NewStruct(map[string]any{"version": b.Version, "registry": b.Registry, "platforms": platforms})
	if err != nil {
		return nil, fmt.Errorf("say how the release was made: %w", err)
	}
	internal, err := structpb.NewStruct(map[string]any{"go": b.Go})
	if err != nil {
		return nil, fmt.Errorf("say how the release was made: %w", err)
	}
	predicate := &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType: b.Source + "/blob/" + b.Version + "/docs/release.md", ExternalParameters: external, InternalParameters: internal,
			ResolvedDependencies: []*intoto.ResourceDescriptor{b.source()},
		},
		RunDetails: &slsa.RunDetails{Builder: &slsa.Builder{Id: b.Builder}},
	}
	if err := predicate.Validate(); err != nil {
		return nil, fmt.Errorf("say how the release was made: %w", err)
	}
	text, err := protojson.Marshal(predicate)
	if err != nil {
		return nil, fmt.Errorf("say how the release was made: %w", err)
	}
	return Statement(SLSA, text, subjects...)
}

// source is what was built. Without a commit, others cannot get it.
func (b Build) source() *intoto.ResourceDescriptor {
	source := &intoto.ResourceDescriptor{Uri: "git+" + b.Source + "@refs/tags/" + b.Version}
	if b.Commit != "" {
		source.Digest = map[string]string{"gitCommit": b.Commit}
	}
	return source
}

// Statement is a statement about subjects, whose predicate is JSON.
func Statement(predicateType string, predicate []byte, subjects ...Subject) ([]byte, error) {
	statement := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: predicateType, Predicate: &structpb.Struct{}}
	if err := protojson.Unmarshal(predicate, statement.GetPredicate()); err != nil {
		return nil, fmt.Errorf("a statement of type %s: %w", predicateType, err)
	}
	slices.SortFunc(subjects, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) })
	for _, subject := range subjects {
		statement.Subject = append(statement.Subject, &intoto.ResourceDescriptor{Name: subject.Name, Digest: map[string]string{"sha256": subject.SHA256}})
	}
	if err := statement.Validate(); err != nil {
		return nil, fmt.Errorf("a statement of type %s: %w", predicateType, err)
	}
	return canonical(statement)
}

// canonical encodes a message. The library puts in spaces at random, so that users do not count on
// its bytes; without spaces, the bytes are always the same.
func canonical(message proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encode a statement: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, fmt.Errorf("encode a statement: %w", err)
	}
	return compact.Bytes(), nil
}
