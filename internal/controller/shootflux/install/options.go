package install

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The defaults of options.
const (
	DefaultRegistry      = "ghcr.io/fluxcd"
	DefaultNamespace     = "flux-system"
	DefaultClusterDomain = "cluster.local"
	DefaultLogLevel      = "info"
)

// The controllers with a special meaning.
const (
	SourceController       = "source-controller"
	KustomizeController    = "kustomize-controller"
	HelmController         = "helm-controller"
	NotificationController = "notification-controller"
	sourceWatcher          = "source-watcher"
)

// DefaultComponents are the controllers of a usual installation.
func DefaultComponents() []string {
	return []string{SourceController, KustomizeController, HelmController, NotificationController}
}

// ExtraComponents are further controllers that an installation may have.
func ExtraComponents() []string {
	return []string{"image-reflector-controller", "image-automation-controller", sourceWatcher}
}

// Options describe an installation of Flux. An empty option has its default; booleans have none.
type Options struct {
	// Version is the release, as in v2.9.5; "latest" means the default as well.
	Version string
	// Registry is where the images of the controllers come from, without the last part
	// of their names.
	Registry  string
	Namespace string
	// Components are the controllers.
	Components []string
	// ImagePullSecret is the name of a Secret in the namespace of Flux.
	ImagePullSecret string
	// WatchAllNamespaces lets the controllers work in all namespaces.
	WatchAllNamespaces bool
	// NetworkPolicy adds the network policies of Flux.
	NetworkPolicy bool
	ClusterDomain string
	LogLevel      string
	// TolerationKeys are keys of taints on nodes that the controllers tolerate.
	TolerationKeys []string
	// Multitenant separates tenants: objects refer only to objects of their namespace,
	// kustomizations have no remote bases, and an object without a ServiceAccount uses the one
	// called default of its namespace.
	Multitenant bool
}

// Defaults are the options of a usual installation.
func Defaults() Options {
	return Options{WatchAllNamespaces: true, NetworkPolicy: true}.withDefaults()
}

// withDefaults sets the defaults.
func (o Options) withDefaults() Options {
	if o.Version == "" || o.Version == "latest" {
		o.Version = DefaultVersion()
	}
	for option, value := range map[*string]string{&o.Registry: DefaultRegistry, &o.Namespace: DefaultNamespace, &o.ClusterDomain: DefaultClusterDomain, &o.LogLevel: DefaultLogLevel} {
		if *option == "" {
			*option = value
		}
	}
	o.Registry = strings.TrimSuffix(o.Registry, "/")
	if len(o.Components) == 0 {
		o.Components = DefaultComponents()
	}
	return o
}

// ErrVersion is wrapped by errors about a version that cannot be installed.
var ErrVersion = errors.New("this version of Flux cannot be installed")

// registryForm is the form of a registry: a host, perhaps a port, and a path.
var registryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// Check returns all problems of options, without a request.
func (l *Library) Check(o Options) error {
	o = o.withDefaults()
	errs := []error{l.checkVersion(o.Version)}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("namespace %.100q: %s", o.Namespace, strings.Join(problems, "; ")))
	}
	if !registryForm.MatchString(o.Registry) || len(o.Registry) > 255 {
		errs = append(errs, fmt.Errorf("registry %.100q: write a host and a path without scheme, as in %s", o.Registry, DefaultRegistry))
	}
	errs = append(errs, checkComponents(o.Components)...)
	if problems := validation.IsDNS1123Subdomain(o.ClusterDomain); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("clusterDomain %.100q: %s", o.ClusterDomain, strings.Join(problems, "; ")))
	}
	if !slices.Contains([]string{"debug", "info", "error"}, o.LogLevel) {
		errs = append(errs, fmt.Errorf("logLevel %.100q: use debug, info or error", o.LogLevel))
	}
	if o.ImagePullSecret != "" {
		if problems := validation.IsDNS1123Subdomain(o.ImagePullSecret); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("imagePullSecret %.100q: %s", o.ImagePullSecret, strings.Join(problems, "; ")))
		}
	}
	for _, key := range o.TolerationKeys {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("tolerationKeys %.100q: %s", key, strings.Join(problems, "; ")))
		}
	}
	return errors.Join(errs...)
}

func checkComponents(components []string) []error {
	var errs []error
	known := append(DefaultComponents(), ExtraComponents()...)
	for i, component := range components {
		if !slices.Contains(known, component) {
			errs = append(errs, fmt.Errorf("components %.100q: use %s", component, strings.Join(known, ", ")))
		} else if slices.Contains(components[:i], component) {
			errs = append(errs, fmt.Errorf("components: %s is there twice", component))
		}
	}
	for _, needed := range []string{SourceController, KustomizeController} {
		if !slices.Contains(components, needed) {
			errs = append(errs, fmt.Errorf("components: %s is missing, nothing works without it", needed))
		}
	}
	return errs
}

func (l *Library) checkVersion(version string) error {
	if version == DefaultVersion() || (l.mirror != nil && l.mirror.has(version)) {
		return nil
	}
	how := "for other versions, the operator of the extension configures a mirror with their checksums"
	if l.mirror != nil {
		how = "for other versions, the operator of the extension adds their checksums to those of the mirror"
	}
	return fmt.Errorf("version %.100q: %w: use %s; %s", version, ErrVersion, strings.Join(l.Versions(), ", "), how)
}
