package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	api "go.landscaper.dev/api/shootflux/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
)

// The values of Invalid.Of: the provider configuration, alone or with a ConfigMap as its base.
const (
	providerConfig = "providerConfig"
	sharedConfig   = providerConfig + " with its ConfigMap"
)

// FromProviderConfig reads the configuration of a Shoot. The base is the configuration of the
// ConfigMap that it refers to (see RefersTo), or nil. Its error is an *Invalid.
func FromProviderConfig(raw []byte, base *Config) (*Config, error) {
	written, err := decode(raw)
	if err != nil {
		return nil, err
	}
	c := Default()
	if base != nil {
		c = base.Copy()
	}
	c.Origin, c.Shared = ProviderConfig, base != nil
	var p problems
	d := decoder{written: written, c: c, p: &p, namespaceWas: c.Flux.Namespace}
	d.flux()
	d.source()
	d.secrets()
	d.modes()
	if err := p.err(c.subject()); err != nil {
		return nil, err
	}
	return c, nil
}

// RefersTo returns the name of the ConfigMap that a provider configuration refers to; or "". Its
// error is an *Invalid.
func RefersTo(raw []byte) (string, error) {
	written, err := decode(raw)
	if err != nil || written.ConfigMapRef == nil {
		return "", err
	}
	name := written.ConfigMapRef.Name
	if name == "" {
		return DefaultConfigMap, nil
	}
	if !isSubdomain(name) {
		return "", &Invalid{Of: providerConfig, Problems: []Problem{{Field: "configMapRef.name", Message: needSubdomain}}}
	}
	return name, nil
}

// UnknownFields returns an error for an unknown field of a provider configuration. Its error is an
// *Invalid.
func UnknownFields(raw []byte) error {
	documents, err := yamltext.Documents(raw, yamltext.DefaultLimits())
	if err != nil || len(documents) != 1 {
		return notAnObject()
	}
	if found := documents[0].Unknown(reflect.TypeFor[api.FluxConfig]()); found != nil {
		return &Invalid{Of: providerConfig, Problems: []Problem{{Field: found.Name, Message: unknown(found.Name, found.Known)}}}
	}
	return nil
}

func notAnObject() error {
	return &Invalid{Of: providerConfig, Problems: []Problem{{Field: providerConfig, Message: "must be an object of " + api.GroupVersion.String() + ", kind " + api.KindFluxConfig}}}
}

func decode(raw []byte) (*api.FluxConfig, error) {
	written := &api.FluxConfig{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, written); err != nil {
		if field, need := mistyped(err); field != "" {
			return nil, &Invalid{Of: providerConfig, Problems: []Problem{{Field: field, Message: "must be " + need}}}
		}
		return nil, notAnObject()
	}
	if written.GroupVersionKind() != api.GroupVersion.WithKind(api.KindFluxConfig) {
		return nil, &Invalid{Of: providerConfig, Problems: []Problem{{
			Field: "apiVersion, kind", Message: "must be " + api.GroupVersion.String() + " and " + api.KindFluxConfig,
		}}}
	}
	return written, nil
}

// decoder decodes a provider configuration. Fields that are not set keep the value of the base.
type decoder struct {
	written *api.FluxConfig
	c       *Config
	p       *problems
	// namespaceWas is that of Flux in the base.
	namespaceWas string
}

func (d *decoder) flux() {
	written, flux := d.written.Flux, &d.c.Flux
	if written == nil {
		return
	}
	if written.Version != "" {
		flux.Version = checkVersion(written.Version, "flux.version", d.p)
	}
	if written.Registry != "" {
		flux.Registry = written.Registry
		if !isRegistry(written.Registry) {
			d.p.add("flux.registry", needRegistry)
		}
	}
	if written.Namespace != "" {
		flux.Namespace = written.Namespace
		if !isLabel(written.Namespace) {
			d.p.add("flux.namespace", needLabel)
		} else if slices.Contains(clusterNamespaces, written.Namespace) {
			d.p.add("flux.namespace", "is a namespace of the cluster itself, which Flux would restrict and which could not be removed with it: choose another one")
		}
	}
	if list := written.Components; len(list) > 0 {
		flux.Components = list
	}
	if len(written.Components)+len(written.ComponentsExtra) > 0 {
		flux.Components = checkComponents(slices.Concat(flux.Components, written.ComponentsExtra), "flux.components", d.p)
	}
	if written.ImagePullSecretResourceName != "" {
		flux.ImagePullSecretResource = written.ImagePullSecretResourceName
	}
	d.options()
}

