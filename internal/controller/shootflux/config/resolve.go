package config

import (
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Resource is an entry of a Shoot's spec.resources.
type Resource struct {
	Name string
	// APIVersion, Kind and Object are those of the resource that it refers to.
	APIVersion, Kind, Object string
}

// Surroundings are the environment of a configuration.
type Surroundings struct {
	// DefaultVersion is the default release of Flux.
	DefaultVersion string
	// Allowed are the releases that the operator allows; nil for all.
	Allowed *semver.Constraints
	// Resources are those of the Shoot.
	Resources []Resource
}

// fieldNames are the names of fields in one of the styles.
type fieldNames struct{ version, components, source string }

func (c *Config) fieldNames() fieldNames {
	if c.Origin == ProviderConfig {
		return fieldNames{version: "flux.version", components: "flux.components", source: sourceField}
	}
	return fieldNames{version: keyVersion, components: keyComponents, source: keyURL}
}

// Resolve returns the configuration with the values that depend on its environment: the release of
// Flux with the versions of its API, and the Secrets behind the resources of the Shoot. Its error
// is an *Invalid.
func (c *Config) Resolve(s Surroundings) (*Config, error) {
	resolved := c.Copy()
	var p problems
	resolved.version(s, &p)
	resolved.resources(s.Resources, &p)
	if err := p.err(c.subject()); err != nil {
		return nil, err
	}
	return resolved, nil
}

func (c *Config) subject() string {
	switch {
	case c.Origin == ProviderConfig && c.Shared:
		return sharedConfig
	case c.Origin == ProviderConfig:
		return providerConfig
	}
	return "ConfigMap " + DefaultConfigMap
}

func (c *Config) version(s Surroundings, p *problems) {
	names := c.fieldNames()
	if c.Flux.Version == "" {
		c.Flux.Version = s.DefaultVersion
	}
	version := parseVersion(c.Flux.Version)
	if version == nil {
		p.add(names.version, "the default release of the extension is not valid: its operator must set one like v2.4.0")
		return
	}
	if s.Allowed != nil && !s.Allowed.Check(version) {
		p.add(names.version, "is a release that the operator does not allow here: choose one of %s", s.Allowed)
	}
	if slices.Contains(c.Flux.Components, sourceWatcher) && !atLeast(version, 2, 7) {
		p.add(names.components, "has %s, which needs Flux v2.7.0: choose a later release, or remove it", sourceWatcher)
	}
	c.setAPIVersions(version, p)
}

func (c *Config) setAPIVersions(flux *semver.Version, p *problems) {
	if c.Source == nil {
		return
	}
	written := apiVersion(c.Source.Object.GetKind(), flux)
	if written == "" {
		p.add(c.fieldNames().source, "is an OCIRepository, which needs Flux v0.32.0: choose a later release")
	}
	c.Source.Object.SetAPIVersion(written)
	c.Kustomization.SetAPIVersion(apiVersion(kindKustomization, flux))
}

// AsRead returns the configuration with source and kustomization for the release of Flux that stays
// in the shoot, even if another one is configured. Its error is an *Invalid.
func (c *Config) AsRead(release string) (*Config, error) {
	version := parseVersion(release)
	if version == nil || release == c.Flux.Version {
		return c, nil
	}
	read := c.Copy()
	var p problems
	read.setAPIVersions(version, &p)
	if err := p.err(c.subject()); err != nil {
		return nil, err
	}
	return read, nil
}

// resources resolves names of resources to Secrets, and refuses two Secrets with one target.
func (c *Config) resources(resources []Resource, p *problems) {
	taken := map[[2]string]string{}
	take := func(namespace, name, field string) {
		place := [2]string{namespace, name}
		if other := taken[place]; other != "" && name != "" {
			p.add(field, "stands for Secret %s/%s of the shoot, as %s does: give one of them another name", namespace, name, other)
			return
		}
		taken[place] = field
	}
	if source := c.Source; source != nil && source.SecretName != "" {
		if source.SecretResource != "" {
			source.SecretObject = secretOf(resources, source.SecretResource, "source.secretResourceName", p)
		}
		take(source.SecretNamespace, source.SecretName, "source.secretResourceName")
	}
	if name := c.Flux.ImagePullSecretResource; name != "" {
		const field = "flux.imagePullSecretResourceName"
		c.Flux.ImagePullSecretName = secretOf(resources, name, field, p)
		take(c.Flux.Namespace, c.Flux.ImagePullSecretName, field)
	}
	for i := range c.AdditionalSecrets {
		secret, field := &c.AdditionalSecrets[i], at("additionalSecretResources", i, "")
		secret.Object = secretOf(resources, secret.Resource, field+".name", p)
		if secret.TargetName == "" {
			secret.TargetName = secret.Object
		}
		take(secret.TargetNamespace, secret.TargetName, field+".targetName")
	}
}

func secretOf(resources []Resource, name, field string, p *problems) string {
	for _, resource := range resources {
		if resource.Name != name {
			continue
		}
		if resource.Kind != "Secret" || resource.APIVersion != "v1" || resource.Object == "" {
			p.add(field, "names the entry %s of the Shoot's spec.resources, which is no Secret: refer to a Secret there", name)
			return ""
		}
		return resource.Object
	}
	if name != "" {
		p.add(field, "names %s, which the Shoot's spec.resources does not have: add an entry with this name and a Secret", name)
	}
	return ""
}

// CheckBootstrapped refuses changes that are impossible once Flux runs in a namespace. Its error is
// an *Invalid.
func (c *Config) CheckBootstrapped(namespace string) error {
	if namespace == "" || namespace == c.Flux.Namespace {
		return nil
	}
	return &Invalid{Of: c.subject(), Problems: []Problem{{
		Field:   "flux.namespace",
		Message: "cannot change, since Flux runs in " + namespace + ": set it back, or disable the extension with deletionPolicy Delete first",
	}}}
}
