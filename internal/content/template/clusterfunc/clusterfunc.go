// Package clusterfunc gives templates kubeconfigs for target clusters. It checks arguments; access
// to the clusters is behind a small interface.
//
// Errors name the position of an argument and what it must be, but no value that a template passed.
package clusterfunc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// Function is a function of a template. Arguments and result are plain values.
type Function = func(ctx context.Context, args []any) (any, error)

// Clusters reaches the clusters behind Targets.
type Clusters interface {
	// ShootAdminKubeconfig requests an administrator's kubeconfig for a shoot from the
	// Gardener cluster that the Target is.
	ShootAdminKubeconfig(ctx context.Context, target *v1alpha1.Target, shoot, namespace string, expiration time.Duration) (kubeconfig []byte, expires time.Time, err error)
	// ServiceAccountKubeconfig requests a token of a ServiceAccount on the Target's
	// cluster and returns a kubeconfig with it.
	ServiceAccountKubeconfig(ctx context.Context, target *v1alpha1.Target, name, namespace string, expiration time.Duration) (kubeconfig []byte, expires time.Time, err error)
	// OIDCKubeconfig returns a kubeconfig for the Target's cluster with which users
	// log in at an identity provider. It makes no request to the cluster.
	OIDCKubeconfig(ctx context.Context, target *v1alpha1.Target, issuer, clientID string) (kubeconfig []byte, err error)
}

// Options say how templates reach clusters.
type Options struct {
	// Clusters reaches them; with nil, as on the command line, each function returns
	// an error.
	Clusters Clusters
	// Log is called for each kubeconfig that a template gets, with the function, the Target as
	// namespace/name, and the expiration (zero: never). May be nil.
	Log func(function, target string, expires time.Time)
	// Disabled are functions that the administrator has switched off.
	Disabled map[string]bool
}

var (
	errNoClusters = errors.New("there is no access to clusters here, only in a landscape: render without this function, or give its result as an import")
	errDisabled   = errors.New("the administrator has switched this function off: ask for it, or import the kubeconfig instead")
)

// Functions returns the functions, the same for both engines.
//
// A template can be tried again, and each attempt makes a kubeconfig anew: none of them is cached
// here.
func Functions(options Options) map[string]Function {
	functions := make(map[string]Function)
	for name, function := range table() {
		functions[name] = options.function(name, function)
	}
	return functions
}

// Names returns the names of all functions in order, to check a list of functions to be switched
// off.
func Names() []string { return slices.Sorted(maps.Keys(table())) }

// function is one of the functions.
type function struct {
	// shown is its name in messages, parameters what it takes.
	shown      string
	parameters []parameter
	// timestamp chooses the result with the end of the validity.
	timestamp bool
	call      func(ctx context.Context, clusters Clusters, args arguments) ([]byte, time.Time, error)
}

func table() map[string]function {
	shoot := function{
		shown: "getShootAdminKubeconfig", call: shootAdmin,
		parameters: []parameter{{"shoot name", aString}, {"shoot namespace", aString}, {"expiration seconds", anInteger}, {"target", aTarget}},
	}
	account := function{
		// The name in messages is the one that is known.
		shown: "getServiceAccountToken", call: serviceAccount,
		parameters: []parameter{{"service account name", aString}, {"service account namespace", aString}, {"expiration seconds", anInteger}, {"target", aTarget}},
	}
	oidc := function{
		shown: "getOidcKubeconfig", call: oidc,
		parameters: []parameter{{"issuer URL", aString}, {"client ID", aString}, {"target", aTarget}},
	}
	functions := map[string]function{"getShootAdminKubeconfig": shoot, "getServiceAccountKubeconfig": account, "getOidcKubeconfig": oidc}
	shoot.timestamp, account.timestamp = true, true
	functions["getShootAdminKubeconfigWithExpirationTimestamp"] = shoot
	functions["getServiceAccountKubeconfigWithExpirationTimestamp"] = account
	return functions
}

func shootAdmin(ctx context.Context, clusters Clusters, args arguments) ([]byte, time.Time, error) {
	return clusters.ShootAdminKubeconfig(ctx, args.target, args.texts[0], args.texts[1], args.expiration)
}

func serviceAccount(ctx context.Context, clusters Clusters, args arguments) ([]byte, time.Time, error) {
	return clusters.ServiceAccountKubeconfig(ctx, args.target, args.texts[0], args.texts[1], args.expiration)
}

func oidc(ctx context.Context, clusters Clusters, args arguments) ([]byte, time.Time, error) {
	kubeconfig, err := clusters.OIDCKubeconfig(ctx, args.target, args.texts[0], args.texts[1])
	return kubeconfig, time.Time{}, err
}

func (o Options) function(name string, f function) Function {
	return func(ctx context.Context, args []any) (any, error) {
		if o.Disabled[name] {
			return nil, fmt.Errorf("templating function %s: %w", name, errDisabled)
		}
		read, err := f.read(args)
		if err != nil {
			return nil, err
		}
		if o.Clusters == nil {
			return nil, fmt.Errorf("templating function %s: %w", name, errNoClusters)
		}
		kubeconfig, expires, err := f.call(ctx, o.Clusters, read)
		if err != nil {
			return nil, fmt.Errorf("templating function %s: %w", name, err)
		}
		if o.Log != nil {
			o.Log(name, read.target.Namespace+"/"+read.target.Name, expires)
		}
		return f.result(kubeconfig, expires), nil
	}
}

func (f function) result(kubeconfig []byte, expires time.Time) any {
	content := base64.StdEncoding.EncodeToString(kubeconfig)
	if !f.timestamp {
		return content
	}
	return map[string]any{
		"kubeconfig":                  content,
		"expirationTimestamp":         expires.Unix(),
		"expirationTimestampReadable": expires.UTC().Format(time.RFC3339),
	}
}