func (d *decoder) options() {
	written, options := d.written.Flux.Options, &d.c.Flux.Options
	if written == nil {
		return
	}
	if written.WatchAllNamespaces != nil {
		options.WatchAllNamespaces = *written.WatchAllNamespaces
	}
	if written.NetworkPolicy != nil {
		options.NetworkPolicy = *written.NetworkPolicy
	}
	if written.ClusterDomain != "" {
		options.ClusterDomain = written.ClusterDomain
		if !isSubdomain(written.ClusterDomain) {
			d.p.add("flux.options.clusterDomain", "is no domain: write it like cluster.local")
		}
	}
	if written.LogLevel != "" {
		options.LogLevel = written.LogLevel
		if !slices.Contains([]string{"debug", "info", "error"}, written.LogLevel) {
			d.p.add("flux.options.logLevel", "must be one of debug, info, error")
		}
	}
	if len(written.TolerationKeys) > 0 {
		options.TolerationKeys = written.TolerationKeys
		for i, key := range written.TolerationKeys {
			if !isQualified(key) {
				d.p.add(at("flux.options.tolerationKeys", i, ""), "is not a key of a taint: write it like example.org/dedicated")
			}
		}
	}
	options.Multitenant = options.Multitenant || written.Multitenant
}

func (d *decoder) modes() {
	if text := d.written.SyncMode; text != "" {
		mode, known := parseSyncMode(text)
		if !known {
			d.p.add("syncMode", needSyncMode)
		}
		d.c.SyncMode, d.c.WaitForReady = mode, mode == Once
	}
	if text := d.written.DeletionPolicy; text != "" {
		policy, known := parseDeletionPolicy(text)
		if !known {
			d.p.add("deletionPolicy", needDeletion)
		}
		d.c.DeletionPolicy = policy
	}
	if wait := d.written.WaitForReady; wait != nil {
		d.c.WaitForReady = *wait
	}
}

func (d *decoder) secrets() {
	if len(d.written.AdditionalSecretResources) == 0 {
		return
	}
	d.c.AdditionalSecrets = nil
	for i, secret := range d.written.AdditionalSecretResources {
		const field = "additionalSecretResources"
		if secret.Name == "" {
			d.p.add(at(field, i, ".name"), "%s: name an entry of the Shoot's spec.resources", missing)
		}
		if secret.TargetName != "" && !isSubdomain(secret.TargetName) {
			d.p.add(at(field, i, ".targetName"), needSubdomain)
		}
		if secret.TargetNamespace == "" {
			secret.TargetNamespace = d.c.Flux.Namespace
		} else if !isLabel(secret.TargetNamespace) {
			d.p.add(at(field, i, ".targetNamespace"), needLabel)
		}
		d.c.AdditionalSecrets = append(d.c.AdditionalSecrets, AdditionalSecret{
			Resource: secret.Name, TargetName: secret.TargetName, TargetNamespace: secret.TargetNamespace,
		})
	}
}

// mistyped returns the field that has a wrong type, and the right one.
func mistyped(err error) (field, need string) {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "", ""
	}
	field = strings.TrimPrefix(wrong.Field, ".")
	switch wrong.Type.Kind() {
	case reflect.String:
		return field, "a text"
	case reflect.Bool:
		return field, "true or false"
	case reflect.Slice:
		return field, "a list"
	}
	return field, "an object"
}
