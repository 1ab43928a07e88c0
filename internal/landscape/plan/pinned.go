package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	helm "go.landscaper.dev/api/helm/v1alpha1"
	kustomize "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/resourcekey"
	"go.landscaper.dev/internal/content/component/signature"
)

// Wanted is how an item names what its deployer is to read.
type Wanted struct {
	// Field is the field of the configuration.
	Field string
	// Component is set where it is a resource of a component.
	Component resourcekey.Key
	// At is where else the content is, in the form of placeOf.
	At string
}

// Provenance knows the component versions of a job, and whether they were verified. A
// component.Session does.
type Provenance interface {
	Verified() bool
	Seen() []*repository.Version
	Resolve(ctx context.Context, reference component.Reference) (*repository.Version, error)
}

// Pinner finds out itself what Pinned returns: in another process, where only the server knows.
type Pinner interface {
	Pinned(ctx context.Context, want Wanted) (*v1alpha1.GivenResource, error)
}

// resourceOf returns the resource of a component that an item refers to, with the digests that this
// job has found; nil if they are not known.
//
// The deployer reads the component version again, without its signature and perhaps from another
// repository. With the digests it takes what was verified here, or nothing.
func (p *Plan) resourceOf(ctx context.Context, item *v1alpha1.DeployItemTemplate) (*v1alpha1.GivenResource, error) {
	if p.in.Component == nil || p.in.Component.Session == nil {
		return nil, nil
	}
	want, names := wantedBy(item)
	if !names || want.At == "" && want.Component.Component.Name == "" {
		return nil, nil
	}
	switch session := p.in.Component.Session.(type) {
	case Pinner:
		return session.Pinned(ctx, want) // names the field
	case Provenance:
		return Pinned(ctx, session, want)
	}
	return nil, nil
}

// Pinned returns the resource that an item wants, with the digests that a job has found; nil if they
// are not known.
func Pinned(ctx context.Context, session Provenance, want Wanted) (*v1alpha1.GivenResource, error) {
	if want.At != "" {
		return resourceAt(session, want.At)
	}
	version, err := versionOf(ctx, session, want)
	if err != nil || version == nil {
		return nil, err
	}
	resource, err := version.Resource(want.Component.Resource)
	if err != nil {
		return nil, nil //nolint:nilerr // the deployer says what is missing
	}
	return givenResource(session, version, resource)
}

// wantedBy reads what the configuration of an item names. What is wrong in it is for the deployer to
// say.
func wantedBy(item *v1alpha1.DeployItemTemplate) (Wanted, bool) {
	switch item.Type {
	case v1alpha1.HelmDeployItemType:
		var config struct {
			Chart helm.Chart `json:"chart"`
		}
		return wantedChart(&config.Chart, json.Unmarshal(item.Configuration.Raw, &config))
	case v1alpha1.KustomizeDeployItemType:
		var config struct {
			Source kustomize.Source `json:"source"`
		}
		return wantedFiles(&config.Source, json.Unmarshal(item.Configuration.Raw, &config))
	}
	return Wanted{}, false
}

func wantedChart(chart *helm.Chart, err error) (Wanted, bool) {
	switch {
	case err != nil:
	case chart.ResourceRef != "":
		return byKey("chart.resourceRef", chart.ResourceRef)
	case chart.FromResource != nil && chart.FromResource.Reference != nil:
		found := Wanted{Field: "chart.fromResource"}
		found.Component.Component.Name, found.Component.Component.Version = chart.FromResource.Reference.ComponentName, chart.FromResource.Reference.Version
		found.Component.Resource = descriptor.Named(chart.FromResource.ResourceName)
		return found, true
	case chart.Ref != "":
		return Wanted{Field: "chart.ref", At: artifactAt(chart.Ref)}, true
	case chart.HelmChartRepo != nil:
		repo := chart.HelmChartRepo
		return Wanted{Field: "chart.helmChartRepo", At: chartAt(repo.HelmChartRepoURL, repo.HelmChartName, repo.HelmChartVersion)}, true
	case chart.Archive != nil && chart.Archive.Remote != nil:
		return Wanted{Field: "chart.archive.remote.url", At: addressAt(chart.Archive.Remote.URL)}, true
	}
	return Wanted{}, false
}

func wantedFiles(source *kustomize.Source, err error) (Wanted, bool) {
	switch {
	case err != nil:
	case source.ResourceRef != "":
		return byKey("source.resourceRef", source.ResourceRef)
	case source.OCI != nil:
		return Wanted{Field: "source.oci", At: artifactAt(source.OCI.Ref)}, true
	}
	return Wanted{}, false
}

