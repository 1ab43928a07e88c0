// Package repository finds component versions in repositories: registries,
// archives and objects.
package repository

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// Kinds of repositories.
const (
	KindOCI              = "OCIRegistry"
	KindCTF              = "CommonTransportFormat"
	KindComponentArchive = "ComponentArchive"
	KindLocal            = "local"
	KindInline           = "inline"
	KindEmpty            = "Empty"
)

// Ways to make the name of a repository from that of a component.
const (
	MappingURLPath = "urlPath"
	MappingSHA256  = "sha256-digest"
)

// Spec is a repository context in its normal form: two contexts that mean the
// same repository have the same Spec.
type Spec struct {
	Kind string
	// Scheme, Host, SubPath and NameMapping are those of a registry.
	Scheme      string
	Host        string
	SubPath     string
	NameMapping string
	// FilePath is that of an archive.
	FilePath string
	// content is what distinguishes repositories.
	content string
}

// ParseSpec reads a repository context.
func ParseSpec(context descriptor.Typed) (Spec, error) {
	if context.IsZero() {
		return Spec{}, errors.New("the repository context is missing")
	}
	var read json.RawMessage
	if err := json.Unmarshal(context, &read); err != nil {
		return Spec{}, fmt.Errorf("the repository context is no JSON: %w", err)
	}
	switch kind := context.Kind(); kind {
	case KindOCI, "oci", "ociRegistry":
		return parseOCI(context)
	case KindCTF, KindComponentArchive, KindLocal:
		var archive struct {
			FilePath string `json:"filePath"`
		}
		if err := context.Decode(&archive); err != nil {
			return Spec{}, err
		}
		if archive.FilePath == "" && kind != KindLocal {
			return Spec{}, fmt.Errorf("the repository context of type %s has no filePath", kind)
		}
		return Spec{Kind: kind, FilePath: archive.FilePath}, nil
	case KindInline, KindEmpty:
		content, err := canonical(context)
		return Spec{Kind: kind, content: content}, err
	case "":
		return Spec{}, errors.New("the repository context has no type: use OCIRegistry with a baseUrl")
	default:
		return Spec{}, fmt.Errorf("unknown repository type %q: use OCIRegistry, CommonTransportFormat or ComponentArchive", kind)
	}
}

func canonical(context descriptor.Typed) (string, error) {
	var value any
	if err := context.Decode(&value); err != nil {
		return "", err
	}
	// A value that was decoded from JSON can be encoded.
	text, _ := json.Marshal(value)
	return string(text), nil
}

func parseOCI(context descriptor.Typed) (Spec, error) {
	var oci struct {
		BaseURL     string `json:"baseUrl"`
		SubPath     string `json:"subPath"`
		NameMapping string `json:"componentNameMapping"`
	}
	if err := context.Decode(&oci); err != nil {
		return Spec{}, err
	}
	spec := Spec{Kind: KindOCI, NameMapping: oci.NameMapping, SubPath: strings.Trim(oci.SubPath, "/")}
	switch spec.NameMapping {
	case "":
		spec.NameMapping = MappingURLPath
	case MappingURLPath, MappingSHA256:
	default:
		return Spec{}, fmt.Errorf("unknown component name mapping method %q: use %s or %s", spec.NameMapping, MappingURLPath, MappingSHA256)
	}
	host := oci.BaseURL
	if scheme, rest, found := strings.Cut(host, "://"); found {
		if scheme != "http" && scheme != "https" && scheme != "oci" {
			return Spec{}, fmt.Errorf("the baseUrl %q of the repository context has the scheme %q: use https or http", Redact(oci.BaseURL), scheme)
		}
		host = rest
		if scheme == "http" {
			spec.Scheme = scheme
		}
	}
	if strings.ContainsAny(host, "?#") {
		return Spec{}, fmt.Errorf("the baseUrl %q of the repository context has a query or a fragment: leave it out; credentials belong into a pull secret", Redact(oci.BaseURL))
	}
	host, path, _ := strings.Cut(strings.Trim(host, "/"), "/")
	if strings.Contains(host, "@") {
		return Spec{}, fmt.Errorf("the baseUrl %q of the repository context holds credentials: put them into a pull secret", Redact(oci.BaseURL))
	}
	if host == "" || strings.ContainsAny(host, " \\") {
		return Spec{}, fmt.Errorf("the baseUrl %q of the repository context names no host", Redact(oci.BaseURL))
	}
	if path != "" {
		// A path belongs to the sub path; both together are one after the other.
		spec.SubPath = strings.Trim(path+"/"+spec.SubPath, "/")
	}
	spec.Host = strings.ToLower(host)
	return spec, nil
}

// BlobLimit returns the size of the largest blob that a repository of components takes; larger ones
// are written in pieces. Zero is no limit. The limit does not distinguish repositories.
func BlobLimit(context descriptor.Typed) (int64, error) {
	if context.IsZero() {
		return 0, nil
	}
	var limited struct {
		BlobLimit *int64 `json:"blobLimit"`
	}
	if err := context.Decode(&limited); err != nil {
		return 0, err
	}
	if limited.BlobLimit == nil {
		return 0, nil
	}
	if *limited.BlobLimit < 0 {
		return 0, fmt.Errorf("the blobLimit %d of the repository context is below zero", *limited.BlobLimit)
	}
	return *limited.BlobLimit, nil
}

// Redact returns an address without what may be a credential in it: the user, and
// what comes behind the path.
func Redact(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		// A user before the cut is looked for in the rest; a user behind it is cut off.
		address = address[:end]
	}
	parsed, err := url.Parse(address)
	if err == nil && parsed.User != nil {
		parsed.User = url.User("hidden")
		return parsed.String()
	}
	if at := strings.LastIndex(address, "@"); at >= 0 {
		return "hidden" + address[at:]
	}
	return address
}

// Equal reports whether two repository contexts mean the same repository.
func Equal(a, b descriptor.Typed) bool {
	if string(a) == string(b) {
		return true
	}
	left, errA := ParseSpec(a)
	right, errB := ParseSpec(b)
	return errA == nil && errB == nil && left == right
}

// String names the repository in messages.
func (s Spec) String() string {
	switch s.Kind {
	case KindOCI:
		name := s.Host
		if s.SubPath != "" {
			name += "/" + s.SubPath
		}
		if s.Scheme != "" {
			name = s.Scheme + "://" + name
		}
		return name
	case KindCTF, KindComponentArchive, KindLocal:
		if s.FilePath == "" {
			return s.Kind
		}
		return s.Kind + " " + s.FilePath
	}
	return s.Kind
}

// Repository returns the name of the repository that holds the versions of a
// component.
func (s Spec) Repository(component string) string {
	name := "component-descriptors/" + component
	if s.NameMapping == MappingSHA256 {
		sum := sha256.Sum256([]byte(component))
		name = hex.EncodeToString(sum[:])
	}
	if s.SubPath == "" {
		return name
	}
	return s.SubPath + "/" + name
}

// buildMark stands for the plus sign, which tags do not allow.
const buildMark = ".build-"

// Tag returns the tag of a version.
func Tag(version string) (string, error) {
	// The user may have copied the tag instead of the version.
	if err := descriptor.CheckVersion(VersionOf(version)); err != nil {
		return "", fmt.Errorf("it cannot become a tag: %w", err)
	}
	return strings.ReplaceAll(version, "+", buildMark), nil
}

// VersionOf returns the version behind a tag.
func VersionOf(tag string) string {
	if at := strings.LastIndex(tag, buildMark); at >= 0 {
		return tag[:at] + "+" + tag[at+len(buildMark):]
	}
	return tag
}