func byKey(field, text string) (Wanted, bool) {
	key, err := resourcekey.Parse(text)
	if err != nil {
		return Wanted{}, false
	}
	return Wanted{Field: field, Component: *key}, true
}

// versionOf finds the component version that an item names, without a request. After a verification
// no other one may be named.
func versionOf(ctx context.Context, session Provenance, want Wanted) (*repository.Version, error) {
	name, version := want.Component.Component.Name, want.Component.Component.Version
	if session.Verified() {
		found, err := session.Resolve(ctx, component.Reference{Name: name, Version: version})
		if err != nil {
			return nil, fmt.Errorf("config.%s: %w", want.Field, err)
		}
		return found, nil
	}
	for _, seen := range session.Seen() {
		if seen.Name == name && seen.Version == version {
			return seen, nil
		}
	}
	return nil, nil
}

// resourceAt finds a resource of the known component versions by the place of its content.
func resourceAt(session Provenance, at string) (*v1alpha1.GivenResource, error) {
	for _, version := range session.Seen() {
		for i := range version.Resources {
			if placeOf(version.Resources[i].Access) == at {
				return givenResource(session, version, &version.Resources[i])
			}
		}
	}
	return nil, nil
}

// givenResource returns a resource with its digest, nil if it has none that can be compared.
func givenResource(session Provenance, version *repository.Version, resource *descriptor.Resource) (*v1alpha1.GivenResource, error) {
	digest := resource.Digest
	if digest == nil || digest.NoContent() || access.CheckNormalisation(digest.NormalisationAlgorithm) != nil {
		return nil, nil //nolint:nilerr // nothing can be compared with such a digest
	}
	if _, err := access.Hash(digest.HashAlgorithm); err != nil {
		return nil, nil //nolint:nilerr // the deployer refuses it
	}
	if access.PacksItself(resource.Access) && !session.Verified() {
		// Another tool has taken the digest, of other bytes than ours.
		return nil, nil
	}
	says, err := signature.Statement(version.Descriptor)
	if err != nil {
		return nil, err // names the component version
	}
	return &v1alpha1.GivenResource{
		ComponentName: version.Name, Version: version.Version, ComponentDigest: says, ResourceName: resource.Name,
		HashAlgorithm: digest.HashAlgorithm, NormalisationAlgorithm: digest.NormalisationAlgorithm, Value: digest.Value,
	}, nil
}

// placeOf says where an access has its content, if items can name such a place; else "".
func placeOf(at descriptor.Typed) string {
	var spec struct {
		ImageReference string `json:"imageReference"`
		Repository     string `json:"helmRepository"`
		Chart          string `json:"helmChart"`
		Version        string `json:"version"`
		URL            string `json:"url"`
	}
	if at.Decode(&spec) != nil {
		return ""
	}
	switch strings.ToLower(at.Kind()) {
	case "ociartifact", "ociregistry", "ociimage":
		return artifactAt(spec.ImageReference)
	case "helm":
		chart, version, _ := strings.Cut(spec.Chart, ":")
		if spec.Version != "" {
			version = spec.Version
		}
		if strings.HasPrefix(spec.Repository, "oci://") {
			return artifactAt(strings.TrimSuffix(spec.Repository, "/") + "/" + chart + ":" + version)
		}
		return chartAt(spec.Repository, chart, version)
	case "wget", "web":
		return addressAt(spec.URL)
	}
	return ""
}

// artifactAt is the place of an artifact in a registry. A digest counts more than a tag, and a
// version has another form as a tag.
func artifactAt(text string) string {
	text = strings.TrimSpace(text)
	name, pin, _ := strings.Cut(text, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name = name[:colon] + strings.ReplaceAll(name[colon:], "+", "_")
	}
	if pin != "" {
		name += "@" + pin
	}
	reference, err := access.ParseReference(name)
	if err != nil {
		return ""
	}
	if reference.Digest != "" {
		reference.Tag = ""
	}
	return "artifact " + reference.Host + " " + reference.Repository + " " + reference.Tag + " " + reference.Digest.String()
}

// chartAt is the place of a chart in a chart repository.
func chartAt(address, name, version string) string {
	return "chart " + strings.TrimSuffix(strings.TrimSpace(address), "/") + " " + name + " " + version
}

// addressAt is the place of what can be downloaded.
func addressAt(address string) string { return "address " + strings.TrimSpace(address) }
